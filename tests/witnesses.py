"""`python tests/witnesses.py PAGE ...`: finds witnesses for the statements that pages try.

Runs the pages with few draws. The slack of a statement without a witness is lowered from what was
drawn by the search of `falsify`, which here knows no hypothesis; then one array of an instance is
moved at a time, then one side of an equation (`planted`). Where nothing breaks the statement, a
drawn instance at which a stronger one would fail is written down. Each hypothesis gets a moved
instance that it rejects. What has no witness is listed: it needs one by hand.
"""

import json
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from mutate import CHAPTERS
from reluflow import pages
from reluflow.falsify import attempt
from reluflow.falsify.statement import PLANTED, Instance, Statement, encoded, witness
from reluflow.places import WITNESSES

SECONDS, EVALUATIONS, TRIES, KEPT, LONGEST = 1.0, 400, 600, 40, 6000
LEAST, MOST = 1e-5, 1e9
"""A slack at a witness is between these: neither rounding nor out of all proportion."""
FACTORS = (1.01, 0.99, 2.0, 0.5)
HEARD: dict[str, tuple[Statement, list[Instance]]] = {}


def listen() -> None:
    """Keep the statements that are tried from now on, and some of what is drawn for each."""
    draw = attempt._drawn

    def drawn(statement: Statement, *rest: Any) -> Iterator[Any]:
        found = list(draw(statement, *rest))
        HEARD[statement.says] = statement, [item.instance for item in found[:KEPT]]
        return iter(found)

    attempt._drawn = drawn


def asked(question: Callable[[], Any], otherwise: Any) -> Any:
    """The answer, or this where an instance that no code expects raises an error or takes long."""
    signal.signal(signal.SIGALRM, lambda *_: 1 // 0)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return question()
    except Exception:
        return otherwise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def moves(drawn: list[Instance]) -> Iterator[Instance]:
    """What was drawn, with one number or array of each larger, smaller or turned round."""
    for at in drawn:
        for name, value in at.items():
            array = np.asarray(value)
            if array.dtype.kind in "if":
                others = (-array, 10 * array, 0.1 * array, array - 1, array + 3, np.flip(array))
                kind = np.asarray if isinstance(value, np.ndarray) else type(value)
                yield from ({**at, name: kind(other.astype(array.dtype))} for other in others)


def found(statement: Statement, drawn: list[Instance]) -> dict[str, Any] | None:
    """The entry of a statement, if anything can be found."""

    def slack(at: Instance) -> float:
        return float(np.clip(asked(lambda: float(statement.slack(at)), np.nan), -1.0, MOST))

    margin = statement.tolerance if statement.strict else max(LEAST, 10.0 * statement.tolerance)
    free = replace(statement, slack=slack, hypotheses={}, tolerance=margin, batch=None,
                   readable=None, derive=None, fixed=())  # fmt: skip
    known = [attempt.Found(slack(at), "", at) for at in drawn]
    known = sorted((one for one in known if not np.isnan(one.slack)), key=lambda one: one.slack)
    search = attempt.Search(free, known)
    search.lower([one.instance for one in known[: attempt.STARTS]], EVALUATIONS)
    wrong = ({**at, PLANTED: factor} for at in drawn for factor in FACTORS)
    tried = chain([search.at] if known else [], islice(moves(drawn), TRIES), wrong)
    at = next((at for at in tried if free.broken_by(at)), None)
    if at is not None:
        at = attempt.shrink(free, at, 0)
        unmet = asked(lambda: statement.unmet(at), None)
        return {"at": encoded(at)} | ({"outside": unmet} if unmet else {})
    high = [one for one in known if LEAST < one.slack < MOST]
    high.sort(key=lambda one: one.slack == 1.0)  # a mere yes last
    return {"at": encoded(high[0].instance), "stands": True} if high else None


def rejects(statement: Statement, drawn: list[Instance]) -> dict[str, Any]:
    """For each hypothesis an instance that it rejects, of those that move what was drawn."""
    entry = {}
    for name, test in statement.hypotheses.items():
        meets = Statement(name, {}, lambda at, t=test: float(asked(lambda: t(at), True)) - 0.5)
        at = next((at for at in islice(moves(drawn), TRIES) if meets.broken_by(at)), None)
        entry |= {name: encoded(attempt.shrink(meets, at, 0))} if at else {}
    return {"rejects": entry} if entry else {}


def main(arguments: list[str]) -> None:
    """Run each page, write down what is found for it, and print what has none."""
    warnings.simplefilter("ignore")
    listen()
    for path in map(Path, arguments):
        start = pages.name(path)[:3]
        (paper,) = (paper for paper, own in CHAPTERS.items() if own == start)
        HEARD.clear()
        pages.run(pages.code_cells(path), path.parent, {"effort": 0.05})
        file = WITNESSES / f"{paper}.json"
        entries = json.loads(file.read_text("utf-8"))
        for says, (statement, drawn) in HEARD.items():
            if drawn and witness(statement) is None:
                entry = found(statement, drawn)
                if entry is None or len(json.dumps(entry)) > LONGEST:
                    print(f"NONE {says}")
                else:
                    entries[says] = entry | rejects(statement, drawn)
        texts = {k: json.dumps(v) for k, v in entries.items()}
        lines = [f"{json.dumps(k, ensure_ascii=False)}: {text}" for k, text in texts.items()]
        file.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
