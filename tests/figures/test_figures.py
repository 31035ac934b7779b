"""Clipping, times, names and the comparison of pictures; what is drawn, the pages compare."""

from functools import cache
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from myst_nb.core.render import MimeData
from pictures import alike
from reluflow.datasets import load
from reluflow.errors import InputError
from reluflow.figures import panels, show, vector, weight_space
from reluflow.figures.frame import drawing_times, name_curves
from reluflow.figures.style import house, legend_below
from reluflow.flows.affine import affine_flow
from reluflow.geometry import enumerate_cells
from reluflow.papers.lee2022support.figures import clock_values, loss_curves
from reluflow.papers.lee2022support.landscape import local_minima
from reluflow.site.book import Pictures

X, Y = load("example-5.1").X, load("example-5.1").y


def plane_axes(window=(-60.0, 10.0, -6.0, 30.0), height=4.0):
    fig, (ax,) = panels(height=height)
    weight_space.weight_plane(ax, window)
    return fig, ax


# --- style -------------------------------------------------------------------------------------


def test_nothing_changes_matplotlibs_global_settings():
    before = dict(mpl.rcParams)
    fig, ax = plane_axes()
    weight_space.activation_boundaries(ax, X)
    legend_below(fig)
    vector.svg(fig)
    assert dict(mpl.rcParams) == before


# --- weight plane ------------------------------------------------------------------------------


def test_plane_functions_refuse_other_dimensions():
    _, ax = plane_axes()
    with pytest.raises(InputError, match=r"X has shape \(3, 3\).*d = 2"):
        weight_space.activation_boundaries(ax, np.eye(3))


@given(st.lists(st.tuples(*[st.integers(-2, 2)] * 2).filter(any), min_size=1, max_size=6))
def test_cells_are_the_cones_that_the_data_cut(X):
    """Parallel and opposite data, and boundaries along the axes, included."""
    X = np.array(X, float)
    cones = list(weight_space._cones(X, 1.0))
    assert {tuple(on) for on, _ in cones} == {tuple(on) for on in enumerate_cells(X).patterns}
    for on, (_, low, middle, high) in cones:
        assert ((X @ middle > 0) == on).all()
        sides = np.where(on, 1, -1)[:, None] * (X @ np.transpose([low, high]))
        assert sides.min(axis=0) == pytest.approx([0, 0], abs=1e-9)


def test_a_plateau_between_nearly_opposite_data_is_too_narrow_to_be_drawn():
    X, y = np.array([[1.0, 0.0], [-1.0, 1e-10]]), np.ones(2)
    _, ax = plane_axes()
    minima = local_minima(X, y)
    assert minima[-1].dimension == 2
    weight_space.stationary_sets(ax, minima, X)
    assert not ax.patches


# --- curves over time --------------------------------------------------------------------------


def test_a_logarithmic_axis_begins_before_the_first_event() -> None:
    X, y = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, 2.0])
    path = affine_flow(X, y, np.array([-1e-5, 1.0]))
    assert 0 < path.events[0].t < 1e-4
    assert clock_values({"flow": path}, 1.0, None)["flow"][0] < path.events[0].t


def test_a_path_that_stands_at_zero_loss_draws_nothing():
    A, b = np.eye(2), np.array([1.0, 2.0])
    _, (ax,) = panels()
    loss_curves(ax, {"ReLU flow": affine_flow(A, b, b)}, A, b, step=1.0, until=1.0)
    assert all(np.isnan(line.get_ydata()).all() for line in ax.lines)


def test_drawing_times_do_not_depend_on_rounding():
    knots = np.array([0.0, 0.3, 1.7])
    grid = np.concatenate([np.linspace(0, 0.3, 5), np.linspace(0.3, 1.7, 5)])
    twin = grid.copy()
    twin[5] = np.nextafter(0.3, 1)  # the same moment, computed twice
    for times in (grid, twin):
        path = SimpleNamespace(t=knots, grid=lambda points, times=times: times)
        assert len(drawing_times(path)) == 9


# --- the comparison of pictures ----------------------------------------------------------------


curves = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=60).filter(lambda v: np.ptp(v) > 1e-3)


def path(values, points=1, by=0.0):
    """A picture of a curve 300 points wide and 200 high, each of its strokes cut into so many."""
    y = 200 * (np.array(values) - min(values)) / np.ptp(values)
    knots = np.linspace(0, 300, len(y))
    x = np.linspace(0, 300, points * (len(y) - 1) + 1)
    corners = zip(x, np.interp(x, knots, y) + by, strict=True)
    corners = " L ".join(f"{a:.2f} {b:.2f}" for a, b in corners)
    return f'<svg><path d="M {corners}"/></svg>'


@given(curves, st.integers(2, 9), st.floats(-0.1, 0.1))
def test_a_curve_survives_other_points_and_rounding(values, points, by):
    assert alike(path(values, points, by), path(values))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.data())
def test_one_moved_point_is_noticed(values, data):
    k, by = data.draw(st.integers(0, len(values) - 1)), data.draw(st.sampled_from([-0.02, 0.02]))
    moved = [*values[:k], values[k] + by, *values[k + 1 :]]
    # The ends say how high the picture is, whatever moves.
    assert not alike(path([*moved, -0.1, 1.1]), path([*values, -0.1, 1.1]))


@cache
def picture(fault="", points=401):
    """Curves, words, discs, a contour and an image in one panel, with or without a fault."""
    fig, rng = Figure(), np.random.default_rng(0)
    ax, x, way = fig.subplots(), np.linspace(0.1, 3.0, 30), np.arange(30)
    cells, (a, b) = rng.uniform(size=(9, 9)), rng.uniform(size=(2, 40))
    cells[4, 4] += 0.05 * (fault == "cell")
    ax.pcolormesh(cells, cmap="magma")
    if fault == "way":
        way[[10, 20]] = 20, 10
    if fault == "pairing":
        b[[7, 8]] = b[[8, 7]]
    for k in (1,) if fault == "missing curve" else (1, 2):
        y = np.sin(k * x) + 0.06 * (way == 5) * (fault == "moved point")
        look = {"color": "r" if fault == "colour" else "b", "lw": 1.5 + 0.2 * (fault == "width")}
        ax.plot(x[way], y[way], label="x", **look)
    ax.scatter(a, b, s=9)
    words = {"x": 1.0 + 0.03 * (fault == "moved word"), "s": "v" if fault == "word" else "w"}
    ax.text(**words, y=0.5, fontsize=11 if fault == "letters" else 9)
    grid = np.linspace(-2, 2, points)
    ax.contour(grid, grid, np.add.outer(grid**2, grid**2), levels=[1.0 + 0.1 * (fault == "level")])
    return vector.svg(fig)


@pytest.mark.parametrize(
    "fault",
    ["moved point", "colour", "missing curve", "way", "width", "letters", "moved word", "word",
     "cell", "pairing", "level"],
)  # fmt: skip
def test_a_fault_in_a_picture_is_noticed(fault):
    assert not alike(picture(fault), picture())


def test_the_same_picture_is_the_same_also_with_other_vertices_of_a_contour():
    assert picture() == picture.__wrapped__()
    assert alike(picture(points=397), picture())


def test_cut_off_words_are_reported():
    fig = Figure(figsize=(3, 2))
    ax = fig.subplots()
    ax.set(xticks=[], yticks=[])
    assert vector.cut_off(fig) == []
    ax.set_ylabel("a label that is much too long for so small a figure")
    ax.text(0.9, 0.5, "this runs over the edge")
    assert len(vector.cut_off(fig)) == 2


# --- showing -----------------------------------------------------------------------------------


def test_show_displays_a_picture_with_what_is_cut_off_and_closes(capsys):
    before = plt.get_fignums()
    fig, ax = plt.subplots()
    ax.plot([1, 2], label="a & b")
    show(fig, "fig-1", alt="A line\n  that rises.")
    assert plt.get_fignums() == before
    assert capsys.readouterr().out == "<Figure fig-1>\n"
    fig.text(0.99, 0.5, "this runs over")
    show(fig, "fig-1", alt="A line.")
    assert capsys.readouterr().out == "<Figure fig-1, cut off: ('this runs over',)>\n"
    with pytest.raises(InputError, match="name 'Fig 1' must consist"):
        show(fig, "Fig 1", alt="A line.")
    with pytest.raises(InputError, match="alt of figure 'fig-1' is empty"):
        show(fig, "fig-1", alt=" ")


def test_both_drawings_and_their_words_reach_the_page():
    def data(mime, **about):
        return MimeData(mime, "wide", output_metadata={vector.SVG: about} if about else {})

    renderer = SimpleNamespace(render_image=lambda d: [{"uri": d.content, "classes": []}])
    drawn = data(vector.SVG, name="fig", alt="Two lines.", narrow="narrow")
    images = Pictures.handle_mime(renderer, drawn, False)
    assert images == [
        {"uri": "wide", "alt": "Two lines.", "classes": ["wide", "drawn-fig"]},
        {"uri": "narrow", "alt": "Two lines.", "classes": ["narrow", "drawn-fig"]},
    ]
    alone = Pictures.handle_mime(
        renderer, data(vector.SVG, name="fig", alt="Two lines.", narrow=""), False
    )
    assert alone == [{"uri": "wide", "alt": "Two lines.", "classes": ["alone", "drawn-fig"]}]
    assert Pictures.handle_mime(renderer, data(vector.SVG), False) is None
    assert Pictures.handle_mime(renderer, data("text/html"), False) is None


# --- names beside curves -----------------------------------------------------------------------


def test_a_name_stands_beside_its_own_curve_and_no_longer_in_the_legend():
    fig, (ax,) = panels(height=3.0)
    t = np.linspace(0.0, 10.0, 200)
    for rate in (1.0, 0.3):
        ax.plot(t, np.exp(-rate * t), label=f"rate {rate:g}")
    name_curves(ax)
    assert legend_below(fig) is None
    fig.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    curves = [ax.transData.transform(line.get_xydata()) for line in ax.lines]
    assert not boxes[0].overlaps(boxes[1])
    for k, box in enumerate(boxes):
        assert all(ax.bbox.contains(*corner) for corner in (box.min, box.max))
        gaps = [np.linalg.norm(c - 0.5 * (box.min + box.max), axis=1).min() for c in curves]
        assert np.argmin(gaps) == k
        assert not any(box.contains(*point) for point in curves[k])


def test_remembered_ticks_are_those_of_an_axis_asked_each_time(monkeypatch) -> None:
    """Ticks that become fewer as the layout makes their panels narrow, one of them logarithmic."""
    drawn = []
    for remember in (True, False):
        if not remember:
            monkeypatch.setattr(vector, "_once", lambda axis, ask: ask)
        with house():
            fig, axes = plt.subplots(1, 4, figsize=(6.5, 2.0), layout="constrained")
            for ax in axes:
                ax.plot([1.0, 9e5], [1e-6, 7.0])
                ax.set_ylabel("a long label\nof two lines")
            axes[1].set_yscale("log")
        drawn.append(vector.svg(fig))
        plt.close(fig)
    assert drawn[0] == drawn[1]
