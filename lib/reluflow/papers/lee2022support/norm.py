"""The page `norm`: Theorems 4.7 and F.6, Lemmas F.7, F.8 and F.9."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import cycle, islice, permutations

import numpy as np
from flint import fmpq_poly
from numpy.typing import ArrayLike, NDArray

from reluflow.exact import fraction
from reluflow.falsify import (
    Draws,
    Instance,
    Report,
    Statement,
    extended,
    falsify,
    given,
    planted,
    statement,
)
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.geometry import enumerate_cells, rank
from reluflow.ledger import Counterexample, Evidence, Reading, bound, fact, note
from reluflow.papers.lee2022support import rational, setting
from reluflow.papers.lee2022support.landscape import gradient, local_minima, loss
from reluflow.papers.lee2022support.rational import preactivation_polynomial, zeros_between
from reluflow.papers.lee2022support.setting import (
    NORMS,
    Crossing,
    data_draws,
    meets,
    small_flows,
)
from reluflow.papers.lee2022support.small_flows import (
    ASSUMED,
    at_rest,
    keeps_all,
    leaving_draws,
    nontrivial_draws,
    pieces,
    planar,
    planar_data,
    sign_changes,
)

# --- The norm along the flow: g(w) = -1/2 d|w|^2/dt (Definition D.3 and Lemma F.7) ----------------


def norm_rate(X: ArrayLike, y: ArrayLike, w: ArrayLike) -> NDArray:
    """g(w) = w.(H(w) w - q(w)) = -1/2 d|w|^2/dt (Definition D.3, Lemma F.7), w (..., d)."""
    w = np.asarray(w, float)
    return (w * gradient(X, y, w)).sum(axis=-1)


def norm_lost(X: ArrayLike, y: ArrayLike, path: Trajectory) -> float:
    """The largest |w(s)|^2 - |w(t)|^2 over s < t. Where all of |w|^2's maxima and minima are is
    told by the zeros of its derivative on each piece of the path, a sum of exponentials,
    d|w|^2/ds = sum_k 2 l_k b_k (v_k.limit e^(-l_k s) - b_k e^(-2 l_k s)), v_k the columns of V."""
    states = [path.states[:1]]
    for piece, end in pieces(X, y, path):
        slopes = piece.rates * piece.b
        rates, which = np.unique([piece.rates, 2.0 * piece.rates], return_inverse=True)
        parts = np.ravel([slopes * (piece.limit @ piece.V), -slopes * piece.b])
        turns = np.array(sign_changes(np.bincount(which.ravel(), parts), rates))
        last = path.at([end]) if np.isfinite(end) else path.end[None]
        states += [piece.after(turns[turns < end - piece.t0]), last]
    squares = (np.vstack(states) ** 2).sum(axis=1)
    return float(np.max(np.maximum.accumulate(squares) - squares))


def _by_a_boundary(item: Instance, rng: np.random.Generator) -> Instance:
    """w on the boundary of the first datum, and v of any size."""
    p, q = item["X"][0]
    w = np.array([-q, p]) * rng.choice([-1.0, 1.0])
    return {"w": w, "v": rng.normal(size=2) * 10.0 ** rng.uniform(-9.0, 0.0) * np.linalg.norm(w)}


@statement("g is continuous across boundaries", extended(data_draws(2), _by_a_boundary),
           fixed=("X", "y"))  # fmt: skip
def rate_is_continuous(X: NDArray, y: NDArray, w: NDArray, v: NDArray) -> float:
    """sv.lemF.7: part 2, |g(w + v) - g(w)| <= sum |x_i.v| (2 |x_i.w| + |x_i.v| + y_i)."""
    moved, h = np.abs(X @ v), np.abs(X @ w)
    allowed = float(moved @ (2.0 * h + moved + y))
    jump = abs(float(norm_rate(X, y, w + v) - norm_rate(X, y, w)))
    terms = np.abs(X) @ (np.abs(w) + np.abs(v))  # of h: rounding sees them one by one
    noise = 1e-13 * float(terms @ (terms + y))
    return (allowed - jump + noise) / (allowed + noise)


def rate_at_minima(seed: int, count: int) -> list[Evidence]:
    """Lemma F.7, part 3: g = 0 at the local minima of `count` planar data sets."""
    rng, worst, flat = np.random.default_rng(seed), 0.0, 0
    for draw in islice(cycle(nontrivial_draws(2, (2, 5)).values()), count):
        item = draw(rng)
        X, y = item["X"], item["y"]
        for minimum in local_minima(X, y):
            h = np.abs(X @ minimum.w)
            worst = max(worst, abs(float(norm_rate(X, y, minimum.w))) / float(h @ h + y @ y))
            flat += not minimum.support
    return [
        bound("largest |g| at an enumerated local minimum", worst, "<=", 1e-9, "of |Xw|^2 + |y|^2"),
        note("data sets whose minima were enumerated", count),
        note("of them with a dead plateau, g = 0 all around its points", flat),
    ]


INCREASING = Reading(
    taken="the norm increases at a moment if its square has a positive derivative then; a "
    "local minimum is on the boundary of the norm-increasing subset if g = 0 there, as the "
    "statement explains it",
    others="if to increase means to be strictly increasing near the moment, part 1 fails: "
    "a norm can strictly increase through a moment with g = 0, and the flow above does. "
    "If the boundary is the topological one, part 3 fails on dead plateaus: for n = d = 1, "
    "x = y = 1 the minimum w = -1 has g = 0 in a whole neighbourhood.",
)


# --- Second route: the norm's overshoot in rational arithmetic, which follows no flow -------------


def rate_polynomial(X: NDArray, y: NDArray, w0: Sequence[Fraction]) -> fmpq_poly:
    """g along the all-active flow from w0, exactly, as a polynomial in u: g = sum_i h_i (h_i - y_i)
    with the h_i = x_i.w, and u, of `preactivation_polynomial`."""
    X, y = X.tolist(), y.tolist()
    h = [preactivation_polynomial(X, y, j, w0) for j in range(len(y))]
    return sum((p * (p - label) for p, label in zip(h, y, strict=True)), fmpq_poly([]))


def late(rate: fmpq_poly) -> Fraction:
    """The coefficient of the lowest power of u = exp(-l t), which decides the sign late on."""
    return next(fraction(c) for c in rate.coeffs() if c)


# --- The norm that small flows in the plane lose (Theorem 4.7, first half of Lemma F.9) -----------
#
# |w(t)| may rise above its limit and fall back, however small the start; what is true instead is
# that |w|^2 drops by at most |w0|^2. An instance is a data set "X" (n, 2), "y" (n,) and a direction
# "u" of the start, by default along X^T y, which activates all data.

ROUNDING = 1e-11
"""A loss of |w|^2 below this share of |w(inf)|^2 is rounding."""


def all_active_direction(X: ArrayLike, rng: np.random.Generator) -> NDArray:
    """A random unit vector (2,) of the all-active cell, uniform in angle. X (n, 2), A1."""
    angles = np.arctan2(np.asarray(X)[:, 1], np.asarray(X)[:, 0])
    turn = rng.uniform(angles.max() - np.pi / 2, angles.min() + np.pi / 2)
    return np.array([np.cos(turn), np.sin(turn)])


def all_active_draws(sizes: tuple[int, int] = (2, 8)) -> Draws:
    """Planar data sets, each with a random direction u of the all-active cell."""
    return extended(
        data_draws(2, sizes), lambda item, rng: {"u": all_active_direction(item["X"], rng)}
    )


def _draws() -> Draws:
    """Those, and again with labels along X e_1, e_1 the top eigenvector of X^T X: c_2^* = 0."""

    def aligned(item: Instance, rng: np.random.Generator) -> Instance:
        top = np.abs(np.linalg.eigh(item["X"].T @ item["X"])[1][:, -1])
        return {"y": 10.0 ** rng.uniform(-1.0, 1.0) * item["X"] @ top}

    return setting.also("aligned", all_active_draws(), aligned)


def all_active(item: Instance) -> bool:
    """Whether the instance's direction "u" is in the all-active cell."""
    return bool(np.all(item["X"] @ item["u"] > 0.0))


def gently(item: Instance) -> bool:
    """Whether the starts of `NORMS` are in the all-active cell, and shorter than rho."""
    return all_active(item) and setting.within(item, setting.gentle_radius)


STARTED = {**ASSUMED, "w0 in the all-active cell": all_active}


def never_drops(
    says: str, draws: Draws, hypotheses: Mapping[str, Callable[[Instance], bool]],
    norms: Sequence[float] = NORMS, radius: setting.Radius = setting.guaranteed_radius,
) -> Statement:  # fmt: skip
    """|w(t)| never drops from starts of these norms, in units of the radius of the data."""

    def slack(item: Instance) -> float:
        found = np.inf
        for norm in norms:
            found = min(found, largest_norm_drop(*small_flows(item, [norm], radius)))
            if found == 0.0:
                break
        return 1.0 - planted(item) - found

    return Statement(says, draws, slack, hypotheses, tolerance=ROUNDING)


def norm_never_drops() -> Statement:
    """sv.lemF.9.1: the coincidence c_2^* = 0 is among the draws."""
    return never_drops("the norm never drops", _draws(), STARTED, radius=setting.gentle_radius)


def norm_drops_little() -> Statement:
    """sv.ours.small.norm: one less the drop of |w|^2 as a share of |w0|^2."""

    def room(item: Instance, path: Trajectory) -> float:
        w0, end = path.states[0], path.end
        drop = norm_lost(item["X"], item["y"], path) - ROUNDING * float(end @ end)
        return 1.0 - drop / float(w0 @ w0)

    def slack(item: Instance) -> float:
        return min(room(item, path) for path in small_flows(item, NORMS, setting.gentle_radius))

    hypotheses = given("sv.ours.small.norm", data=planar, start=gently)
    return Statement("the square of the norm drops by at most |w0|^2", _draws(), slack, hypotheses,
                     tolerance=1e-6)  # fmt: skip


def drops(report: Report) -> list[Evidence]:
    """Where the norm drops: among labels along the top eigenvector."""
    aligned = sum(n for kind, n in report.violations.items() if kind.startswith("aligned"))
    return [
        fact("instances on which |w(t)| drops, at all norms tried",
             sum(report.violations.values()), 0),
        note("of them with labels along the top eigenvector, c_2* = 0", aligned),
        note("instances tried", report.tried),
        note("seed", report.seed),
    ]  # fmt: skip


OVERSHOOT = (np.array([[1, 2], [2, 1]]), np.array([3, 3]), np.array([1, 0]))
"""Two data X, y and a direction v: from w0 = eps v the norm rises above |w*| and falls back."""

SMALL = (1e-2, 1e-3, 1e-4)
TINY = [Fraction(1, 10**k) for k in (4, 7, 10)]


def overshoot() -> Counterexample:
    """The norm drops, however small the start: two data with w* along the top eigenvector of H."""
    X, y, v = OVERSHOOT
    w0 = SMALL[0] * setting.unit_of_norm(X, y) * v
    lost = norm_lost(X, y, affine_flow(X, y, w0)) / float(w0 @ w0)
    rates = {eps: rate_polynomial(X, y, [eps * int(c) for c in v]) for eps in TINY}
    return Counterexample(
        instance={"X": X, "y": y, "w0": "eps (1, 0), eps > 0"},
        assumptions={
            **setting.assumptions(X, y),
            "d = 2": X.shape[1] == 2,
            "w0 in the all-active cell": bool(np.all(X @ v > 0)),
            "q(w0) > 0": setting.smallest_force(X, y, [1e-6 * v]) > 0,
            "no boundary is crossed": not any(affine_flow(X, y, size * v).events for size in SMALL),
        },
        breaks=(bound("drop of |w|^2 on the exact flow, |w0| a hundredth of min y_i / |x_i|", lost,
                      "<=", 0, "of |w0|^2"),),
        recheck=(
            fact("eps among 1e-4, 1e-7, 1e-10 with g(w(t)) > 0 at all late t (exact polynomial)",
                 sum(late(rate) > 0 for rate in rates.values()), 0),
            fact("for every eps: coefficient of exp(-2t) in g is eps^2/2 > 0",
                 all(fraction(rate[2]) == eps**2 / 2 for eps, rate in rates.items()), False),
        ),
        route="g along the flow as a polynomial in exp(-t) over the rationals, whose coefficients "
        "are of degree 2 in eps, so that three eps stand for all",
    )  # fmt: skip


def overshoot_law() -> list[Evidence]:
    """sv.thm4.7.2: by how much the norm drops on two data, and that this goes as eps^(18/7)."""
    X, y, v = OVERSHOOT
    lost = [norm_lost(X, y, affine_flow(X, y, eps * v)) for eps in SMALL]
    scaled = tuple(drop / eps ** (18 / 7) for drop, eps in zip(lost, SMALL, strict=True))
    return [
        bound("largest drop of |w|^2 on the counterexample's data, from 1e-2 (1, 0)", lost[0],
              "<=", 0, ""),
        note(f"drop of |w|^2 over eps^(18/7), eps = {', '.join(f'{e:g}' for e in SMALL)}", scaled),
    ]  # fmt: skip


def from_zero(seed: int, count: int, evaluations: int) -> list[Evidence]:
    """That the flow that leaves 0 never loses norm, followed from 1e-6 delta_0 along X^T y."""
    says, draws = "the flow from 0 loses no norm", data_draws(2, (3, 8))
    found = falsify(never_drops(says, draws, ASSUMED, (1e-6,)), seed, count, evaluations)
    return [
        fact("flows from next to 0, along X^T y, whose norm drops",
             sum(found.violations.values()) + found.search_breaks, 0),
        note("such flows, and evaluations of a search", (found.tried, found.evaluations)),
    ]  # fmt: skip


def sharp_family() -> list[Evidence]:
    """No smaller constant: x = (m, m + 1), (m + 1, m), w0 = eps (m + 2, -m), at exp(-t) = u."""
    eps, m, u = Fraction(1, 100), 60, Fraction(199, 200)
    along, across = 1 - (1 - eps) * u ** (2 * m + 1) ** 2, eps * (m + 1) * u
    lost = float((along**2 + across**2 - 1) / (eps**2 * (1 + (m + 1) ** 2)))
    return [
        bound("drop of |w|^2 on our family after exp(-t) = 199/200, m = 60, rational arithmetic",
              lost, ">", 0.98, "of |w0|^2"),
    ]  # fmt: skip


# --- Whether small flows in the plane end in a global minimum (Lemma F.8, Theorem 4.7) ------------


def keeps_all_data() -> Statement:
    """sv.lemF.8.1: where the all-active cell holds its virtual minimum."""
    hypotheses = {**ASSUMED, "q(w0) > 0": setting.nontrivial,
                  "the all-active cell holds its minimum": keeps_all}  # fmt: skip
    return at_rest("all data kept, limit is the all-active minimum", nontrivial_draws(2),
                   hypotheses, gone=True)  # fmt: skip


@statement("the all-active minimum is global", data_draws(2),
           {**ASSUMED, "the all-active cell holds its minimum": keeps_all})  # fmt: skip
def all_active_is_global(X: NDArray, y: NDArray) -> float:
    """sv.lemF.8.2: that minimum's loss less the least one, in units of L(0), is at most 1e-9."""
    told = planar_data(X[None], y[None])
    return 1e-9 - float((told.loss - told.least)[0]) / (0.5 * float(y @ y))


def better_without_the_second(X: NDArray, y: NDArray) -> Counterexample:
    """Three data whose second one the better minimum ignores."""
    all_three, two = rational.fit(X, y, [0, 1, 2]), rational.fit(X, y, [0, 2])
    found = {m.support: m.loss for m in local_minima(X, y)}
    above = found[(0, 1, 2)] - min(found.values())
    return Counterexample(
        instance={"X": X.astype(int), "y": y.astype(int), "w*": all_three.w},
        assumptions={
            **setting.assumptions(X, y),
            "d = 2": X.shape[1] == 2,
            "w* is a stationary point in the all-active cell": all_three.is_local_minimum,
        },
        breaks=(bound("L(w*) - least loss, enumerated minima", above, "<=", 0, ""),),
        recheck=(bound("L(w*) - L(2, -1), rational arithmetic",
                       all_three.loss - rational.neuron_loss(X, y, two.w), "<=", 0, ""),),
        route="both fits and their losses in rational arithmetic",
    )  # fmt: skip


def not_global(report: Report, case: Counterexample) -> list[Evidence]:
    """How often the all-active minimum is not global, and that it is not in this case."""
    return [
        fact("data sets whose all-active minimum is not global", sum(report.violations.values()),
             0),
        fact("the all-active minimum of the counterexample's data is global",
             case.breaks[0].value <= 0.0, True),
        note("data sets with a minimum in the all-active cell", report.tried),
        note("seed", report.seed),
    ]  # fmt: skip


def realisable_is_global() -> Statement:
    """sv.ours.small.realisable: the limit's loss, in units of L(0), is at most 1e-9."""

    def derive(item: Instance) -> Instance:
        return {**item, "y": item["X"] @ item["w_GM"]}

    def more(item: Instance, rng: np.random.Generator) -> Instance:
        w = all_active_direction(item["X"], rng) * 10.0 ** rng.uniform(-1.0, 1.0)
        new = derive({**item, "w_GM": w})
        return {**new, "u": setting.start_direction(new["X"], np.abs(new["y"]), rng)}

    def slack(item: Instance) -> float:
        X, y = item["X"], item["y"]
        left = max(float(loss(X, y, path.end)) for path in small_flows(item, NORMS))
        return 1e-9 - left / (0.5 * float(y @ y))

    tests = given(
        "sv.ours.small.realisable",
        data=lambda item: meets(item, "A1", "A3", d=2),
        labels=lambda item: (
            bool(np.all(item["y"] > 0.0)) and np.array_equal(item["y"], item["X"] @ item["w_GM"])
        ),
        start=setting.small,
    )
    says, draws = "labels y = X w_GM: the limit has loss zero", extended(data_draws(2), more)
    return Statement(says, draws, slack, tests, fixed=("y", "u"), derive=derive)


# --- In which cell small flows in the plane end (second half of Lemma F.9) ------------------------


def first_resting(X: ArrayLike, y: ArrayLike, cells: Sequence[NDArray]) -> int:
    """The first of the cells, by their active data, that holds its virtual minimum, or -1."""
    return next((k for k, on in enumerate(cells) if setting.meets_cell(X, y, on)), -1)


def off_boundaries(item: Instance) -> bool:
    """Whether no cell of full rank has its virtual minimum on the boundary of a datum. Where one
    has, a flow can converge to that boundary, to a point that is no local minimum."""
    X, y = np.asarray(item["X"], float), np.asarray(item["y"], float)
    for active in enumerate_cells(X).patterns:
        w, free = setting.virtual_minimum(X, y, active)
        sizes = np.linalg.norm(X, axis=1) * np.linalg.norm(w)
        if free.shape[1] == 0 and np.any(np.abs(X @ w) <= 1e-9 * sizes):
            return False
    return True


def converges_in_first_resting_cell() -> Statement:
    """sv.ours.small.first: the last cell is the first one met that holds a stationary point."""

    def slack(item: Instance) -> float:
        (path,) = small_flows(item, NORMS[:1], setting.gentle_radius)
        if path.status != "converged":  # rounding hides how the flow goes on: it has no last cell
            return np.nan
        cells = setting.visited_cells(item["X"], path)
        return 1.0 if first_resting(item["X"], item["y"], cells) == len(cells) - 1 else -1.0

    tests = given("sv.ours.small.first", data=planar, start=gently, minima=off_boundaries)
    says = "converges in the first cell with a stationary point"
    return Statement(says, all_active_draws((3, 8)), slack, tests)


INTO_A_BOUNDARY = (np.array([[1, 0], [0, 1], [1, 1]]), np.array([3, 1, 1]), np.array([1, 1]))
"""Data X, y and a direction v: the flow from eps v stays in the all-active cell and converges to a
point of its boundary, at which the cell's own virtual minimum lies."""


def end_on_boundary() -> Counterexample:
    """A flow that meets no cell with a stationary point."""
    X, y, v = INTO_A_BOUNDARY
    first = first_resting(X, y, setting.visited_cells(X, affine_flow(X, y, 1e-6 * v)))
    fitted = rational.fit(X, y, [0, 1, 2])
    exact = [preactivation_polynomial(X, y, 1, [eps * int(c) for c in v]) for eps in TINY]
    zeros = [zeros_between(polynomial, 0, 1) for polynomial in exact]
    return Counterexample(
        instance={"X": X, "y": y, "w0": "eps (1, 1), eps > 0"},
        assumptions={
            **setting.assumptions(X, y),
            "d = 2": X.shape[1] == 2,
            "w0 in the all-active cell": bool(np.all(X @ v > 0)),
        },
        breaks=(fact("of the cells met, one contains a stationary point (exact flow, linear "
                     "program)", first >= 0, True),),
        recheck=(
            fact("x_2 leaves, or the virtual minimum of the all-active cell has x_2.w > 0 "
                 "(rational)", any(zeros) or fitted.preactivations[1] > 0, True),
            note("zeros of x_2.w on t > 0, eps = 1e-4, 1e-7, 1e-10 (Sturm)", tuple(zeros)),
            note("virtual minimum of the all-active cell", fitted.w),
        ),
        route="x_2.w(t) as a polynomial in exp(-t), which has no zero, so the flow meets the "
        "all-active cell alone; its virtual minimum in rational arithmetic",
    )  # fmt: skip


def met_at_a_time() -> Reading:
    """When a cell is met, and what it is to converge in one; what the limit's own cell holds."""
    X, y, _ = INTO_A_BOUNDARY
    other = rational.fit(X, y, [0, 2])
    holds = "holds" if other.is_local_minimum else "does not hold"
    return Reading(
        "the flow meets a cell in which it is at some time, and converges in a cell to the cell's "
        "minimum, as in claim 2 of the proof",
        "if a flow meets its limit, too, (2, 0) belongs to the cell in which x_2 is inactive, for "
        f"a datum on its boundary is; this one {holds} the minimum "
        f"({', '.join(map(str, other.w))}), and the words would be met, though the flow does not "
        "come to that minimum",
    )


def met_at_the_end(case: Counterexample) -> list[Evidence]:
    """sv.lemF.9.2: the flow of this case meets no cell with a stationary point; where it ends."""
    X, y, v = INTO_A_BOUNDARY
    end = affine_flow(X, y, 1e-6 * v).end
    held = any(m.dimension == 0 and np.allclose(m.w, end) for m in local_minima(X, y))
    return [
        fact("the counterexample: some cell that the flow meets contains a stationary point",
             case.breaks[0].value, True),
        note("the counterexample: limit of the flow", tuple(map(float, end))),
        note("the counterexample: the limit is a local minimum", held),
    ]  # fmt: skip


# --- Conditions B1-B4 of Theorem F.6 at a crossing, and what they come to in the plane ------------


@dataclass(frozen=True)
class Conditions:
    """B1-B4 of Theorem F.6 at one crossing, each as a slack that is positive where it holds.

    B1     min_k of the right-hand side less |Delta e_k|
    B2     the right-hand side less y_0, in units of y_0; NaN where H or H~ is singular
    full   B3: whether H~ (and H, whose inverse B2 needs) has full rank
    B4     -x_0.w_P^* / (|x_0| |w_P^*|)
    inner  1 - x_0.H^-1 x_0, which the proof takes to be positive
    """

    B1: float
    B2: float
    full: bool
    B4: float
    inner: float

    @property
    def hold(self) -> bool:
        """Whether B1-B4 all hold."""
        return self.full and min(self.B1, self.B2, self.B4) > 0.0


def conditions(X: ArrayLike, y: ArrayLike, crossing: Crossing) -> Conditions:
    """B1-B4 at a crossing, read in the paper's favour where it leaves something open. The signs of
    e_k make c_k^* >= 0 (Definition D.2); the eigenvectors of H~ are taken in the order and with the
    signs that bring them nearest to those of H. X (n, d), y (n,)."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    before, after = X[crossing.before], X[crossing.after]
    d, w0 = X.shape[1], crossing.w
    if rank(before) < d or rank(after) < d:
        return Conditions(np.nan, np.nan, False, np.nan, np.nan)
    old = np.linalg.lstsq(before, y[crossing.before], rcond=0)[0]
    new = np.linalg.lstsq(after, y[crossing.after], rcond=0)[0]
    # From the data, not from H, whose small eigenvalues rounding would hide.
    roots, E = (v[::-1].T for v in np.linalg.svd(before, full_matrices=False)[1:])
    rates = roots**2
    E = E * np.where(E.T @ old < 0.0, -1.0, 1.0)
    turned = np.linalg.svd(after, full_matrices=False)[2][::-1].T
    c, target, size = E.T @ w0, E.T @ old, np.linalg.norm(w0)
    room = rates[0] / rates[-1] * c / size
    orders = (turned[:, list(order)] for order in permutations(range(d)))
    x, label = X[crossing.datum], y[crossing.datum]
    inner = 1.0 - float(np.sum((x @ E / roots) ** 2))
    # The bracket of B2 times c_k, so that c_k = 0 needs no division.
    bracket = (target - c) / rates - np.linalg.norm(new - w0) / size / rates[-1] * c
    right = x @ old + inner / np.linalg.norm(x) * float(np.min(bracket * rates**2))
    B1 = max(float(np.min(room - _apart(E, other))) for other in orders)
    B4 = float(-(x @ old) / (np.linalg.norm(x) * np.linalg.norm(old)))
    return Conditions(B1, float((right - label) / label), True, B4, inner)


def _apart(E: NDArray, turned: NDArray) -> NDArray:
    """|Delta e_k| (d,) under the better sign of each turned eigenvector."""
    same, opposite = (np.linalg.norm(turned - sign * E, axis=0) for sign in (1.0, -1.0))
    return np.minimum(same, opposite)


def at_crossings(item: Instance, norm: float = NORMS[1]) -> list[tuple[Crossing, Conditions]]:
    """The crossings of a small start's flow, and B1-B4 at each."""
    X, y = item["X"], item["y"]
    return [
        (step, conditions(X, y, step))
        for step in setting.crossings(X, small_flows(item, [norm])[0])
    ]


def plane_never_meets_B2() -> Statement:
    """sv.ours.crossing.plane: where the flow leaves the all-active cell."""

    def leaves(item: Instance) -> bool:
        return setting.nontrivial(item) and not keeps_all(item)

    def at(item: Instance, norm: float) -> float:
        lost = [met for step, met in at_crossings(item, norm) if step.before.all()]
        return min((-min(m.B2, m.B4) if m.full else np.nan for m in lost), default=np.nan)

    def slack(item: Instance) -> float:
        value = at(item, NORMS[1])
        return value if not value <= 0.0 else max(at(item, norm) for norm in NORMS)

    return Statement("B2, B3 and B4 do not all hold where the flow leaves the all-active cell",
                     extended(leaving_draws((3, 6)), setting.directed), slack,
                     given("sv.ours.crossing.plane", data=planar, leaves=leaves),
                     steady=False)  # fmt: skip


# --- Second route: Theorem F.6's conditions as they are printed -----------------------------------


def printed_conditions(
    X: NDArray, y: NDArray, datum: int, w0: NDArray, before: NDArray, after: NDArray
) -> tuple[float, float, float]:
    """B1, B2 and B4 at a crossing of the boundary of `datum` in w0 (d,), with the data active
    `before` and `after` it (n,), each the side that must be larger less the other: by inverses of H
    and H~, and by their eigenvectors in the order of the eigenvalues."""
    (H, q), (K, r) = ((X[on].T @ X[on], y[on] @ X[on]) for on in (before, after))
    old, new = np.linalg.inv(H) @ q, np.linalg.inv(K) @ r
    (rates, E), (_, F) = np.linalg.eigh(H), np.linalg.eigh(K)
    E = E * np.where(old @ E < 0.0, -1.0, 1.0)
    x, size = X[datum], np.linalg.norm(w0)
    apart = [
        min(np.linalg.norm(f - e), np.linalg.norm(f + e)) for e, f in zip(E.T, F.T, strict=True)
    ]
    c, target = w0 @ E, old @ E
    bracket = (target / c - 1.0) / rates - np.linalg.norm(new - w0) / size / rates[-1]
    inner = 1.0 - x @ np.linalg.inv(H) @ x
    B2 = x @ old + inner / np.linalg.norm(x) * np.min(bracket * c * rates**2) - y[datum]
    return float(np.min(rates[0] / rates[-1] * c / size - apart)), float(B2), float(-x @ old)


# --- Parallel data cross together: Theorem F.6 fails on them --------------------------------------

TOGETHER = (np.array([[6, 7], [4, 1], [0, 1], [0, 1]]), np.array([5, 7, 8, 8]), np.array([2, -1]))
"""Data X, y and a direction v: from w0 = eps v the last two data are activated together."""


def merged(item: Instance) -> Instance:
    """The same flow with no two data parallel: a class a_i u, a_i > 0, with labels y_i becomes the
    datum |a| u with the label a.y / |a|, which changes the loss by a constant."""
    X, y = np.asarray(item["X"], float), np.asarray(item["y"], float)
    rows, labels = [], []
    for members in map(sorted, setting.parallel_classes(X)):
        sizes = np.linalg.norm(X[members], axis=1)
        shares = sizes / np.linalg.norm(sizes)
        rows.append(X[members[0]] / shares[0])
        labels.append(shares @ y[members])
    return {**item, "X": np.array(rows), "y": np.array(labels)}


def _shares(X: ArrayLike, y: ArrayLike, v: ArrayLike) -> list[float]:
    """The drop of |w|^2 along the flows from eps v, eps in `SMALL`, as shares of |w0|^2."""
    starts = [eps * np.asarray(v, float) for eps in SMALL]
    return [norm_lost(X, y, affine_flow(X, y, w0)) / float(w0 @ w0) for w0 in starts]


def drop_on_parallel_data() -> list[Evidence]:
    """sv.thmF.6: by how much the norm drops on four data of which two are equal."""
    shares = _shares(*TOGETHER)
    return [
        bound("drop of |w|^2 on the counterexample's data, with B1-B4 at its one crossing",
              shares[0], "<=", 0, "of |w0|^2"),
        bound("drop of |w|^2 along the flow from eps (1, 0), eps = 0.01, on x = (1, 2), (2, 1), "
              "y = (3, 3), which crosses no boundary", _shares(*OVERSHOOT)[0], "<=", 0,
              "of |w0|^2"),
        note(f"the same from eps (2, -1), eps = {', '.join(f'{e:g}' for e in SMALL)}",
             tuple(shares)),
    ]  # fmt: skip


def one_datum() -> Reading:
    """What x_0 and H~ are where data share a boundary, and what the theorem says otherwise."""
    X, y, v = TOGETHER
    alone = merged({"X": X, "y": y})
    (step,) = setting.crossings(alone["X"], affine_flow(alone["X"], alone["y"], SMALL[-1] * v))
    label = alone["y"][-1]
    most = label * (1.0 + conditions(alone["X"], alone["y"], step).B2)
    return Reading(
        "x_0 is one datum of the boundary that is crossed, H~ is the printed sum over the data "
        "active in P~, to which equal data give a term each, and a flow that crosses nothing meets "
        "the conditions",
        "If equal data count as one, as Lemma F.1 has it, B2 fails on the counterexample: it asks "
        f"for {label:.1f} < {most:.1f}. Without parallel data the flow from eps (1, 0) on x = "
        "(1, 2), (2, 1), y = (3, 3) is left: it crosses no boundary, so that there is no "
        "condition, and its norm drops. If at least one crossing is meant, too, and no two data "
        "are parallel, the theorem is true wherever x_0.H^-1 x_0 < 1, and in the plane always.",
    )


def two_at_once() -> Counterexample:
    """B1-B4 hold at the one crossing for either x_0, and the norm drops from small starts."""
    X, y, v = TOGETHER
    paths = [affine_flow(X, y, eps * v) for eps in SMALL]
    steps = [step for path in paths for step in setting.crossings(X, path)]
    met = [conditions(X, y, step) for step in steps]
    # A crossing in (p, 0) without the flow: x_1 and x_2 are active before it, all data after it.
    on, every = X @ v > 0, np.full(len(y), True)
    places = [np.array([float(p), 0.0]) for p in TINY]
    each = [printed_conditions(X, y, k, w, on, every) for w in places for k in (2, 3)]
    printed = np.min(each, axis=0).tolist()
    rates = {p: rate_polynomial(X, y, [p, Fraction(0)]) for p in TINY}
    shares = _shares(*TOGETHER)
    return Counterexample(
        instance={"X": X, "y": y, "w0": "eps (2, -1), eps > 0"},
        assumptions={
            **setting.assumptions(X, y),
            "q(w0) > 0": setting.smallest_force(X, y, [1e-6 * v]) > 0,
            "one boundary is crossed, once, x_3 and x_4 becoming active": all(
                [step.datum for step in setting.crossings(X, path)] == [2, 3] for path in paths
            ),
            "B1 there": min(m.B1 for m in met) > 0,
            "B2 there, for x_0 = x_3 and for x_0 = x_4": min(m.B2 for m in met) > 0,
            "B3 there": all(m.full for m in met),
            "B4 there": min(m.B4 for m in met) > 0,
            "x_0.H^-1 x_0 < 1 there": min(m.inner for m in met) > 0,
        },
        breaks=(bound("drop of |w|^2 on the exact flow from eps (2, -1), eps = 0.01",
                      shares[0], "<=", 0, "of |w0|^2"),),
        recheck=(
            note("least slacks of B1, B2 and B4, as printed", tuple(printed)),
            fact("one of B1, B2, B4 fails", min(printed) <= 0.0, True),
            fact("for every crossing point (p, 0): coefficient of exp(-12t) in g is 3p^2 > 0",
                 all(late(rate) == 3 * p**2 for p, rate in rates.items()), False),
        ),
        route="B1, B2 and B4 as they are printed; the last piece of the flow as a polynomial in "
        "exp(-t) over the rationals, whose coefficients are of degree 2 in p, by three p",
    )  # fmt: skip


# --- Theorem F.6: a flow that crosses under conditions B1-B4 gains norm; how often they hold ------


def built_crossings(rng: np.random.Generator, d: int = 2) -> Instance:
    """Data made to meet B1-B4: d data fitted by w_P^*, whose last entry is negative, and one more
    almost orthogonal to w_P^*, on whose inactive side the start is."""
    tilt = rng.uniform(0.1, 0.7)
    flat = _units(rng, d - 1)[0]  # w_P^* but for its last entry
    target = np.append(np.cos(tilt) * flat, -np.sin(tilt))
    sides = _units(rng, d - 1, d)
    angles = rng.uniform(0.0, np.arctan(sides @ flat / np.tan(tilt)) - 0.05)
    sizes = 10.0 ** rng.uniform(-0.5, 0.5, (d, 1))
    X = sizes * np.column_stack([np.cos(angles)[:, None] * sides, np.sin(angles)])
    over = np.pi / 2 - tilt + tilt * 10.0 ** rng.uniform(-4.0, -1.0)
    x = 10.0 ** rng.uniform(0.0 - d, 2.0 - d) * np.append(np.cos(over) * flat, np.sin(over))
    beyond = -float(x @ target)
    inner = float(x @ np.linalg.solve(X.T @ X, x))
    label = beyond / inner * (1.0 + 10.0 ** rng.uniform(-2.0, 1.0))
    along = np.append(np.sin(over) * flat, -np.cos(over))  # in the boundary of x
    return {"X": np.vstack([X, x]), "y": np.append(X @ target, label),
            "u": along - 0.1 * tilt * rng.uniform(0.0, 1.0) * x / np.linalg.norm(x)}  # fmt: skip


def _units(rng: np.random.Generator, d: int, n: int = 1) -> NDArray:
    """n random unit vectors (n, d) of the positive orthant, none near its boundary."""
    v = np.ones((n, 1)) if d == 1 else rng.uniform(0.2, 1.0, (n, d))
    units: NDArray = v / np.linalg.norm(v, axis=1, keepdims=True)
    return units


def with_parallels(item: Instance, rng: np.random.Generator) -> Instance:
    """The same with its last datum x, y made two or three, a x and labels of their own, such that
    they pull together as hard as y x would."""
    sizes = 2.0 ** -rng.integers(0, 3, int(rng.integers(2, 4)))
    shares = rng.uniform(0.2, 1.0, sizes.size)
    labels = item["y"][-1] * shares / (sizes @ shares)
    return {"X": np.vstack([item["X"][:-1], sizes[:, None] * item["X"][-1]]),
            "y": np.append(item["y"][:-1], labels), "u": item["u"]}  # fmt: skip


def strict_under_conditions() -> Statement:
    """sv.ours.crossing.norm: data built to meet B1-B4, in the plane and in space, parallel ones
    among them, which count as one."""
    plain: Draws = {f"d = {d}": partial(built_crossings, d=d) for d in (2, 3)}
    twins = {f"{k}, parallel": one for k, one in extended(plain, with_parallels).items()}

    def alone(item: Instance) -> bool:
        found = at_crossings(merged(item))
        return bool(found) and all((s.before != s.after).sum() == 1 for s, _ in found)

    def slack(item: Instance) -> float:
        paths = small_flows(item, (0.9, 0.1, 1e-2))  # from smaller ones rounding hides a loss
        lost = [norm_lost(item["X"], item["y"], path) / (path.end @ path.end) for path in paths]
        return -float(min(lost))

    tests = given(
        "sv.ours.crossing.norm",
        data=lambda item: meets(merged(item), "A1", "A2", "A3"),
        crossings=alone,
        conditions=lambda item: all(met.hold for _, met in at_crossings(merged(item))),
        inner=lambda item: all(met.inner > 0.0 for _, met in at_crossings(merged(item))),
    )
    says = "under B1-B4 at one crossing or more the norm never drops"
    return Statement(says, {**plain, **twins}, slack, tests, tolerance=ROUNDING)


def largest_norm_drop(path: Trajectory) -> float:
    """The largest drop of |w(t)| between neighbouring points of the path, relative to |w(inf)|."""
    norms = np.linalg.norm(path.at(path.grid(60)), axis=1)
    return float(max(0.0, np.max(-np.diff(norms), initial=0.0)) / np.linalg.norm(path.end))
