"""Figures of the book: one house style, and drawing functions.

Every figure is made by `panels`, drawn by functions that take computed objects, and shown by
`show`, which stores it as a drawing that tests compare.
"""

from reluflow.figures.style import panels
from reluflow.figures.vector import show

__all__ = ["panels", "show"]
