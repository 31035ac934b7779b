"""Settings, runs, compliance, readings and gaps of Figures 1 and 2 of Lee, Sim & Ye 2022b."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import ArrayLike
from reluflow import parameters
from reluflow.errors import InputError
from reluflow.papers.lee2023magnitude import experiments, runs
from reluflow.papers.lee2023magnitude.population import PopulationPath, recorded_path
from reluflow.papers.lee2023magnitude.runs import (
    HYPOTHESIS,
    SAMPLE,
    STATEMENT,
    STEP,
    Breach,
    Check,
    Experiment,
    Run,
    Setting,
    angle_checks,
    constants,
    experiment,
    magnitude_checks,
    magnitude_curves,
    train,
    train_one,
)
from reluflow.papers.lee2023magnitude.setting import PARAMETERS, Start


@pytest.fixture(scope="module")
def small() -> tuple[Run, ...]:
    """D.3's nine panels with few data and few large steps that make about as much progress."""
    panels = experiment(n=400, d=100, steps=500, seed=3).settings
    panels = tuple(replace(q, rate=200.0 * q.rate, d=12) for q in panels)
    scales = [math.sqrt(100 / 12) * q.scale for q in panels]
    panels = tuple(replace(q, scale=k) for q, k in zip(panels, scales, strict=True))
    return train(Experiment(panels, "empirical"), workers=1)


def theirs(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """States (T + 1, d) and factors (T + 1, m) of the plain loop on all data."""
    X, w, best = setting.data(), setting.start(), setting.target()
    v = [float(np.linalg.norm(w))] * setting.m
    y = np.linalg.norm(best) ** setting.m * np.maximum(X @ best, 0.0)
    states, layers = [w], [v]
    for _ in range(setting.steps):
        p, h = math.prod(v), X @ w
        residual = np.where(h > 0.0, p * h - y, 0.0)
        rests = [math.prod(v[:k] + v[k + 1 :]) for k in range(len(v))]
        pull = float(np.mean(residual * h))
        w = w - setting.rate * p * (residual @ X) / len(X)
        v = [a - setting.rate * b * pull for a, b in zip(v, rests, strict=True)]
        states.append(w)
        layers.append(v)
    return np.array(states), np.array(layers)


def moved(path: PopulationPath, psi: ArrayLike = 0.0, rho: ArrayLike = 0.0) -> PopulationPath:
    """The path with other states."""
    return recorded_path(
        path.t, path.psi + psi, path.rho + rho, path.layers, path.target, path.clock
    )


def test_the_nine_panels_are_those_of_d3() -> None:
    panels = experiment().settings
    assert [q.name for q in panels[:4]] == ["1L-SN", "1L-MN", "1L-LN", "2L-SN"]
    assert [(q.rate, q.scale) for q in panels[::3]] == [(3e-4, 1.0), (8e-6, 0.5), (2e-6, 0.3)]
    assert {(q.d, q.n, q.steps, q.restart) for q in panels} == {(100, 10_000, 100_000, 20_000)}
    assert [q.norm for q in panels[:3]] == [0.1, 1.0, 2.0]


def test_as_printed_means_all_nine_panels_trained_on_data() -> None:
    assert experiment(seed=8).as_printed
    assert experiment(layers=[3, 1, 2, 4], norms=[0.1, 2.0, 1.0, 5.0]).as_printed
    assert not experiment(data="population").as_printed
    assert not experiment(steps=99_999).as_printed
    assert not experiment(learning_rate=3e-4).as_printed
    assert not experiment(norms=[0.1, 1.0]).as_printed


@pytest.mark.parametrize(
    ("bad", "name"),
    [
        ({"d": 1}, "d"),
        ({"n": 0}, "n"),
        ({"steps": 0}, "steps"),
        ({"steps": 2.5}, "steps"),
        ({"seed": -1}, "seed"),
        ({"layers": []}, "layers"),
        ({"layers": [0]}, "layers"),
        ({"layers": [2, 2]}, "layers"),
        ({"norms": [0.0]}, "norms"),
        ({"norms": [1.0, 1.0]}, "norms"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"data": "both"}, "data"),
    ],
)
def test_bad_parameters_are_named(bad: dict, name: str) -> None:
    printed = {"layers": [1, 2, 3], "norms": [0.1, 1, 2], "d": 100, "n": 10_000, "steps": 100_000,
               "learning_rate": None, "data": "empirical", "seed": 0, "effort": 1.0}  # fmt: skip
    assert parameters.check(printed, PARAMETERS).norms == [0.1, 1, 2]
    with pytest.raises(InputError, match=f'^parameter "{name}" must'):
        parameters.check({**printed, **bad}, PARAMETERS)


def test_deeper_neurons_make_the_progress_of_three_layers() -> None:
    three, five = experiment(layers=[3, 5], norms=[1.0], d=7, learning_rate=None).settings
    assert three.rate == 2e-6
    assert five.rate * (five.scale**2 * 7) ** 4 == pytest.approx(2e-6 * (0.09 * 100) ** 2)


def test_constants_are_the_three_cases_of_d3() -> None:
    assert constants(1.0, 10.0) == (1.0, 10.0)  # small: |w0|, |w*|
    assert constants(9.0, 10.0) == (5.0, 10.0)  # middle: |w*|/2, the larger
    assert constants(11.0, 10.0) == (5.0, 11.0)
    assert constants(21.0, 10.0) == (5.0, 21.0)  # large: |w*|/2, |w0|


def test_draws_have_the_stated_scales_and_are_shared() -> None:
    panel = experiment(d=4000, n=2).settings[5]  # two layers, large norm
    assert np.std(panel.target()) == pytest.approx(0.5, rel=0.05)
    assert np.std(panel.start()) == pytest.approx(1.0, rel=0.05)
    assert np.array_equal(panel.target(), replace(panel, norm=0.1).target())
    assert not np.array_equal(panel.target(), replace(panel, layers=3).target())
    assert np.array_equal(panel.data(), replace(panel, layers=1, norm=0.3).data())
    direction, other = panel.start() / 2, replace(panel, norm=1.0).start()
    assert not np.allclose(direction, other)
    assert abs(np.corrcoef(panel.start(), panel.target())[0, 1]) < 0.1


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_runs_on_data_are_the_plain_loop(layers: int) -> None:
    setting = Setting(layers, 0.7, 0.4, 0.05, 6, 150, 60, 11)
    run = train_one(setting)
    states, factors = theirs(setting)
    best = setting.target()
    length = np.linalg.norm(states, axis=1)
    cosine = states @ best / length / np.linalg.norm(best)
    assert np.allclose(run.empirical.length, length, rtol=1e-11)
    assert np.allclose(run.empirical.phi, np.pi - np.arccos(cosine), rtol=0, atol=1e-10)
    assert np.allclose(run.empirical.layers, factors, rtol=1e-11)
    assert run.start.v == pytest.approx(length[0])
    assert run.start.phi == pytest.approx(np.pi - np.arccos(cosine[0]))
    for path in (run.population, run.flow):
        assert path.phi[0] == pytest.approx(run.start.phi)
        assert path.length[0] == pytest.approx(run.start.v)
        assert len(path.t) == 61
    assert run.flow.t[-1] == pytest.approx(60 * 0.05)


def test_pieces_make_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "PIECE", 50)
    setting = Setting(2, 1.0, 0.5, 0.1, 3, 40, 107, 4)
    run = train_one(setting)
    states, _ = theirs(setting)
    assert np.allclose(run.empirical.length, np.linalg.norm(states, axis=1), rtol=1e-9)


def test_more_data_come_nearer_to_the_population() -> None:
    far, near = (train_one(Setting(2, 1.0, 0.5, 0.1, 5, n, 100, 7)) for n in (100, 100_000))
    one, other = (experiments.distance(run.empirical, run.population) for run in (far, near))
    assert other[0] < 0.2 * one[0]
    assert other[1] < 0.2 * one[1]
    assert max(other) < 0.02


def test_workers_do_not_change_a_digit() -> None:
    panels = experiment(layers=[1, 3], norms=[1.0], d=30, n=500, steps=300, learning_rate=0.01)
    alone, shared = train(panels, workers=1), train(panels, workers=2)
    for one, two in zip(alone, shared, strict=True):
        assert one.setting == two.setting
        for mine, other in zip(one.paths.values(), two.paths.values(), strict=True):
            assert np.array_equal(mine.psi, other.psi)
            assert np.array_equal(mine.rho, other.rho)


@pytest.mark.parametrize("workers", [1, 2])
def test_divergence_is_one_sentence(workers: int) -> None:
    panels = experiment(layers=[1, 2], norms=[2.0], d=4, n=50, steps=300, learning_rate=5.0)
    with pytest.raises(InputError, match=r"1L-LN diverges at learning rate 5: choose a smaller"):
        train(panels, workers=workers)


def test_divergence_does_not_wait_for_the_panels_that_were_not_begun() -> None:
    panels = experiment(layers=[1, 2], norms=[0.5, 1, 2], d=4, n=50, steps=300, learning_rate=5.0)
    with pytest.raises(InputError, match=r"1L-0.5k\* diverges at learning rate 5: choose"):
        train(panels, workers=2)


def test_the_population_alone_needs_no_data() -> None:
    (run,) = train(experiment([2], [1.0], d=5, n=10, steps=50, data="population"), workers=1)
    assert run.empirical is None
    assert run.trained is run.population
    assert set(run.paths) == {"population", "flow"}


def test_checks_find_what_a_plain_loop_finds(small: tuple[Run, ...]) -> None:
    checks = {(c.panel, c.side): c for c in magnitude_checks(small)}
    seen = 0
    for run in small[:6]:
        path = run.empirical
        lower, upper = magnitude_curves(run.setting, path)
        for side in ("lower", "upper"):
            broken = [
                T
                for T in range(1, run.setting.steps + 1)
                if (path.length[T] < lower[T] - 1e-12 * run.target if side == "lower"
                    else path.length[T] > upper[T] + 1e-12 * run.target)
            ]  # fmt: skip
            mine = checks[run.setting.name, side].breaches["empirical"]
            assert list(mine.steps) == broken
            seen += len(broken)
    assert seen > 0


def test_restarted_bounds_begin_on_the_path(small: tuple[Run, ...]) -> None:
    for run in small[:6]:
        lower, upper = magnitude_curves(run.setting, run.empirical, run.setting.restart)
        assert (run.setting.restart, len(lower)) == (100, run.setting.steps + 1 - 100)
        assert [lower[0], upper[0]] == pytest.approx([run.empirical.length[100]] * 2)
    for check in magnitude_checks(small, restarted=True):
        assert check.steps == 400
        for breach in check.breaches.values():
            assert (breach.steps > 100).all()
            assert (breach.steps <= 500).all()


def test_a_path_that_is_no_number_breaks_its_bounds(small: tuple[Run, ...]) -> None:
    run = small[1]
    lost = moved(run.flow, rho=np.where(run.flow.t > run.flow.t[7], np.nan, 0.0))
    for check in magnitude_checks([replace(run, flow=lost)]):
        breach = check.breaches["flow"]
        assert breach.count == len(run.flow.t) - 8
        assert breach.steps[0] == 8


def check_of(data: list[int], descent: list[int], flow: list[int], applies: bool = True) -> Check:
    breaches = {
        name: Breach(np.array(steps, int), 0.1)
        for name, steps in (("empirical", data), ("population", descent), ("flow", flow))
    }
    return Check("1L-SN", "A.2", "lower", 0, 9, breaches, dict.fromkeys(breaches, applies))


def test_causes_share_out_the_steps() -> None:
    check = check_of([1, 2, 3, 4], [2, 3, 7], [3])
    assert check.causes == {STATEMENT: 1, STEP: 1, SAMPLE: 2}
    assert check_of([], [1], [1]).causes == {}
    assert check_of([5, 6], [], [], applies=False).causes == {HYPOTHESIS: 2}


def test_the_theorem_is_silent_where_the_magnitude_leaves_its_interval() -> None:
    setting = Setting(2, 1.0, 1.0, 0.1, 4, 10, 3, 0)
    T = np.arange(4.0)
    rho = np.log([0.8, 0.9, 0.95, 1.001])
    path = recorded_path(T, 0.3 * T, rho, np.ones((4, 1)), 2.0, "steps")
    flow = recorded_path(0.1 * T, 0.3 * T, np.minimum(rho, -0.01), np.ones((4, 1)), 2.0, "time")
    run = Run(setting, Start(0.0, math.log(0.8), 1, 2.0), path, path, flow)
    check = angle_checks([run])[0]
    assert check.applies == {"empirical": False, "population": False, "flow": True}
