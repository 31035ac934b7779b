"""What is true instead, for claims that do not hold as they stand: `data/instead/*.yml`, a file for
each paper. An entry has a list of `claims`, and the sentence `instead` that they share."""

from __future__ import annotations

from collections.abc import Iterable

import yaml

from reluflow.ledger.inventory import LOADER
from reluflow.places import INSTEAD


def what_is_true(papers: Iterable[str]) -> dict[str, str]:
    """The sentences on the claims of these papers: id -> sentence."""
    files = (INSTEAD / f"{paper}.yml" for paper in dict.fromkeys(papers))
    read = (yaml.load(file.read_text("utf-8"), LOADER) for file in files if file.is_file())
    return {id: entry["instead"] for entries in read for entry in entries for id in entry["claims"]}
