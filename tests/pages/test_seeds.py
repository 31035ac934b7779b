"""Every page with other seeds and all its draws; only `bash book test -m matrix` asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from reluflow import pages
from reluflow.ledger import scoreboard
from reluflow.places import CHAPTERS

from tests.papers.test_pages import ran

SETTLE = [
    page for page in pages.in_order(CHAPTERS) if page.parent != CHAPTERS or pages.sections(page)
]


@pytest.mark.matrix
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("page", SETTLE, ids=pages.name)
def test_another_seed_gives_the_same_verdicts(page: Path, seed: int) -> None:
    """With few draws two pages hid that they stopped at such a seed."""
    _, verdicts = ran(page, seed=seed, effort=1.0)
    stored = {row.claim.id: row.verdict for row in scoreboard([CHAPTERS]).rows}
    assert verdicts == {id: stored[id] for id in verdicts}
