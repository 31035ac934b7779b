"""Pictures of directions: arcs of cones, where marks lie, and that nothing is cut off."""

from __future__ import annotations

import numpy as np
import pytest
from reluflow.figures import cut_off
from reluflow.geometry.separability import serves, silent
from reluflow.papers.min2024early import figures, section_figures
from reluflow.papers.min2024early.setting import separable

DATA = [
    separable(n, 2, mu, np.random.default_rng(k))
    for k, (n, mu) in enumerate([(2, 0.5), (3, 0.1), (5, 0.3), (8, 0.02), (6, 0.9)])
]
DATA.append((np.array([[1.0, 0.0], [np.sin(0.1), np.cos(0.1)]]), np.ones(2)))


@pytest.mark.parametrize(("X", "y"), DATA)
def test_regions_are_where_the_cones_are(X: np.ndarray, y: np.ndarray) -> None:
    found = figures.regions(X, y)
    turn = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, 2000)
    U = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    expected = {
        "$S_+$": serves(X, y, U) & ~silent(X, U),
        "$S_-$": serves(X, y, U, -1.0) & ~silent(X, U),
        "$S_{dead}$": silent(X, U),
    }
    for name, truth in expected.items():
        told = np.zeros(len(turn), bool)
        for a, b in found.get(name, []):
            assert b > a
            told |= np.mod(turn - a, 2.0 * np.pi) < b - a
        assert np.array_equal(told, truth), name
        assert (name in found) == (len(found.get(name, [])) > 0)


def test_a_cone_is_one_arc() -> None:
    for X, y in DATA:
        for where in figures.regions(X, y).values():
            assert len(where) == 1


def test_neighbouring_arcs_are_joined() -> None:
    X, y = DATA[3]
    (whole,) = figures.arcs(X, lambda U: np.ones(len(U), bool))
    assert whole[1] - whole[0] == pytest.approx(2.0 * np.pi)
    outside = figures.arcs(X, lambda U: ~(serves(X, y, U) | serves(X, y, U, -1.0)))
    assert 1 <= len(outside) <= 2


def _marks(fig, panel: int) -> np.ndarray:
    return np.concatenate([c.get_offsets() for c in fig.axes[panel].collections])


def test_every_neuron_has_its_mark_at_its_angle() -> None:
    X, y = DATA[1]
    rng = np.random.default_rng(1)
    W, v = rng.standard_normal((40, 2)), rng.standard_normal(40)
    W[:15] = [0.3, 0.4]  # stacked
    fig = figures.small_multiples(
        X, y, [figures.Stage("a", W, v), figures.Stage("b", W[:7], v[:7])]
    )
    places = _marks(fig, 0)
    assert len(places) == 40
    assert len(_marks(fig, 1)) == 7
    found = np.sort(np.arctan2(places[:, 1], places[:, 0]))
    np.testing.assert_allclose(found, np.sort(np.arctan2(W[:, 1], W[:, 0])), atol=1e-12)
    radii = np.linalg.norm(places, axis=1)
    assert radii.min() > 1.0
    stacked = np.abs(np.arctan2(places[:, 1], places[:, 0]) - np.arctan2(0.4, 0.3)) < 1e-9
    assert stacked.sum() == 15
    assert len(np.unique(np.round(radii[stacked], 6))) == 15
    assert np.abs(places).max() < 1.72
    assert cut_off(fig) == []


def test_bars_hold_all_live_neurons() -> None:
    X, y = DATA[-1]
    rng = np.random.default_rng(2)
    W, v = rng.standard_normal((4000, 2)), np.ones(4000)
    fig = figures.roses(X, y, [figures.Stage("all", W, v)], columns=1)
    (ax,) = fig.axes
    bars = [p for p in ax.patches if p.get_zorder() == 3.0]
    heights = np.array([p.r - 1.0 for p in bars])
    assert heights.max() == pytest.approx(0.62)
    share = heights**2 / (heights**2).sum()
    assert share.max() < 0.03  # a uniform law has no peak
    told = f"dead: {100 * silent(X, W).mean():.0f} %"
    assert told in [text.get_text() for text in ax.texts]


def test_the_unrolled_circle_breaks_at_the_cut_and_ends_in_death() -> None:
    X, y = DATA[-1]
    t = np.linspace(0.0, 1.0, 50)
    turn = np.stack([np.linspace(0.3, 0.8, 50), np.linspace(-1.0, -2.2, 50)], axis=1)
    W = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    fig = figures.angles(X, y, t, W, np.ones((50, 2)), "time", fall=0.5)
    (ax,) = fig.axes
    lines = [line for line in ax.lines if len(line.get_xdata()) == 50]
    assert len(lines) == 2
    first, second = (np.asarray(line.get_ydata()) for line in lines)
    np.testing.assert_allclose(np.mod(first, 360.0), np.degrees(turn[:, 0]), atol=1e-9)
    dies = np.argmax(silent(X, W[:, 1]))
    assert np.isnan(second[dies + 1 :]).all()
    assert np.isfinite(second[: dies + 1]).all()
    low, high = ax.get_ylim()
    assert low < np.nanmin(np.concatenate([first, second]))
    assert high > np.nanmax(np.concatenate([first, second]))
    assert cut_off(fig) == []


def test_a_curve_ends_on_the_boundary_whichever_way_its_end_was_rounded() -> None:
    X, y = DATA[-1]
    edge = np.arctan2(X[1, 0], -X[1, 1])  # where <x_2, w> = 0 beside S_dead
    for off in (3e-16, -3e-16, 0.0):
        turn = np.concatenate([np.linspace(edge - 0.5, edge, 20), np.full(10, edge)]) + off
        W = np.stack([np.cos(turn), np.sin(turn)], axis=1)[:, None]
        fig = figures.angles(X, y, np.arange(30.0), W, np.ones((30, 1)), "time")
        (line,) = [line for line in fig.axes[0].lines if len(line.get_xdata()) == 30]
        assert np.isfinite(line.get_ydata()).sum() == 20


def test_pictures_of_losses_and_of_those_left_behind() -> None:
    clock = np.arange(0.0, 100.0)
    loss = np.exp(-clock / 30.0)[:, None] * np.ones(3)
    fig = section_figures.toys_losses({"a": clock, "b": clock}, {"a": loss, "b": 2.0 * loss},
                          {"a": np.array([5]), "b": np.array([7])})  # fmt: skip
    for ax, at in zip(fig.axes[:2], (5, 7), strict=True):
        marks = [line.get_xydata() for line in ax.lines if line.get_marker() == "D"]
        assert any(np.allclose(m, [[at, np.exp(-at / 30.0)]]) for m in marks if len(m))
    assert cut_off(fig) == []
    rows = [(1e-3, 20, 1000, 0.02, 5.0), (1e-2, 0, 1000, 0.002, 5.0)]
    fig = section_figures.left_behind(
        np.array([0, 1, 1, 5]), np.array([0.5, 0.3, 0.2]), [("s", rows)]
    )
    heights = [bar.get_height() for bar in fig.axes[0].patches]
    assert heights == [0.25, 0.5, 0.25]
    assert cut_off(fig) == []
