"""A second method in exact rational arithmetic: fits, losses and signs without a rounding error.

It shares no code with the floating-point landscape: normal equations over the rationals, solved by
`reluflow.exact`. Counterexamples are checked with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from numpy.typing import ArrayLike

from reluflow.exact import eigenprojections, eigenvalues, fractions, solve, zeros_between


@dataclass(frozen=True)
class RationalFit:
    """A least-squares fit: its `w`, the neuron's `loss` there, the `preactivations` of all data."""

    w: tuple[Fraction, ...]
    loss: Fraction
    preactivations: tuple[Fraction, ...]


def rationals(values: Any) -> Any:
    """Numbers as the decimals that they print as: 0.1 becomes 1/10, not the nearest double."""
    if isinstance(values, Sequence) or hasattr(values, "tolist"):
        items = values.tolist() if hasattr(values, "tolist") else values
        if isinstance(items, list | tuple):
            return tuple(rationals(v) for v in items)
        values = items  # a NumPy scalar
    return Fraction(repr(values)) if isinstance(values, float) else Fraction(values)


def preactivations(X: ArrayLike, w: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """x_i.w for every datum, exactly."""
    return tuple(sum(a * b for a, b in zip(x, w, strict=True)) for x in rationals(X))


def neuron_loss(X: ArrayLike, y: ArrayLike, w: Sequence[Fraction]) -> Fraction:
    """L(w) = 1/2 sum_i ([w.x_i]_+ - y_i)^2, exactly."""
    pairs = zip(preactivations(X, w), rationals(y), strict=True)
    return sum((max(h, Fraction(0)) - target) ** 2 for h, target in pairs) / 2


def fit(X: ArrayLike, y: ArrayLike, support: Sequence[int]) -> RationalFit:
    """The unique least-squares fit of the data in `support` (from 0), exactly (eq. 4).

    Raises ValueError where those data do not determine it.
    """
    if not support:
        raise ValueError("data [] do not determine a unique fit")
    A, b = (fractions([rationals(given)[i] for i in support]) for given in (X, y))
    try:
        w = tuple(solve(A.T @ A, A.T @ b))
    except ValueError:
        unfit = f"data {[i + 1 for i in support]} do not determine a unique fit"
        raise ValueError(unfit) from None
    return RationalFit(w, neuron_loss(X, y, w), preactivations(X, w))


def is_local_minimum(found: RationalFit, support: Sequence[int]) -> bool:
    """Whether the fit lies strictly inside the cell of `support`: conditions (5), strict."""
    return all((h > 0) if i in support else (h < 0) for i, h in enumerate(found.preactivations))


@dataclass(frozen=True)
class PreactivationPolynomial:
    """x_j.w(t) of the all-active flow as an exact polynomial in u = exp(-g t), rational g > 0.

    limit    its value at w0 = 0, per power of u: {power: coefficient}
    start    its change per unit of a start w0 = eps v: {power: coefficient}
    rate     g: every eigenvalue of H is a whole multiple of it
    """

    limit: dict[int, Fraction]
    start: dict[int, Fraction]
    rate: Fraction

    def terms(self, eps: Fraction) -> dict[int, Fraction]:
        """Its {power: coefficient} from the start w0 = eps v."""
        powers = self.limit.keys() | self.start.keys()
        return {p: self.limit.get(p, 0) + eps * self.start.get(p, 0) for p in powers}

    def zeros(self, eps: Fraction) -> int:
        """How often it vanishes for 0 < u < 1 (all t > 0) from w0 = eps v, by Sturm's theorem."""
        return zeros_between(self.terms(eps), 0, 1)


def preactivation_polynomial(
    X: ArrayLike, y: ArrayLike, j: int, v: Sequence[Fraction]
) -> PreactivationPolynomial:
    """The pre-activation of datum j (from 0) along the all-active flow from eps v, exactly.

    Needs integer data whose H = X^T X has rational eigenvalues: then the eigenprojections P_k are
    rational (Lagrange's formula) and
    w(t) = sum_k [(1 - u^(l_k/g)) P_k q / l_k + eps u^(l_k/g) P_k v].
    A second route to the flow in rational arithmetic. Raises ValueError for other spectra.
    """
    A, labels, direction = (fractions(rationals(given)) for given in (X, y, v))
    H = A.T @ A
    spectrum = eigenvalues(H)
    if len(spectrum) < len(H) or spectrum[0] <= 0:
        raise ValueError("the eigenvalues of H are not all rational and positive")
    common = lcm(*(value.denominator for value in spectrum))
    g = Fraction(gcd(*(int(value * common) for value in spectrum)), common)
    limit, start = {0: Fraction(0)}, {}
    for value, P in eigenprojections(H, sorted(set(spectrum))).items():
        power, row = int(value / g), A[j] @ P
        settled = row @ (A.T @ labels) / value
        limit[0] += settled
        limit[power] = -settled
        start[power] = row @ direction
    return PreactivationPolynomial(limit, start, g)
