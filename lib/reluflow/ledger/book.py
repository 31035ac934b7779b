"""Draw a settled claim's card from its record when the pages of the book are built."""

from __future__ import annotations

from functools import cache
from typing import Any

from docutils import nodes

from reluflow.ledger.cards import Proof, addresses, page_card, proof_label, proofs
from reluflow.ledger.inventory import Claim, claims_by_id, load_inventories
from reluflow.ledger.rows import RECORD, row_from_record
from reluflow.ledger.scoreboard import Instead, true_instead


class ClaimRecord:
    """Renderer plug-in of MyST-NB (entry point group `myst_nb.mime_renderers`).

    A settled claim displays as a card for notebooks and as data for the ledger. The pages show a
    card of their own, made from the data.
    """

    mime_priority_overrides: tuple[tuple[str, str, int | None], ...] = (("*", RECORD, 1),)

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Any] | None:
        """Render a claim's data as its card; leave everything else to MyST-NB (None)."""
        if data.mime_type != RECORD:
            return None
        row = row_from_record(data.content, _claims())
        checks = [address for address in _addresses() if address.id == row.claim.id]
        proof = _proofs().get(proof_label(row.claim.id))
        page = renderer.renderer.sphinx_env.docname
        html = page_card(row, checks, page, proof, _told().get(row.claim.id))
        return [nodes.raw(text=html, format="html")]


# Read once in a build, which draws hundreds of cards.
@cache
def _claims() -> dict[str, Claim]:
    return claims_by_id(load_inventories())


@cache
def _told() -> dict[str, Instead]:
    return true_instead(claim.paper for claim in _claims().values())


_addresses = cache(addresses)


@cache
def _proofs() -> dict[str, Proof]:
    return {proof.label: proof for proof in proofs()}
