"""Figures of chapter 4, from computed objects."""
