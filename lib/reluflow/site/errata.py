"""`{errata} PAPER`: what a paper prints that does not hold, from the executed notebooks and from
the sentences of `reluflow.papers.PAPER.findings`."""

from __future__ import annotations

import importlib
import posixpath
from collections.abc import Mapping

from docutils import nodes
from docutils.parsers.rst import Directive

from reluflow.ledger.errata import errata
from reluflow.ledger.inventory import CHAPTERS, load_inventories
from reluflow.ledger.notebooks import read
from reluflow.ledger.scoreboard import Scoreboard


class Errata(Directive):
    """The errata of the paper that the directive names."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The errata as they are on the day of the build."""
        (paper,) = self.arguments
        docname = self.state.document.settings.env.docname
        of_paper = tuple(each for each in load_inventories() if each.paper == paper)
        if not of_paper:
            raise self.error(f"errata: no paper {paper!r} in the inventory")
        folder = posixpath.relpath(posixpath.dirname(docname), "chapters")
        rows = tuple(row for row in read(CHAPTERS) if row.claim.paper == paper)
        board = Scoreboard(of_paper, rows, "" if folder == "." else folder)
        told: Mapping[str, str] = importlib.import_module(
            f"reluflow.papers.{paper}.findings"
        ).INSTEAD
        html = errata(board, told)
        return [nodes.raw(text=html, format="html")]
