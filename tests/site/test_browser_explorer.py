"""The explorer in a reader's browser: its mathematics against the library's, and its page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import PHONE, Opened, opened
from built import ROOT
from explored import PAGE, Case, link, middle, number, open_data, paste, planted, shown, told, touch
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, expect
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.ledger import read
from reluflow.ledger.cards import setting
from reluflow.papers.lee2022support.landscape import local_minima
from reluflow.site.explorer import examples

FORMULAS = False
FLOWS = """cases => cases.map(([X, y, w]) => {
  const { status, end, events } = reluflow.flow(X, y, w);
  return { status, end, events };
})"""
MINIMA = "cases => cases.map(([X, y]) => reluflow.minima(X, y))"

pytestmark = pytest.mark.long


def draw(seed: int) -> Case:
    """Data, labels of either sign and a start: whole numbers or Gaussian; every third set of rank
    one, every third with parallel and opposite data."""
    rng = np.random.default_rng(seed)
    n, whole, kind = int(rng.integers(1, 9)), seed % 2 == 0, seed // 2 % 3
    X = rng.integers(-3, 4, (n, 2)).astype(float) if whole else rng.normal(size=(n, 2))
    if kind == 1:
        X = np.outer(rng.integers(-2, 3, n) if whole else rng.normal(size=n), X[0])
    if kind == 2:
        k = n // 2
        X[k : 2 * k] = X[:k] * rng.choice([-1.0, 1.0, 2.0, -0.5], (k, 1))
    y = rng.integers(-3, 6, n).astype(float) if whole else rng.normal(rng.integers(0, 2), 1.0, n)
    small = rng.random() < 0.5
    w = 10.0 ** rng.uniform(-4, 1) * rng.normal(size=2) if small else rng.integers(-3, 4, 2)
    return X, y, w.astype(float)


RANDOM = [draw(seed) for seed in range(200)]
PAPER = [tuple(np.array(e[key], float) for key in ("X", "y", "w")) for e in examples()]
FAR = [
    (np.diag([2.0, 1.0]), np.array([0.02, -1.0]), np.full(2, 1e12)),
    (np.eye(2), np.array([1.0, -1.0]), np.full(2, 1e14)),
    *((X, y, far * w) for far in (1e14, 1e50, 1e100) for X, y, w in map(draw, range(1000, 1010))),
]
# What holds a slide fades: to a limit of zero, and to one that is zero but for rounding.
FADES = [
    tuple(np.array(part, float) for part in case)
    for case in (
        ([[3, 2], [3, 2], [1, -2], [-2, 2]], [-3, 3, -1, -1], [2, -1]),
        ([[-2, 3], [-2, -3], [2, 3], [2, -1]], [-1, 2, 1, -3], [-2, 0]),
    )
]
CASES: list[Case] = [*PAPER, *RANDOM, *FAR, *FADES]  # type: ignore[list-item]


def asked(page: Page, script: str, cases: list[Any]) -> list[Any]:
    return page.evaluate(script, [[part.tolist() for part in case] for case in cases])


def ends_apart(exact: Trajectory, drawn: dict[str, Any], w: NDArray) -> str:
    """How a flow of the browser differs from the library's; empty where it does not."""
    scale = max(np.abs(w).max(), np.abs(exact.end).max())
    changes = [(e.datum, e.kind) for e in exact.events]
    if drawn["status"] != exact.status:
        return f"{drawn['status']}, not {exact.status}"
    if not np.allclose(drawn["end"], exact.end, rtol=0, atol=1e-9 * scale):
        return f"ends at {drawn['end']}, not {exact.end}"
    if [(e["datum"], e["kind"]) for e in drawn["events"]] != changes:
        return f"{drawn['events']}, not {changes}"
    times = [e.t for e in exact.events]
    if not np.allclose([e["t"] for e in drawn["events"]], times, rtol=1e-9, atol=0):
        return f"{drawn['events']}, not at {times}"
    return ""


@cache
def flows() -> list[Trajectory]:
    """The library's."""
    return [affine_flow(*case) for case in CASES]


def differences(page: Page) -> Iterator[str]:
    """By and by: a fault may make the flows of the browser long."""
    for k in range(0, len(CASES), 16):
        some = CASES[k : k + 16]
        drawn = zip(flows()[k : k + 16], asked(page, FLOWS, some), some, strict=True)
        found = (ends_apart(exact, flow, w) for exact, flow, (_, _, w) in drawn)
        yield from filter(None, found)


# --- The mathematics ------------------------------------------------------------------------------


def test_the_sets_meet_every_kind_of_event_and_of_end() -> None:
    found = flows()[len(PAPER) : len(PAPER) + len(RANDOM)]
    assert {flow.status for flow in found} == {"converged", "sliding", "non-unique"}
    assert {e.kind for flow in found for e in flow.events} == {"activate", "deactivate", "slide"}
    assert {len(X) for X, _, _ in RANDOM} == set(range(1, 9))


def test_flows_are_those_of_the_library(page: Page) -> None:
    assert list(differences(page)) == []


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("flow.js", "[x, y[i] - h[i], y[i]]", "[x, y[i] + h[i], y[i]]"),
        ("flow.js", "Math.hypot(a - c, 2 * b)", "Math.hypot(a - c, b)"),
        ("flow.js", "const room = stay.length ? rooms(X, y, h, current, state.on, stay) : [];",
         "const room = [];"),
        ("flow.js", "data[j] = sums[j][1].some(Boolean) && there;", "data[j] = false;"),
        ("exponentials.js", "k < 3 &&", "k < 2 &&"),
        ("flow.js", "32 * EPS * Math.min(early, late) ? 0", "0 ? 0"),
        ("flow.js", "slopes, rates, sign, limit)", "slopes, rates, sign, a + sum(slopes))"),
        ("flow.js", "sure(limit, late)", "limit"),
        ("surfaces.js", "[1, -1, 0].map((v)", "[1, -1].map((v)"),
        ("surfaces.js", "if (stay.length < 3)", "if (stay.length < 9)"),
        ("surfaces.js", "if (leading(room, width) < 0) return null;", ""),
    ],
)  # fmt: skip
def test_a_fault_is_seen(page: Page, file: str, right: str, wrong: str) -> None:
    with planted(page, file, right, wrong):
        assert next(differences(page), None)


def wrong_lengths(page: Page) -> list[int]:
    """The flows on whose way |w| is not found least or largest, by the library's path."""
    script = "cases => cases.map(([X, y, w]) => reluflow.lengths(reluflow.flow(X, y, w)))"
    found = []
    for k, (path, drawn) in enumerate(zip(flows(), asked(page, script, CASES), strict=True)):
        sizes = np.linalg.norm([*path.at(path.grid(200)), path.end], axis=1)
        (t, least), (s, most) = drawn["least"], drawn["most"]
        good = least <= sizes.min() + 1e-12 * sizes[0] and most >= sizes.max() * (1 - 1e-12)
        for when, size in ((t, least), (s, most)):
            if path.has_limit or (when is not None and when <= path.t[-1]):
                at = path.end if when is None else path.at(when)
                good &= bool(abs(np.linalg.norm(at) - size) <= 1e-9 * sizes[0] + 1e-9 * size)
        found += [] if good else [k]
    return found


def test_the_least_and_the_largest_length_are_found(page: Page) -> None:
    assert wrong_lengths(page) == []
    right = "if (sign * (p[1] - q[1]) > 0) hi = q[0];"
    with planted(page, "flow.js", right, "if (sign > 2) hi = q[0];"):
        assert wrong_lengths(page) != []


def test_minima_are_those_of_the_library(page: Page) -> None:
    # Labels below zero hold minima on boundaries.
    cases = [(X, -np.abs(y) if k % 3 == 2 else y) for k, (X, y, _) in enumerate(CASES)]
    kinds = set()
    for (X, y), drawn in zip(cases, asked(page, MINIMA, cases), strict=True):
        exact = local_minima(X, y)
        assert [(s["rank"], *map(tuple, (s["support"], s["boundary"]))) for s in drawn] == [
            (s.rank, s.support, s.boundary) for s in exact
        ]
        for mine, its in zip(drawn, exact, strict=True):
            kinds.add((its.dimension, bool(its.boundary)))
            assert mine["dimension"] == its.dimension
            assert mine["loss"] == pytest.approx(its.loss, rel=1e-12, abs=1e-15)
            away = np.array(mine["w"]) - its.w
            away -= its.directions @ (its.directions.T @ away)
            assert np.abs(away).max() <= 1e-9 * max(1.0, np.abs(its.w).max())
    assert kinds == {(0, False), (1, False), (2, False), (0, True), (1, True)}


# --- The page -------------------------------------------------------------------------------------


def says_what_happens(page: Page) -> None:
    """The sentence, the table of events and the highlighted minimum are the shown setting's."""
    X, y, w = shown(page)
    flow = affine_flow(X, y, w)
    assert page.locator("#explorer-told").get_attribute("data-status") == flow.status
    end = re.search(r"(?: at|converges.* to) \((\S+), (\S+)\) ", told(page))
    if end is None:
        assert ("stays where it is" if flow.has_limit else "cannot be followed") in told(page)
    else:
        np.testing.assert_allclose([number(v) for v in end.groups()], flow.end, 1e-4, 1e-12)
    times = page.locator("#explorer-events td:nth-child(2)").all_text_contents()
    assert [number(t) for t in times] == pytest.approx([e.t for e in flow.events], rel=1e-4)


def path(page: Page) -> str | None:
    return page.locator("#explorer .path").get_attribute("d")


def test_it_opens_on_the_start_that_surprises(page: Page) -> None:
    X, y, w = shown(page)
    np.testing.assert_array_equal(w, [0.0, 45.0])
    offered = json.loads(page.locator("#explorer-examples").inner_text())
    assert offered == json.loads(json.dumps(examples()))
    says = page.locator("#explorer-says").inner_text()
    assert says.startswith("No: from here the flow reaches the global minimum. The paper says")
    assert told(page).endswith("This is a global minimum.")
    says_what_happens(page)
    best = local_minima(X, y)[0]
    assert page.locator("#explorer-minima tr.end td").all_inner_texts()[0] == str(best.rank)


def test_the_mouse_drags_the_start(page: Page) -> None:
    before, (x, y) = path(page), middle(page)  # nothing scrolls from here on
    page.mouse.move(*middle(page, "#explorer .start"))
    page.mouse.down()
    page.mouse.move(x, y)
    during = path(page)
    page.mouse.move(x + 70, y - 50)
    page.mouse.up()
    assert len({before, during, path(page)}) == 3
    says_what_happens(page)
    end = shown(page)[2]
    page.mouse.move(x, y)
    np.testing.assert_array_equal(shown(page)[2], end)  # it is let go; its path becomes finer


def test_a_click_puts_the_start_elsewhere(page: Page) -> None:
    x, y = middle(page)
    page.mouse.click(x - 40, y)
    assert shown(page)[2][0] < -10.0
    says_what_happens(page)


def test_keys_move_the_start(page: Page) -> None:
    page.locator("#explorer .start").focus()
    before = path(page)
    page.keyboard.press("ArrowRight")
    step = shown(page)[2] - [0.0, 45.0]
    assert step[0] > 0.0
    assert step[1] == 0.0
    assert path(page) != before
    page.keyboard.press("Shift+ArrowDown")
    assert 45.0 - shown(page)[2][1] == pytest.approx(0.1 * step[0])
    says_what_happens(page)
    page.wait_for_function("location.hash === document.getElementById('explorer-link').hash")


def test_a_finger_drags_the_start(browser: Browser, site: Path) -> None:
    with opened(browser, site / PAGE, PHONE, formulas=False) as phone:
        before, (x, y) = path(phone.page), middle(phone.page, "#explorer .start")
        scrolled = phone.ask("scrollY")
        hand = phone.page.context.new_cdp_session(phone.page)
        touch(hand, "touchStart", (x, y))
        for k in range(1, 9):
            touch(hand, "touchMove", (x, y + 10 * k))
        touch(hand, "touchEnd")
        assert path(phone.page) != before
        assert shown(phone.page)[2][1] < 45.0
        assert phone.ask("scrollY") == scrolled  # the page stays
        says_what_happens(phone.page)
        x, y = middle(phone.page)
        phone.page.touchscreen.tap(x - 30, y)
        assert shown(phone.page)[2][0] < -10.0


@pytest.mark.parametrize("head", ["x1,x2,y\n", ""])
def test_pasted_data_are_shown(page: Page, head: str) -> None:
    paste(page, f"{head}1,0,2\n0,1,1\r\n\n1e0;1;+1\n")
    X, y, _ = shown(page)
    assert (X.tolist(), y.tolist()) == ([[1, 0], [0, 1], [1, 1]], [2, 1, 1])
    assert page.locator("#explorer-minima td:first-child").all_inner_texts() == list("12345")
    assert page.locator("#explorer-wrong").inner_text() == ""
    says_what_happens(page)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("x1,x2,y\n1,0,2\n1,two,3", "Line 3: “two” is not a number, so"),
        ("1,0,2\n1,2", "Line 2 has 2 values where three are needed, x1,x2,y:"),
        ("1,0,2\n1,2,nan", "Line 2: “nan” is not a number, so"),
        ("1,0,1e999", "Line 1: 1e999 is too large, so"),
        ("a,b\n1,2,3", "Line 1 has 2 values where three are needed, x1,x2,y:"),
        ("x1,x2,y\n", "There is no line with a datum, x1,x2,y:"),
        ("1,2,3\n" * 201, "There are 201 data, and at most 200 are drawn:"),
    ],
)
def test_bad_data_get_one_sentence(page: Page, text: str, wrong: str) -> None:
    before = path(page)
    paste(page, text)
    expect(page.locator("#explorer-wrong")).to_have_text(f"{wrong} the data stay as they were.")
    assert len(shown(page)[0]) == 5
    assert path(page) == before


def test_data_are_edited_in_the_table(page: Page) -> None:
    open_data(page)
    cell = page.get_by_label("x₁: label")
    cell.fill("2.5")
    cell.press("Tab")
    assert shown(page)[1][0] == 2.5
    expect(page.get_by_label("remove x₁")).to_be_focused()
    cell.fill("much")
    cell.press("Tab")
    sentence = "In the row of x₁, “much” is not a number, so the data stay as they were."
    expect(page.locator("#explorer-wrong")).to_have_text(sentence)
    assert shown(page)[1][0] == 2.5
    page.get_by_label("remove x₁").click()
    page.locator("#explorer-add").click()
    X, _, _ = shown(page)
    assert X[-1].tolist() == [1, 1]
    assert len(X) == 5
    says_what_happens(page)


def test_an_address_keeps_a_setting(page: Page, browser: Browser, site: Path) -> None:
    paste(page, "3,1,2\n-1,2,-1")
    for c, value in (("1", "-0.25"), ("2", "45")):
        page.locator(f"#explorer-w{c}").fill(value)
        page.locator(f"#explorer-w{c}").press("Enter")
    href = page.locator("#explorer-link").get_attribute("href")
    assert href == "#X=3,1;-1,2&y=2,-1&w=-0.25,45"
    with opened(browser, site / PAGE, anchor=href[1:], formulas=False) as again:
        assert told(again.page) == told(page)
    page.evaluate("location.hash = 'X=1,2;3&y=1&w=0,0'")
    expect(page.locator("#explorer-wrong")).to_contain_text("no data that can be read")
    assert len(shown(page)[0]) == 5


def test_every_planar_counterexample_is_one_click_away(page: Page, site: Path) -> None:
    """The small starts of Theorems 3.6 and 4.7 miss the global minimum, and Lemma F.9's all."""
    ends = {}
    for row in filter(setting, read(ROOT / "chapters")):
        path, end = link(site, row)
        assert path == (site / PAGE).resolve()
        page.goto(f"{(site / PAGE).as_uri()}#{end}")
        instance = row.counterexample.instance if row.counterexample else {}
        given = (instance.get("X"), instance.get("y"), instance.get("w0"))
        for mine, its in zip(shown(page), given, strict=True):
            if isinstance(its, tuple):
                np.testing.assert_array_equal(mine, np.array(its, float))
        says_what_happens(page)
        ends[row.claim.id] = told(page)
    assert "local minimum of rank 2 of 5" in ends["sv.thm3.6"]
    assert "local minimum of rank 2 of 5" in ends["sv.thm4.7.1"]
    assert ends["sv.lemF.9.2"].endswith("This is no local minimum.")


def test_each_question_shows_its_own_flow_and_its_answer_above_it(visit: Opened) -> None:
    page = visit.page
    page.set_viewport_size({"width": 1280, "height": 900})
    for k, example in enumerate(examples()):
        if not example["question"]:
            continue
        page.locator("#explorer-example").select_option(str(k))
        for mine, its in zip(shown(page), (example[key] for key in "Xyw"), strict=True):
            np.testing.assert_array_equal(mine, np.array(its, float))
        says_what_happens(page)
        assert page.locator("#explorer-data tr").count() == 1 + len(example["X"])
        followed = affine_flow(*shown(page)).events or "cannot be followed" not in told(page)
        assert page.locator("#explorer-time").is_visible() == bool(followed)
        says = page.locator("#explorer-says").inner_text()
        assert says.startswith(example["answer"])
        ends = re.search("(reaches|misses) the global minimum", says)
        if ends:
            assert ("This is a global" in told(page)) == (ends.group(1) == "reaches")
        verdict, plane = (page.locator(f"#explorer-{x}").bounding_box() for x in ("told", "plane"))
        assert verdict["y"] + verdict["height"] <= plane["y"]
    assert visit.complaints == []
