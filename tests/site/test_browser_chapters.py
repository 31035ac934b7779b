"""The chapters' live pictures in a reader's browser: their mathematics against the library's."""

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import LAPTOP, PHONE, Opened, opened
from built import ROOT
from looks import with_size
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, expect
from reluflow.flows.alignment import align
from reluflow.ledger import read
from reluflow.ledger.scoreboard import true_instead
from reluflow.papers.lee2023magnitude import setting as magnitude
from reluflow.papers.phuong2021inductive import own_data
from reluflow.papers.phuong2021inductive.flows import follow_long
from reluflow.papers.vardi2022margin.suboptimality import race
from reluflow.site.explorer import OFFERED, _offered
from scipy.optimize import minimize
from sphinx.errors import ExtensionError

from tests.site.test_browser_explorer import SET, asked, drag, link

ROWS = read(ROOT / "chapters")
TOLD = true_instead(row.claim.paper for row in ROWS)
NUMBER = 200
"""Random sets of each kind."""

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """An empty page with all that computes."""
    page = browser.new_page()
    for script in sorted((ROOT / "_static" / "live").glob("*/flow.js")):
        page.add_script_tag(path=script)
    yield page
    page.close()


# --- Chapter 2 ------------------------------------------------------------------------------------


ORBIT = """([phi, v, m]) => {
  const chain = reluflow.orbits, flow = chain.orbit(phi, v, m, chain.logTan(phi) + 6);
  const k = Math.floor(flow.t.length / 2), t = [0, flow.t[k] / 2, flow.t[k], 2 * flow.t[k]];
  const { lower, upper, printed } = chain.bounds(t, phi, v, m);
  return { t, psi: flow.psi[k], v: flow.v[k], lower, upper, printed,
           angle: chain.angleBounds(t, phi, m, 0.5 * v, 2 * v) };
}"""


def test_orbits_and_their_bounds_are_those_of_the_library(page: Page) -> None:
    told, students = 0, []  # phi_0, |w_0| and m
    for k in range(NUMBER // 10):  # the library takes its time
        phi, size = np.random.default_rng(k).uniform([0.02, -1.5], [math.pi - 0.02, 0.5]).tolist()
        students.append((phi, 10.0**size, (0, 1, 2, 3, 10)[k % 5]))
    bounds = {0: magnitude.magnitude_bounds, 1: magnitude.two_layer_magnitude_bounds}
    for (phi, v, m), drawn in zip(students, asked(page, ORBIT, students), strict=True):
        t = drawn["t"]
        path = magnitude.Start.at(phi, v, m).flow([t[2]])
        late = max(1e-8, 1e-11 * t[2])  # a time has 16 digits, and deep chains wait long
        assert path.psi[0] == pytest.approx(drawn["psi"], abs=late)
        assert path.length[0] == pytest.approx(drawn["v"], rel=late)
        layered = partial(magnitude.layered_magnitude_bounds, m=m)
        lower, upper = bounds.get(m, layered)(t, phi, v, 1.0)
        np.testing.assert_allclose(drawn["lower"], lower, rtol=1e-9)
        np.testing.assert_allclose(drawn["upper"], upper, rtol=1e-9)
        psi = float(np.log(np.tan(phi / 2.0)))
        least, most = magnitude.gap_bounds(t, psi, 0.5 * v, 2.0 * v, 1.0, m)
        np.testing.assert_allclose(math.pi - np.array(drawn["angle"]["lower"]), most, atol=1e-9)
        np.testing.assert_allclose(math.pi - np.array(drawn["angle"]["upper"]), least, atol=1e-9)
        printed = np.full(4, np.nan)
        if m >= 2:
            printed = magnitude.implicit_printed(t, phi, v, 1.0, m, 1.0)
        assert (drawn["printed"] is None) == bool(np.isnan(printed).all())
        if drawn["printed"] is not None:
            told += 1
            np.testing.assert_allclose(drawn["printed"], printed, rtol=1e-8)
    assert told > len(students) / 10


# --- Chapter 3 ------------------------------------------------------------------------------------


def turning(seed: int) -> dict[str, Any]:
    """Data, labels, a neuron and its sign: whole numbers with their ties, Gaussian, and (A1)."""
    rng = np.random.default_rng(seed)
    n, kind = int(rng.integers(1, 9)), seed % 3
    X, w = rng.normal(size=(n, 2)), rng.normal(size=2)
    y = rng.choice([-1.0, 1.0], n)
    if kind == 1:
        a = rng.uniform(0.0, 1.4, n)
        X = (rng.uniform(0.5, 3.0, n) * y)[:, None] * np.column_stack([np.cos(a), np.sin(a)])
    if kind == 2:
        X, w = rng.integers(-4, 5, (n, 2)).astype(float), rng.integers(-5, 6, 2).astype(float)
        X[~X.any(axis=1)] = 1.0, 2.0
        w = w if w.any() else np.array([1.0, 3.0])
    return {"X": X.tolist(), "y": y.tolist(), "w": w.tolist(), "s": float(rng.choice([-1, 1]))}


TURNS = [turning(seed) for seed in range(2 * NUMBER)]
POLYGON = """({ X, y, w, s }) => {
  const path = reluflow.polygon.align(X, y, w, s);
  return { ends: path.ends, t: path.t, pieces: path.pieces.length,
           later: reluflow.polygon.directionAt(path, path.t + 0.3) };
}"""
SAME = {
    "serves": {"home"}, "dead": {"dead"}, "rests": {"other", "dead"},
    "sliding": {"slides", "two ways"},
}  # fmt: skip


def test_polygons_are_those_of_the_library(page: Page) -> None:
    seen, ties = set(), 0
    for case, drawn in zip(TURNS, asked(page, POLYGON, TURNS), strict=True):
        exact = align(case["X"], case["y"], case["w"], case["s"])
        seen.add(exact.status)
        if drawn["ends"] == "two ways" and drawn["pieces"] == 1:
            ties += 1  # the start itself: the library follows one of its flows
            continue
        assert drawn["ends"] in SAME[exact.status], case
        assert drawn["t"] == pytest.approx(exact.time, abs=1e-9), case
        if exact.status != "sliding":
            np.testing.assert_allclose(drawn["later"], exact.at(drawn["t"] + 0.3), atol=1e-9)
    assert seen == set(SAME)
    assert ties < NUMBER / 20


TRUE = """({ X, y, w, s, e }) => {
  const { network, steps, align, directionAt } = reluflow.polygon;
  const t = [0, 0.5, 1], path = align(X, y, w, s);
  const z = steps(network(X, y, [s]), [Math.atan2(w[1], w[0]), -e * Math.LN10], t);
  return t.map((time, k) => {
    const u = directionAt(path, time);
    return Math.hypot(u[0] - Math.cos(z[k][0]), u[1] - Math.sin(z[k][0]));
  });
}"""


def test_the_true_flow_comes_to_the_polygon(page: Page) -> None:
    """From ten times smaller starts it is not farther from the limit, and from the least it is
    there, to what the steps are good for."""
    drawn = zip(TURNS, asked(page, POLYGON, TURNS), strict=True)
    held = [case for case, told in drawn if told["ends"] in SAME["serves"]][:NUMBER]
    found = asked(page, TRUE, [{**case, "e": e} for case in held for e in (1, 4, 12)])
    for k, case in enumerate(held):
        far, near, least = found[3 * k : 3 * k + 3]
        assert max(least) <= 1e-4, case
        assert max(near) <= max(far) + 1e-4, case


# --- Chapter 4 ------------------------------------------------------------------------------------

FLOW = """([X, y, signs, z, last]) => {
  const run = reluflow.turning.follow(X, y, signs, z, last, 1e-6);
  return { ends: run.ends, z: reluflow.turning.stateAt(run, last) };
}"""


@pytest.mark.parametrize("first", [(3.0, 1.0), (7.8, -1.4), (7.8, 3.4)])
def test_the_flow_of_many_neurons_is_that_of_the_library(page, first):
    """Angles within 1e-3, the steps' honest tolerance; dead neurons, too, and neurons that cross
    boundaries, where x_1 is moved among the data of the other label."""
    given = own_data.around(4)
    given = replace(given, X=np.vstack([first, given.X[1:]]))
    angles = np.arctan2(given.W0[:, 1], given.W0[:, 0])
    z = np.column_stack([angles, given.log_norms]).ravel().tolist()
    late = follow_long(given)
    assert late is not None
    for k in (len(late.tau) // 2, len(late.tau) - 1):
        last = float(late.tau[k])
        case = [given.X.tolist(), given.y.tolist(), given.signs.tolist(), z, last]
        drawn = asked(page, FLOW, [case])[0]
        assert drawn["ends"] == "there"
        u = np.column_stack([np.cos(drawn["z"][::2]), np.sin(drawn["z"][::2])])
        np.testing.assert_allclose(u, late.U[k], atol=1e-3)
        np.testing.assert_allclose(drawn["z"][1::2], late.R[k], atol=5e-3)


SLIDING = """([X, y, signs, z, until]) => {
  const { sigma, states } = reluflow.turning.follow(X, y, signs, z, 30, 1e-6);
  const seen = sigma.map((_, k) => k).filter(k => sigma[k] <= until);
  const kept = seen.filter((_, k) => k % 8 === 0 || k === seen.length - 1);
  return { sigma: kept.map(k => sigma[k]), states: kept.map(k => states[k]) };
}"""


def test_neurons_slide_as_the_limit_of_small_steps_does(page: Page) -> None:
    """Data that are not separable in any way, through all of the first two acts. Directions and
    log lengths within 0.005, less than a pixel of the picture, wherever small steps of the balanced
    flow in the plane of weights agree with steps twice as large to half of that: the limit of ever
    shorter ones is Filippov's solution, with no word about boundaries. The clock runs with the sum
    of the pulls."""
    rng, until, h, some = np.random.default_rng(25), 3.0, 8e-4, NUMBER // 8
    X, angles = rng.uniform(-3.0, 3.0, (some, 6, 2)), rng.uniform(-math.pi, math.pi, (some, 6))
    logs = rng.uniform(-3.0, 1.0, (some, 6))
    y, signs = np.tile([1.0, -1.0, 1.0, -1.0, 1.0, -1.0], (2, some, 1))
    W = np.exp(logs)[..., None] * np.stack([np.cos(angles), np.sin(angles)], -1)
    starts = np.stack([angles, logs], -1).reshape(some, -1)
    cases = [[*(v.tolist() for v in each), until] for each in zip(X, y, signs, starts, strict=True)]
    drawn = asked(page, SLIDING, cases)

    def field(W: NDArray) -> NDArray:
        H = W @ X.transpose(0, 2, 1)
        sizes = signs * np.linalg.norm(W, axis=2)
        margins = y * np.einsum("mp,mpn->mn", sizes, np.maximum(H, 0.0))
        pulls = 1.0 / (1.0 + np.exp(np.minimum(margins, 700.0)))
        pulls *= y / pulls.sum(axis=1, keepdims=True)
        return sizes[..., None] * (((H > 0.0) * pulls[:, None]) @ X)

    def by_small_steps(W: NDArray, h: float) -> NDArray:
        """(moments, sets, neurons, 2), by steps of Heun, ten from one moment to the next."""
        found = [W]
        for k in range(round(until / h)):
            first = field(W)
            W = W + 0.5 * h * (first + field(W + h * first))
            if k % 10 == 9:
                found.append(W)
        return np.array(found)

    fine, coarse = (by_small_steps(W, step) for step in (h, 2.0 * h))

    def apart(a: NDArray, b: NDArray) -> float:
        """How far directions and log lengths are apart, at most."""
        (r, s) = (np.linalg.norm(v, axis=-1, keepdims=True) for v in (a, b))
        return float(max(np.abs(a / r - b / s).max(), np.abs(np.log(r / s)).max()))

    compared = slid = 0
    for m, each in enumerate(drawn):
        if apart(fine[::2, m][: len(coarse)], coarse[: len(fine[::2]), m]) > 0.0025:
            continue
        compared += 1
        at = np.array(each["sigma"]) / (10.0 * h)
        k = np.minimum(at.astype(int), len(fine) - 2)
        part = (at - k)[:, None, None]
        truth = (1.0 - part) * fine[k, m] + part * fine[k + 1, m]
        turns, sizes = np.moveaxis(np.array(each["states"]).reshape(len(k), -1, 2), 2, 0)
        U = np.stack([np.cos(turns), np.sin(turns)], -1)
        slid += bool((np.abs(U @ X[m].T) < 1e-9).any())
        assert apart(np.exp(sizes)[..., None] * U, truth) < 0.005, cases[m]
    assert compared > 0.9 * some
    assert slid > some / 4


# --- Chapter 5 ------------------------------------------------------------------------------------

RACE = """([start, x, m, levels]) => {
  const run = reluflow.race.race(start, x, m);
  return { winner: run.winner, at: levels.map(run.at),
           margins: levels.map(level => reluflow.race.logMargin(run.at(level), x, m)) };
}"""


def test_the_winner_is_that_of_rational_numbers(page: Page) -> None:
    """Starts and data, of which some tie, and the depth."""
    ties, levels, cases = 0, [5.0, 10.0, 14.0], []
    for seed in range(NUMBER):
        given = np.random.default_rng(seed).integers(1, 9, (2, 2)) / [[8.0], [4.0]]
        given[:, 1] = given[:, 0] if seed % 4 == 0 else given[:, 1]
        cases.append([*given.tolist(), 3 + seed % 4, levels])
    for (start, x, m, _), drawn in zip(cases, asked(page, RACE, cases), strict=True):
        powers = [Fraction(a) ** (2 - m) for a in start]
        leaders = race([Fraction(v) for v in x], powers)
        ties += len(leaders) == 2
        assert drawn["winner"] == (leaders[0] if len(leaders) == 1 else None)
        np.testing.assert_allclose(drawn["margins"], levels, rtol=1e-9)
        # What the two have kept: a_1^(2-m)/x_1 - a_2^(2-m)/x_2 does not change.
        gone = np.array([[(math.exp((2 - m) * a)) / v for a, v in zip(at, x, strict=True)]
                         for at in drawn["at"]])  # fmt: skip
        first = [float(p) / v for p, v in zip(powers, x, strict=True)]
        np.testing.assert_allclose(gone[:, 0] - gone[:, 1], first[0] - first[1], atol=1e-9)
    assert 10 < ties < NUMBER


SILENT = """([X, share]) => {
  const us = reluflow.silent.takenOver(X, share);
  return { us, size: reluflow.silent.size(us) };
}"""


def test_neurons_share_the_data_as_told(page: Page) -> None:
    """Both margins are 1, and neuron 1 is as short as SLSQP finds it."""
    rng = np.random.default_rng(5)
    data = rng.uniform([-2.0, 0.1], 2.0, (NUMBER, 2, 2))
    shares = rng.uniform(0.0, 0.99, NUMBER).tolist()
    drawn = asked(page, SILENT, [*zip(data.tolist(), shares, strict=True)])
    for X, share, each in zip(data, shares, drawn, strict=True):
        us = np.array(each["us"])
        outputs = np.maximum(X @ us.T, 0.0)
        assert outputs.sum(axis=1).min() >= 1.0 - 1e-9
        assert outputs[0, 1] <= 1e-9  # silent on the first datum
        assert outputs[1, 1] == pytest.approx(share, abs=1e-9)
        needed = np.array([1.0, 1.0 - share])
        rule = {"type": "ineq", "fun": lambda u, X=X, needed=needed: X @ u - needed}
        found = minimize(lambda u: u @ u, us[0] + 0.1, constraints=rule, tol=1e-12)
        assert float(np.linalg.norm(us[0])) == pytest.approx(math.sqrt(found.fun), rel=1e-4)
        assert each["size"] == pytest.approx(2.0 * np.linalg.norm(us, axis=1).sum())


# --- The pictures on their pages ------------------------------------------------------------------

seen = partial(opened, formulas=False)
PICTURES = {picture: page for page, (picture, _) in OFFERED.items()} | {"papers": "chapters/map"}
WORDS = ".told, ul.papers"
ON_THE_LINE = {
    "sv.prop4.1.2": "converges to (1, 0) without an event. There L = 0",
    "sv.appB.gradient": "stays where it is: nothing moves the neuron",
    "sv.lemF.1": "this point of the boundary of x1, x2",
    "sv.propF.4.2": "more than one flow leaves this point",
}
"""What the explorer says of counterexamples on the line, in it the first axis of the plane."""
SHOWN = ON_THE_LINE | {
    "ma.thm3.3.3": "At t = 1 it is 0.043 above the bound (8)",
    "ma.eq11.2": "the magnitude falls, and comes back",
    "ma.thm3.8.2": "starts at 0.316, and the flow passes it",
    "ma.text.twophase.2": "length 3, the magnitude falls. In the end",
    "ea.thm1.align.1": "from t = 15.9 on. It starts",
    "ea.pattern-time": "first at t = 15.7, and",
    "os.assumptions.1": "Orthogonally separable. At the loss ℓ = 10⁻⁴³⁴²⁹⁴, 0 of 4 neurons",
    "mm.thm3.2.margins": "From (1, 0), where x₁ is active",
}
"""What the picture says of the counterexample to a refuted claim."""
CUT = """() => [...document.querySelectorAll(".live svg text")].filter(text => {
  const [all, box] = [text.ownerSVGElement, text].map(e => e.getBoundingClientRect());
  return box.left < all.left || box.right > all.right || box.bottom > all.bottom;
}).map(text => text.textContent)"""


def test_the_links_have_the_numbers_of_the_counterexamples(site: Path) -> None:
    assert {id for id, each in TOLD.items() if each.live} == {*SHOWN}
    case, state = {}, {}
    for row in (row for row in ROWS if row.claim.id in SHOWN):
        live = TOLD[row.claim.id].live
        assert link(site, row) == place(site, live)
        told = (part.split("=") for part in live.partition("?")[2].split("&"))
        state[row.claim.id] = {
            k: np.array([[*map(float, x.split(","))] for x in v.split(";")]) for k, v in told
        }
        case[row.claim.id] = row.counterexample.instance if row.counterexample else {}

    def exact(id: str, *keys: str) -> list[list[float]]:
        return [[float(Fraction(v)) for v in case[id][key]] for key in keys]

    for id, angle, mine in (
        ("ma.thm3.3.3", "3π/4", [0, 0.75, 0.1]), ("ma.eq11.2", "π/2", [10, 0.5, 1.0]),
        ("ma.thm3.8.2", "π/2", [3, 0.5, 0.5]), ("ma.text.twophase.2", "3π/4", [0, 0.75, 3.0]),
    ):  # fmt: skip
        text = str(case[id])
        assert angle in text
        assert f"{mine[2]:.1g}" in text
        found = [state[id][k].item() for k in ("m", "phi", "v")]
        assert found == pytest.approx(np.multiply(mine, [1.0, math.pi, 1.0]), rel=1e-15)
    for id in ("ea.thm1.align.1", "ea.pattern-time"):
        np.testing.assert_allclose(state[id]["X"], exact(id, "x_1", "x_2"), rtol=1e-15)
        (w,), x = state[id]["w"], state[id]["X"][1]
        theta = math.atan2(w[1] * x[0] - w[0] * x[1], w @ x)
        (tangent,) = (v for k, v in case[id].items() if k.startswith("tan"))
        assert math.tan(-theta / 2) == pytest.approx(float(Fraction(tangent)), rel=1e-7)
    its, mine = case["os.assumptions.1"], state["os.assumptions.1"]
    turns, size = np.radians(mine["turns"][0]), math.exp(-mine["length"].item())
    W = size * np.column_stack([np.cos(turns), np.sin(turns)])
    np.testing.assert_allclose(W, its["W(0)"], atol=1e-14)
    for name, key in (("X", "X"), ("y", "y"), ("s", "signs of a(0)")):
        np.testing.assert_array_equal(np.squeeze(mine[name]), its[key])
    for id in ON_THE_LINE:
        np.testing.assert_array_equal(state[id]["X"], np.pad(case[id]["X"], ((0, 0), (0, 1))))
        np.testing.assert_array_equal(state[id]["y"][0], case[id]["y"])
        (start,) = case[id].get("w", case[id].get("w0", (0,)))  # Lemma F.1's: both data switch
        assert state[id]["w"].tolist() == [[case[id].get("alpha", 1) * start, 0]]
    id = "mm.thm3.2.margins"
    assert state[id]["X"].tolist() == exact(id, "x₁", "x₂")
    np.testing.assert_array_equal(state[id]["w"][0], case[id]["w"])


def place(site: Path, address: str) -> tuple[Path, str]:
    """The page of a picture's state, and the end of its address."""
    name, asks, state = address.partition("?")
    path = site / f"{PICTURES.get(name, 'chapters/explorer')}.html"
    return path.resolve(), f"live-{address}" if asks and name != "explorer" else state


@pytest.fixture(scope="module")
def at(browser: Browser, site: Path) -> Iterator[Callable[[str], Opened]]:
    """Goes to the address of a picture's state, or to its page, which is opened once, from the top
    of it, all folded away; in the end no page has complained."""
    with ExitStack() as stack:
        visits: dict[Path, Opened] = {}

        def go(address: str) -> Opened:
            path, end = place(site, address)
            if path not in visits:
                visits[path] = stack.enter_context(seen(browser, path))
            visits[path].ask(f"""() => {{
                document.querySelectorAll("details.offer").forEach(offer => (offer.open = false));
                scrollTo({{ top: 0, behavior: "instant" }});
                history.replaceState(null, "", "#{end}");
                dispatchEvent(new Event("hashchange"));
            }}""")
            return visits[path]

        yield go
        assert [text for visit in visits.values() for text in visit.complaints] == []


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_picture_opens_moves_and_keeps_its_state(at, name):
    """It is folded away until a reader asks, but that of the map; each point moves by the arrow
    keys and says where it is, and the address shows it, on a phone, as it was, with the same
    sentence. The map's keeps the size of the start too."""
    visit, after = at(name), ""
    page, box = visit.page, visit.page.locator(f"#live-{name}")
    told, link = box.locator(WORDS), box.locator(".link a")
    assert box.is_visible() == (name == "papers")
    if name != "papers":
        page.locator("details.offer > summary").click()
    for slide in box.locator(".slide input").all() if name == "papers" else ():  # others are clocks
        was = link.get_attribute("href") or ""
        slide.evaluate(SET, 0.05)
        slide.dispatch_event("change")
        expect(link).not_to_have_attribute("href", was)
    for size in (LAPTOP, PHONE):
        with_size(visit, size)
        before = link.get_attribute("href") or ""
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        for grip in box.locator(".handle").all()[: 1 if after else None]:
            grip.focus()
            for key in ("ArrowUp", "ArrowRight"):
                was = grip.get_attribute("aria-valuetext") or pytest.fail("says not where")
                page.keyboard.press(key)
                expect(grip).not_to_have_attribute("aria-valuetext", was)
        expect(link).not_to_have_attribute("href", before)
        expect(box.locator("[aria-busy]")).to_have_count(0)  # a long flow is followed on
        assert visit.ask(CUT) == []
        after, address = told.inner_text(), link.get_attribute("href") or ""
        at(f"{name}?")
        expect(link).not_to_have_attribute("href", address)
        at(address.removeprefix("#live-"))
        expect(told).to_have_text(after, use_inner_text=True)
        expect(link).to_have_attribute("href", address)
    with_size(visit, LAPTOP)


def test_a_picture_is_opened_by_the_address_of_its_page(browser: Browser, site: Path) -> None:
    path = site / f"{PICTURES['race']}.html"
    with seen(browser, path, PHONE, anchor="live-race?x=1,1.01") as visit:
        expect(visit.page.locator("#live-race .told")).to_contain_text("at L = 10⁻⁶⁵³⁸⁷")
        expect(visit.page.locator("#live-race")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("orbits", ("m=99", "v=-1")), ("polygon", ("s=3",)), ("turning", ("length=-400",)),
     ("silent", ("share=7", "X=1,1;2,-1")), ("race", ("m=1", "x=0,1")),
     ("papers", ("size=much&X=1,2;3",))],
)  # fmt: skip
def test_an_address_that_cannot_be_drawn_opens_the_picture_as_usual(at, name, wrong):
    visits = (at(f"{name}?{state}") for state in ("", *wrong))
    words = [visit.page.locator(f"#live-{name}").locator(WORDS).inner_text() for visit in visits]
    assert len({*words}) == 1
    assert words[0]


def test_play_moves_and_a_reader_without_motion_jumps(at: Callable[[str], Opened]) -> None:
    page = at("orbits?").page
    time, play = page.locator(".live .clock input"), page.locator(".live .clock button")
    for motion, then in (("no-preference", "Pause"), ("reduce", "Play")):
        page.emulate_media(reduced_motion=motion)
        at("orbits?")
        was = time.input_value()
        expect(play).to_have_text("Play")
        play.click()
        assert play.inner_text() == then  # at once: what plays comes to its end, too
        expect(time).not_to_have_value(was)
        if then == "Pause":
            play.click()
            was = time.input_value()
            page.wait_for_timeout(100)
            assert (time.input_value(), play.inner_text()) == (was, "Play")
    page.emulate_media(reduced_motion="no-preference")


def test_the_flow_of_chapter_4_is_followed_to_the_end(at: Callable[[str], Opened]) -> None:
    """From each length of the start that the picture offers, to log(1/loss) = 10^6."""
    page = at("turning?").page
    select, told = page.locator("#live-turning select"), page.locator("#live-turning .told")
    for length in select.first.locator("option").all_inner_texts():
        select.first.select_option(label=length)
        expect(page.locator("#live-turning [aria-busy]")).to_have_count(0)
        expect(told).to_contain_text("loss ℓ = 10⁻⁴³⁴²⁹⁴, ")
    select.nth(1).select_option(label="not so: x₃ moved")
    expect(told).to_contain_text("Not orthogonally separable")
    expect(told).to_contain_text("loss ℓ = 10⁻⁴³⁴²⁹⁴, ")


def test_what_waits_is_drawn_once_when_the_finger_is_lifted(at: Callable[[str], Opened]) -> None:
    """It is drawn as the finger leaves it, and the next frame has nothing left to draw."""
    drawn = at("orbits?").ask("""async () => {
        let count = 0;
        const [here, there] = [document.createElement("p"), document.createElement("p")];
        reluflow.drag(here);
        reluflow.drawn(there, () => count++);
        dispatchEvent(new PointerEvent("pointerup"));
        reluflow.drawn(there, () => count++);
        for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame);
        return count;
    }""")
    assert drawn == 1


def test_the_nearest_of_two_points_is_dragged(at: Callable[[str], Opened]) -> None:
    """Where the room for a finger of one lies over another: the neuron over x_4."""
    page = at("polygon?").page
    grips = page.locator("#live-polygon .handle")
    datum, neuron = grips.nth(3), grips.nth(4)
    was = neuron.get_attribute("aria-valuetext") or ""
    drag(page, datum.locator(".dot"), 20, 0)
    expect(datum).not_to_have_attribute("aria-valuetext", "(−1, −3)")
    expect(neuron).to_have_attribute("aria-valuetext", was)


def test_each_example_of_the_race_is_a_button(at: Callable[[str], Opened]) -> None:
    visit = at("race?m=4&x=2,1")
    examples = ("both coordinates grow at one rate", "Coordinate 2 wins", "Coordinate 1 wins")
    for k, told in enumerate(examples):
        visit.page.locator("#live-race .controls button").nth(k).click()
        expect(visit.page.locator("#live-race .told")).to_contain_text(told)


def test_a_page_without_the_figure_is_an_error() -> None:
    with pytest.raises(ExtensionError, match="no figure 'turning'"):
        _offered("<p>nothing</p>", "turning", "turning")


@pytest.mark.parametrize(
    ("address", "says"),
    [*((TOLD[id].live, says) for id, says in SHOWN.items()),
     ("polygon?w=-1,1.5", "it has no datum and is dead from the start"),
     ("polygon?", "cone of the other label, for which no bound"),
     ("orbits?", "In the end, at t = 15.5, the student has the length 0.998"),
     ("orbits?phi=0.02", "has the length 0.99"),
     ("race?", "V is 1 of its largest; the smallest possible is 0.794"),
     ("silent?X=1,2;-1,2&share=0.5", "makes θ longer")],
)  # fmt: skip
def test_an_address_opens_a_picture_that_says_what_it_shows(at, address, says):
    visit = at(address)
    told = visit.page.locator("#explorer-told, .live[id^=live] .told").first
    expect(told).to_contain_text(says)
    assert told.is_visible()
    if not address.startswith("explorer"):
        expect(visit.page.locator(".live[id^=live]")).to_be_in_viewport()
    drawn = visit.page.locator(".live svg text", has_text="our bound").count()
    assert drawn == ("Our bound" in told.inner_text())
    assert visit.ask("""[...document.querySelectorAll(".live circle.mark.flow")].every(c =>
        c.cy.baseVal.value >= 20)""")
