"""Figures of chapter 3, from computed objects."""
