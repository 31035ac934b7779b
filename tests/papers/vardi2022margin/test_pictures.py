"""The pictures of chapter 5: what they compute by themselves, and that they show every part."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from reluflow import ledger
from reluflow.errors import InputError
from reluflow.figures import cut_off, fingerprint_of
from reluflow.margin.check import Checked
from reluflow.margin.kkt import quotient
from reluflow.networks.indexed import fully_connected
from reluflow.papers.vardi2022margin import dead_neuron, figures, setting, tables
from reluflow.papers.vardi2022margin.counterexamples import values
from reluflow.papers.vardi2022margin.dead_neuron import PRINTED

PAPER = setting.theorem_3_2()


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


def test_the_wedge_of_shorter_points_begins_at_the_limit() -> None:
    """Near the limit V falls where 2/3 e_1 < e_2 < 2 e_1, and rises along either axis."""
    first = np.array([1e-3, 1e-3, 1e-3, 1e-3, 0.0, 1 / 9])
    second = np.array([0.5e-3, 1e-3, 2.1e-3, 0.0, 1e-3, 1 / 9])
    thetas = dead_neuron.taken_over(first, second)
    below = values(PAPER.network, thetas, PAPER.X, PAPER.y) < 8.0
    assert below.tolist() == [False, True, False, False, False, True]
    assert thetas[-1] == pytest.approx(PAPER.better(1 / 9))


def test_not_local_is_what_the_exact_checker_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    theta = np.array([0.0, 2.0, 0.0, 0.0, 2.0, 0.0])
    given = PAPER.network, theta, PRINTED, np.ones(2)
    assert dead_neuron.proved_verdict(*given) == "not local"
    refused = Checked("refused", np.inf, "a point is not shorter")
    monkeypatch.setattr(dead_neuron, "check", lambda *_: refused)
    assert dead_neuron.proved_verdict(*given) == "undecided"


def test_a_grid_says_what_is_printed_and_where_something_else_is_found() -> None:
    def cell(printed: str, found: str) -> tables.Cell:
        return tables.Cell(printed, "Thm. 1", found, {"Shorter": 2}, (), ledger.proved("here"))

    entries = {"a.linear": cell("Global", "Global"), "a.relu": cell("Global", "no limit"),
               "b.linear": cell("Not local", "Not local"),
               "b.relu": cell("Not local", "Global")}  # fmt: skip
    fig = figures.entries({"Table 1": tables.Table({"a": "one", "b": "two, not 0"}, entries)})
    (mesh,) = fig.axes[0].collections
    colours = [to_hex(colour) for colour in mesh.get_facecolors()]
    gold, grey = (figures.ENTRIES[name].lower() for name in ("Global", "Not local"))
    assert colours == [gold, "#ffffff", grey, gold]
    assert [text.get_text() for text in fig.axes[0].texts] == [
        "Global\nThm. 1\n✓ 2 Shorter", "Global\nThm. 1\nfound: no limit",
        "Not local\nThm. 1\n✓ 2 Shorter", "Not local\nThm. 1\nfound: Global"]  # fmt: skip
    assert cut_off(fig) == []
