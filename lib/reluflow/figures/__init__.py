"""Figures of the book: one house style, drawing functions, and the text that tests compare.

Every figure is made by `panels`, drawn by functions that take computed objects, and shown by
`show`, which also writes down what was drawn.
"""

from reluflow.figures.fingerprint import cut_off, fingerprint_of
from reluflow.figures.style import panels
from reluflow.figures.vector import show

__all__ = ["cut_off", "fingerprint_of", "panels", "show"]
