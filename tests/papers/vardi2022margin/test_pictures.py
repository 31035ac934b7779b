"""The pictures of chapter 5: what they compute by themselves, and that they show every part."""

from __future__ import annotations

import numpy as np
import pytest
from reluflow.errors import InputError
from reluflow.figures import cut_off, fingerprint_of
from reluflow.flows.charts import LOG_LOSS, Polar
from reluflow.flows.fields import GradientFlow
from reluflow.flows.integrate import integrate
from reluflow.losses import EXPONENTIAL
from reluflow.margin.check import Checked
from reluflow.margin.kkt import quotient
from reluflow.networks.indexed import fully_connected
from reluflow.papers.vardi2022margin import dead_neuron, figures, setting
from reluflow.papers.vardi2022margin.counterexamples import values
from reluflow.papers.vardi2022margin.dead_neuron import PRINTED

PAPER = setting.theorem_3_2()
POINTS = {"the paper's": PAPER.better(0.1), "another": PAPER.better(0.05) + 0.2 * np.eye(6)[3]}


def test_values_are_quotients_where_all_data_are_right() -> None:
    rng = np.random.default_rng(0)
    thetas = rng.standard_normal((50, 6))
    found = values(PAPER.network, thetas, PAPER.X, PAPER.y)
    right = np.isfinite(found)
    assert 0 < right.sum() < 50
    for theta, value, is_right in zip(thetas, found, right, strict=True):
        if is_right:
            assert value == pytest.approx(quotient(PAPER.network, theta, PAPER.X, PAPER.y))
        else:
            with pytest.raises(InputError):
                quotient(PAPER.network, theta, PAPER.X, PAPER.y)


def test_the_landscape_marks_both_points_where_they_are() -> None:
    fig = figures.landscape(PAPER.network, PAPER.X, PAPER.y, PAPER.limit, POINTS)
    (ax,) = fig.axes
    marks = {line.get_label(): line.get_xydata()[0] for line in ax.lines if len(line.get_xdata())}
    for name, theta in POINTS.items():
        assert np.hypot(*marks[name]) == pytest.approx(np.linalg.norm(theta - PAPER.limit))
        (a, b), (c, d) = ax.get_xlim(), ax.get_ylim()
        assert a < marks[name][0] < b
        assert c < marks[name][1] < d
    assert cut_off(fig) == []
    text = fingerprint_of(fig)
    assert "shorter (blue)" in text
    assert "hatched" not in text


def test_the_landscape_hatches_what_is_not_feasible() -> None:
    far = {"a": -PAPER.limit, "b": PAPER.better(0.1)}
    fig = figures.landscape(PAPER.network, PAPER.X, PAPER.y, PAPER.limit, far)
    assert "hatched" in fingerprint_of(fig)
    line = {"a": 2 * PAPER.limit, "b": 3 * PAPER.limit}
    with pytest.raises(InputError, match="span no plane"):
        figures.landscape(PAPER.network, PAPER.X, PAPER.y, PAPER.limit, line)


@pytest.mark.parametrize("power", [-2.0, -0.5, -1.0])
def test_a_power_law_is_found(power: float) -> None:
    sizes = np.geomspace(1, 100, 40)
    errors = 3.0 * sizes**power
    errors[:10] *= 5.0  # the beginning does not count
    assert figures.rate(sizes, errors) == pytest.approx((power, np.log(3.0)))
    fig = figures.approach([("a", sizes, errors), ("at once", sizes, 0.0 * errors)], "error")
    text = fingerprint_of(fig)
    assert f"slope {power:.1f}" in text
    assert "at once" not in text
    assert cut_off(fig) == []
    empty = figures.approach([("at once", sizes, 0.0 * errors)], "error")
    assert "no run is far enough" in fingerprint_of(empty)


def test_a_neuron_is_its_weights_times_what_leaves_it() -> None:
    rng = np.random.default_rng(1)
    shallow, deep = fully_connected((2, 3)), fully_connected((2, 3, 4))
    theta = rng.standard_normal(shallow.size)
    W, V = shallow.weights(theta)
    assert np.allclose(figures.vectors(shallow, theta), V[0][:, None] * W)
    theta = rng.standard_normal((5, deep.size))
    W, V, _ = deep.weights(theta)
    wanted = [[np.linalg.norm(v[:, j]) * w[j] for j in range(3)] for w, v in zip(W, V, strict=True)]
    assert np.allclose(figures.vectors(deep, theta), wanted)


def test_figures_show_every_panel() -> None:
    thetas = np.array([PAPER.start, 2 * PAPER.start, PAPER.limit])
    fig = figures.two_times(PAPER.network, PAPER.X, thetas[:2], ["one", "two"], PAPER.limit)
    assert len(fig.axes) == 3
    assert cut_off(fig) == []
    fig = figures.shares(PAPER.network, np.array([1.0, 2.0, 3.0]), thetas)
    share = fig.axes[0].lines
    assert share[0].get_ydata()[-1] == pytest.approx(0.5)
    assert share[1].get_ydata()[-1] == 0.0
    # The start's own lengths, and not only the limit's.
    assert share[0].get_ydata()[0] < 0.5
    assert cut_off(fig) == []


def test_cones_hold_the_weights_that_are_active_on_all() -> None:
    fig = figures.start_cones(PAPER.X, [("one", 0.25), ("two", 0.125)])
    assert cut_off(fig) == []
    up, down = (patch.get_xy() for patch in fig.axes[0].patches)
    opening = np.arctan2(np.abs(up[1:-1, 0]), up[1:-1, 1]).max()
    assert np.tan(opening) == pytest.approx(0.25, abs=2e-3)
    assert np.allclose(down, -up)
    text = fingerprint_of(fig)
    assert "0.25000" in text
    assert "0.12500" in text


def test_curves_and_ratios() -> None:
    sizes = np.geomspace(1e-3, 0.2, 5)
    fig = figures.along([("a", sizes, -sizes), ("b", sizes, sizes)], "size")
    assert cut_off(fig) == []
    fig = figures.ratios([("a", sizes, sizes**-0.5)], "height", "power")
    guide = next(line for line in fig.axes[0].lines if line.get_label() == "power")
    assert np.allclose(guide.get_ydata(), 0.6 * sizes**-0.5)
    assert cut_off(fig) == []


@pytest.mark.parametrize("depth", [3, 4])
def test_the_race_is_that_of_the_flow(depth: int) -> None:
    """Against the flow of the network itself, in another clock and other coordinates."""
    delta = 0.1
    paper = setting.theorem_5_1(depth, "relu")
    X = np.array([[1.0 + delta, 1.0 - delta]])
    chart = Polar(paper.network)
    field = GradientFlow(chart, EXPONENTIAL, X, paper.y, LOG_LOSS)
    path = integrate(field, chart.coordinates(paper.start), 100.0)
    (line,) = figures.race([delta], depth, 4.0).axes[0].lines
    taus = np.log(10.0) * np.asarray(line.get_xdata())
    kept = (taus > path.t[0] + 1e-6) & (taus < 99.0)
    assert kept.sum() > 50
    theta, _ = chart.parameters(path.at(taus[kept]))
    assert np.allclose(theta[:, 1] / theta[:, 0], np.asarray(line.get_ydata())[kept], atol=1e-6)


def test_the_wedge_of_shorter_points_begins_at_the_limit() -> None:
    """Near the limit V falls where 2/3 e_1 < e_2 < 2 e_1, and rises along either axis."""
    first = np.array([1e-3, 1e-3, 1e-3, 1e-3, 0.0, 1 / 9])
    second = np.array([0.5e-3, 1e-3, 2.1e-3, 0.0, 1e-3, 1 / 9])
    thetas = dead_neuron.taken_over(first, second)
    below = values(PAPER.network, thetas, PAPER.X, PAPER.y) < 8.0
    assert below.tolist() == [False, True, False, False, False, True]
    assert thetas[-1] == pytest.approx(PAPER.better(1 / 9))


def test_a_chart_marks_its_limit_and_its_points() -> None:
    chart = figures.Chart(dead_neuron.taken_over, ("a", "b"), (0.3, 0.2))
    fig = figures.over_chart(
        PAPER.network, PAPER.X, PAPER.y, PAPER.limit, chart, {"one": (0.1, 0.15)}
    )
    (ax,) = fig.axes
    marks = [tuple(np.ravel(line.get_xydata())) for line in ax.lines if line.get_marker() != "None"]
    assert (0.0, 0.0) in marks
    assert (0.1, 0.15) in marks
    assert ax.get_xlabel() == "a"


def test_not_local_is_what_the_exact_checker_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    theta = np.array([0.0, 2.0, 0.0, 0.0, 2.0, 0.0])
    assert dead_neuron.proved_not_local(theta, PRINTED)
    refused = Checked("refused", np.inf, "a point is not shorter")
    monkeypatch.setattr(dead_neuron, "check", lambda *_: refused)
    assert not dead_neuron.proved_not_local(theta, PRINTED)
