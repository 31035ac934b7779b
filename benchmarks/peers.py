"""The gradient flow of one ReLU neuron by solvers that others use, at settings that suit it.

Each solver takes a problem and returns an `Answer`; what it says about itself is its own report
(`success`, an exception, a result that is not finite, or steps without end). Solvers with events
stop at each zero of an x_j.w, change that datum's activation, read the others' from the weights,
and start afresh, which is their best use on a velocity that jumps. diffrax and torchdiffeq take
part where they are installed (`benchmarks/requirements.txt`).
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import torch
from hard_cases import Answer
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

EVALUATIONS = 30_000
"""After so many evaluations of the velocity a solver is stopped: it says that it did not finish."""

RESTARTS = 200
"""So is a solver with events after so many of them."""

STEPS = 50_000
"""And descent, unless a step moves the weights by less than a part in 10^9."""


@dataclass(frozen=True)
class Problem:
    """Data X (n, d), y (n,), a start w0 (d,), the time to run, and a length of fitting weights."""

    X: NDArray
    y: NDArray
    w0: NDArray
    time: float
    unit: float


class GaveUp(Exception):
    """A solver did not finish."""


class Velocity:
    """dw/dt with the activations `on` (n,), or with those of w where `on` is None; counted."""

    def __init__(self, problem: Problem) -> None:
        self.X, self.y, self.on = problem.X, problem.y, None
        self.count = 0

    def __call__(self, _: float, w: NDArray) -> NDArray:
        self.count += 1
        if self.count > EVALUATIONS:
            raise GaveUp(f"no end after {EVALUATIONS} evaluations")
        h = self.X @ w
        return ((h > 0 if self.on is None else self.on) * (self.y - h)) @ self.X

    def jacobian(self, _: float, w: NDArray) -> NDArray:
        on = self.X @ w > 0 if self.on is None else self.on
        return -(self.X[on].T @ self.X[on])


def _lost(p: Problem, why: str) -> Answer:
    return Answer(np.full(len(p.w0), np.nan), said=why)


def by_scipy(method: str, rtol: float, p: Problem) -> tuple[Answer, int]:
    """`solve_ivp` across the jumps; the answer and the number of evaluations."""
    velocity = Velocity(p)
    more = {"jac": velocity.jacobian} if method in ("LSODA", "Radau", "BDF") else {}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            run = solve_ivp(velocity, (0.0, p.time), p.w0, method, rtol=rtol,
                            atol=1e-3 * rtol * p.unit, **more)  # fmt: skip
    except (GaveUp, ValueError, np.linalg.LinAlgError) as error:
        return _lost(p, str(error)), velocity.count
    return Answer(run.y[:, -1], said="" if run.success else run.message), velocity.count


def by_scipy_events(method: str, rtol: float, p: Problem) -> tuple[Answer, int]:
    """`solve_ivp` from event to event."""
    velocity = Velocity(p)
    more = {"jac": velocity.jacobian} if method in ("LSODA", "Radau", "BDF") else {}
    crossings = [lambda _, w, x=x: x @ w for x in p.X]
    on, w, t, changes = p.X @ p.w0 > 0.0, p.w0, 0.0, 0
    for crossing in crossings:
        crossing.terminal = True
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            while True:
                velocity.on = on
                for crossing, active in zip(crossings, on, strict=True):
                    crossing.direction = -1.0 if active else 1.0
                run = solve_ivp(velocity, (t, p.time), w, method, events=crossings, rtol=rtol,
                                atol=1e-3 * rtol * p.unit, **more)  # fmt: skip
                t, w = run.t[-1], run.y[:, -1]
                hits = [j for j, times in enumerate(run.t_events) if len(times)]
                if run.status != 1:
                    break
                before, on = on, p.X @ w > 0.0  # what has crossed unseen is seen here
                on[hits] = ~before[hits]
                changes += int((on != before).sum())
                if changes > RESTARTS:
                    return _lost(p, f"no end after {RESTARTS} events"), velocity.count
    except (GaveUp, ValueError, np.linalg.LinAlgError) as error:
        return _lost(p, str(error)), velocity.count
    return Answer(w, changes, "" if run.success else run.message), velocity.count


def by_euler(p: Problem) -> tuple[Answer, int]:
    """A NumPy loop: descent in float64 until it rests."""
    step = 0.1 / np.linalg.norm(p.X, 2) ** 2
    w = p.w0.copy()
    with np.errstate(all="ignore"):
        for k in range(STEPS):
            h = p.X @ w
            move = step * (((p.y - h) * (h > 0)) @ p.X)
            w = w + move
            if np.abs(move).max() <= 1e-9 * np.abs(w).max():
                return Answer(w), k + 1
    return _lost(p, f"not at rest after {STEPS} steps"), STEPS


def by_torch(p: Problem) -> tuple[Answer, int]:
    """The same in PyTorch as it is mostly written: autograd, torch.optim.SGD, float32."""
    X, y = (torch.tensor(v, dtype=torch.float32) for v in (p.X, p.y))
    w = torch.tensor(p.w0, dtype=torch.float32, requires_grad=True)
    step = 0.1 / float(np.linalg.norm(p.X, 2) ** 2)
    optimiser = torch.optim.SGD([w], lr=step)
    for k in range(STEPS // 10):
        optimiser.zero_grad()
        loss = 0.5 * torch.sum((torch.relu(X @ w) - y) ** 2)
        loss.backward()
        optimiser.step()
        if k % 100 == 0 and step * w.grad.abs().max() <= 1e-7 * w.detach().abs().max():
            return Answer(w.detach().double().numpy()), k + 1
    return _lost(p, f"not at rest after {STEPS // 10} steps"), STEPS // 10


def by_torchdiffeq(rtol: float, events: bool, p: Problem) -> tuple[Answer, int]:
    """torchdiffeq's dopri5 in float64; with events by `odeint_event`."""
    import torchdiffeq

    X, y, w = (torch.tensor(v, dtype=torch.float64) for v in (p.X, p.y, p.w0))
    state = {"count": 0, "on": None}

    def velocity(_, w):
        state["count"] += 1
        if state["count"] > EVALUATIONS:
            raise GaveUp(f"no end after {EVALUATIONS} evaluations")
        h = X @ w
        on = h > 0 if state["on"] is None else state["on"]
        return (on * (y - h)) @ X

    end, t, changes = torch.tensor(p.time, dtype=torch.float64), 0.0, 0
    named = {"rtol": rtol, "atol": 1e-3 * rtol * p.unit, "method": "dopri5"}
    try:
        if not events:
            path = torchdiffeq.odeint(velocity, w, torch.tensor([0.0, p.time]).double(), **named)
            return Answer(path[-1].numpy()), state["count"]
        state["on"] = X @ w > 0
        past = 1e-10 * p.unit * torch.linalg.norm(X, dim=1)  # a restart is clear of its own root

        def ahead(t, w):
            return torch.minimum((side * (X @ w) + past).min(), end - t)

        while True:
            side = torch.where(state["on"], 1.0, -1.0).double()
            event_t, path = torchdiffeq.odeint_event(
                velocity, w, torch.tensor(t, dtype=torch.float64),
                event_fn=ahead, **named,
            )  # fmt: skip
            w, t = path[-1], float(event_t)
            if t >= p.time * (1 - 1e-9):
                return Answer(w.numpy(), changes), state["count"]
            hit = int((side * (X @ w) + past).argmin())
            before, state["on"] = state["on"], X @ w > 0
            state["on"][hit] = ~before[hit]
            changes += int((state["on"] != before).sum())
            if changes > RESTARTS:
                return _lost(p, f"no end after {RESTARTS} events"), state["count"]
    except (GaveUp, AssertionError, RuntimeError, ValueError) as error:
        return _lost(p, str(error) or type(error).__name__), state["count"]


@cache
def _diffrax_run(n: int, stiff: bool, events: bool) -> Callable:
    """The compiled solve for n data."""
    import diffrax
    import jax
    import optimistix

    jax.config.update("jax_enable_x64", True)

    def velocity(_, w, args):
        X, y, on, frozen = args
        h = X @ w
        return (jax.numpy.where(frozen, on, h > 0) * (y - h)) @ X

    def ahead(y, args):
        X, _, on, _ = args
        h = jax.numpy.where(on, 1.0, -1.0) * (X @ y)  # an event is where one falls through zero
        return jax.numpy.where((X != 0).any(axis=1), h, 1.0)

    def crossing(j, t, y, args, **_):
        return ahead(y, args)[j]

    def lowest(t, y, args, **_):  # of many data, which would take minutes to compile one by one
        return ahead(y, args).min()

    parts = [partial(crossing, j) for j in range(n)] if n <= 8 else [lowest]

    @jax.jit
    def run(X, y, on, w, t, end, rtol, atol):
        finder = optimistix.Newton(1e-9, 1e-12)
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(velocity), diffrax.Kvaerno5() if stiff else diffrax.Tsit5(),
            t, end, None, w, (X, y, on, events),
            stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
            event=diffrax.Event(parts, finder, [False] * len(parts)) if events else None,
            max_steps=EVALUATIONS // 6, throw=False,
        )  # fmt: skip
        mask = jax.numpy.array(found.event_mask) if events else jax.numpy.zeros(n, bool)
        if events and n > 8:
            first = ahead(found.ys[-1], (X, y, on, events)).argmin()
            mask = mask & (jax.numpy.arange(n) == first)
        good = diffrax.is_successful(found.result) | diffrax.is_event(found.result)
        return found.ts[-1], found.ys[-1], mask, good, found.stats["num_steps"]

    return run


def by_diffrax(stiff: bool, events: bool, rtol: float, p: Problem) -> tuple[Answer, int]:
    """diffrax in float64, Tsit5 or Kvaerno5; with events by its own event and a Newton search."""
    n, d = (max(4, 1 << (k - 1).bit_length()) for k in p.X.shape)
    X, y, w = np.zeros((n, d)), np.zeros(n), np.zeros(d)
    X[: len(p.X), : len(p.w0)], y[: len(p.y)], w[: len(p.w0)] = p.X, p.y, p.w0
    run, t, changes, count = _diffrax_run(n, stiff, events), 0.0, 0, 0
    on = X @ w > 0.0
    while True:
        try:
            t, w, mask, good, steps = (
                np.asarray(v) for v in run(X, y, on, w, t, p.time, rtol, 1e-3 * rtol * p.unit)
            )
        except Exception as error:  # whatever it raises is its own report
            return _lost(p, f"{type(error).__name__}: {error}"[:100]), count
        count += int(steps) * 6
        if not good:
            return _lost(p, "not successful"), count
        if not mask.any():
            return Answer(w[: len(p.w0)], changes if events else None), count
        before, on = on, np.where(mask, ~on, X @ w > 0.0)
        changes += int((on != before).sum())
        if changes > RESTARTS or count > EVALUATIONS:
            return _lost(p, f"no end after {changes} events"), count


def solvers(rtol: float = 1e-9) -> dict[str, Callable[[Problem], tuple[Answer, int]]]:
    """All that are installed, by name."""
    found: dict[str, Callable] = {}
    for method in ("RK45", "DOP853", "LSODA", "Radau"):
        found[f"SciPy {method}"] = partial(by_scipy, method, rtol)
        found[f"SciPy {method}, events"] = partial(by_scipy_events, method, rtol)
    if importlib.util.find_spec("diffrax"):
        found["diffrax Tsit5"] = partial(by_diffrax, False, False, rtol)
        found["diffrax Tsit5, events"] = partial(by_diffrax, False, True, rtol)
        found["diffrax Kvaerno5, events"] = partial(by_diffrax, True, True, rtol)
    if importlib.util.find_spec("torchdiffeq"):
        found["torchdiffeq"] = partial(by_torchdiffeq, rtol, False)
        found["torchdiffeq, events"] = partial(by_torchdiffeq, rtol, True)
    found["NumPy descent"] = by_euler
    found["PyTorch descent"] = by_torch
    return found
