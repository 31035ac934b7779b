"""Carry the alternative text of figures from a notebook into the pages of the built book."""

from __future__ import annotations

from typing import Any


class AlternativeText:
    """Renderer plug-in of MyST-NB (entry point group `myst_nb.mime_renderers`).

    `show` stores the description of a figure beside its PNG in the notebook. MyST-NB by itself
    passes on only width and height; this adds the description as the image's alternative text.
    """

    mime_priority_overrides: tuple[tuple[str, str, int | None], ...] = ()

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Any] | None:
        """Render a PNG that carries a description; leave everything else to MyST-NB (None)."""
        alt = data.output_metadata.get("image/png", {}).get("alt")
        if data.mime_type != "image/png" or not alt:
            return None
        nodes = renderer.render_image_inline(data) if inline else renderer.render_image(data)
        for node in nodes:
            node["alt"] = str(alt)
        return nodes
