"""What is true where a claim of Phuong & Lampert 2021 does not hold as it stands."""

from __future__ import annotations

from collections.abc import Mapping

INSTEAD: Mapping[str, str] = {
    "os.thm1.W": (
        r"True whenever at some time a neuron with $a_j > 0$ is active on a positive datum, or one "
        r"with $a_j < 0$ on a negative one, for every data set and every size of the start; the "
        r"probability needs signs of $a(0)$ that are chosen before the directions. Under "
        r"(Span) the distance $D$ has $D^2 \log(1/\ell) \to$ a constant of the order of the "
        r"start's squared norm."
    ),
    "os.cor1": (
        r"True whenever (8) is. Both constants are $1 / (2 (\|w_+\| + \|w_-\|))$; if one group is "
        r"empty, its constant is 0 and the sum lacks its term."
    ),
    "os.eq15-16": (
        r"True in two dimensions or more. On the line a neuron on the wrong side only shrinks, "
        r"and stays active there for ever."
    ),
    "os.eq79-80.2": (
        r"$\langle w_+, x_i \rangle \le 0$ and $\langle w_-, x_i \rangle > 0$ on negative data: "
        r"the factor $y_i$ is one too many."
    ),
    "os.lemA.4.rate": (
        r"$\frac{d}{dt} \|w_j\|^2 = \frac{d}{dt} a_j^2$ is twice the printed sum. The bound from "
        r"below is then $a_j(0)^2 e^{-2nBVt}$."
    ),
    "os.loss.general": (
        r"The loss has to fall fast; an exponential tail is enough. With $\ell_i(u) = -y_i u$, "
        r"which meets every condition, the neurons turn to the sums of the positive and of the "
        r"negative data instead of $w_+$ and $w_-$. Lemmas 1 to 3 ask for signs alone."
    ),
    "os.assumptions.1": (
        r"Every balanced start that leaves both groups a neuron ends at (8): under (OS) problem "
        r"(77) has no other KKT points than Lemma C.1's. A small start only makes the approach "
        r"faster."
    ),
    "os.orthants": (
        r"True in the plane only. In space the five data $(3, 3, -1)$, $(3, 2, 2)$, $(3, -1, "
        r"3)$, $(3, -3, -1)$, $(3, -1, -3)$ have positive inner products and lie in no orthant "
        r"of any orthonormal basis, in $\mathbb{R}^3$ or a larger space."
    ),
    "os.separator": (
        r"True if the boundary of a half-space belongs to the other label: $\langle x_i, "
        r"x\rangle > 0$ exactly on the data of the label of $x_i$."
    ),
    "os.lem2.1": (
        r"True for $d \ge 2$, and without (Span). The printed proof divides by a norm below $1$ "
        r"where $G(w)$ may be negative; another one is given. On the line both points of the "
        r"sphere are strict maxima and minima."
    ),
    "os.lem2.2": r"True for $d \ge 2$, and without (Span).",
    "os.lemA.3.position": (
        r"General position can hold for $k \le d + 1$ points only: any $d + 2$ lie in "
        r"$\mathbb{R}^d$, and (Span) asks for more data than that. Lemma A.3 needs no position "
        r"at all."
    ),
    "os.thm1.prob": (
        r"True for signs $a_j(0)$ that are drawn without a look at $w_j(0)$, and $2^{-p}$ cannot "
        r"be improved. Signs chosen afterwards can kill a neuron with a chance up to $3/4$ in "
        r"the plane: $1 - \angle(x_+, x_-)/2\pi$ for the sums $x_\pm$ of the two labels if a "
        r"half-plane holds the data; otherwise none dies."
    ),
    "os.thm1.nonempty": (
        r"True as Theorem 1 has it, with $u = 0$ or $z = 0$ allowed. That is the case at width 1 "
        r"always, and at any width if all $a_j(0)$ have one sign; with fair signs both groups "
        r"have neurons with a chance of at least $1 - 2 (3/4)^p$."
    ),
    "os.fig1a": (
        r"Effectively 0 is the level of the start: training adds a matrix of rank two, and the "
        r"third singular value stays that of the start, 0.09 against 2.4 and 0.34, however long "
        r"one trains."
    ),
    "os.fig1b": (
        r"In all of ten runs the long neurons lie within $10^\circ$ of two rays, and the sign of "
        r"$a_j$ says of which."
    ),
    "os.fig1c": (
        r"About three neurons in four. The others still point where they were drawn; from a "
        r"start fifty times smaller 99 % are above 0.9. The groups themselves are $17^\circ$ "
        r"off."
    ),
    "os.fig2abc": (
        r"By a rule chosen after a stricter one had failed for $W_1$: two singular values outgrow "
        r"the start, the others stay as they were. In $W_1$ the second is only 2.7 times the "
        r"third, in $W_2$ and $W_3$ ten times."
    ),
    "os.fig2def": (
        r"True. In $W_2$ and $W_3$ the two directions are at right angles, and are the "
        r"max-margin vectors of the features that come into the layer."
    ),
    "os.fig2g": (
        r"Supported, less clearly than with two layers: 62 % of the neurons are above 0.9, "
        r"against 74 % on the same data, for they end shorter over the same start. The groups' "
        r"means are as near."
    ),
    "os.assumptions.2": (
        r"Linear separability does not suffice: $(1, \pm 2)$ against $(-3, \pm 1)$ has three "
        r"limit directions. (OS) is not necessary either: more than half of the data that hardly "
        r"break it, and few that strongly do, have the limit (8) from a small start."
    ),
    "os.assumptions.3": (
        r"True for rates up to ten times the paper's and for any balance: the limits are the KKT "
        r"points of (77), which know of neither. Signs of $a_j$ change, which Lemma A.4 "
        r"excludes; a hundred times the rate breaks it, three hundred diverges."
    ),
    "os.fig3.1": (
        r"At each layer a pair of one class has the larger product with a chance of 0.8 (layer 1) "
        r"to 1.0 (layer 7); for the pixels it is 0.84 already."
    ),
    "os.fig3.2": (
        r"The classes come apart from layer 2 on, but not by these moves. The products as they are "
        r"move to the right up to layer 6, those of different classes too. In units of the mean of "
        r"$|f|^2$ those of different classes move to the left, and those of two images of 0 do not "
        r"move to the right before layer 7."
    ),
    "os.fig4a": (
        r"Ten singular values are above a tenth of the largest, six above a fifth; no gap marks "
        r"the end."
    ),
    "os.fig4b": (
        r"The two far clusters have one sign of $W_8$ each, without exception. So have the ends of "
        r"rays; clusters they are by their silhouette, 0.80, where the rays of Section 5.1 have "
        r"about 0.6. Adam makes them."
    ),
    "os.fig3.3": (
        r"At layer 7 nearly all pairs of images obey (OS), and none of the runs does to the "
        r"letter: two pairs in ten thousand violate it before the ReLU, the work of 46 images of "
        r"12 665; from another start, twenty-six do. After the ReLU, where nothing is negative, "
        r"a tenth and a third of all pairs do."
    ),
    "os.lem1": (
        r"True if the size of the start may depend on its directions. With the size first, and "
        r"data that are not (OS), it fails: one neuron may come home only after another one, whose "
        r"boundary's datum is fitted by then, has left."
    ),
}
