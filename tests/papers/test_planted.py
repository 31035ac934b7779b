"""Each claim that is settled without a Statement has a planted input, in its paper's folder."""

from __future__ import annotations

from importlib import import_module

from papers.faults import settled_without
from reluflow.places import LIBRARY


def test_every_claim_has_one() -> None:
    papers = [file.parent.name for file in (LIBRARY / "papers").glob("*/setting.py")]
    planted = [import_module(f"papers.{paper}.test_planted").PLANTED for paper in papers]
    assert settled_without().keys() == set().union(*planted)
