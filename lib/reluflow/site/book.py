"""The book's ledger, read once in a build, and what notebooks' outputs become on the pages.

`Pictures` and `ClaimRecord` are renderer plug-ins of MyST-NB (entry point group
`myst_nb.mime_renderers`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from docutils import nodes
from sphinx.errors import ExtensionError

from reluflow.figures.vector import SVG
from reluflow.ledger.cards import addresses, listing, page_card, proof_label, proofs
from reluflow.ledger.evidence import LedgerError
from reluflow.ledger.inventory import Claim, claims_by_id, load_inventories
from reluflow.ledger.rows import RECORD, row_from_record
from reluflow.ledger.scoreboard import Instead, Scoreboard, scoreboard, true_instead
from reluflow.places import CHAPTERS


@cache
def board() -> Scoreboard:
    """The claims of all papers, and the rows of the executed notebooks; an ExtensionError, which
    says what to mend, where they cannot be read."""
    try:
        return scoreboard(CHAPTERS)
    except LedgerError as error:
        raise ExtensionError(str(error)) from None


@cache
def told() -> dict[str, Instead]:
    """What is true instead, by the claim's id."""
    return true_instead(claim.paper for claim in _claims().values())


@cache
def records() -> list[dict[str, str]]:
    """The settled claims as flat records."""
    return listing(board().rows, told())


@cache
def _claims() -> dict[str, Claim]:
    return claims_by_id(load_inventories())


_addresses = cache(addresses)
_proofs = cache(lambda: dict(proofs()))


class ClaimRecord:
    """A settled claim displays as a card for notebooks and as data for the ledger. The pages show
    a card of their own, made from the data."""

    mime_priority_overrides: tuple[tuple[str, str, int | None], ...] = (("*", RECORD, 1),)

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Any] | None:
        """Render a claim's data as its card; leave everything else to MyST-NB (None)."""
        if data.mime_type != RECORD:
            return None
        row = row_from_record(data.content, _claims())
        checks = [address for address in _addresses() if address.id == row.claim.id]
        proof = _proofs().get(proof_label(row.claim.id), "")
        page = renderer.renderer.sphinx_env.docname
        html = page_card(row, checks, page, proof, told().get(row.claim.id))
        return [nodes.raw(text=html, format="html")]


class Pictures:
    """`show` stores with a figure what can be seen in it, and its drawing for a phone. MyST-NB by
    itself passes on only width and height; this adds the words, and the second drawing beside the
    first: the style sheet shows one of them (classes `wide` and `narrow`)."""

    mime_priority_overrides: tuple[tuple[str, str, int | None], ...] = ()

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Any] | None:
        """Render a picture that `show` stored; leave everything else to MyST-NB (None)."""
        about = data.output_metadata.get(SVG, {})
        if data.mime_type != SVG or not about.get("alt"):
            return None
        drawn = [(data, "wide")]
        if about.get("narrow"):
            drawn.append((replace(data, content=about["narrow"], output_metadata={}), "narrow"))
        images = []
        for each, kind in drawn:
            for image in renderer.render_image(each):
                image["alt"] = about["alt"]
                named = f"drawn-{about.get('name')}"
                image["classes"] += [kind if len(drawn) > 1 else "alone", named]
                images.append(image)
        return images
