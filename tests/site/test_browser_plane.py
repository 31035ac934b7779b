"""The explorer's plane in a reader's browser: where words stand, and how a reader moves over it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import PHONE, opened
from explored import PAGE, SHOW, Case, middle, number, planted, points_of, touch
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page
from reluflow.flows.affine import affine_flow
from reluflow.flows.trajectory import Trajectory
from reluflow.site.explorer import examples
from scipy.optimize import minimize_scalar

FORMULAS = False
# The view and the size of what is drawn last.
WATCH = """() => Object.defineProperty(window, "seen", {
  get: () => document.getElementById("explorer-plane").shown, configurable: true,
})"""
# The words that lie on a disc or on other words: as they are drawn, less the air around letters.
COVERED = """() => {
  const svg = document.getElementById("explorer-plane"), found = [];
  const box = e => e.getBoundingClientRect();
  const discs = [...svg.querySelectorAll(".minimum, .event, .end, .dot")].map(e => ({
    x: (box(e).left + box(e).right) / 2, y: (box(e).top + box(e).bottom) / 2,
    r: e.r.baseVal.value, name: e.getAttribute("class") }));
  const words = [...svg.querySelectorAll("text")].map(e => ({
    told: e.textContent, rank: e.matches(".rank"), left: box(e).left + 1, right: box(e).right - 1,
    top: box(e).top + 3, bottom: box(e).bottom - 3 }));
  words.forEach(({ told, rank, left, right, top, bottom }, k) => {
    for (const { x, y, r, name } of discs) {
      const near = Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
      const far = Math.hypot(Math.max(x - left, right - x), Math.max(y - top, bottom - y));
      const inside = far < r + 1 && (name === "end" || (rank && name.startsWith("minimum")));
      if (near < r && !inside) found.push(`${told} lies on the disc ${name}`);
    }
    for (const other of words.slice(0, k))
      if (left < other.right && other.left < right && top < other.bottom && other.top < bottom)
        found.push(`${told} lies on ${other.told}`);
  });
  return found;
}"""
# What is drawn when the plane comes to rest is drawn at once.
ZOOMED = f"""views => {{
  const [wait, later] = [window.setTimeout, []];
  window.setTimeout = act => later.push(act);
  const found = views.flatMap(buttons => {{
    for (const each of buttons.split(" ")) document.getElementById(`explorer-${{each}}`).click();
    later.splice(0).forEach(act => act());
    return ({COVERED})();
  }});
  window.setTimeout = wait;
  return found;
}}"""
DRAWN = """() => {
  const svg = document.getElementById("explorer-plane");
  const all = (what, get) => [...svg.querySelectorAll(what)].map(get);
  const n = (e, ...keys) => keys.map(key => Number(e.getAttribute(key)));
  const ends = e => [n(e, "x1", "y1"), n(e, "x2", "y2")];
  return {
    boundary: all(".boundary", ends), several: all(".several", ends),
    dead: all(".dead", e => [...e.points].map(p => [p.x, p.y])),
    minimum: all(".minimum", e => n(e, "cx", "cy")),
    path: all(".path", e => e.getAttribute("d").split("M").slice(1).map(
      line => line.split("L").map(p => p.split(",").map(Number))))[0],
    arrow: all(".arrow", e => e.getAttribute("transform").match(/[-\\d.e]+/g).map(Number)),
    tick: all(".tick", e => [e.textContent, e.getAttribute("text-anchor"), ...n(e, "x", "y")]),
  };
}"""

pytestmark = pytest.mark.long


@pytest.fixture
def page(page: Page) -> Page:
    """The page on its first example, watched."""
    page.evaluate(WATCH)
    return page


def choose(page: Page, k: int) -> Case:
    example = examples()[k]
    page.evaluate(SHOW, example)
    X, y, w = (np.array(example[key], float) for key in ("X", "y", "w"))
    return X, y, w


def seen(page: Page) -> dict[str, float]:
    return page.evaluate("seen")


def plane_of(v: dict[str, float], w: Any) -> NDArray:
    """The pixels of points of the plane, where `v` is seen."""
    scale = v["size"] / (2 * v["r"])
    return (np.asarray(w) - [v["x"], v["y"]]) * [scale, -scale] + v["size"] / 2


# --- Words ----------------------------------------------------------------------------------------


def covered(page: Page) -> Iterator[str]:
    """The words that are covered, in all examples, zoomed in and out, when all is drawn."""
    for k in range(len(examples())):
        choose(page, k)
        yield from page.evaluate(ZOOMED, ["fit", "in in", "fit out out"])


def test_no_words_lie_on_discs_or_on_words(page: Page) -> None:
    assert list(covered(page)) == []


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("labels.js", "near > r + 1", "near > -1"),
        ("labels.js", "disc.at === place || off(box, disc)", "true"),
        ("labels.js", "taken.every((other) => apart(box, other))", "true"),
        ("drawing.js", "discs: points.discs,", "discs: [],"),
    ],
)
def test_words_that_are_covered_are_seen(page: Page, file: str, right: str, wrong: str) -> None:
    with planted(page, file, right, wrong):
        assert next(covered(page), None)


def test_names_ranks_and_numbers_are_there(page: Page) -> None:
    texts = page.locator("#explorer-plane text").all_text_contents()
    ranks = page.locator("#explorer-plane text.rank").all_text_contents()
    numbers = page.locator("#explorer-plane text.number").all_text_contents()
    assert {"x₁", "x₂", "x₃", "x₄", "x₅"} <= set(texts)
    assert (sorted(ranks), numbers) == (list("123"), ["t₁", "t₂", "t₃"])


def test_a_start_on_a_minimum_moves_its_rank_aside(page: Page) -> None:
    page.locator("#explorer-w1").fill("-7.9525")
    page.locator("#explorer-w2").fill("4.5239")
    page.locator("#explorer-w2").press("Enter")
    assert sorted(page.locator("#explorer-plane text.rank").all_text_contents()) == ["1", "3"]
    assert "2" in page.locator("#explorer-plane text").all_text_contents()
    assert page.evaluate(COVERED) == []


# --- The picture, however near --------------------------------------------------------------------


def misdrawn(page: Page, case: Case) -> list[str]:
    """What is off by more than a pixel, or far outside of the plane."""
    X, y, w = case
    drawn, view, found = page.evaluate(DRAWN), seen(page), []
    pixel = 2 * view["r"] / view["size"]
    lines = drawn["boundary"] + drawn["several"] + drawn["dead"] + (drawn["path"] or [])
    for line in lines:
        if not (np.min(line) > -20 and np.max(line) < view["size"] + 20):
            found.append(f"{line} is not cut")
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    for ends in drawn["boundary"]:
        away = np.abs(points_of(view, ends) @ unit.T).max(0).min()
        found += [f"a boundary is off by {away / pixel} px"] if away > pixel else []
    for ends in drawn["several"]:
        points = np.array([[0.98, 0.02], [0.02, 0.98]]) @ points_of(view, ends)  # inside of a cell
        grad = [np.abs(X.T @ ((p @ X.T > 0) * (X @ p - y))).max() for p in points]
        if max(grad) > 2 * pixel * (X**2).sum():
            found.append(f"a line of minima has the gradients {grad}")
    for corners in drawn["dead"]:
        most = (points_of(view, corners) @ unit.T).max()
        found += [f"a dead cell is off by {most / pixel} px"] if most > pixel else []
    for told, anchor, *at in drawn["tick"]:
        c = 1 if anchor == "start" else 0
        value = number(told)
        off = abs(plane_of(view, [value, value])[c] - at[c])
        found += [f"the tick {told} is off by {off} px"] if off > 1 else []
    flow = affine_flow(X, y, w)
    times = np.concatenate([flow.grid(1000), [flow.settled]])
    middles = [(np.array(p) + q) / 2 for line in drawn["path"] or [] for p, q in pairwise(line)]
    for m in [*middles[:: len(middles) // 12 + 1], *(np.array(a[:2]) for a in drawn["arrow"])]:
        away = np.linalg.norm(plane_of(view, flow.at(times)) - m, axis=1)
        k = int(away.argmin())
        ends = times[max(0, k - 1)], times[min(k + 1, len(times) - 1)]
        best = minimize_scalar(
            lambda s: float(np.linalg.norm(plane_of(view, flow.at(ends[0] + s)) - m)),  # noqa: B023
            bounds=(0.0, ends[1] - ends[0]), method="bounded", options={"xatol": 1e-15 * ends[1]},
        )  # fmt: skip
        off = min(best.fun, float(away[k]))
        found += [f"the path is off by {off} px at {m}"] if off > 1 else []
    return found


def most_bent(flow: Trajectory) -> NDArray:
    """The point of a path that is farthest from straight lines between points of it."""
    times = flow.grid(60)
    if len(times) < 2:
        return flow.end
    ends, middles = flow.at(times), flow.at((times[1:] + times[:-1]) / 2)
    chord, arm = np.diff(ends, axis=0), middles - ends[:-1]
    off = np.abs(chord[:, 0] * arm[:, 1] - chord[:, 1] * arm[:, 0])
    return middles[np.argmax(off / np.maximum(np.linalg.norm(chord, axis=1), 1e-300))]


def wrong_near(page: Page) -> Iterator[str]:
    """What is misdrawn around the ends and the turns of flows, ever nearer."""
    names = [e["name"] for e in examples()]
    for k in (0, 1, names.index("It slides along a boundary"), len(names) - 1):
        case = choose(page, k)
        flow = affine_flow(*case)
        for at in [flow.end, most_bent(flow), *(flow.at(e.t) for e in flow.events[:1])]:
            page.evaluate("document.getElementById('explorer-fit').click()")
            for by in (1, 0.1, 1e-3):
                place = dict(zip("xy", map(float, at), strict=True))
                page.evaluate("([by, {x, y}]) => looked(by, [x, y])", [by, place])
                yield from misdrawn(page, case)


LOOKED = """() => {
  window.looked = (by, at) => {
    const svg = document.getElementById("explorer-plane"), box = svg.getBoundingClientRect();
    const [px, py] = reluflow.frame({ ...seen }, seen.size).to(at);
    for (let left = Math.log2(by); left < 0; left += 1)
      svg.dispatchEvent(new WheelEvent("wheel", { clientX: box.left + px, clientY: box.top + py,
        deltaY: 150 * Math.max(-1, left), ctrlKey: true, cancelable: true }));
  };
}"""


def test_what_is_drawn_stays_right(page: Page) -> None:
    page.evaluate(LOOKED)
    assert list(wrong_near(page)) == []


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("cut.js", "long > 2 * size || off > CLOSE * long", "false"),
        ("cut.js", "low - s, high - s", "low, high"),
        ("cut.js", "const [a, b] = part.map", "const [a, b] = [0, 1].map"),
        ("cut.js", "if (a >= 0) kept.push(p);", "kept.push(p);"),
        ("core.js", "Math.min(17, digits)", "2"),
    ],
)
def test_a_picture_that_is_wrong_is_seen(page: Page, file: str, right: str, wrong: str) -> None:
    page.evaluate(LOOKED)
    with planted(page, file, right, wrong):
        assert next(wrong_near(page), None)


# --- Moving ---------------------------------------------------------------------------------------


def start(page: Page) -> str:
    told = page.locator("#explorer .start").get_attribute("aria-valuetext")
    assert told
    return told


def test_the_mouse_drags_the_plane(page: Page) -> None:
    x, y = middle(page)
    before, was = seen(page), start(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y - 30, steps=3)
    page.mouse.up()
    pixel = 2 * before["r"] / before["size"]
    after = seen(page)
    assert after["x"] == pytest.approx(before["x"] - 60 * pixel)
    assert after["y"] == pytest.approx(before["y"] - 30 * pixel)
    assert (after["r"], start(page)) == (before["r"], was)
    page.mouse.move(x, y)
    assert seen(page) == after  # it is let go
    page.get_by_role("button", name="Reset view").click()
    assert seen(page) == before


def test_the_wheel_zooms_with_ctrl_or_with_focus(page: Page) -> None:
    x, y = middle(page)
    x, y = x + 50, y + 20
    page.mouse.move(x, y)
    before = seen(page)
    top = page.evaluate("scrollY")
    page.mouse.wheel(0, 100)
    page.wait_for_function(f"scrollY > {top} + 50")  # the reader is not caught
    assert seen(page) == before
    page.evaluate(f"scrollTo({{top: {top}, behavior: 'instant'}})")
    spot = [seen(page)["size"] / 2 + 50, seen(page)["size"] / 2 + 20]
    under = points_of(seen(page), spot)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.wait_for_function(f"seen.r < {before['r']}")
    page.keyboard.up("Control")
    off = np.abs(plane_of(seen(page), under) - spot).max()
    assert off < 1.0  # pixels: the mouse has whole ones
    page.locator("#explorer-plane").evaluate("e => e.focus({ preventScroll: true })")
    near = seen(page)["r"]
    page.mouse.wheel(0, 100)
    page.wait_for_function(f"seen.r > {near}")
    assert page.evaluate("scrollY") == top


def test_keys_move_the_plane(page: Page) -> None:
    before, was = seen(page), start(page)
    page.locator("#explorer-plane").focus()
    for key, c, sign in (("ArrowRight", "x", 1), ("ArrowUp", "y", 1), ("ArrowLeft", "x", -1),
                         ("ArrowDown", "y", -1)):  # fmt: skip
        old = seen(page)
        page.keyboard.press(key)
        assert sign * (seen(page)[c] - old[c]) == pytest.approx(0.2 * before["r"])
    page.keyboard.press("+")
    assert seen(page)["r"] < before["r"]
    page.keyboard.press("-")
    page.keyboard.press("-")
    assert seen(page)["r"] > before["r"]
    page.keyboard.press("0")
    assert seen(page) == before
    page.locator("#explorer .start").focus()
    page.keyboard.press("+")
    assert seen(page)["r"] < before["r"]
    assert start(page) == was


def test_a_start_out_of_sight_is_brought_back(page: Page) -> None:
    page.locator("#explorer-plane").focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    assert plane_of(seen(page), [0.0, 45.0])[0] < 0
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('.start')")
    assert plane_of(seen(page), [0.0, 45.0])[0] > 0
    page.locator("#explorer-w1").fill("1000")
    page.locator("#explorer-w1").press("Enter")
    assert plane_of(seen(page), [1000.0, 45.0])[0] < seen(page)["size"]


def test_buttons_have_names(page: Page) -> None:
    before = seen(page)
    page.get_by_role("button", name="Zoom in").click()
    assert seen(page)["r"] == before["r"] / 2
    page.get_by_role("button", name="Zoom out").click()
    assert seen(page)["r"] == before["r"]


def test_two_fingers_zoom_and_one_scrolls(browser: Browser, site: Path) -> None:
    with opened(browser, site / PAGE, PHONE, formulas=False) as phone:
        page = phone.page
        page.evaluate(WATCH)
        x, y = middle(page)
        before, was, scrolled = seen(page), start(page), phone.ask("scrollY")
        hand = page.context.new_cdp_session(page)
        touch(hand, "touchStart", (x - 20, y - 60), (x + 20, y - 60))
        for k in range(1, 7):
            s, below = 20 + 5 * k, y - 60 + 5 * k
            touch(hand, "touchMove", (x - s, below), (x + s, below))
        touch(hand, "touchEnd")
        page.wait_for_timeout(200)  # it is drawn once a frame
        after = seen(page)
        assert after["r"] == pytest.approx(before["r"] * 40 / 100)
        # What was between the fingers still is.
        pixel = 2 * before["r"] / before["size"]
        under = plane_of(after, [before["x"], before["y"] + 60 * pixel])
        assert under[1] == pytest.approx(before["size"] / 2 - 30, abs=0.5)
        assert (start(page), phone.ask("scrollY")) == (was, scrolled)
        hand.send("Input.synthesizeScrollGesture", {"x": x, "y": y, "yDistance": -150})
        page.wait_for_function(f"scrollY > {scrolled} + 50")
        assert seen(page) == after
