"""Figure 4 of Lee et al. 2022b: the first steps and the record."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from reluflow.papers.lee2023magnitude import deep_network as page

TINY = page.DeepSetting(start=0.5, teacher=0.7, step=0.01, n_steps=300, n=37, d=4, width=5, depth=4)


# Deep networks


@pytest.mark.parametrize("n", [37, 1000, 2050])
@pytest.mark.parametrize(("dtype", "rel"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_the_gradient_is_torchs_own(n, dtype, rel):
    """By automatic differentiation on all the data at once; sums of single precision are double."""
    problem = page.DeepProblem(replace(TINY, n=n), 3, dtype)
    loss, direction = problem.loss_and_direction(problem.start)
    at = problem.start.clone().requires_grad_()
    h, W = problem.X, problem.layers(at)
    for layer in W[:-1]:
        h = torch.relu(h @ layer.T)
    expected = 0.5 * ((h @ W[-1].T)[:, 0] - problem.y).square().mean()
    (gradient,) = torch.autograd.grad(expected, at)
    expected = float(expected.detach())
    assert direction.dtype == torch.float64
    assert loss == pytest.approx(expected, rel=rel)
    assert dtype == torch.float64 or loss != pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(direction, -gradient, rtol=100 * rel, atol=rel)


def test_the_curvature_is_the_hessians():
    problem = page.DeepProblem(TINY, 1)
    w = problem.start
    columns = []
    for k in range(len(w)):
        e = torch.zeros_like(w)
        e[k] = 1e-6
        columns.append((problem.descent_direction(w - e) - problem.descent_direction(w + e)) / 2e-6)
    largest = float(np.abs(np.linalg.eigvalsh(torch.stack(columns).numpy())).max())
    assert problem.curvature(w) == pytest.approx(largest, rel=0.1)
    found = page.overshoots(TINY, 1, 1, n=TINY.n)
    assert found.unstable[0] == pytest.approx(0.01 * largest, rel=0.1)


def test_a_first_fall_is_the_flows():
    setting = replace(TINY, start=0.05, n_steps=5)
    found = page.falls_first(setting, 3, 30, n=40)
    problems = [page.DeepProblem(replace(setting, n=40), 3 + k) for k in range(30)]
    plain = [page.deep_descent(problem, 1).norms[:, 0] for problem in problems]
    assert found.tolist() == [bool(v[1] < v[0]) for v in plain]
    assert 5 < found.sum() < 25


# Records at full scale


@pytest.fixture(scope="module")
def full():
    return {panel: page.load(panel) for panel in page.PANELS}


def test_recorded_steps_come_out_again(full):
    """Those of the other two the page takes again."""
    assert page.again(full["a-teacher-0.4"], 5, False) < 1e-3


def test_the_record_is_of_the_papers_setting_and_its_data_are_drawn_again(full):
    for panel, record in full.items():
        assert record.setting == page.PANELS[panel]
        problem = page.DeepProblem(record.setting, 0)
        loss, _ = problem.loss_and_direction(problem.start)
        assert record.losses[0] == pytest.approx(loss, rel=1e-5)
        at, w = record.start(half=True)
        kept = record.norms[record.steps == at][0]
        np.testing.assert_allclose(problem.norms(w), kept, rtol=1e-8)


def test_a_record_is_the_descent_in_one_piece(monkeypatch, tmp_path):
    monkeypatch.setattr(page, "PANELS", {"tiny": TINY})
    monkeypatch.setattr(page, "CHUNK", 70)
    record = page.load("tiny", page.SHELF.at("tiny", 0, root=tmp_path))
    plain = page.deep_descent(page.DeepProblem(TINY, 0), TINY.n_steps)
    shown = record.steps.astype(int).tolist()
    assert shown == [*range(51), 100, *range(150, 201), 300]
    np.testing.assert_allclose(record.norms, plain.norms[shown], rtol=1e-4)
    np.testing.assert_allclose(record.losses, plain.losses[shown], rtol=1e-3)
    assert max(page.again(record, 50, half) for half in (False, True)) < 1e-4
    signs, pieces = np.sign(np.diff(plain.norms[:, 0])), []
    for k, sign in enumerate(signs):  # monotone pieces one step at a time
        if k and signs[k - 1] == sign:
            pieces[-1][1] = k + 1
        else:
            pieces.append([k, k + 1])
    said = record.facts["monotone"][page.FIRST]
    assert [piece[:2] for piece in said["first"]] == pieces
