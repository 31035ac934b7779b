"""`{errata} PAPER`: what a paper prints that does not hold, from the executed notebooks and from
the sentences of `data/instead`."""

from __future__ import annotations

import posixpath

from docutils import nodes
from docutils.parsers.rst import Directive

from reluflow.ledger.errata import errata
from reluflow.ledger.scoreboard import Scoreboard
from reluflow.site import book


class Errata(Directive):
    """The errata of the paper that the directive names."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The errata as they are on the day of the build."""
        (paper,) = self.arguments
        docname = self.state.document.settings.env.docname
        whole = book.board()
        of_paper = tuple(each for each in whole.inventories if each.paper == paper)
        if not of_paper:
            raise self.error(f"errata: no paper {paper!r} in the inventory")
        folder = posixpath.relpath(posixpath.dirname(docname), "chapters")
        rows = tuple(row for row in whole.rows if row.claim.paper == paper)
        board = Scoreboard(of_paper, rows, "" if folder == "." else folder)
        return [nodes.raw(text=errata(board, book.told()), format="html")]
