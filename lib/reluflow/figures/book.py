"""Carry figures from a notebook into the pages of the built book."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reluflow.figures.vector import SVG


class Pictures:
    """Renderer plug-in of MyST-NB (entry point group `myst_nb.mime_renderers`).

    `show` stores with a figure what can be seen in it, and its drawing for a phone. MyST-NB by
    itself passes on only width and height; this adds the words, and the second drawing beside the
    first: the style sheet shows one of them (classes `wide` and `narrow`).
    """

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
                image["classes"].append(kind if len(drawn) > 1 else "alone")
                images.append(image)
        return images
