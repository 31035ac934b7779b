"""How likely Theorem 3.2's start is: closed forms, areas, draws through torch."""

from __future__ import annotations

import numpy as np
import torch
from reluflow.papers.vardi2022margin import suboptimality


def test_what_is_asked_for_is_each_condition() -> None:
    W, v = np.array([[0.1, 1.0], [0.1, -1.0]]), np.array([1.0, -5.0])
    assert suboptimality.asked_for(W, v)
    assert not suboptimality.asked_for(W, -v)
    assert not suboptimality.asked_for(-W, v)
    assert not suboptimality.asked_for(np.array([[0.3, 1.0], [0.1, -1.0]]), v)
    assert not suboptimality.asked_for(np.array([[0.1, 1.0], [-0.3, -1.0]]), v)


def test_draws_leave_torchs_own_seed_alone() -> None:
    torch.manual_seed(5)
    before = torch.rand(1)
    torch.manual_seed(5)
    suboptimality.starts(suboptimality.schemes()[0], 0, 10)
    assert torch.rand(1) == before
