"""What is true instead, for the claims of Vardi et al. 2022 that do not hold as they stand."""

from __future__ import annotations

from collections.abc import Mapping

_THRESHOLD = r"True for both losses if $\mathcal{L} < \ell(0)$ at some time"
_GIVEN = (
    r"True of every limit $\tilde\theta$ that there is; by $\mathcal{L} < 1$ alone there need be "
    r"none with the logistic loss."
)

INSTEAD: Mapping[str, str] = {
    "mm.thm2.1.fit": (
        r"True for the exponential loss. The logistic loss needs $\mathcal{L} < \log 2$: one datum "
        r"on the wrong side may cost less than 1."
    ),
    "mm.thm2.1.1": (
        rf"{_THRESHOLD}: 1 for the exponential loss, $\log 2$ for the logistic one. From "
        r"$\mathcal{L} < 1$ a flow may end at $\theta = 0$."
    ),
    "mm.thm2.1.2": rf"{_THRESHOLD}. Else the direction may be that of no feasible point.",
    "mm.thm3.1": rf"{_THRESHOLD}: then the limit is a global optimum, at any depth.",
    "mm.thm3.1.structure": rf"{_THRESHOLD}: rank one, equal norms, aligned, along the max-margin "
    r"vector.",
    "mm.thm5.2": rf"{_THRESHOLD}: then each layer is optimal, given the others.",
    "mm.thm4.2.1": _GIVEN,
    "mm.thm4.3.local": _GIVEN,
    "mm.thm5.4.local": _GIVEN,
    "mm.thm4.4.perturbation": (
        r"The identity $\Phi(\theta'; x) = 1 + 3 \varepsilon$ is that of the linear network. With "
        r"ReLU the second patch falls silent at $\varepsilon = 17 - 12 \sqrt{2} \approx 0.029$, "
        r"and from there on $\Phi$ is larger; the point stays feasible and Theorem 4.4 stands."
    ),
    "mm.rem3.2.4": (
        r"The example of Theorem 5.1 is a knife's edge: from its start and $x = (1 + \delta, "
        r"1 - \delta)$ the limit is a global optimum for every $\delta \ne 0$. Both coordinates "
        r"are kept only if $\alpha_j(0)^{2 - m}$ is proportional to $x_j$."
    ),
}
"""The claim's id -> one sentence, mathematics between dollars; its verdict is computed."""
