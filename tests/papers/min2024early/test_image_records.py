"""The records of the MNIST figures: they come out again, and their evidence can fail."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
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
def phases() -> dict[str, mnist_page.Phases]:
    return {name: mnist_page.load_phases(name) for name in mnist_page.PHASES}


@pytest.fixture(scope="module")
def mnist() -> images.Images:
    where = images.mnist_folder()
    if where is None:
        pytest.skip(f"no MNIST: neither {images.VARIABLE} nor {images.BESIDE}")
    return images.mnist(where)


@pytest.mark.parametrize("name", NAMES)
def test_a_slice_of_each_figure_comes_out_again(full, mnist, name) -> None:
    kept = full[name]
    task = Task(kept.setting, mnist, torch.float32)
    assert kept.facts["images"] == task.loss.n
    for late in (False, True):
        assert mnist_page.again(kept, task, 10, late) < 1e-3
    start, still = task.start(kept.seed)
    first = task.seen(State(0, start, task.loss.value(start)), still)
    assert mnist_page.row_of(first) == pytest.approx(mnist_page.row_of(
        mnist_page.seen_in([kept.curves.step[0], kept.curves.loss[0], kept.curves.spectral[0],
                               kept.curves.stable_rank[0], kept.curves.positive[0],
                               *kept.curves.plus[0], *kept.curves.minus[0]])
    ), rel=1e-5)  # fmt: skip
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
    task = Task(Setting(**kept.facts["setting"]), mnist, torch.float32)
    for k, now in enumerate(islice(mnist_page.PHASES[name](task, kept.facts["seed"], 2), 3)):
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
        assert (kept.setting.width, kept.setting.sigma, kept.setting.step) == (50, 1e-6, 2e-3)
        assert kept.curves.step.tolist() == list(range(0, 15001, mnist_page.EVERY))
        assert kept.curves.loss[0] == pytest.approx(1.0, abs=1e-6)
        assert mnist_page.SHELF.file(name).stat().st_size <= 150_000
        half = kept.facts["kept"]
        assert half["losses"][0] == pytest.approx(
            np.interp(half["step"], kept.curves.step, kept.curves.loss), rel=1e-2
        )
        at = np.searchsorted(kept.curves.step, kept.flow.step)
        assert np.abs(kept.curves.loss[at] - kept.flow.loss).max() < 0.01
        for key, plus in (("w_plus", True), ("w_minus", False)):
            w, x = kept.picture(key).ravel(), kept.picture("x_plus").ravel()
            shown = w @ x / np.linalg.norm(w) / np.linalg.norm(x)
            listed = kept.facts["cosines"][key][kept.setting.positive]
            assert shown == pytest.approx(listed, abs=1e-3)
            assert (shown > 0) == plus
    for kept in phases.values():
        assert kept.epoch.tolist() == list(range(mnist_page.EPOCHS + 1))
        assert Setting(**kept.facts["setting"]) == mnist_page.FIGURES["figure-5"]


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
    for name in ("step", "loss", "spectral", "stable_rank", "positive", "plus", "minus"):
        np.testing.assert_allclose(getattr(kept.curves, name), getattr(plain, name), rtol=1e-3)
    exact = Task(tiny, DIGITS, torch.float32)
    assert mnist_page.again(kept, exact, 20, False) < 1e-5
    assert mnist_page.again(kept, exact, 20, True) < 1e-5
    assert mnist_page.load_phases("figure-12", shelf).epoch.tolist() == [0, 1, 2]
    w_plus = task.pair.picture(last.W[last.v > 0].mean(dim=0).numpy())
    np.testing.assert_allclose(kept.picture("w_plus"), w_plus, atol=2e-3 * np.abs(w_plus).max())


def fails(evidence) -> list[str]:
    return [item.what for item in evidence if item.decides and not item.holds]


def with_curves(kept: mnist_page.Record, **curves) -> mnist_page.Record:
    return replace(kept, curves=replace(kept.curves, **curves))


def with_data(kept: mnist_page.Record, **data) -> mnist_page.Record:
    return replace(kept, facts=kept.facts | {"data": kept.facts["data"] | data})


def test_the_evidence_on_the_images_can_fail(full) -> None:
    assert not fails(mnist_page.right_signs(full))
    assert not fails(mnist_page.centring(full))
    assert not fails(mnist_page.antipodal(full))
    five = full["figure-5"]
    shares = five.facts["data"]["shares"]
    worse = with_data(five, shares=shares | {"equal_right": shares["equal"] // 2})
    assert len(fails(mnist_page.right_signs(full | {"figure-5": worse}))) == 1
    negative = full | {"figure-5": with_data(five, least_before=-1)}
    assert len(fails(mnist_page.centring(negative))) == 1
    uncentred = full | {"figure-5": with_data(five, left_over=3)}
    assert len(fails(mnist_page.antipodal(uncentred))) == 1
    ends = [e.value for e in mnist_page.antipodal(full) if "mean neurons" in e.what]
    assert min(ends[0]) > min(ends[1])  # those of 3 and 8 have turned away


def test_the_evidence_on_figure_5_can_fail(full) -> None:
    five, starts = full["figure-5"], mnist_page.load_readings()["starts"]["figure-5"]
    c = five.curves
    assert not fails(mnist_page.aligns(five, starts))
    assert not fails(mnist_page.falls(five))
    assert not fails(mnist_page.image_figures_visible(five))
    late = with_curves(five, step=2 * c.step)
    assert len(fails(mnist_page.aligns(late, starts))) == 1
    assert len(fails(mnist_page.falls(late))) == 1
    early = with_curves(five, step=c.step / 2)
    assert len(fails(mnist_page.aligns(early, starts))) == 1
    assert len(fails(mnist_page.falls(early))) == 1
    straight = with_curves(five, plus=np.maximum.accumulate(c.plus))
    assert len(fails(mnist_page.aligns(straight, starts))) == 1
    turned = with_curves(five, plus=c.plus + 0.3, minus=c.minus + 0.3)
    assert fails(mnist_page.aligns(turned, starts))
    wide = with_curves(five, stable_rank=c.stable_rank + 0.5)
    assert len(fails(mnist_page.falls(wide))) == 1
    shaken = c.loss.copy()
    shaken[-2] = shaken[-1] / 2
    assert len(fails(mnist_page.falls(with_curves(five, loss=shaken)))) == 1
    swapped = {"w_plus": five.facts["cosines"]["w_minus"], "w_minus": [0.1] * 10}
    other = replace(five, facts=five.facts | {"cosines": swapped})
    assert len(fails(mnist_page.image_figures_visible(other))) == 1 + (five.setting.negative != 0)


@pytest.mark.parametrize("name", ["figure-10", "figure-11"])
def test_the_evidence_on_other_digits_can_fail(full, name) -> None:
    kept = full[name]
    c = kept.curves
    starts = mnist_page.load_readings()["starts"][name]
    found = mnist_page.alike(kept, starts)
    assert not fails(found)
    assert [e.value for e in found if e.what.startswith("other starts")] == [(2, 20)]
    wide = with_curves(kept, stable_rank=c.stable_rank + 1)
    assert len(fails(mnist_page.alike(wide, starts))) == 1
    never = with_curves(kept, minus=np.minimum(c.minus, 0.85))
    assert fails(mnist_page.alike(never, starts))


def test_the_evidence_on_two_phases_can_fail(phases) -> None:
    both, first = phases["figure-12"], phases["figure-13"]
    assert not fails(mnist_page.two_phases(both))
    assert not fails(mnist_page.one_phase(first))
    assert fails(mnist_page.two_phases(first))
    assert len(fails(mnist_page.one_phase(both))) == 1
    stuck = replace(both, loss=np.ones_like(both.loss))
    assert len(fails(mnist_page.two_phases(stuck))) == 1
    at_once = replace(both, loss=np.where(both.epoch > 0, 0.5, 1.0) * 0.1)
    assert len(fails(mnist_page.two_phases(at_once))) == 1
