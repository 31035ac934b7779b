"""What is true instead, for the claims of Min et al. 2024 that do not hold as they stand."""

from __future__ import annotations

from collections.abc import Mapping

INSTEAD: Mapping[str, str] = {
    "ea.cones.2": (
        r"True with $\{0\}$ for empty: $0$ is in $S_{\mathrm{dead}}$ whatever the data. Nothing "
        r"else is there if and only if the data span the space and some $\sum_i c_i x_i$ with "
        r"all $c_i > 0$ is $0$; it takes at least $D + 1$ data."
    ),
    "ea.thm1.align.1": (
        r"True with $\zeta = \min(\zeta_1, \zeta_2)$, as its proof needs. The printed maximum "
        r"gives a $t_1$ that does not know where the neurons start; near $x_-$ they take longer."
        r" Sharp: $\frac{2}{X_{\min}} \operatorname{arsinh} \frac{\sqrt{(1 - \mu)/2}}{\mu}$, and"
        r" $\log(\cot(\theta/2)) / \|x_-\|$ more in $S_-$, for every $n$."
    ),
    "ea.thm1.t1.scaling": (
        r"The bound holds with a constant that knows neither $n$ nor $\mu$, but it is not the "
        r"rate: that is $\log(1/\mu)$, for every $n$. The constants of the proof contain "
        r"$\mu^{-2}$."
    ),
    "ea.pattern-time": (
        r"True with $\zeta = \min(\zeta_1, \zeta_2)$. That no neuron of $V_+$ comes nearer to "
        r"$x_-$ than it began is true for every cap."
    ),
    "ea.path": (
        r"True for paths on which $k_+$ never falls and $k_-$ never grows, as on those of "
        r"neurons."
    ),
    "ea.thm1.trap.2": (
        r"True for regular solutions, (R), by their definition. Others may leave "
        r"$S_{\mathrm{dead}}$ from its edge."
    ),
    "ea.lem2.2": (
        r"True for $2 \log(1 + e^{-y \hat y})$, with $\frac{1}{2}$ in place of $2$. With $\log(1"
        r" + e^{-y \hat y})$, as Section 2.1 prints it, the left side is $\frac{1}{2}$ at $\hat "
        r"y = 0$; it holds for $y / 2$ in place of $y$."
    ),
    "ea.lem5-9.2": (
        r"True for data of both labels. With one label, as in Figures 7 to 9, the cone of the "
        r"other is $S_{\mathrm{dead}}$, and $0$ is in it."
    ),
    "ea.random-init.1": (
        r"True for $D \ge 2$. In $\mathbb{R}^1$ Assumption 2 leaves each neuron one direction of"
        r" two and holds with probability $2^{-h}$."
    ),
    "ea.random-init.2": (
        r"True for signs $v_j(0)$ that are independent of $W_0$, with $\varepsilon$ chosen after"
        r" $W_0$. With signs that look at $W_0$ all of $V_+$ may die."
    ),
}
"""The claim's id -> one sentence, mathematics between dollars; its verdict is computed."""
