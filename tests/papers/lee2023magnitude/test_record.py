"""The record of Figure 4 of Lee et al. 2022b at full scale: it comes out again."""

from __future__ import annotations

import numpy as np
import pytest
from reluflow.papers.lee2023magnitude import figures_3_and_4 as page

TINY = page.DeepSetting(start=0.3, teacher=0.7, step=0.02, n_steps=300, n=37, d=4, width=5, depth=4)


@pytest.fixture(scope="module")
def full():
    return {panel: page.load(panel) for panel in page.PANELS}


@pytest.mark.parametrize(
    ("panel", "half"),
    [("a", False), ("a", True), ("b", False), ("b", True), ("a-teacher-0.4", False)],
)
def test_recorded_steps_come_out_again(full, panel, half):
    assert page.again(full[panel], 30, half) < 1e-3


def test_the_record_is_of_the_papers_setting_and_its_data_are_drawn_again(full):
    for panel, record in full.items():
        assert record.run.setting == page.PANELS[panel]
        assert record.facts["seed"] == 0
        problem = page.DeepProblem(record.run.setting, 0)
        for name, value in page.checksums(problem).items():
            assert record.facts["checksums"][name] == pytest.approx(value, rel=1e-9)
        assert record.run.zero == pytest.approx(0.5 * float(problem.y.square().mean()))
        assert record.run.losses[0] == pytest.approx(problem.loss(problem.start), rel=1e-5)
        at, w = record.start(half=True)
        kept = record.run.norms[record.run.steps == at][0]
        np.testing.assert_allclose(problem.norms(w), kept, rtol=1e-8)


def test_what_is_said_of_all_steps_fits_the_recorded_ones(full):
    for record in full.values():
        run, said = record.run, record.facts["monotone"]
        assert set(said) == {*run.magnitudes, "loss"}
        for name, values in {**run.magnitudes, "loss": run.losses}.items():
            ways = said[name]
            assert ways["way_up"] - ways["way_down"] == pytest.approx(
                values[-1] - values[0], rel=1e-6
            )
            assert ways["way_up"] >= np.diff(values).clip(min=0.0).sum() - 1e-6 * values.max()
            assert ways["rises"] + ways["falls"] <= run.setting.n_steps
            for first, last, begin, end in ways["first"]:
                for step, value in ((first, begin), (last, end)):
                    assert run.steps.min() <= step <= run.steps.max()
                    if step in run.steps:
                        seen = values[run.steps == step][0]
                        assert value == pytest.approx(seen, rel=1e-6)


def slow_pieces(values):
    """Monotone pieces one step at a time."""
    found = []
    for k in range(1, len(values)):
        sign = np.sign(values[k] - values[k - 1])
        if found and found[-1][2] == sign:
            found[-1][1] = k
        else:
            found.append([k - 1, k, sign])
    return found


def test_pieces():
    values = np.array([0.0, 1, 3, 2, 2, 5, 4, 3])
    ways = page.pieces(values)
    assert (ways["rises"], ways["falls"], ways["way_up"], ways["way_down"]) == (3, 3, 6.0, 3.0)
    assert [piece[:2] for piece in ways["first"]] == [piece[:2] for piece in slow_pieces(values)]
    assert ways["pieces"] == 5
    assert ways["first"][0] == [0, 2, 0.0, 3.0]


def test_a_record_is_the_plain_loop(monkeypatch, tmp_path):
    monkeypatch.setattr(page, "PANELS", {"tiny": TINY})
    monkeypatch.setattr(page, "CHUNK", 70)
    shelf = page.SHELF.at("tiny", 0, root=tmp_path)
    record = page.load("tiny", shelf)
    plain = page.deep_descent(page.DeepProblem(TINY, 0), TINY.n_steps)[0]
    shown = page.recorded_steps(TINY.n_steps)
    assert shown == [*range(51), 100, *range(150, 201), 300]
    assert record.run.steps.tolist() == shown
    np.testing.assert_allclose(record.run.norms, plain.norms[shown], rtol=1e-4)
    np.testing.assert_allclose(record.run.losses, plain.losses[shown], rtol=1e-3)
    assert page.again(record, 50, False) < 1e-4
    assert page.again(record, 50, True) < 1e-4
    said = record.facts["monotone"][page.FIRST]
    assert [piece[:2] for piece in said["first"]] == [
        piece[:2] for piece in slow_pieces(plain.norms[:, 0])
    ]
    assert set(record.facts["eta_lambda"]) == {"start", "half", "end"}
    assert max(record.facts["float32_against_float64"].values()) < 1e-4
    assert record.facts["seed"] == 0


def test_a_killed_record_goes_on_behind_its_last_piece(monkeypatch, tmp_path):
    def killed_once(problem, w, step, counted, descend=page.descend):
        taken.append(len(counted))
        if len(taken) == 4:
            raise KeyboardInterrupt
        return descend(problem, w, step, counted)

    taken: list[int] = []
    monkeypatch.setattr(page, "PANELS", {"tiny": TINY})
    whole = page.SHELF.at("tiny", 5, root=tmp_path / "whole").read("tiny")
    monkeypatch.setattr(page, "CHUNK", 40)
    monkeypatch.setattr(page, "descend", killed_once)
    with pytest.raises(KeyboardInterrupt):
        page.SHELF.at("tiny", 5, root=tmp_path)
    again = page.SHELF.at("tiny", 5, root=tmp_path).read("tiny")
    assert taken[:9] == [40, 40, 40, 30, 30, 40, 40, 40, 30]
    assert {k for k in whole if whole[k] != again[k]} <= {"wall_s", "cpu_s"}


def test_shares_and_levels():
    run = page.DeepRun(
        TINY, np.array([0.0, 100, 200, 300]), np.array([4.0, 1, 2, 0.5]),
        np.array([[0.0], [5], [9], [10]]), 1.0,
    )  # fmt: skip
    record = page.Record(run, {})
    assert record.share_of_way(0.5) == pytest.approx(0.3)
    assert record.first_below(2.0) == 100.0
    assert record.first_below(1.5) == 300.0
    assert record.first_below(9.0) == 0.0
    said = {"m": {"way_up": 3.0, "way_down": 1.0}}
    record = page.Record(run, {"monotone": said})
    assert (record.back("m", 1), record.back("m", -1)) == (0.25, 0.75)
