"""What is true instead, for the claims of Vardi et al. 2022 that do not hold as they stand."""

from __future__ import annotations

from collections.abc import Mapping

_REPAIR = (
    r"True for both losses if $\mathcal{L} < \ell(0)$ at some time: 1 for the exponential loss, "
    r"$\log 2$ for the logistic one, in place of 1 for both. "
)
_BOTH = _REPAIR + (
    r"From a logistic loss between $\log 2$ and 1 a ReLU network that is right on all data may "
    r"lose a datum for ever; $\lVert \theta \rVert$ still grows, $\mathcal{L}$ stays "
    r"above $\log 2$."
)
_BELOW_ONE = _REPAIR + (
    r"The same constant as in Theorem 2.1; that all data are right is not printed here. From a "
    r"datum on the wrong side a flow of the logistic loss may end at $\theta = 0$, along the "
    r"direction of no feasible point."
)
_GIVEN = (
    r"Survives where $\theta(t)$ converges to the direction of a KKT point, as for every "
    r"$\mathcal{L} < \ell(0)$. By $\mathcal{L} < 1$ alone a flow of the logistic loss may keep the "
    r"direction of no feasible point."
)
_STAYS = (
    r"The printed start lies on kinks and has many flows: with one $\sigma'(0)$ and $\dot\theta = "
    r"-\nabla\mathcal{L}$ at every $t$ only the printed one, along Clarke's subdifferential also "
    r"one to a global optimum, $\lVert \tilde\theta \rVert^2 = 4 \sqrt{2}$ in place of 8. "
)
_ANOTHER = (
    r"That data and a start exist is true with one flow only: data $(0, 1), (1, 0)$, labels 1, "
    r"$w_j(0) = (-1, 2), (2, -1), (-1, 1), (1, -1)$, $v_j(0) = 2$."
)
_FALLEN = ("thm3.1", "thm3.1.structure", "thm5.2")
_READ = (
    *("thm4.2.1", "thm4.3.local", "thm5.4.local"),
    *("tab1.fc.linear", "tab1.nonzerow.linear", "tab1.nonzeroin.linear", "tab1.nonzeroin.relu"),
    *("tab2.fc.linear", "tab2.layer.linear", "tab2.layer-nonzero.linear"),
    "tab2.layer-nonzero.relu",
)

INSTEAD: Mapping[str, str] = {
    "mm.thm2.1.fit": (
        r"True for the exponential loss. The logistic loss needs $\mathcal{L} < \log 2$: one datum "
        r"on the wrong side may cost less than 1."
    ),
    **{f"mm.{name}": _BOTH for name in ("thm2.1.1", "thm2.1.2")},
    **{f"mm.{name}": _BELOW_ONE for name in _FALLEN},
    **{f"mm.{name}": _GIVEN for name in _READ},
    "mm.sigma0": (
        r"For the flow that stays on the kinks, true for the printed instances. With shared "
        r"weights a neuron may rest on a kink where $\Phi$ is smooth, and $\sigma'(0) = 0$ gives "
        r"it the wrong slope: the flow then ends at no KKT point. Theorem 2.1 needs a flow along "
        r"Clarke's subdifferential."
    ),
    "mm.thm4.2.2": _STAYS + _ANOTHER,
    "mm.thm5.3": _STAYS + _ANOTHER,
    "mm.thm4.4.perturbation": (
        r"The identity $\Phi(\theta'; x) = 1 + 3 \varepsilon$ is that of the linear network. With "
        r"ReLU the second patch falls silent at $\varepsilon = 17 - 12 \sqrt{2} \approx 0.029$, "
        r"and from there on $\Phi$ is larger; the point stays feasible and Theorem 4.4 stands."
    ),
    "mm.rem3.2.4": (
        r"Read with a start that moves with the datum, as Theorem 5.1 allows (there exists a "
        r"dataset and an initialization): $\alpha_j(0)^{2 - m} / x_j$ the same for both $j$, "
        r"$\alpha_j$ being the weight of coordinate $j$ in every layer. From the printed start and "
        r"$x = (1 + \delta, 1 - \delta)$ the limit is a global optimum for every $\delta \ne 0$."
    ),
}
"""The claim's id -> one sentence, mathematics between dollars; its verdict is computed."""
