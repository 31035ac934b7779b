"""The records of the MNIST figures: they come out again, and their evidence can fail."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pandas as pd
import pytest
import torch
from reluflow import images
from reluflow.papers.min2024early import mnist as mnist_page
from reluflow.papers.min2024early.mnist import Setting, State, Task

NAMES = tuple(mnist_page.FIGURES)
DIGITS = images.digits()


@pytest.fixture(scope="module")
def full() -> dict[str, mnist_page.Record]:
    return {name: mnist_page.load(name) for name in NAMES}


@pytest.fixture(scope="module")
def phases() -> dict[str, pd.DataFrame]:
    return {name: mnist_page.load_phases(name) for name in mnist_page.PHASES}


@pytest.fixture(scope="module")
def mnist() -> images.Images:
    where = images.mnist_folder()
    if where is None:
        pytest.skip(f"no MNIST: neither {images.VARIABLE} nor {images.BESIDE}")
    return images.mnist(where)


def apart(kept: mnist_page.Record, task: Task, late: bool, steps: int) -> float:
    """Recorded steps from the start, or from the weights kept, taken again: the largest difference
    of a loss, over the loss's own change or, where that is less, over a thousandth of it."""
    at, facts = task.start(kept.seed)[0], kept.facts["kept" if late else "first"]
    if late:
        flat = mnist_page.unpacked(facts["weights"], "<f2") * facts["unit"]
        at = at.like(torch.tensor(flat))
    losses = np.array(facts["losses"][: steps + 1])
    found = [state.loss for state in islice(task.descent(at), steps + 1)]
    return np.abs(found - losses).max() / max(np.ptp(losses), 1e-3 * losses[0])


@pytest.mark.parametrize("name", NAMES)
def test_a_slice_of_each_figure_comes_out_again(full, mnist, name) -> None:
    kept = full[name]
    task = Task(kept.setting, mnist, torch.float32)
    assert kept.facts["images"] == task.loss.n
    for late in (False, True):
        assert apart(kept, task, late, 10) < 1e-3
    start, still = task.start(kept.seed)
    first = task.seen(State(0, start, task.loss.value(start)), still)
    assert mnist_page.row_of(first) == pytest.approx(kept.curves.iloc[0].tolist(), rel=1e-5)
    data = kept.facts["data"]
    assert mnist_page.least_before(task.pair) == data["least_before"]
    assert mnist_page.left_over(task.pair) == data["left_over"] == 0
    assert task.pair.X.shape[1] == data["pixels"]
    exact = mnist_page.heatmap(task.pair)
    assert np.abs(mnist_page.recorded_heatmap(data) - exact).max() < np.abs(exact).max() / 120


def test_the_shares_of_pairs_come_out_again(full, mnist) -> None:
    pair = images.pair(mnist, 1, 0)
    found, kept = mnist_page.shares(pair), full["figure-5"].facts["data"]["shares"]
    for name in ("equal", "different"):
        assert found[name] == kept[name]
        # A product within rounding of 0 may have either sign on another CPU.
        assert abs(found[f"{name}_right"] - kept[f"{name}_right"]) <= 10


@pytest.mark.parametrize("name", tuple(mnist_page.PHASES))
def test_the_first_epochs_come_out_again(phases, mnist, name) -> None:
    kept = phases[name]
    task = Task(Setting(**kept.attrs["setting"]), mnist, torch.float32)
    for k, now in enumerate(islice(mnist_page.PHASES[name](task, kept.attrs["seed"], 2), 3)):
        assert now.loss == pytest.approx(kept.loss[k], rel=1e-3)
        assert now.norms == pytest.approx(kept.norms[k], rel=1e-3)
        assert now.directions == pytest.approx(kept.directions[k], rel=1e-2)


@pytest.mark.parametrize("name", ["few", "levels", "sum-levels"])
def test_a_reading_comes_out_again(mnist, name) -> None:
    kept = mnist_page.load_readings()
    now = mnist_page.tried(mnist_page.candidates(mnist_page.FIRST)[name], mnist, kept["seed"])
    assert now == pytest.approx({k: kept["rows"][name][k] for k in now}, rel=1e-4)


def test_the_records_are_of_the_papers_setting(full, phases) -> None:
    for name, kept in full.items():
        assert kept.setting == mnist_page.FIGURES[name]
        assert kept.curves.step.tolist() == list(range(0, 15001, mnist_page.EVERY))
        assert kept.curves.loss[0] == pytest.approx(1.0, abs=1e-6)
        assert mnist_page.SHELF.file(name).stat().st_size <= 150_000
        half = kept.facts["kept"]
        assert half["losses"][0] == pytest.approx(
            np.interp(half["step"], kept.curves.step, kept.curves.loss), rel=1e-2
        )
        assert kept.flow.step.isin(kept.curves.step).sum() == mnist_page.FLOW
        for key, plus in (("w_plus", True), ("w_minus", False)):
            w, x = kept.picture(key).ravel(), kept.picture("x_plus").ravel()
            shown = w @ x / np.linalg.norm(w) / np.linalg.norm(x)
            listed = kept.facts["cosines"][key][kept.setting.positive]
            assert shown == pytest.approx(listed, abs=1e-3)
            assert (shown > 0) == plus
    for kept in phases.values():
        assert kept.epoch.tolist() == list(range(mnist_page.EPOCHS + 1))
        assert Setting(**kept.attrs["setting"]) == mnist_page.FIGURES["figure-5"]


def test_a_record_is_the_plain_loop(monkeypatch, tmp_path) -> None:
    tiny = Setting(3, 8, width=5, sigma=0.3, n_steps=400)
    monkeypatch.setattr(mnist_page, "FIGURES", {"tiny": tiny, "figure-5": tiny})
    monkeypatch.setattr(mnist_page, "mnist", lambda folder: DIGITS)
    monkeypatch.setattr(mnist_page, "KEPT", 0.999)
    monkeypatch.setattr(mnist_page, "EPOCHS", 2)
    for name in ("tiny", "figure-12"):
        shelf = mnist_page.SHELF.at(name, 0, root=tmp_path)
    kept, task = mnist_page.load("tiny", shelf), Task(tiny, DIGITS)
    plain, last = mnist_page.stepped(task, 0, mnist_page.EVERY)
    np.testing.assert_allclose(kept.curves, plain, rtol=1e-3)
    exact = Task(tiny, DIGITS, torch.float32)
    assert max(apart(kept, exact, late, 20) for late in (False, True)) < 1e-5
    assert mnist_page.load_phases("figure-12", shelf).epoch.tolist() == [0, 1, 2]
    w_plus = task.pair.picture(last.W[last.v > 0].mean(dim=0).numpy())
    np.testing.assert_allclose(kept.picture("w_plus"), w_plus, atol=2e-3 * np.abs(w_plus).max())
