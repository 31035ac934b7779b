"""`python -m reluflow.seeds NOTEBOOK ... --seeds 1-40 --effort 0.05`: what changes with the seed.

Runs the code cells of each notebook in this process, once for each seed, without its figures, and
compares the verdicts with those of the first seed. A maintainers' command: a page must finish with
every seed, and a verdict that changes with the seed is a matter of luck.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from reluflow import ledger, pages


def run(notebook: Path, values: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """{claim: verdict} of the page with these parameters, and one line for every cell that raised
    an exception."""
    names, failed = pages.run(pages.code_cells(notebook), notebook.parent, values)
    ledgers = [value for value in names.values() if isinstance(value, ledger.Ledger)]
    return {id: row.verdict for each in ledgers for id, row in each.settled.items()}, failed


def compared(first: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    """One line for every claim whose verdict is other than the first seed's, or is missing."""
    for id in sorted({*first, *found}):
        before, now = first.get(id, "open"), found.get(id, "open")
        if before != now:
            yield f"{id}: {now}, and {before} with the first seed"


def _seeds(text: str) -> list[int]:
    """The numbers of a list such as 1-40 or 1,2,7."""
    pairs = [part.split("-") for part in text.split(",")]
    return [
        seed for first, *last in pairs for seed in range(int(first), int([first, *last][-1]) + 1)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and compare; 1 where a seed raises an exception or changes a verdict, else 0."""
    parser = argparse.ArgumentParser(prog="reluflow.seeds", description=__doc__)
    parser.add_argument("notebook", type=Path, nargs="+", help="pages, sections among them")
    parser.add_argument("--seeds", type=_seeds, default=[0], help="such as 1-40 or 1,2,7")
    parser.add_argument("--effort", type=float, default=1.0)
    parser.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "YAML"),
                        help="one more parameter of the notebook")  # fmt: skip
    given = parser.parse_args(arguments)
    more = {"effort": given.effort} | {name: yaml.safe_load(value) for name, value in given.p}
    changed = [_changed(path.resolve(), given.seeds, more) for path in given.notebook]
    return int(any(changed))


def _changed(notebook: Path, tried: Sequence[int], more: Mapping[str, Any]) -> int:
    """Run one notebook with each seed, print what changes, and count the seeds that change it."""
    first: dict[str, str] = {}
    changed = 0
    print(pages.name(notebook), flush=True)
    for seed in tried:
        began = time.perf_counter()
        found, lines = run(notebook, {"seed": seed, **more})
        first = first or found
        lines += compared(first, found)
        changed += bool(lines)
        spent = time.perf_counter() - began
        print(f"seed {seed}: {len(found)} claims, {spent:.0f} s", *lines, sep="\n  ", flush=True)
    print(f"{changed} of {len(tried)} seeds raise an exception or change a verdict")
    return changed


if __name__ == "__main__":
    sys.exit(main())
