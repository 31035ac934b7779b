"""Lemmas C.1 to C.3: which differences of squared norms gradient flow leaves as they are.

Phi is homogeneous of degree 1 in each layer, so by Euler's identity <u^(l), d Phi / d u^(l)> = Phi
for every layer l, and half the rate of |u^(l)|^2 is sum_i c_i Phi(theta; x_i) with the pulls c_i =
-y_i l'(y_i Phi): the same for all layers and any loss. Without sharing the weights into and out of
one hidden neuron are such a pair too. At a kink s'(0) meets an input 0, whatever its value in [0,
1]: the identity holds for each of Clarke's subgradients, so also where the flow slides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
from flint import fmpq
from numpy.typing import NDArray
from scipy.integrate import BDF, DOP853

from reluflow.falsify import Instance, Statement, planted, survey
from reluflow.flows.charts import LOG_LOSS, TIME, Plain, Polar
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.ledger import Evidence, bound, fact, note
from reluflow.losses import EXPONENTIAL, LOGISTIC, SQUARE
from reluflow.networks.indexed import Network
from reluflow.networks.objective import Objective
from reluflow.papers.vardi2022margin.balance_exact import (
    Layer,
    ascent,
    neuron_gaps,
    rationals,
    size,
    small_maps,
)
from reluflow.papers.vardi2022margin.network_draws import (
    Maps,
    class_n_draws,
    full,
    shared,
    unshared,
)

TOLERANCES = (1e-3, 1e-5, 1e-7)
"""The integrator's, of the flows whose drift is measured."""
LARGEST = 1e-4
"""Drifts up to this part of |theta|^2 are the integrator's, at its smallest tolerance."""
STEPS = 200
"""Steps after which a flow is given up; it counts as far as it went."""
LOSSES = (EXPONENTIAL, LOGISTIC, SQUARE)


def exact_layers(item: Instance) -> list[Layer]:
    """The layers of a drawn network with their exact velocities."""
    network = item["network"]
    at_zero = item["at_zero"] if network.activation == "relu" else None
    return ascent(network.maps, item["theta"], item["X"], item["c"], at_zero)


def _alike(
    says: str, maps: Sequence[Maps], gaps: Callable[[list[Layer]], list[fmpq]], depths=(2, 4)
) -> Statement:
    """The gaps between rates are 0: in rational arithmetic, so that no tolerance is needed."""

    def slack(item: Instance) -> float:
        first, *others = exact_layers(item)
        factor = rationals([planted(item)])[0]
        faster = [[factor * rate for rate in row] for row in first.dW]
        layers = [replace(first, du=[factor * rate for rate in first.du], dW=faster), *others]
        worst = max((abs(gap) for gap in gaps(layers)), default=fmpq(0))
        part = worst / size(layers) if worst else fmpq(0)
        return -(int(part.p) / int(part.q))

    numbers = ("theta", "X", "c", "at_zero")
    return Statement(says, class_n_draws(maps, depths), slack, fixed=numbers)


def _between_layers(layers: list[Layer]) -> list[fmpq]:
    return [a.parameters - b.parameters for a, b in pairwise(layers)]


def layers_alike() -> Statement:
    """mm.lemC.1.1: |W_j|_F^2 - |W_(j+1)|_F^2 has the rate 0 in every fully connected network, for
    any loss and at kinks too (Lemma C.1)."""
    return _alike("squared norms of adjacent layers change alike", [full], _between_layers)


def neurons_alike() -> Statement:
    """mm.lemC.1.2: |W_j[i, :]|^2 - |W_(j+1)[:, i]|^2 has the rate 0 for every hidden neuron of a
    fully connected network, for any loss and at kinks too (Lemma C.1)."""
    return _alike("weights into and out of a neuron change alike", [full], neuron_gaps)


def parameters_alike() -> Statement:
    """mm.lemC.2: |u^(j)|^2 - |u^(j+1)|^2 has the rate 0 in every network of class N, for any loss
    and at kinks too (Lemma C.2)."""
    says = "squared norms of adjacent layers' parameters change alike"
    return _alike(says, [unshared, shared], _between_layers)


def hidden_neurons_alike() -> Statement:
    """mm.lemC.3: |w_j|^2 - v_j^2 has the rate 0 for every hidden neuron of a depth-2 network whose
    weights are not shared, for any loss and at kinks too (Lemma C.3)."""
    says = "|w_j|^2 and v_j^2 change alike"
    return _alike(says, [full, unshared], neuron_gaps, depths=(2, 2))


def _count(maps: Maps, breaks: Callable[[list[Layer]], bool], seed: int, count: int) -> int:
    """How many of `count` networks of these maps break something."""
    rng, draws = np.random.default_rng(seed), list(class_n_draws([maps]).values())
    return sum(breaks(exact_layers(draws[k % len(draws)](rng))) for k in range(count))


def without_full_connection(seed: int, count: int) -> list[Evidence]:
    """How often Lemma C.1's law of single neurons fails in sparse networks, of any depth."""
    apart = [_count(maps, lambda layers: any(neuron_gaps(layers)), seed, count)
             for maps in (unshared, shared)]  # fmt: skip
    return [
        note("sparse networks of depth 2 to 4 without sharing that break it for a neuron, of how "
             "many", (apart[0], count)),
        note("networks with shared weights that break it", (apart[1], count)),
    ]  # fmt: skip


def norms_of_matrices(seed: int, count: int) -> list[Evidence]:
    """How often Lemma C.2 fails with the matrices' norms in the place of the parameters'."""

    def apart(layers: list[Layer]) -> bool:
        return any(a.matrix != b.matrix for a, b in pairwise(layers))

    return [note("networks with shared weights in which |W_j|_F^2 - |W_j+1|_F^2 moves, of how many",
                 (_count(shared, apart, seed, count), count))]  # fmt: skip


def sharing() -> list[Evidence]:
    """Lemma C.3 in every depth-2 linear network with up to 2 inputs and 2 neurons, by which weights
    are shared; one whole-number point decides where it fails, three more where it holds."""
    points = [(k * np.arange(1, 7) ** 2 % 11 + 1.0, [[1.0, k + 1.0]]) for k in (1, 2, 3, 4)]
    fails, kept = [], 0
    for maps in small_maps(2):
        sizes = [int(g.max()) for g in maps]
        if sizes == [g.size for g in maps]:
            continue
        d = maps[0].shape[1]
        broken = any(
            any(neuron_gaps(ascent(maps, theta[: sum(sizes)], np.array(x)[:, :d], [1.0], None)))
            for theta, x in points
        )
        kept += not broken
        if broken:
            fails.append((sum(sizes), maps[0].size, maps))
    fails.sort(key=lambda found: found[:2])
    apart = [found for found in fails if all(len(set(row)) == len(row) for row in found[2][0])]
    smallest = [" and ".join(str(g.tolist()) for g in few[0][2]) for few in (fails, apart)]
    return [
        note("networks of at most 2 inputs and 2 neurons with shared weights that break it, and "
             "that do not", (len(fails), kept)),
        note("maps of the smallest that breaks it", smallest[0]),
        note("and of the smallest where no weight occurs twice in one neuron", smallest[1]),
    ]  # fmt: skip


def _cases(seed: int, count: int) -> Iterator[tuple[Network, NDArray, NDArray, NDArray, int]]:
    """Networks of all three kinds of maps, starts (p,), data, labels, and a number."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        maps = (full, unshared, shared)[k % 3]
        depth = 2 if maps is unshared else int(rng.integers(2, 5))
        widths = [*rng.integers(1, 4, depth).tolist(), 1]
        network = Network(maps(rng, widths), ("relu", "relu", "linear")[k // 3 % 3])
        n = int(rng.integers(1, 4))
        X = rng.standard_normal((n, widths[0])) * 10.0 ** rng.uniform(-1.0, 1.0, (n, 1))
        yield network, rng.standard_normal(network.size), X, rng.choice([-1.0, 1.0], n), k


def _drift(
    case: tuple[Network, NDArray, NDArray, NDArray, int],
) -> dict[str, float | str] | None:
    """One flow at every tolerance: over three times the time in which its first velocity is its
    length, or until the loss has fallen by e^5."""
    network, start, X, y, k = case
    loss = LOSSES[k % 7 % 3]
    far = k % 4 == 3 and loss is not SQUARE
    pull = np.linalg.norm(Objective(network, loss, X, y).gradient(start, relative=far))
    if not pull > 0.0:
        return None
    chart = Polar(network) if far else Plain(network)
    field = GradientFlow(chart, loss, X, y, LOG_LOSS if far else TIME)
    z = chart.coordinates(start)
    until = field.begin(z) + (5.0 if far else float(3.0 * np.linalg.norm(start) / pull))
    row: dict[str, float | str] = {}
    method = BDF if far else DOP853  # where the loss cannot fall, its clock makes the flow stiff
    for tolerance in TOLERANCES:
        path = integrate(field, z, until, rtol=tolerance, method=method, max_steps=STEPS)
        u, rho = chart.parameters(path.at(np.linspace(path.t[0], path.t[-1], 40)))
        thetas = np.exp(rho)[:, None] * u
        longest = (thetas**2).sum(axis=1).max()
        layers, neurons = squared_differences(network, thetas)
        for name, values in (("layers", layers), ("neurons", neurons)):
            apart = np.abs(values - values[0]).max(initial=0.0) / longest
            row[f"{name} {tolerance:g}"] = float(apart)
        squares = (thetas**2).sum(axis=1)
        row |= {"moved": float(np.ptp(squares) / longest), "status": path.status}
    kind = ("full", "unshared", "shared")[k % 3]
    return {**row, "kind": kind, "loss": loss.name, "events": len(path.events)}


def squared_differences(network: Network, thetas: NDArray) -> tuple[NDArray, NDArray]:
    """|u^(j)|^2 - |u^(j+1)|^2 of adjacent layers (k, m - 1), and the squared norm of the incoming
    less that of the outgoing weights of every hidden neuron (k, units), of parameters (k, p)."""
    ends = np.cumsum(network.sizes)[:-1]
    norms = np.array([(u**2).sum(axis=1) for u in np.split(thetas, ends, axis=1)])
    weights = network.weights(thetas)
    neurons = [(a**2).sum(axis=-1) - (b**2).sum(axis=-2) for a, b in pairwise(weights)]
    return -np.diff(norms, axis=0).T, np.concatenate(neurons, axis=1)


def drifts(seed: int, count: int) -> pd.DataFrame:
    """How far the differences drift along `count` flows, at each of three tolerances.

    Flows of all kinds of maps, linear and ReLU, under the exponential, the logistic and the square
    loss, in time, or on the clock log(1/L). One row a flow: the largest drift of layers and of
    neurons at each tolerance and how much |theta|^2 `moved`, in units of the largest |theta|^2;
    `kind` of the maps; `loss`; `events`, and the `status` in which it ended.
    """
    return survey(_cases(seed, count), _drift)


def kept(found: pd.DataFrame, what: str, kinds: Sequence[str]) -> list[Evidence]:
    """The drift of "layers" or "neurons" under refinement, on the flows of these kinds of maps."""
    some = found[found.kind.isin(kinds)]
    drift = [some[f"{what} {tolerance:g}"].to_numpy() for tolerance in TOLERANCES]
    moves = drift[0] > 1e-9
    factors = [float(np.median(a[moves] / np.maximum(b[moves], 1e-16))) for a, b in pairwise(drift)]
    return [
        fact(f"flows that drift by {LARGEST:g} of |theta|^2 at the tolerance {TOLERANCES[-1]:g}",
             int((drift[-1] > LARGEST).sum()), 0, tried=len(some)),
        bound("median factor by which a tolerance 100 times smaller lessens the drift, the "
              "lesser of two", min(factors), ">=", 5.0, "", digits=2),
        note("flows, and those in which |theta|^2 moves by a tenth of itself",
             (len(some), int((some.moved > 0.1).sum()))),
        note("flows with a change of activity, and flows that end at a kink",
             (int((some.events > 0).sum()),
              int(some.status.isin(["sliding", "non-unique"]).sum()))),
    ]  # fmt: skip
