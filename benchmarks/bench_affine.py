"""Example 5.1's three flows: the closed form against descent loops and SciPy's integrators.

    python benchmarks/bench_affine.py [--quick]

One run prints one table. Every time is for the three flows together. Every ratio is to
`affine_flow` in the same run: of seconds by the wall clock, and of processor seconds, which a busy
machine disturbs less (they add up over threads). Errors are relative, the worst of the three flows,
against the 50-digit reference of `tests/reference_flow.py`, which is computed before any clock
starts. A descent run stands for the flow only up to its step, and gives event times only where they
come for free.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import scipy
import torch
from scipy.integrate import solve_ivp

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from reference_flow import ReferenceFlow, reference_flow
from reluflow.datasets import load
from reluflow.flows.affine import affine_flow
from reluflow.papers.lee2022support.examples import descent, flips, settings

DATA = load("example-5.1")
X, Y = np.array(DATA.X), np.array(DATA.y)
PRINTED = settings("example-5.1")
STEP, ITERATIONS, STARTS = PRINTED.step, PRINTED.iterations, PRINTED.initial_points
QUICK = 5_000


@dataclass(frozen=True)
class Outcome:
    """Where a method ended (d,) and its event times, None where it does not report them."""

    end: np.ndarray
    times: list[float] | None


Seconds = tuple[float, float]


@dataclass(frozen=True)
class Row:
    """One line of the table: times for the three flows, and the worst errors over them.

    `seconds` is a pair, by the wall clock and of processor time.
    """

    method: str
    setting: str
    seconds: Seconds
    end_error: float | None
    event_error: float | None
    note: str = ""


# The methods. Each takes a start (d,) and returns an Outcome.


def by_affine_flow(w0: np.ndarray) -> Outcome:
    flow = affine_flow(X, Y, w0)
    return Outcome(flow.end, [event.t for event in flow.events])


def by_affine_descent(w0: np.ndarray) -> Outcome:
    path = descent(X, Y, w0, STEP, ITERATIONS)
    return Outcome(path[-1], [k * STEP for k, _, _ in flips(X, path)])


def by_paper(dtype: torch.dtype, iterations: int) -> Callable[[np.ndarray], Outcome]:
    """The paper's procedure: autograd and torch.optim.SGD on 1/2 sum ([w.x_i]_+ - y_i)^2."""
    inputs, labels = torch.tensor(X, dtype=dtype), torch.tensor(Y, dtype=dtype)

    def run(w0: np.ndarray) -> Outcome:
        w = torch.tensor(w0, dtype=dtype, requires_grad=True)
        optimiser = torch.optim.SGD([w], lr=STEP)
        for _ in range(iterations):
            optimiser.zero_grad()
            loss = 0.5 * torch.sum((torch.relu(inputs @ w) - labels) ** 2)
            loss.backward()
            optimiser.step()
        return Outcome(w.detach().double().numpy(), None)

    return run


def by_torch_loop(dtype: torch.dtype, iterations: int) -> Callable[[np.ndarray], Outcome]:
    """A leaner PyTorch loop: the gradient by hand, no graph, the weights updated in place."""
    inputs, labels = torch.tensor(X, dtype=dtype), torch.tensor(Y, dtype=dtype)

    def run(w0: np.ndarray) -> Outcome:
        w = torch.tensor(w0, dtype=dtype)
        with torch.inference_mode():
            for _ in range(iterations):
                h = inputs @ w
                w.sub_(((h - labels) * (h > 0)) @ inputs, alpha=STEP)
        return Outcome(w.double().numpy(), None)

    return run


def by_numpy_loop(iterations: int) -> Callable[[np.ndarray], Outcome]:
    """The same loop in NumPy, float64."""

    def run(w0: np.ndarray) -> Outcome:
        w = w0.copy()
        for _ in range(iterations):
            h = X @ w
            w -= STEP * (((h - Y) * (h > 0)) @ X)
        return Outcome(w, None)

    return run


def by_solve_ivp(
    method: str, tolerance: float, horizons: dict[bytes, float]
) -> Callable[[np.ndarray], Outcome]:
    """SciPy's integrator cell by cell: terminal events at every boundary, a restart at each.

    It is told the time at which to stop, and gets H and q of the cell, and the exact Jacobian.
    """

    def run(w0: np.ndarray) -> Outcome:
        w, t, times = w0, 0.0, []
        active = X @ w > 0
        while True:
            H, q = X[active].T @ X[active], Y[active] @ X[active]
            events = [lambda _, w, x=x: x @ w for x in X]
            for event, on in zip(events, active, strict=True):
                # Only the crossing that the present state allows, so a restart finds no false one.
                event.terminal, event.direction = True, -1.0 if on else 1.0
            jacobian = {} if method == "DOP853" else {"jac": -H}
            if method == "LSODA":
                jacobian = {"jac": lambda _t, _w, H=H: -H}
            part = solve_ivp(
                lambda _, w, H=H, q=q: q - H @ w,
                (t, horizons[w0.tobytes()]),
                w,
                method=method,
                events=events,
                rtol=tolerance,
                atol=tolerance,
                **jacobian,
            )
            if part.status < 0:
                raise RuntimeError(f"{method} at {tolerance:g}: {part.message}")
            t, w = part.t[-1], part.y[:, -1]
            if part.status == 0:
                return Outcome(w, times)
            for j, hits in enumerate(part.t_events):
                if len(hits):
                    active[j] = not active[j]
                    times.append(t)

    return run


# Measuring.


def stopwatch(run: Callable[[np.ndarray], Outcome], repeats: int) -> list[Seconds]:
    """Wall and processor seconds for the three flows together, once per repeat."""
    seconds = []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        for w0 in STARTS:
            run(w0)
        seconds.append((time.perf_counter() - wall, time.process_time() - processor))
    return seconds


def medians(seconds: list[Seconds]) -> Seconds:
    """The median of either clock."""
    return median(wall for wall, _ in seconds), median(processor for _, processor in seconds)


def errors(
    run: Callable[[np.ndarray], Outcome], exact: list[ReferenceFlow]
) -> tuple[float, float | None]:
    """Worst relative errors of end point and event times; inf where an event is missing."""
    ends, events = [], []
    for w0, flow in zip(STARTS, exact, strict=True):
        outcome = run(w0)
        end = np.array([float(v) for v in flow.end])
        ends.append(np.linalg.norm(outcome.end - end) / np.linalg.norm(end))
        if outcome.times is None:
            events.append(None)
        elif len(outcome.times) != len(flow.times):
            events.append(np.inf)
        else:
            pairs = zip(outcome.times, flow.times, strict=True)
            events.append(max((float(abs(t - s) / s) for t, s in pairs), default=0.0))
    return float(max(ends)), None if None in events else float(max(events))


def fast_row(
    method: str,
    setting: str,
    run: Callable[[np.ndarray], Outcome],
    exact: list[ReferenceFlow],
    repeats: int,
) -> Row:
    """Median time of `repeats` runs, after one that warms up and gives the errors."""
    worst = errors(run, exact)
    return Row(method, setting, medians(stopwatch(run, repeats)), *worst)


def loop_row(
    method: str,
    setting: str,
    make: Callable[[int], Callable[[np.ndarray], Outcome]],
    exact: list[ReferenceFlow],
    iterations: int,
) -> Row:
    """One timed run of a loop over the iterations, scaled up where there were fewer of them."""
    stopwatch(make(100), 1)
    outcomes = {}

    def run(w0: np.ndarray) -> Outcome:
        outcomes[w0.tobytes()] = make(iterations)(w0)
        return outcomes[w0.tobytes()]

    wall, processor = stopwatch(run, 1)[0]
    seconds = (wall * ITERATIONS / iterations, processor * ITERATIONS / iterations)
    if iterations < ITERATIONS:
        return Row(method, setting, seconds, None, None, f"extrapolated from {iterations} steps")
    return Row(method, setting, seconds, *errors(lambda w0: outcomes[w0.tobytes()], exact))


def horizons_of(exact: list[ReferenceFlow]) -> dict[bytes, float]:
    """When to stop: the slowest transient of the last cell has fallen by exp(-36)."""
    return {
        w0.tobytes(): float(flow.segments[-1].start + 36 / min(flow.segments[-1].rates))
        for w0, flow in zip(STARTS, exact, strict=True)
    }


def measure(quick: bool) -> list[Row]:
    """All rows of the table."""
    exact = [reference_flow(X, Y, w0) for w0 in STARTS]
    iterations = QUICK if quick else ITERATIONS
    repeats = 5 if quick else 15
    default_threads = torch.get_num_threads()

    # affine_flow is timed at the start, in the middle and at the end, against drift of the machine.
    worst = errors(by_affine_flow, exact)
    flow_seconds = stopwatch(by_affine_flow, repeats)
    rows = []
    for tolerance in (1e-6, 1e-9, 1e-12, 3e-14):
        for method in ("LSODA", "Radau", "DOP853"):
            run = by_solve_ivp(method, tolerance, horizons_of(exact))
            label = f"rtol = atol = {tolerance:.0e}"
            rows.append(fast_row(f"solve_ivp {method}", label, run, exact, max(3, repeats // 5)))
            print(f"  measured {method} at {tolerance:g}", file=sys.stderr)
    flow_seconds += stopwatch(by_affine_flow, repeats)
    label = f"{ITERATIONS} steps"
    rows.append(fast_row("affine_descent", label, by_affine_descent, exact, repeats))
    rows.append(loop_row("NumPy loop", "float64", by_numpy_loop, exact, iterations))
    for threads in dict.fromkeys((1, default_threads)):
        torch.set_num_threads(threads)
        count = f"{threads} thread" + ("s (default)" if threads == default_threads else "")
        for dtype in (torch.float32, torch.float64):
            label = f"{str(dtype).removeprefix('torch.')}, {count}"
            for name, maker in (("paper's procedure", by_paper), ("PyTorch loop", by_torch_loop)):
                make = partial(maker, dtype)
                rows.append(loop_row(name, label, make, exact, iterations))
                print(f"  measured {name}, {label}", file=sys.stderr)
    torch.set_num_threads(default_threads)
    flow_seconds += stopwatch(by_affine_flow, repeats)
    return [Row("affine_flow", "", medians(flow_seconds), *worst), *rows]


# Printing.


def cpu_name() -> str:
    """The processor's model name where Linux tells it, else what Python knows."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def table(rows: list[Row]) -> str:
    """The rows as aligned text."""

    def error(value: float | None) -> str:
        return "-" if value is None else ("0" if value == 0 else f"{value:.0e}")

    unit = rows[0].seconds
    head = (
        "method",
        "setting",
        "seconds",
        "CPU s",
        "ratio",
        "CPU ratio",
        "end err",
        "event err",
        "",
    )
    cells = [head] + [
        (
            row.method,
            row.setting,
            *(f"{s:.4g}" for s in row.seconds),
            *(f"{s / u:.3g}" for s, u in zip(row.seconds, unit, strict=True)),
            error(row.end_error),
            error(row.event_error),
            row.note,
        )
        for row in rows
    ]
    widths = [max(len(line[k]) for line in cells) for k in range(len(head))]
    lines = [
        "  ".join(
            cell.rjust(width) if 2 <= k <= 7 else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"{QUICK} iterations of each loop, times extrapolated: a minute in place of many",
    )
    quick = parser.parse_args().quick
    print(f"{cpu_name()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"numpy {np.__version__}, scipy {scipy.__version__}, torch {torch.__version__}")
    starts = ", ".join(f"({a:g}, {b:g})" for a, b in STARTS)
    print(f"Example 5.1, the flows from {starts} together; descent: step {STEP}")
    if quick:
        print(f"Quick: the loops ran {QUICK} of {ITERATIONS} iterations; times are extrapolated.")
    print(table(measure(quick)))


if __name__ == "__main__":
    main()
