"""What the parameters cells of chapter 4 may hold: that of its page, and those of its sections."""

from __future__ import annotations

from collections.abc import Mapping

from reluflow.parameters import EFFORT, SEED, Parameter

SECTION: Mapping[str, Parameter] = {"seed": SEED, "effort": EFFORT}
