"""How stiff a gradient flow is: the steps of descent must stay below 2 / |f'|."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor


def spectral_radius(
    f: Callable[[Tensor], Tensor], w: Tensor, slope: Tensor, lead: Tensor
) -> tuple[float, Tensor]:
    """Estimate the spectral radius of f' at w by the power method, with a margin of a fifth.

    Parameters: f, w (p,), slope = f(w), lead (p,) a first guess of the leading direction.
    Returns the estimate and the direction.
    """
    size = 1e-6 * w.norm()
    lead, radius = lead / lead.norm(), 0.0
    for _ in range(12):
        image = (f(w + size * lead) - slope) / size
        found, before = float(image.norm()), radius
        if found == 0.0:
            return 1e-300, lead
        lead, radius = image / found, found
        if abs(radius - before) < 0.05 * radius:
            break
    return 1.2 * radius, lead
