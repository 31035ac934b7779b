"""`python tests/witnesses.py [NOTEBOOK ...]`: finds witnesses for the statements that pages try.

Runs the pages with few draws. For every statement that has no witness yet it moves what was drawn
out of the statement's reach, one array at a time and then two, until the slack is negative, best
where a hypothesis fails; what it finds it rounds to as few digits as still do. Where nothing moves
it there, a drawn instance is written down with its slack, at which a stronger claim would fail. The
rest it lists: those need a witness of their own, by hand.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
from nbclient import NotebookClient
from numpy.typing import NDArray
from reluflow import pages
from reluflow.falsify import attempt
from reluflow.falsify.statement import PLANTED, Instance, Statement, decoded, encoded, witness
from reluflow.places import CHAPTERS, LIBRARY, WITNESSES

TRIES, KEPT, SECONDS, PATIENCE, DEPTH = 600, 40, 1.0, 30.0, 2
FACTORS = (-1.0, 0.1, 10.0, 0.5, 2.0, 1e3, 1e-3)
LONGEST = 6000
"""Characters of an instance that is written down."""
LEAST, MOST = 1e-5, 1e9
"""A slack at a witness is between these: neither rounding nor out of all proportion."""
PAGES = {"01": "lee2022support", "02": "lee2023magnitude", "03": "min2024early",
         "04": "phuong2021inductive", "05": "vardi2022margin"}  # fmt: skip
_BEFORE = "import sys; sys.path.insert(0, {tests!r}); import witnesses; witnesses.listen()"

Tried = tuple[Statement, list[Instance]]
HEARD: dict[str, Tried] = {}


def listen() -> None:
    """Keep the statements that are tried in this process, and some of what is drawn for each."""
    draw = attempt._drawn

    def drawn(statement: Statement, *rest: Any) -> Iterator[Any]:
        kept = HEARD.setdefault(statement.says, (statement, []))[1]
        for found in draw(statement, *rest):
            if len(kept) < KEPT:
                kept.append(found.instance)
            yield found

    attempt._drawn = drawn


def find(paper: str) -> None:
    """Write down witnesses for what was heard, and print what has none."""
    file = WITNESSES / f"{paper}.json"
    known = json.loads(file.read_text("utf-8")) if file.exists() else {}
    for says, (statement, drawn) in HEARD.items():
        if drawn and witness(statement) is None:
            found = broken_at(statement, drawn) or stronger_at(statement, drawn)
            if found is None:
                print(f"NONE {says}")
                continue
            known[says] = found | rejects(statement, drawn)
    file.parent.mkdir(exist_ok=True)
    lines = [f"{json.dumps(k, ensure_ascii=False)}: {json.dumps(v)}" for k, v in known.items()]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def written(at: Instance, digits: int = 17) -> dict[str, Any] | None:
    """The instance, its floats rounded, as data; None where there is none, or too much of it."""
    with contextlib.suppress(TypeError):
        data = encoded({name: _rounded(value, digits) for name, value in at.items()})
        return data if len(json.dumps(data)) <= LONGEST else None
    return None


def shortest(at: Instance, good: Callable[[Instance], bool]) -> dict[str, Any] | None:
    """The instance as data, its floats to the fewest digits with which it still is good."""
    tries = (written(at, digits) for digits in (1, 2, 3, 17))
    return next((data for data in tries if data is not None and good(decoded(data))), None)


def broken_at(statement: Statement, drawn: list[Instance]) -> dict[str, Any] | None:
    """An instance at which the statement fails, outside a hypothesis if there is one."""
    best = None
    wrong = ({**at, PLANTED: factor} for factor in (1.01, 0.99, 2.0, 0.5) for at in drawn)
    for moved in chain(patiently(moves(drawn)), wrong):
        if not fails(statement, moved):
            continue
        if PLANTED in moved and best is not None:
            break
        if (unmet := _unmet(statement, moved)) or best is None:
            best = moved
        if unmet:
            break
    return None if best is None else _short(statement, best)


def patiently(tries: Iterable[Instance]) -> Iterator[Instance]:
    """So many of them, and no longer than PATIENCE."""
    end = time.monotonic() + PATIENCE
    for moved in islice(tries, TRIES):
        if time.monotonic() > end:
            return
        yield moved


def rejects(statement: Statement, drawn: list[Instance]) -> dict[str, Any]:
    """For each hypothesis an instance that it rejects, of those that move what was drawn."""
    found: dict[str, Any] = {}
    for moved in patiently(moves(drawn)):
        for name, test in statement.hypotheses.items():
            if name not in found and _is_rejected(test, moved):
                data = shortest(moved, partial(_is_rejected, test))
                found |= {name: data} if data else {}
    return {"rejects": found} if found else {}


def _is_rejected(test: Any, at: Instance) -> bool:
    return asked(lambda: bool(test(at))) == "False"


def stronger_at(statement: Statement, drawn: list[Instance]) -> dict[str, Any] | None:
    """A drawn instance with a slack that is neither rounding nor a mere yes."""
    slacks = [(slack_of(statement, at), at) for at in drawn]
    high = [(slack, at) for slack, at in slacks if slack is not None and LEAST < slack < MOST]
    high.sort(key=lambda each: each[0] == 1.0)  # a mere yes last
    data = written(high[0][1]) if high else None
    return {"at": data, "stands": True} if data else None


def fails(statement: Statement, at: Instance) -> bool:
    """Whether the statement fails there, by an amount that no rounding hides."""
    slack = slack_of(statement, at)
    least = max(LEAST, 10.0 * statement.tolerance)
    low = 0.0 if statement.strict else least
    return slack is not None and low <= -slack < MOST and statement.fails(slack)


def slack_of(statement: Statement, at: Instance) -> float | None:
    """The slack, None where it cannot be had soon, or at all."""
    patience = 20.0 if PLANTED in at else 1.0
    slack = float(asked(lambda: float(statement.slack(at)), patience * SECONDS) or "nan")
    return slack if np.isfinite(slack) else None


def asked(question: Callable[[], object], seconds: float = SECONDS) -> str:
    """The answer, as Python writes it, from a process of its own, which an instance that no code
    expects may crash; empty where there is none soon."""
    out, into = os.pipe()
    if (child := os.fork()) == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        warnings.simplefilter("ignore")
        with contextlib.suppress(BaseException):
            os.write(into, repr(question()).encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text


def _unmet(statement: Statement, at: Instance) -> str | None:
    """The first hypothesis that is not met, None if all are or none can tell."""
    found = asked(lambda: statement.unmet(at))
    return None if found in ("", "None") else str(ast.literal_eval(found))


def _short(statement: Statement, at: Instance) -> dict[str, Any] | None:
    unmet = _unmet(statement, at)
    data = shortest(at, lambda at: fails(statement, at) and _unmet(statement, at) == unmet)
    return data and {"at": data} | ({"outside": unmet} if unmet else {})


def _rounded(value: Any, digits: int) -> Any:
    array = np.asarray(value)
    if array.dtype.kind != "f":
        return value
    return _as(value, np.vectorize(lambda v: float(f"{v:.{digits - 1}e}"), otypes=[float])(array))


def _as(like: Any, array: NDArray) -> Any:
    return np.asarray(array) if isinstance(like, np.ndarray) else type(like)(array)


def moves(drawn: list[Instance]) -> Iterator[Instance]:
    """What was drawn, with one array of each moved, and then with two."""
    rng = np.random.default_rng(0)
    for depth in range(DEPTH):
        for at in drawn:
            alike = [other for other in drawn if other is not at and _shapes(other) == _shapes(at)]
            for moved in _moved(at, alike[:1], rng):
                if depth == 0:
                    yield moved
                elif again := list(_moved(moved, alike[:1], rng)):
                    yield again[int(rng.integers(len(again)))]


def _shapes(instance: Instance) -> Mapping[str, tuple[int, ...]]:
    return {name: np.shape(value) for name, value in instance.items()
            if isinstance(value, (np.ndarray, float, int))}  # fmt: skip


def _moved(
    at: Instance, others: Iterable[Instance], rng: np.random.Generator
) -> Iterator[Instance]:
    for name, value in at.items():
        if not isinstance(value, (np.ndarray, float, int)) or isinstance(value, bool):
            continue
        for other in others:
            yield {**at, name: other[name]}
        for array in _arrays(np.asarray(value), rng):
            yield {**at, name: _as(value, array)}


def _arrays(value: NDArray, rng: np.random.Generator) -> Iterator[NDArray]:
    """An array moved: larger, smaller, turned round, in another order, with one entry changed."""
    if value.dtype.kind == "i":
        yield from (value + step for step in (1, -1, -2, 3))
    if value.dtype.kind != "f" or not value.size:
        return
    yield from (factor * value for factor in FACTORS)
    yield value + rng.normal(size=value.shape) * np.abs(value).mean()
    if value.ndim:
        yield value[::-1].copy()
        yield value[..., ::-1].copy()
        for place, factor in ((0, -1.0), (-1, 10.0)):
            other = value.copy()
            other.flat[place] *= factor
            yield other


def main(arguments: list[str]) -> None:
    """Run the pages that are named, or all, each in a kernel of its own."""
    here = str(Path(__file__).resolve().parent)
    variables = {"OMP_NUM_THREADS": "1", "PYTHONPATH": f"{LIBRARY.parent}{os.pathsep}{here}"}
    for path in [Path(name) for name in arguments] or pages.in_order(CHAPTERS):
        if (paper := PAGES.get(pages.name(path)[:2])) is None:
            continue
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if "parameters" in cell.metadata.get("tags", []) and "effort" in cell.source:
                cell.source += "\neffort = 0.05"
        notebook.cells.insert(0, nbformat.v4.new_code_cell(_BEFORE.format(tests=here)))
        notebook.cells.append(nbformat.v4.new_code_cell(f"witnesses.find({paper!r})"))
        client = NotebookClient(
            notebook, timeout=None, resources={"metadata": {"path": path.parent}}
        )
        client.execute(env={**os.environ, **variables})
        told = "".join(o.get("text", "") for o in notebook.cells[-1].outputs)
        print(pages.name(path), told, sep="\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
