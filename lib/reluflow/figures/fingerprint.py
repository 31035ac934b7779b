"""The one way by which a figure enters a chapter."""

from __future__ import annotations

import html
import io
import re
from dataclasses import dataclass

from IPython.display import display
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from reluflow.errors import InputError
from reluflow.figures.description import describe_drawn
from reluflow.figures.style import RC, house

PACKED = {"optimize": True, "compress_level": 9}
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Picture:
    """A drawn figure: the PNG, and for whoever cannot see it a name and a description."""

    name: str
    alt: str
    png: bytes
    width: int  # pixels on the page

    def __repr__(self) -> str:
        return f"<Figure {self.name}>"

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, object], dict[str, object]]:
        data: dict[str, object] = {"image/png": self.png, "text/plain": repr(self)}
        return data, {"image/png": {"width": self.width, "alt": self.alt}}


@dataclass(frozen=True)
class Fingerprint:
    """What a figure shows, as text: folded away on a page, compared by nbval."""

    name: str
    text: str

    def __repr__(self) -> str:
        return f"fingerprint of {self.name}\n{self.text}"

    def _repr_html_(self) -> str:
        return (
            f'<details class="fingerprint"><summary>fingerprint of {html.escape(self.name)}'
            f"</summary><pre>{html.escape(self.text)}</pre></details>"
        )


def show(fig: Figure, name: str, *, alt: str) -> None:
    """Display a figure and, folded away, its fingerprint; then close it.

    Parameters: `name` in small letters, digits and hyphens ("fig-3a"), `alt` one or two sentences
    that say what can be seen, for readers who cannot see it.
    Raises InputError for an ill-formed name or an empty `alt`.
    """
    if not NAME.fullmatch(name):
        raise InputError(f"name {name!r} must consist of small letters, digits and hyphens")
    if not alt.strip():
        raise InputError(f"alt of figure {name!r} is empty: say in words what can be seen")
    with house():
        picture = Picture(
            name, " ".join(alt.split()), png_bytes(fig), round(100 * fig.get_figwidth())
        )
        text = describe_drawn(fig)
    display(picture)
    display(Fingerprint(name, text))
    plt.close(fig)  # a figure that pyplot knows would be shown again at the end of the cell


def png_bytes(fig: Figure) -> bytes:
    """Render a figure to PNG; equal figures give equal bytes."""
    buffer = io.BytesIO()
    with house():
        # One scale for drawing and for measuring words, also for figures not from `panels`.
        fig.set_dpi(RC["figure.dpi"])
        fig.savefig(
            buffer,
            format="png",
            dpi=RC["figure.dpi"],
            metadata={"Software": None},
            pil_kwargs=PACKED,
        )
    return buffer.getvalue()
