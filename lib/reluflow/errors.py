"""The one error that a reader sees for bad input."""

from __future__ import annotations


class InputError(ValueError):
    """Input that the book cannot use; the message is one sentence that says what to mend.

    A notebook shows the sentence alone: the stack of calls that found the mistake does not help
    the reader who made it.  Errors inside the library stay ordinary exceptions, with their stack.
    """

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython prints, and papermill stores, in place of a stack trace."""
        return [f"{type(self).__name__}: {self}"]
