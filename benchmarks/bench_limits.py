"""The limit of gradient flow in direction: how near three ways come to it in the same wall time.

    python benchmarks/bench_limits.py [--quick] [--seconds 2]

One run prints one table. `limit` is timed first, on instances whose limit is known in closed form
(Vardi et al. 2022). Then each rival gets the same wall time, or `--seconds` if that is longer, and
stops where it is: gradient descent as a reader of the paper would write it in PyTorch (float64, a
step that does not diverge at the start), and SciPy's LSODA on d theta/dt = -grad L with the exact
gradient. What they reach is told by log10(1/L) and by the distance of theta/|theta| from the exact
limit's direction; for `limit` also that of the flow's own end, before it is polished.
A last line has what the evidence that the flow stays at its limit costs: the time of `limit` over
the same without it, one after the other for each of a few random networks.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy
import torch
from reluflow.losses import EXPONENTIAL
from reluflow.margin import limits
from reluflow.margin.limits import limit
from reluflow.networks.indexed import Network, convolutional, diagonal, fully_connected
from scipy.integrate import LSODA

S = np.sqrt(0.5)
DECADE = np.log(10.0)
STEP = 0.1


@dataclass(frozen=True)
class Problem:
    """Data X (n, d), labels 1, a start and the limit's direction, all exact."""

    name: str
    network: Network
    X: np.ndarray
    start: np.ndarray
    limit: np.ndarray

    @property
    def unit(self) -> np.ndarray:
        """The limit's direction, of length 1."""
        return self.limit / np.linalg.norm(self.limit)


def problems() -> Iterator[Problem]:
    """Printed constructions, and one of them from a start without symmetry."""
    two, three = fully_connected([2, 2]), np.array([[1.0, 0.25], [-1.0, 0.25], [0.0, -1.0]])
    filters, turned = np.array([0.0, 1.0, S, S]), np.array([0.3, 3.0, -0.1, -2.0, 3.2, 2.1])
    start, ends = np.array([0.1, 1.0, 0.05, -1.0, 1.0, 0.3]), np.array([0.0, 2.0, 0.0, -1.0, 2, 1])
    yield Problem("Theorem 3.2", two, three[:2], start, np.array([0.0, 2.0, 0.0, 0.0, 2.0, 0.0]))
    yield Problem("Lemma C.6", two, three, np.array([0.0, 3.0, 0.0, -2.0, 3.0, 2.0]), ends)
    yield Problem("C.6, turned start", two, three, turned, ends)
    yield Problem("Theorem 4.4", convolutional(2, 2), np.array([[4.0, S, -4, S]]), filters, filters)
    yield Problem("Theorem 5.1, m = 3", diagonal(2, 3), np.ones((1, 2)), np.ones(6), np.ones(6))


# The ways. Each takes a problem and the seconds it may spend, and returns the last theta (p,), the
# log of the loss there, and what else it has to say.

Outcome = tuple[np.ndarray, float, str]


def by_limit(p: Problem, _: float) -> Outcome:
    found = limit(p.network, EXPONENTIAL, p.X, np.ones(len(p.X)), p.start)
    own = float(np.linalg.norm(found.path.end[:-1] - p.unit))
    return found.theta, -found.reached * DECADE, f"{found.status}; the flow's own end {own:.1e}"


def by_torch(p: Problem, seconds: float) -> Outcome:
    """Plain descent with autograd, as the paper's networks are written in PyTorch."""
    theta = torch.tensor(p.start, requires_grad=True)
    X = torch.tensor(p.X)
    gather = [torch.tensor(np.where(g > 0, g - 1 + first, p.network.size)) for g, first in
              zip(p.network.maps, np.cumsum([0, *p.network.sizes[:-1]]), strict=True)]  # fmt: skip
    optimiser, steps = torch.optim.SGD([theta], lr=STEP), 0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        optimiser.zero_grad()
        h, padded = X, torch.cat([theta, torch.zeros(1, dtype=theta.dtype)])
        for k, where in enumerate(gather):
            h = h @ padded[where].T
            h = torch.relu(h) if k + 1 < len(gather) and p.network.activation == "relu" else h
        loss = torch.exp(-h[:, 0]).sum()
        loss.backward()
        optimiser.step()
        steps += 1
    return *_state(p, theta.detach().numpy()), f"{steps} steps of {STEP:g}"


def by_lsoda(p: Problem, seconds: float) -> Outcome:
    """LSODA in time t; a flow with loss L has come to about t = 1/L."""
    y = np.ones(len(p.X))

    def rate(_: float, theta: np.ndarray) -> np.ndarray:
        pull = EXPONENTIAL.pull(p.network.output(theta, p.X), y)
        return p.network.gradient(theta, p.X, pull)

    solver = LSODA(rate, 0.0, p.start, 1e300, rtol=1e-8, atol=1e-11)
    end = time.perf_counter() + seconds
    with np.errstate(all="ignore"):
        while solver.status == "running" and time.perf_counter() < end:
            solver.step()
    return *_state(p, solver.y), f"t = {solver.t:.1e}, {solver.status}"


def _state(p: Problem, theta: np.ndarray) -> tuple[np.ndarray, float]:
    log_loss = EXPONENTIAL.log_value(p.network.output(theta, p.X), np.ones(len(p.X)))
    return theta, float(log_loss)


def row(p: Problem, name: str, way: Callable[[Problem, float], Outcome], seconds: float) -> float:
    """Run one way, print its line, and return the seconds that it took."""
    before = time.perf_counter()
    theta, log_loss, told = way(p, seconds)
    spent = time.perf_counter() - before
    error = np.linalg.norm(theta / np.linalg.norm(theta) - p.unit)
    print(f"{p.name:20s} {name:16s} {spent:7.2f} {-log_loss / DECADE:12.1f} {error:12.1e}  {told}")
    return spent


def staying(count: int) -> float:
    """The time of `limit` over its time without the evidence that the flow stays: the median."""
    rng, kinds = np.random.default_rng(0), (fully_connected([3, 3, 3], "linear"), diagonal(4, 3))
    real, ratios = limits.departs, []
    for k in range(count):
        network = kinds[k % 2]
        X = rng.uniform(0.2, 1.0, (3, network.maps[0].shape[1]))
        start, spent = rng.uniform(0.2, 1.0, network.size), []
        for departs in (real, lambda *given: ""):
            limits.departs = departs
            before = time.process_time()
            limit(network, EXPONENTIAL, X, np.ones(len(X)), start)
            spent.append(time.process_time() - before)
        ratios.append(spent[0] / spent[1])
    limits.departs = real
    return float(np.median(ratios))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two problems, no least time")
    parser.add_argument("--seconds", type=float, default=2.0, help="the least time for a rival")
    given = parser.parse_args()
    least = 0.0 if given.quick else given.seconds
    torch.set_num_threads(1)
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
    print(f"NumPy {np.__version__}, SciPy {scipy.__version__}, PyTorch {torch.__version__}")
    print(f"{'instance':20s} {'way':16s} {'seconds':>7s} {'log10(1/L)':>12s} {'error':>12s}")
    chosen = list(problems())[: 2 if given.quick else None]
    for way in (by_limit, by_torch, by_lsoda):  # what is loaded on first use
        way(chosen[0], 0.1)
    for p in chosen:
        spent = row(p, "limit", by_limit, 0.0)
        for name, way in (("PyTorch descent", by_torch), ("SciPy LSODA", by_lsoda)):
            row(p, name, way, max(spent, least))
    print(f"limit takes {staying(2 if given.quick else 10):.2f} times as long as without staying")


if __name__ == "__main__":
    main()
