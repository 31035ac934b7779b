"""The papers, one package each: their theorems as functions, their settings as data."""
