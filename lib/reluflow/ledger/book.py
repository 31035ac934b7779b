"""Keep the machine's copy of a claim's row out of the pages of the built book."""

from __future__ import annotations

from typing import Any

from reluflow.ledger.display import RECORD


class ClaimRecord:
    """Renderer plug-in of MyST-NB (entry point group `myst_nb.mime_renderers`).

    A settled claim displays as a card for readers and as data for the ledger. The page shows the
    card; the data have no picture, and MyST-NB would warn of a type that it does not know.
    """

    mime_priority_overrides: tuple[tuple[str, str, int | None], ...] = ()

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Any] | None:
        """Render a claim's data as nothing; leave everything else to MyST-NB (None)."""
        return [] if data.mime_type == RECORD else None
