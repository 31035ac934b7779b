"""The page `tables`: Lemmas C.1 to C.5, the norms of Section 2, and Tables 1 and 2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from reluflow.falsify import Draw, Instance, Report, Statement, falsify, planted, survived
from reluflow.ledger import Counterexample, Evidence, Known, bound, fact, note, proved
from reluflow.losses import LOGISTIC
from reluflow.networks.indexed import Network, convolutional, diagonal, fully_connected
from reluflow.papers.vardi2022margin import constructions, setting
from reluflow.papers.vardi2022margin.certificates import aligned_limit, ball
from reluflow.papers.vardi2022margin.constructions import BOTH, End, Judged, Runs, S, trained
from reluflow.papers.vardi2022margin.setting import Construction, Maps, full, unshared

# --- Lemmas C.1 to C.3: which differences of squared norms gradient flow leaves as they are -------
#
# For pulls c_i of any size and sign: so for any loss. What rounding may do is bounded by the same
# sums of absolute values.

_ALIKE = 1e-12
"""Rates that differ by this share of the sum of all their terms' sizes are equal."""


def _between_layers(network: Network, products: NDArray) -> NDArray:
    parts = np.split(products, np.cumsum(network.sizes)[:-1])
    return np.diff([part.sum() for part in parts])


def _at_neurons(network: Network, products: NDArray) -> NDArray:
    pairs = pairwise(network.weights(products))
    return np.concatenate([first.sum(axis=1) - second.sum(axis=0) for first, second in pairs])


Law = tuple[str, Sequence[Maps], Callable[[Network, NDArray], NDArray], tuple[int, int]]
LAWS: Mapping[str, Law] = {
    "mm.lemC.1.1": ("squared norms of adjacent layers change alike",
                    [full], _between_layers, (2, 4)),
    "mm.lemC.1.2": ("weights into and out of a neuron change alike",
                    [full], _at_neurons, (2, 4)),
    "mm.lemC.2": ("squared norms of adjacent layers' parameters change alike",
                  [unshared, setting.network_draws_shared], _between_layers, (2, 4)),
    "mm.lemC.3": ("|w_j|^2 and v_j^2 change alike",
                  [full, unshared], _at_neurons, (2, 2)),
}  # fmt: skip
"""What is said, of which index maps, the gaps between rates by theta_k dtheta_k, and the depths."""


def change_alike(id: str) -> Statement:
    """mm.lemC.1.1, mm.lemC.1.2, mm.lemC.2, mm.lemC.3: minus the largest gap between half the rates
    of two squared norms, over the sum of the sizes of all terms of all rates."""
    says, maps, gaps, depths = LAWS[id]

    def slack(item: Instance) -> float:
        network, (theta, X, c) = item["network"], (item[name] for name in ("theta", "X", "c"))
        active = setting.slopes(network, theta, X, item["at_zero"])
        rates = network.gradient(theta, X, c, active)
        rates[: network.sizes[0]] *= planted(item)
        size = float(np.abs(theta) @ network.gradient(np.abs(theta), np.abs(X), np.abs(c), active))
        worst = np.abs(gaps(network, theta * rates)).max(initial=0.0)
        return -float(worst) / size if size else 0.0

    return Statement(says, setting.class_n_draws(maps, depths), slack, tolerance=_ALIKE,
                     fixed=("theta", "X", "c", "at_zero"))  # fmt: skip


# --- Lemma C.5: numbers with a large product have a large sum of squares --------------------------

_ROUNDING = 1e-9
"""Errors of the closed forms, relative to the value."""


def squares_of_factors() -> Statement:
    """mm.lemC.5: (sum_j a_j^2 - m C^2) / sum_j a_j^2 for real a_j and the largest C there can be,
    prod_j |a_j| = C^m; 0 where all a_j are 0."""

    def one(
        sizes: Callable[[np.random.Generator, int], NDArray], rng: np.random.Generator
    ) -> dict[str, NDArray]:
        a = sizes(rng, int(rng.integers(1, 9)))
        return {"a": a * rng.choice([-1.0, 1.0], len(a))}

    def slack(item: Instance) -> float:
        squares = item["a"] ** 2
        if not squares.all():
            return float(squares.any())
        return 1.0 - float(np.exp(np.log(squares).mean()) / squares.mean())

    return Statement("Lemma C.5", {name: partial(one, sizes) for name, sizes in SIZES.items()},
                     slack, tolerance=_ROUNDING)  # fmt: skip


def _spread(rng: np.random.Generator, m: int) -> NDArray:
    return rng.normal(size=m) * 10.0 ** rng.uniform(-12.0, 6.0, m)


def _equal(rng: np.random.Generator, m: int) -> NDArray:
    return np.full(m, rng.random() * 10.0 ** rng.uniform(-12.0, 6.0))


def _near(rng: np.random.Generator, m: int) -> NDArray:
    return _equal(rng, m) * (1.0 + 10.0 ** rng.uniform(-12.0, -1.0) * rng.normal(size=m))


SIZES: dict[str, Callable[[np.random.Generator, int], NDArray]] = {
    "any signs": _spread,
    "equal sizes": _equal,
    "nearly equal": _near,
    "some are 0": lambda rng, m: _spread(rng, m) * (rng.random(m) < 0.7),
    "whole numbers": lambda rng, m: rng.integers(1, 5, m).astype(float),
}


# --- Section 2: the least |theta|^2 for the predictor of a linear network of depth L --------------
#
# It is an increasing function of the norm that the paper names, for the sums of squares are sums
# over the factors of beta_j, or of fft(beta)_f, one from each layer.


def circular(d: int, depth: int) -> Network:
    """L - 1 layers of circular convolutions of full width d, then a full row of weights:
    h_i = sum_k w_k x_(i + k mod d), as Gunasekar et al. (2018) have it but for their 1/sqrt(d)."""
    shift = 1 + (np.arange(d)[None] - np.arange(d)[:, None]) % d
    return Network((*[shift] * (depth - 1), 1 + np.arange(d)[None]), "linear")


def predictor(network: Network, theta: ArrayLike) -> NDArray:
    """beta (..., d) of a linear network's parameters theta (..., p)."""
    return network.output(theta, np.eye(network.maps[0].shape[1]))


class Family(NamedTuple):
    """A kind of linear networks on d inputs, of depth L, the least |theta|^2 for a predictor, and
    parameters that reach it; and what is said of them."""

    says: str
    network: Callable[[int, int, np.random.Generator], Network]
    cost: Callable[[NDArray, int], float]
    minimiser: Callable[[Network, NDArray], NDArray]


def _full_minimiser(network: Network, beta: NDArray) -> NDArray:
    if not beta.any():
        return np.zeros(network.size)
    hidden = [np.eye(len(g))[0] for g in network.maps[:-1]]
    return network.parameters(aligned_limit(beta, hidden))


def _diagonal_minimiser(network: Network, beta: NDArray) -> NDArray:
    root = np.abs(beta) ** (1.0 / network.degree)
    return np.concatenate([*[root] * (network.degree - 1), np.sign(beta) * root])


def spectrum(beta: NDArray) -> NDArray:
    """fft(beta)_f for f = 0, ..., D/2; what rounding leaves of a 0 is 0, for small powers of it are
    not small."""
    values = np.fft.rfft(beta)
    return np.where(np.abs(values) > 1e-13 * np.abs(values).max(), values, 0.0)


def _circular_cost(beta: NDArray, depth: int) -> float:
    d = len(beta)
    twice = np.where(2 * np.arange(d // 2 + 1) % d == 0, 1.0, 2.0)
    return depth / d * float(np.sum(twice * np.abs(spectrum(beta)) ** (2.0 / depth)))


def _circular_minimiser(network: Network, beta: NDArray) -> NDArray:
    """The filters have the transforms |fft(beta)|^(1/L), the row the same times the phases."""
    d, values = len(beta), spectrum(beta)
    root = np.abs(values) ** (1.0 / network.degree)
    phase = values / np.where(root > 0.0, np.abs(values), 1.0)
    filters = [np.fft.irfft(root, d)] * (network.degree - 1)
    return np.concatenate([*filters, np.fft.irfft(root * phase, d)])


FULL = Family(
    "the least |theta|² is L |β|₂^(2/L)",
    lambda d, depth, rng: fully_connected([d, *rng.integers(1, 4, depth - 1).tolist()], "linear"),
    lambda beta, depth: depth * float(np.linalg.norm(beta)) ** (2.0 / depth),
    _full_minimiser,
)
DIAGONAL = Family(
    "the least |theta|² is L Σ |β_j|^(2/L)",
    lambda d, depth, rng: diagonal(d, depth, "linear"),
    lambda beta, depth: depth * float(np.sum(np.abs(beta) ** (2.0 / depth))),
    _diagonal_minimiser,
)
CIRCULAR = Family(
    "the least |theta|² is L/D Σ |fft(β)_f|^(2/L)",
    lambda d, depth, rng: circular(d, depth), _circular_cost, _circular_minimiser,
)  # fmt: skip


def _draws(family: Family) -> dict[str, Draw]:
    """Draws of {"network", "theta" (p,)}: depths 2 to 5, up to 6 inputs, and wild parameters; and
    parameters next to the least ones of a predictor, where there is nearly equality."""

    def one(
        entries: Callable[[np.random.Generator, Network], NDArray], rng: np.random.Generator
    ) -> dict[str, Any]:
        some = family.network(int(rng.integers(1, 7)), int(rng.integers(2, 6)), rng)
        return {"network": some, "theta": entries(rng, some)}

    def decades(rng: np.random.Generator, net: Network) -> NDArray:
        return rng.standard_normal(net.size) * 10.0 ** rng.uniform(-6, 3, net.size)

    def near(rng: np.random.Generator, some: Network) -> NDArray:
        theta = family.minimiser(some, rng.normal(size=(some.maps[0].shape[1],)))
        return theta * (1.0 + 1e-3 * rng.standard_normal(some.size))

    return {
        "normal": partial(one, lambda rng, net: rng.standard_normal(net.size)),
        "decades": partial(one, decades),
        "integers": partial(one, lambda rng, net: rng.integers(-2, 3, net.size).astype(float)),
        "near the least": partial(one, near),
    }


def least_length(family: Family) -> Statement:
    """mm.sec2.l2, mm.sec2.l2L, mm.sec2.fourier: |theta|^2 over the least for its predictor, less 1;
    or minus the error, if that is more, of the parameters that are to reach it: of their predictor,
    or of their |theta|^2."""

    def slack(item: Instance) -> float:
        network, theta = item["network"], item["theta"]
        beta = predictor(network, theta)
        cost, size = family.cost(beta, network.degree) * planted(item), np.abs(beta).max()
        if not cost > 0.0:
            return np.inf
        best = family.minimiser(network, beta)
        off = np.abs(predictor(network, best) - beta).max() / size
        return float(min(theta @ theta / cost - 1.0, -off, -abs(best @ best / cost - 1.0)))

    return Statement(family.says, _draws(family), slack, tolerance=_ROUNDING)


# --- Limits that must be global or local optima, tried on random networks -------------------------

GLOBAL, LOCAL = "Global", "Local"
GAP = 1e-6
"""A larger share that could be saved breaks a statement."""

Ends = tuple[tuple[str, Instance], ...]
Claimed = Callable[[Ends], Statement]
"""A statement about trained networks, which are its draws."""


class Survey(NamedTuple):
    """Trained networks of each family, with their limits and what these are: fully connected and
    linear, of depth 2, and of 3 and 4; without shared weights, depth 2, linear and ReLU; with holes
    and shared weights, depths 2 to 4, linear and ReLU, judged layer by layer."""

    full_2: Ends
    full: Ends
    sparse: Ends
    relu: Ends
    shared: Ends
    shared_relu: Ends


def train(seed: int, count: int) -> Survey:
    """Train `count` networks of the sparse linear family, fewer of the others, or some more: as
    many of each kind."""
    few, some = (max(1, count * share // 3) for share in (1, 2))
    shared = setting.trained_networks_shared
    return Survey(
        trained(setting.full_linear((2, 2)), seed, few),
        trained(setting.full_linear((3, 4)), seed, few),
        trained(setting.sparse_linear(), seed, count),
        trained(setting.sparse_relu(), seed, some),
        trained(shared("linear"), seed, some, by_layer=True),
        trained(shared("relu"), seed, some, by_layer=True),
    )


def sparse_linear_is_global(ends: Ends) -> Statement:
    """mm.thm4.2.1: a linear network of depth 2 without shared weights, no hidden neuron 0 in the
    limit, which is left of a neuron that no weight joins to the output."""
    says = "with no neuron 0 in the limit it is a global optimum"
    return _optimal(says, GLOBAL, ends, asked="weights")


def relu_is_local(ends: Ends) -> Statement:
    """mm.thm4.3.local: a ReLU network, depth 2, without shared weights, no input 0 in the limit."""
    says = "with no input 0 in the limit it is a local optimum"
    return _optimal(says, LOCAL, ends, asked="inputs")


def linear_layers_are_global(ends: Ends) -> Statement:
    """mm.thm5.2: every layer of the limit of a linear network in Problem (4)."""
    says = "every layer of the limit is a global optimum of its problem"
    return _optimal(says, GLOBAL, ends)


def relu_layers_are_local(ends: Ends) -> Statement:
    """mm.thm5.4.local: those layers of the limit of a ReLU network in Problem (4) from which on no
    input is 0; below it may be."""

    def layers(end: End) -> Sequence[Judged]:
        return [one for one in end.judged if one.layer and end.inputs_from(one.layer)]

    says = "layers from which on no input is 0 are local optima of their problem"
    return _optimal(says, LOCAL, ends, of=layers)


def tried(statement: Claimed, ends: Ends, seed: int) -> Report:
    """A statement tried on trained networks."""
    return falsify(statement(ends), seed, len(ends), 0)


def spoken_of(statement: Claimed, ends: Ends) -> list[Judged]:
    """The problems at the limits that meet a statement's hypotheses and could be decided."""
    made = statement(ends)
    return [one for _, item in ends
            if made.unmet(item) is None and np.isfinite(made.slack(item))
            for one in item["end"].judged]  # fmt: skip


ASKED: Mapping[str, tuple[str, Callable[[End], bool | None]]] = {
    "weights": ("no hidden neuron is 0 in the limit", lambda end: end.weights),
    "inputs": ("no input to a hidden neuron is 0 in the limit", lambda end: end.inputs_from(1)),
}
"""Hypotheses of which the limit's error may not tell."""


def _optimal(
    says: str,
    claimed: str,
    ends: Ends,
    asked: str = "",
    of: Callable[[End], Sequence[Judged]] = lambda end: end.judged,
) -> Statement:
    """The statement that the problems `of` an end are optima, under a hypothesis of `ASKED`. The
    slack is minus the largest share that could be saved."""
    right = ("global",) if claimed == GLOBAL else ("global", "local")
    phrase, holds = ASKED.get(asked, ("", lambda end: True))

    def slack(item: Instance) -> float:
        end: End = item["end"]
        found = of(end)
        open_ = any(one.verdict == "undecided" for one in found)
        if not end.limit.converged or holds(end) is None or open_:
            return np.nan
        wrong = [max(one.gap, 2.0 * GAP) for one in found if one.verdict not in right]
        return -max([*wrong, *(one.gap for one in found)], default=-np.inf)

    hypotheses: dict[str, Callable[[Instance], bool]] = {
        "the flow does not come to rest": lambda item: item["end"].fits,
        "a problem is spoken of": lambda item: (
            not item["end"].limit.converged or bool(of(item["end"]))),
    }  # fmt: skip
    if asked:
        hypotheses[phrase] = lambda item: holds(item["end"]) is not False
    draws = constructions.replayed(ends) or {"none": lambda _: {}}
    found = Statement(says, draws, slack, hypotheses, tolerance=GAP)
    return replace(found, witness=_spoiled(found, ends))


full_linear_is_global = partial(_optimal, "the limit is a global optimum", GLOBAL)
sparse_linear_with_inputs_is_global = partial(
    _optimal, "with no input 0 in the limit it is a global optimum", GLOBAL, asked="inputs"
)
_EVERY_LAYER = "with no input 0 in the limit every layer is a {} optimum of its problem"
linear_layers_with_inputs_are_global = partial(
    _optimal, _EVERY_LAYER.format("global"), GLOBAL, asked="inputs"
)
relu_layers_with_inputs_are_local = partial(
    _optimal, _EVERY_LAYER.format("local"), LOCAL, asked="inputs"
)
"""As in the tables: Theorem 3.1, and row 4 of either, where no input to a neuron is 0."""


def _spoiled(statement: Statement, ends: Ends) -> Instance | None:
    """The first instance that the statement speaks of, its last problem said to be no optimum."""
    for _, item in ends:
        if statement.unmet(item) is None and np.isfinite(statement.slack(item)):
            *others, last = item["end"].judged
            wrong = replace(last, verdict="not local", gap=0.5)
            return {**item, "end": replace(item["end"], judged=(*others, wrong))}
    return None


# --- Lemma C.4: in the limit |w_j| = |v_j| for each hidden neuron ---------------------------------
#
# A KKT point of Problem (2) has |w_j| = |v_j| whatever led there, so a limit that was polished to
# one proves nothing: this looks at the flows themselves.

REACH = (1e2, 9.9e3)
"""Values of log10(1/L) at which the lengths are compared."""


def balanced_in_the_limit(ends: Ends) -> list[Evidence]:
    """mm.lemC.4: the largest ||w_l| - |v_l|| / |theta| along flows of trained networks of depth 2
    without shared weights that come to a loss of 1e-9900."""
    found = []
    for _, item in ends:
        end = item["end"].limit
        if end.reached >= REACH[-1]:
            at = np.array([item["start"], *end.directions(REACH)])
            W, v = item["network"].weights(at / np.linalg.norm(at, axis=1, keepdims=True))
            apart = np.abs(np.linalg.norm(W, axis=-1) - np.abs(v[:, 0]))
            found.append(apart.max(axis=1))
    first, early, late = np.array(found).T
    seen = early > 1e-6
    return [
        bound(f"largest ||w_j| - |v_j|| where L = 1e-{REACH[-1]:.0f}", float(late.max()), "<=", 0.1,
              "of |theta|", digits=2),
        bound(f"least factor by which it falls from L = 1e-{REACH[0]:.0f} on, where above 1e-6",
              float((early[seen] / np.maximum(late[seen], 1e-16)).min()), ">=", 5.0, "", digits=2),
        note("largest ||w_j| - |v_j|| at a start", float(first.max()), "of |theta|", digits=2),
        note("flows, and those left out, which do not come to that loss",
             (len(found), len(ends) - len(found))),
    ]  # fmt: skip


# --- Theorems 2.1 and 5.2 without a kink: a linear filter w on two patches ------------------------
#
# Phi(theta; x) = v_1 w.p_1 + v_2 w.p_2 with w, v in R^2. On w = v = (a, b) the margins are q_1 =
# a (a - 2 b), q_2 = b^2, and a' = c_1 (a - b), b' = c_2 b - c_1 a, c_i = 1 / (1 + e^(q_i)).

NETWORK = convolutional(2, 2, "linear")
X = np.array([[1.0, -1.0, -1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
Y = np.ones(2)
A, EDGE = 2, Fraction(1, 4)
"""The strip: a >= A, 0 <= b <= EDGE; starts are w = v = (A, b)."""
LATE = 30.0
"""The time up to which the flow from there is followed."""


def loss_stays() -> list[Evidence]:
    """That L goes to 0 from the start that bisection finds between the two edges (Theorem 5.2)."""
    b, loss, _ = _between()
    return [
        fact("logistic loss, a linear network with one filter on two patches, both data right all "
             "the time: L goes to 0", loss < 0.5, True),
        note("the b at which flows from w = v = (2, b), 0 < b < 1/4, turn from leaving by b < 0 to "
             "leaving by b > 1/4", b, digits=4),
    ]  # fmt: skip


def neither_end() -> Counterexample:
    """A flow that stays in the strip, where datum 2 has its margin from b, which goes to 0."""
    _, loss, theta = _between()
    limit = np.array([1.0, 0.0, 1.0, 0.0])
    return Counterexample(
        instance={"network": "v₁⟨w, p₁⟩ + v₂⟨w, p₂⟩, linear, one filter w on two patches",
                  "loss": "logistic", "patches of datum 1": ((1, -1), (-1, 0)),
                  "patches of datum 2": ((0, 0), (0, 1)), "labels": (1, 1),
                  "w(0) = v(0)": "(2, b), b ≈ 0.0728 between 0 and 1/4"},
        assumptions={"linear network of depth 2 in the class N, logistic loss, gradient flow":
                         "the instance is one",
                     "L(θ(0)) < 1 for all 0 ≤ b ≤ 1/4, by enclosures": enters_below_one(),
                     "both data are right as long as a ≥ 2, 0 < b ≤ 1/4: q₁ ≥ 3 and q₂ = b²":
                         A * (A - 2 * EDGE) == 3 and bool(_margins(theta).min() > 0.0)},
        breaks=(
            bound(f"L at t = {LATE:g} from the b that bisection finds", loss, "<", 0.5, "",
                  digits=2),
            bound("y₂Φ(x₂) in the direction to which θ tends there, w = v = (1, 0)",
                  float(_margins(limit)[1]), ">", 0.0, ""),
        ),
        recheck=(
            fact("each flow from w = v = (2, b), 0 ≤ b ≤ 1/4, leaves the strip a ≥ 2, 0 ≤ b ≤ 1/4",
                 not edges_lead_out(), True),
            fact("L comes below 1/2 in the strip", not loss_is_large(), True),
        ),
        route="enclosures: both edges of the strip lead out, so that the starts that leave by the "
        "one and by the other are two open sets, and do not fill an interval",
    )  # fmt: skip


@cache
def _between() -> tuple[float, float, NDArray]:
    """b(0) at which the flow turns from leaving by b = 0 to leaving by b = EDGE, by the equations
    of a and b; L and theta (4,) at LATE from there, by the network's own gradient."""

    low, high, edge = 0.0, float(EDGE), float(EDGE)

    def out(_: float, ab: NDArray) -> float:
        return float(ab[1] * (edge - ab[1]))

    out.terminal = True  # type: ignore[attr-defined]
    while high - low > 1e-13:
        b = (low + high) / 2.0
        last = _path(_rates, [A, b], 3.0 * LATE, out)[1]
        low, high = (b, high) if last < edge / 2.0 else (low, b)
    end = _path(_velocity, [A, low, A, low], LATE)
    return low, float(LOGISTIC.value(_margins(end), Y)), end


def _path(rates: Any, start: list[float], until: float, out: Any = None) -> NDArray:
    path = solve_ivp(rates, (0.0, until), start, "DOP853", rtol=1e-10, atol=1e-12, events=out)
    return path.y[:, -1]


def _rates(_: float, ab: NDArray) -> list[float]:
    a, b = ab
    first, second = 1.0 / (1.0 + np.exp(a * (a - 2.0 * b))), 1.0 / (1.0 + np.exp(b * b))
    return [first * (a - b), second * b - first * a]


def _velocity(_: float, theta: NDArray) -> NDArray:
    return NETWORK.gradient(theta, X, LOGISTIC.pull(_margins(theta), Y))


def _margins(theta: NDArray) -> NDArray:
    return Y * NETWORK.output(theta, X)


# The strip, by enclosures.


def enters_below_one() -> bool:
    """Whether L(0) < 1 for 0 <= b <= EDGE: q_1 >= A (A - 2 EDGE) and q_2 >= 0 there."""
    return bool((1 + (-ball(A * (A - 2 * EDGE))).exp()).log() + arb(2).log() < 1)


def edges_lead_out() -> bool:
    """Whether b' > 0 for a >= A, b = EDGE (b' = -c_1 a < 0 for b = 0 is seen).

    There c_1 a < a e^(2 EDGE a - a^2), which falls in a as 1/a < 2 a - 2 EDGE; at a = A it is below
    c_2 EDGE. And a' > 0, as EDGE < A.
    """
    edge = ball(EDGE)
    pull = A * (2 * A * edge - A**2).exp()
    return bool(pull < edge / (1 + (edge * edge).exp())) and bool(1 / arb(A) < 2 * A - 2 * edge)


def loss_is_large() -> bool:
    """Whether L > 1/2 in the strip, where q_2 <= EDGE^2."""
    return bool((1 + (-ball(EDGE * EDGE)).exp()).log() > arb(1) / 2)


# --- Tables 1 and 2, filled by certificates -------------------------------------------------------

NOT_LOCAL, MIXED = "Not local", "Local, not global"
KKT_FULL = "Certificates: Theorem 3.1, of every KKT point"
KKT_TWO = "Certificates: Theorems 4.2 (1) and 4.3, of every KKT point"
KKT_LAYER = "Certificates: Theorems 5.2 and 5.4, of every KKT point"
BY_HAND = "Counterexamples: the flow and the shorter points in closed form"
DEEPER = "this section: the same with a third layer"
_RANK = {"not local": NOT_LOCAL, "local": LOCAL, "global": GLOBAL}


class Cell(NamedTuple):
    """One entry of a table: the paper's and its theorem, the one that the program `found`, how many
    certificates of each kind stand behind it, what settles it, and where the book proves it."""

    printed: str
    theorem: str
    found: str
    proofs: Mapping[str, int]
    evidence: Sequence[Evidence]
    known: Known

    @property
    def settles(self) -> dict[str, Any]:
        """The arguments with which a ledger settles the entry."""
        return {"evidence": list(self.evidence), "known": self.known}


NAMES = {"linear": "linear", "relu": "ReLU"}


@dataclass(frozen=True)
class Table:
    """A table of the paper: for each row and activation ("fc.linear", ...) its cell."""

    rows: Mapping[str, str]
    cells: Mapping[str, Cell]

    def __getitem__(self, name: str) -> Cell:
        return self.cells[name]


def table_1(survey: Survey) -> Table:
    """mm.tab1.fc.linear, mm.tab1.fc.relu, mm.tab1.noshare.linear, mm.tab1.noshare.relu,
    mm.tab1.nonzerow.linear, mm.tab1.nonzerow.relu, mm.tab1.nonzeroin.linear,
    mm.tab1.nonzeroin.relu, mm.tab1.shared.linear, mm.tab1.shared.relu: Table 1, networks of depth
    2."""
    dead, alive = printed_flows(setting.theorem_3_2()), constructions.two_data()
    rests = {name: printed_flows(setting.theorem_4_1(name)) for name in BOTH}
    tilts = {name: printed_flows(setting.theorem_4_4(name)) for name in BOTH}
    with_inputs = sparse_linear_with_inputs_is_global
    rows = {
        "fc": "fully connected",
        "noshare": "no shared weights",
        "nonzerow": "no shared weights, no neuron 0",
        "nonzeroin": "no shared weights, no input 0",
        "shared": "shared weights, no input 0",
    }
    return Table(rows, {
        "fc.linear": _all("Thm. 3.1", full_linear_is_global, survey.full_2, KKT_FULL),
        "fc.relu": _one("Thm. 3.2", dead, "the chapter's page: Theorem 3.2"),
        "noshare.linear": _one("Thm. 4.1", rests["linear"]),
        "noshare.relu": _one("Thm. 3.2", [*dead, *rests["relu"]]),
        "nonzerow.linear": _all("Thm. 4.2", sparse_linear_is_global, survey.sparse, KKT_TWO),
        "nonzerow.relu": _one("Thm. 4.2", printed_flows(alive),
                              more=constructions.neurons_not_zero([alive])),
        "nonzeroin.linear": _all("Thm. 4.2", with_inputs, survey.sparse, KKT_TWO),
        "nonzeroin.relu": _mixed("Thm. 4.3", relu_is_local, survey.relu,
                                 printed_flows(setting.lemma_C_6()), f"{KKT_TWO}; {BY_HAND}"),
        **{f"shared.{name}": _one("Thm. 4.4", tilts[name], inputs=True) for name in BOTH},
    })  # fmt: skip


def table_2(survey: Survey) -> Table:
    """mm.tab2.fc.linear, mm.tab2.fc.relu, mm.tab2.noshare.linear, mm.tab2.noshare.relu,
    mm.tab2.layer.linear, mm.tab2.layer.relu, mm.tab2.layer-nonzero.linear,
    mm.tab2.layer-nonzero.relu: Table 2, networks of any depth, with examples of depth 3."""
    dead, alive = constructions.dead_neuron(), constructions.two_data_deeper()
    even = {name: printed_flows(*(setting.theorem_5_1(m, name) for m in (3, 4))) for name in BOTH}
    with_inputs = linear_layers_with_inputs_are_global
    changed = fact("layers in which the points of this curve differ from the limit",
                   constructions.changed_layers(alive), (1,))  # fmt: skip
    rows = {
        "fc": "fully connected",
        "noshare": "no shared weights, no input 0",
        "layer": "each layer by itself",
        "layer-nonzero": "each layer by itself, no input 0",
    }
    return Table(rows, {
        "fc.linear": _all("Thm. 3.1", full_linear_is_global, (*survey.full_2, *survey.full),
                          KKT_FULL),
        "fc.relu": _one("Thm. 3.2", constructions.flows([dead]), DEEPER,
                        more=constructions.shorter_all_the_way((dead, S**2 / 2))),
        **{f"noshare.{name}": _one("Thm. 5.1", even[name], inputs=True) for name in BOTH},
        "layer.linear": _all("Thm. 5.2", linear_layers_are_global, survey.shared, KKT_LAYER),
        "layer.relu": _one("Thm. 5.3", constructions.flows([alive], 1), DEEPER, layer=1,
                           more=[*constructions.shorter_all_the_way((alive, S)), changed]),
        "layer-nonzero.linear": _all("Thm. 5.2", with_inputs, survey.shared, KKT_LAYER),
        "layer-nonzero.relu": _mixed(
            "Thm. 5.4", relu_layers_with_inputs_are_local, survey.shared_relu,
            [*printed_flows(setting.lemma_C_6(), layer=1),
             *constructions.flows([constructions.deeper_two_groups()], 1)],
            f"{KKT_LAYER}; {BY_HAND}", layer=1),
    })  # fmt: skip


def printed_flows(*made: Construction, layer: int | None = None) -> Runs:
    """Flows of the exponential loss; other pages follow these constructions on both losses."""
    return constructions.flows(made, layer, losses=("exponential",))


def _one(
    theorem: str,
    runs: Runs,
    where: str = BY_HAND,
    inputs: bool = False,
    layer: int | None = None,
    more: Sequence[Evidence] = (),
) -> Cell:
    """ "Not local": a limit that is not; with `inputs` one where no input is 0."""
    found = _weakest(run.judged.verdict for _, run in runs)
    more = [*more, *constructions.inputs_not_zero([c for c, _ in runs])] if inputs else more
    told = (_entry(found, NOT_LOCAL), *constructions.as_printed(runs, "not local", layer), *more)
    proofs = Counter(run.judged.proof for _, run in runs)
    return Cell(NOT_LOCAL, theorem, found, proofs, told, proved(where))


def _all(theorem: str, statement: Claimed, ends: Ends, where: str) -> Cell:
    """ "Global": every limit that meets the hypotheses is."""
    judged = spoken_of(statement, ends)
    found = _weakest(one.verdict for one in judged)
    told = (_entry(found, GLOBAL), *_surveyed(statement, ends))
    proofs = Counter(one.proof for one in judged)
    return Cell(GLOBAL, theorem, found, proofs, told, proved(where))


def _mixed(
    theorem: str, statement: Claimed, ends: Ends, runs: Runs, where: str, layer: int | None = None
) -> Cell:
    """ "Local, not global": every limit is a local optimum, and some are beaten from afar."""
    judged, examples = spoken_of(statement, ends), list({c.name: c for c, _ in runs}.values())
    beaten = [constructions.better_is_shorter(c)
              and (layer is None or constructions.changed_layers(c) == (layer,))
              for c in examples]  # fmt: skip
    every = [*judged, *(run.judged for _, run in runs)]
    found = _weakest(one.verdict for one in every)
    if found != NOT_LOCAL and all(beaten):
        found = MIXED
    told = (
        _entry(found, MIXED),
        *_surveyed(statement, ends),
        *constructions.as_printed(runs, "local", layer),
        *constructions.inputs_not_zero(examples),
        fact("of these limits shorter points exist far away, in exact numbers", sum(beaten),
             len(examples)),
    )  # fmt: skip
    proofs = Counter(one.proof for one in every)
    return Cell(MIXED, theorem, found, proofs, told, proved(where))


def _surveyed(statement: Claimed, ends: Ends) -> list[Evidence]:
    """What a survey says; its seed is told with the theorem's own claim."""
    checks = [item for item in survived(tried(statement, ends, 0)) if item.what != "seed"]
    problems = len(spoken_of(statement, ends))
    return [*checks, note("problems judged", problems)]


def _entry(found: str, printed: str) -> Evidence:
    return fact("the entry that the program finds", found, printed)


def _weakest(verdicts: Iterable[str]) -> str:
    """The entry that verdicts on limits allow; "no limit" without any."""
    seen = set(verdicts)
    return next((_RANK[name] for name in _RANK if name in seen), "no limit")
