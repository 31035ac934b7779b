"""The one error that a reader sees for bad input."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """Input that the book cannot use; the message is one sentence that says what to mend.

    A notebook shows the sentence alone: the stack of calls that found the mistake does not help
    the reader who made it.  Errors inside the library stay ordinary exceptions, with their stack.
    """

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython prints, and papermill stores, in place of a stack trace."""
        return [f"{type(self).__name__}: {self}"]


def meant(given: str, known: Iterable[str], otherwise: str = "") -> str:
    """The end of a message on an unknown name: the one that was meant, else `otherwise`, or all."""
    known = list(known)
    close = get_close_matches(given, known, n=1)
    otherwise = otherwise or f"the names are {', '.join(known)}."
    return f'did you mean "{close[0]}"?' if close else otherwise
