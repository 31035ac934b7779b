"""What the checks of chapter 5 see: boundaries of hypotheses, closed forms, what does not pass; and
the reader's own data."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy
from reluflow.errors import InputError
from reluflow.falsify import falsify
from reluflow.ledger import Evidence
from reluflow.losses import LOGISTIC
from reluflow.margin.kkt import margins
from reluflow.margin.limits import limit
from reluflow.margin.max_margin import max_margin
from reluflow.networks.indexed import Network, diagonal, fully_connected
from reluflow.papers.vardi2022margin import (
    certificates,
    constructions,
    dead_neuron,
    own_data,
    setting,
    suboptimality,
    tables,
)
from reluflow.papers.vardi2022margin.constructions import Judged, S, ended, judged


def failed(evidence: list[Evidence]) -> list[str]:
    return [item.what for item in evidence if item.decides and not item.holds]


def item(c: setting.Construction, **changes: Any) -> dict[str, Any]:
    """A construction as an instance of a survey."""
    given = {"network": c.network, "X": c.X, "y": c.y, "start": c.start, "logistic": np.array(0)}
    return {**given, **changes}


# --- Curves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("c", "size"),
    [(setting.theorem_3_2(), S**2 / 2), (setting.theorem_4_4("relu"), 2 * S**2),
     (constructions.dead_neuron(), S**2 / 2)],
)  # fmt: skip
def test_curves_are_the_network(c: setting.Construction, size: sympy.Expr) -> None:
    along = constructions.curve(c, size, sympy.Integer(3))
    assert len(along.pieces) > 1
    for s in np.linspace(0.01, 2.99, 30):
        eps = float(size.subs(S, s))
        piece = next(p for p in along.pieces if p.low < s < p.high)
        found = [float(m.subs(S, s)) for m in piece.margins]
        assert found == pytest.approx(margins(c.network, c.better(eps), c.X, c.y).tolist())


def test_zeros_and_signs_of_polynomials() -> None:
    zero, two = sympy.Integer(0), sympy.sqrt(2)
    assert constructions.zeros(two * (S - 1) * (S - 3), zero, sympy.Integer(2)) == [1]
    assert constructions.positive((S - 1) ** 2 + 1, zero, sympy.Integer(5))
    assert not constructions.positive((S - 1) ** 2, zero, sympy.Integer(5))
    assert not constructions.positive(-S, zero, sympy.Integer(5))
    with pytest.raises(ValueError, match="rational ratios"):
        constructions.zeros(S**2 - two, zero, sympy.Integer(2))


def test_points_that_are_not_feasible_or_not_shorter() -> None:
    c, far = constructions.two_data(), setting.lemma_C_6()
    long = tuple(sympy.Rational(101, 100) * value for value in c.exact_better)
    short = tuple((1 - setting.EPS) * value for value in c.exact_limit)
    away = c.exact_limit[0] + 1, *c.exact_limit[1:]
    assert not failed(constructions.shorter_all_the_way((c, S)))
    for wrong in ({"exact_better": long}, {"exact_better": short}, {"exact_limit": away}):
        assert failed(constructions.shorter_all_the_way((replace(c, **wrong), S)))
    half = tuple(value / 2 for value in far.exact_better)
    found = [constructions.better_is_shorter(replace(far, exact_better=one))
             for one in (far.exact_better, far.exact_limit, half)]  # fmt: skip
    assert found == [True, False, False]


# --- Rays -----------------------------------------------------------------------------------------


def test_rays_know_the_convention() -> None:
    """Without the fourth datum nothing holds the first neuron's kink in balance."""
    rows = tuple(setting._numbers(x) for x in ("0 1", "1 0", "0 -1"))
    start = tuple(2 * value for row in rows for value in row) + setting._numbers("2 2 2")
    three = replace(setting.theorem_4_2(), network=fully_connected([2, 3]), exact_X=rows,
                    labels=(1, 1, 1), exact_start=start, exact_limit=start)  # fmt: skip
    assert [constructions.keeps_its_ray(three, value) for value in (0.0, 0.5, 1.0)] == [
        True,
        False,
        False,
    ]


def test_a_ray_needs_equal_margins_and_the_printed_limit() -> None:
    c = setting.theorem_4_1()
    point = setting._numbers("2 1 2 1")
    apart = replace(c, exact_X=(setting._numbers("1 0"), setting._numbers("0 1")),
                    labels=(1, 1), exact_start=point, exact_limit=point)  # fmt: skip
    assert not constructions.keeps_its_ray(apart, 0.0)
    assert constructions.keeps_its_ray(
        replace(apart, exact_start=(1,) * 4, exact_limit=(2,) * 4), 0.0
    )
    assert not constructions.keeps_its_ray(replace(c, exact_limit=point), 0.0)


# --- Limits of trained networks -------------------------------------------------------------------


def test_ends_of_printed_examples() -> None:
    two = ended(item(setting.lemma_C_6()), by_layer=True)["end"]
    assert (two.weights, two.inputs) == (True, (True,))
    assert [(one.layer, one.verdict) for one in two.judged] == [(1, "local"), (2, "global")]
    four = ended(item(setting.theorem_4_2()), by_layer=True)["end"]
    assert (four.weights, four.inputs_from(1), four.inputs_from(2)) == (True, False, True)
    silent = ended(item(setting.theorem_4_1()))["end"]
    assert (silent.weights, silent.inputs) == (False, (False,))


def test_a_flow_that_comes_to_rest_does_not_fit() -> None:
    c = setting.theorem_3_2()
    end = ended(item(c, start=np.array([0.1, -1.0, 0.1, -1.0, 1.0, 1.0])))["end"]
    assert not end.fits
    report = falsify(tables.relu_is_local((("dead", {**item(c), "end": end}),)), 0, 1, 0)
    assert report.rejected == {"the flow does not come to rest": 1}


@pytest.mark.parametrize("wrong", [{"verdict": "not local"}, {"gap": 0.5}])
def test_a_verdict_or_a_gap_is_enough_to_break_a_statement(wrong: dict[str, Any]) -> None:
    end = ended(item(setting.lemma_C_6()), by_layer=True)["end"]
    spoiled = replace(end, judged=(replace(end.judged[0], **wrong), *end.judged[1:]))
    statement = tables.relu_layers_with_inputs_are_local(())
    slacks = [statement.slack({"end": each}) for each in (end, spoiled)]
    assert [statement.fails(slack) for slack in slacks] == [False, True]


def test_a_refused_certificate_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    c = setting.theorem_4_1()
    assert judged(c.network, c.limit, c.X, c.y).verdict == "not local"

    refused = SimpleNamespace(verdict="refused", slack=np.inf)
    monkeypatch.setattr(constructions, "check", lambda *given: refused)
    assert judged(c.network, c.limit, c.X, c.y).verdict == "undecided"


@pytest.mark.parametrize(
    ("values", "error", "told"),
    [([0.5, -1e-10], 0.0, False), ([0.5, -1e-8], 0.0, None), ([0.5, 1e-4], 1e-9, True),
     ([0.5, 1e-4], 1e-4, None), ([0.5, 0.0], 1.0, False)],
)  # fmt: skip
def test_what_is_not_zero_must_be_so_for_all_that_is_within_the_error(values, error, told) -> None:
    assert constructions._apart(np.array(values), error) is told


def test_inputs_of_linear_networks() -> None:
    net, X = diagonal(2, 3, "linear"), np.array([[1.0, 2.0], [3.0, 0.0]])
    h = constructions._cosines(net, np.array([1.0, -1, 2, 3, 1, 1]), X)
    assert h[0] == pytest.approx(np.array([[1, -2], [3, 0]]) / np.sqrt([[5.0], [9.0]]))
    assert np.sign(h[1]).tolist() == [[1, -1], [1, 0]]


def test_at_a_kink_the_given_slope_counts() -> None:
    """Phi = v [w x]_+ at w = 0, where dw = c v s'(0) x; and each layer has slopes of its own."""
    shallow, deep = fully_connected([1, 1]), fully_connected([1, 1, 1])
    for slope in (0.0, 0.25, 1.0):
        active = setting.slopes(shallow, [0.0, 3.0], [[2.0]], [[slope]])
        assert shallow.gradient([0.0, 3.0], [[2.0]], [5.0], active).tolist() == [30 * slope, 0.0]
    active = setting.slopes(deep, [0.0, 3.0, 5.0], [[2.0]], [[0.5, 0.25]])
    assert deep.gradient([0.0, 3.0, 5.0], [[2.0]], [7.0], active)[0] == 7 * 5 * 3 * 2 / 8


def test_shared_weights_have_the_balance_of_layers_only() -> None:
    """Phi = v u (x_1 + x_2): |w|^2 of w = (u, u) moves twice as fast as v^2, and u^2 as fast."""
    item = {"network": Network((np.array([[1, 1]]), np.array([[1]])), "linear"),
            "theta": np.array([2.0, 3.0]), "X": np.array([[1.0, 4.0]]), "c": np.ones(1),
            "at_zero": np.zeros((1, 1))}  # fmt: skip
    layers, neurons = (tables.change_alike(id).slack(item) for id in ("mm.lemC.2", "mm.lemC.3"))
    assert (layers, neurons) == (0.0, -0.5)


def test_lemma_c_5_takes_the_largest_constant() -> None:
    slack = tables.squares_of_factors().slack
    assert slack({"a": np.array([2.0, -8.0])}) == pytest.approx(1 - 16 / 34)
    assert [slack({"a": np.array(a)}) for a in ([0.0, 3.0], [0.0, 0.0])] == [1.0, 0.0]


@pytest.mark.parametrize("right", [tables.FULL, tables.DIAGONAL, tables.CIRCULAR])
@pytest.mark.parametrize("share", [0.99, 1.01])
def test_a_constant_that_is_not_the_least_is_noticed(right: tables.Family, share: float) -> None:
    other = right._replace(cost=lambda b, m: share * right.cost(b, m))
    assert not falsify(tables.least_length(other), 0, 20, 0).survives
    short = right._replace(minimiser=lambda net, b: right.minimiser(net, share * b))
    assert not falsify(tables.least_length(short), 0, 20, 0).survives


# --- Tables 1 and 2 -------------------------------------------------------------------------------


def test_only_layers_above_the_boundaries_are_spoken_of() -> None:
    found = (("printed", ended(item(setting.theorem_4_2()), True)),)
    report = falsify(tables.relu_layers_are_local(found), 0, 1, 0)
    assert (report.tried, report.survives) == (1, True)
    assert tables.relu_layers_are_local(found).slack(found[0][1]) > -1e-9
    assert not falsify(tables.linear_layers_are_global(found), 0, 1, 0).survives


@pytest.mark.parametrize(
    ("verdict", "gap", "slack"),
    [("global", 1e-9, -1e-9), ("local", 1e-9, -2e-6), ("not local", 0.1, -0.1),
     ("undecided", np.nan, np.nan)],
)  # fmt: skip
def test_slacks(verdict: str, gap: float, slack: float) -> None:
    one = ended(item(setting.theorem_4_4()))
    end: constructions.End = replace(one["end"], judged=(Judged(None, verdict, gap, "planted"),))
    made = tables.full_linear_is_global((("planted", {**one, "end": end}),))
    assert made.slack({**one, "end": end}) == pytest.approx(slack, nan_ok=True)
    unknown = tables.sparse_linear_is_global((("planted", one),))
    assert np.isnan(unknown.slack({**one, "end": replace(end, weights=None)}))


@pytest.mark.parametrize(
    ("statement", "weights", "inputs"),
    [(tables.sparse_linear_is_global, False, (True,)),
     (tables.sparse_linear_with_inputs_is_global, True, (False, True)),
     (tables.relu_is_local, True, (True, False)),
     (tables.linear_layers_with_inputs_are_global, True, (False, True)),
     (tables.relu_layers_with_inputs_are_local, True, (True, False))],
)  # fmt: skip
def test_limits_that_a_hypothesis_leaves_out_change_no_entry(statement, weights, inputs) -> None:
    one = ended(item(setting.theorem_4_4()))
    best = replace(one["end"], weights=True, inputs=(True, True),
                   judged=(Judged(1, "global", 0.0, "planted"),))  # fmt: skip
    other = replace(best, weights=weights, inputs=inputs,
                    judged=(Judged(1, "not local", 0.5, "planted"),))  # fmt: skip
    ends = tuple(("planted", {**one, "end": end}) for end in (best, other))
    assert [found.verdict for found in tables.spoken_of(statement, ends)] == ["global"]


def test_an_example_of_a_layer_changes_no_other_layer() -> None:
    c, found = setting.lemma_C_6(), (("printed", ended(item(setting.lemma_C_6()), True)),)
    first, last = (tuple(f * v for v in part) for f, part in zip(
        (sympy.Rational(10, 11), sympy.Rational(11, 10)), (c.exact_better[:4], c.exact_better[4:]),
        strict=True))  # fmt: skip
    other = replace(c, exact_better=(*first, *last))
    assert constructions.better_is_shorter(other)
    claimed, entries = tables.relu_layers_with_inputs_are_local, []
    for one in (c, other):
        runs = constructions.flows([one], 1, ["exponential"])
        entries.append(tables._mixed("", claimed, found, runs, "here", 1).found)
    assert entries == [tables.MIXED, tables.LOCAL]


@pytest.mark.parametrize(
    ("module", "name", "value", "failing"),
    [(tables, "A", 1, tables.edges_lead_out),
     (tables, "EDGE", Fraction(9, 10), tables.edges_lead_out),
     (tables, "EDGE", Fraction(1), tables.enters_below_one),
     (tables, "EDGE", Fraction(2), tables.loss_is_large),
     (certificates, "NEAR", 300 * certificates.NEAR, certificates.second_is_lost)],
)  # fmt: skip
def test_a_proof_with_another_number_fails(module, name, value, failing, monkeypatch) -> None:
    """Another strip; and the second datum is lost from near enough."""
    assert failing()
    monkeypatch.setattr(module, name, value)
    assert not failing()


X = np.array([[2.0, 1.0], [-1.0, -3.0], [0.5, 0.5]])
Y = np.array([1.0, -1.0, 1.0])


# --- Theorem 2.1 ----------------------------------------------------------------------------------


def test_flows_that_fail_are_noticed() -> None:
    """One whose loss stops, one whose limit is no KKT point, one that starts too high."""
    ((kind, good),) = fitted = certificates.fitted_flows(1, 1)
    lost = certificates._right_once()
    off = replace(good["end"], residual=1e-3)
    made = certificates.repaired(fitted)
    assert made.slack(good) > 0.0 > max(made.slack({**good, "end": end}) for end in (lost, off))
    X, y, start = certificates.BOTH_RIGHT
    high = {"network": fully_connected([2, 1]), "loss": LOGISTIC, "X": X, "y": y, "theta": start}
    assert "ell(0)" in str(made.unmet(high))
    found = certificates.directions_are_kkt([*fitted, (kind, {**good, "end": off})])
    assert sum(one.decides and not one.holds for one in found) == 2  # and that of one neuron


def test_weights_are_put_on_kinks() -> None:
    """The page's own draws do without."""
    net, at = fully_connected([2, 2]), np.eye(2)
    theta = certificates.on_kinks(net, np.array([1e-7, 1.0, 1e-7, 1e-7, 1.0, 1.0]), at)
    assert theta.tolist() == [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    far = np.array([1e-2, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert certificates.on_kinks(net, far, at).tolist() == far.tolist()


# --- Theorem 3.1 ----------------------------------------------------------------------------------


def test_each_fault_of_the_form_is_seen() -> None:
    """Layers of other lengths, of rank two, and off the max-margin vector's direction."""
    rng = np.random.default_rng(1)
    network, best = fully_connected([2, 3, 2], "linear"), max_margin(X, Y)
    hidden = [v / np.linalg.norm(v) for v in (rng.normal(size=3), rng.normal(size=2))]
    W = certificates.aligned_limit(best.u, hidden)

    def seen(*matrices: np.ndarray) -> certificates.Structure:
        return certificates.structure(network, network.parameters(matrices), X, Y, best)

    assert max(map(abs, seen(*W))) < 1e-7
    longer = seen(2.0 * W[0], W[1], 0.5 * W[2])
    assert longer.excess == pytest.approx((4 + 1 + 0.25) / 3 - 1)
    assert longer.away == pytest.approx(np.sqrt((1 + 0.25) / 5.25))
    across = np.array([-best.direction[1], best.direction[0]])
    other = np.cross(hidden[0], [1.0, 0.0, 0.0])
    more = 0.1 * np.linalg.norm(W[0]) / np.linalg.norm(other) * np.outer(other, across)
    assert seen(W[0] + more, W[1], W[2]).away == pytest.approx(0.1 / np.sqrt(3.01))
    angle = seen(np.outer(hidden[0], best.direction + 0.1 * across) * np.linalg.norm(W[0]), *W[1:])
    assert min(angle.away, angle.excess) > 1e-3
    with pytest.raises(InputError, match="classify"):
        seen(-W[0], W[1], W[2])


def test_what_is_asked_of_linear_networks_is_tested() -> None:
    """Beside the start: that of the witness is beyond the constant."""
    statement = certificates.reaches_the_optimum([])
    item = {**statement.witness, "theta": np.array([0.5, 0.5])}
    assert statement.unmet(item) is None
    apart = {**item, "X": np.array([[1.0], [1.0]]), "y": np.array([1.0, -1.0])}
    assert "separable" in str(statement.unmet(apart))
    for other in (
        fully_connected([2], "linear"),
        fully_connected([2, 2]),
        diagonal(2, 3, "linear"),
    ):
        assert "linear network" in str(statement.unmet({**item, "network": other}))


def test_starts_that_are_wrong_about_some_data_are_below_the_constant(monkeypatch) -> None:
    """Only they tell L < n l(0) from what Theorem 3.1 asks for."""
    monkeypatch.setattr(certificates, "limit", lambda **given: None)
    found = [item for _, item in certificates.connected_flows(0, 5)]
    statement = certificates.reaches_the_optimum([])
    assert [statement.unmet(item) for item in found] == [None] * 5
    signs = [{*np.sign(item["y"] * item["network"].output(item["theta"], item["X"]))}
             for item in found]  # fmt: skip
    assert signs == [{1}, {1}, {1}, {-1, 1}, {-1, 1}]
    last = found[-1]  # is nearly at the constant
    assert certificates._log_loss(last, 1.0) > certificates._log_loss(last, 0.0) - 1e-2


# --- Theorem 3.2, its start, and its data moved ---------------------------------------------------


def test_moved_data_come_to_the_edge_of_what_is_allowed() -> None:
    for printed, statement, name in (
        (dead_neuron.PRINTED, suboptimality.holds_nearby(), "X"),
        (suboptimality.PRINTED_DATUM, suboptimality.silent_nearby(), "x"),
    ):
        rng, draws = np.random.default_rng(0), list(statement.draws.values())
        given = [draws[k % 4](rng) for k in range(40)]
        assert not any(map(statement.unmet, given))
        beyond = [one | {name: printed + 1.002 * (one[name] - printed)} for one in given]
        assert sum(statement.unmet(one) is not None for one in beyond) > 10


# --- The reader's own data ------------------------------------------------------------------------

DEFAULTS: dict[str, Any] = {
    "dataset": "theorem-3.2", "network": "fully connected", "depth": 2, "width": 2,
    "activation": "relu", "start": None, "scale": 1.0, "loss": "exponential", "reach": 1e5,
    "seed": 0,
}  # fmt: skip


def experiment(**changed: Any) -> own_data.Experiment:
    return own_data.of_parameters(SimpleNamespace(**{**DEFAULTS, **changed}))


@pytest.fixture(scope="module")
def own() -> own_data.Experiment:
    """Theorem 3.2's network from its own start, from one that ends well, and from a dead one."""
    paper, printed = experiment(), setting.theorem_3_2()
    assert np.array_equal(paper.starts, printed.start[None])
    assert np.array_equal(paper.X, printed.X)
    well, dead = [1.0, 0.5, -1.0, 0.4, 1.0, 1.0], [0.0, -1.0, 0.1, -1.0, 1.0, 1.0]
    return replace(paper, starts=np.array([*paper.starts, well, dead]))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"dataset": "theorem-3.3"}, 'did you mean "theorem-3.2"'),
        ({"network": "convolutional", "width": 3}, "a filter of 3 weights does not divide inputs"),
        ({"activation": "linear", "dataset": "theorem-4.2"}, "no hyperplane through 0 separates"),
        ("1,2,1\n1,1,0\n", r"data row 2 .* the label is 0, and must be 1 or -1"),
        ("1,2,1\n-1,2,1\n2,4,-1\n", "data rows 1 and 3 have one direction and different"),
        ("1,2,1\n1e4,0,-1\n", r"data row 2 .* length 1e\+04: .* choose another unit"),
    ],
)
def test_what_cannot_be_used_is_said(changed: Any, told: str, tmp_path: Path) -> None:
    if isinstance(changed, str):
        (tmp_path / "my.csv").write_text("x1,x2,y\n" + changed, encoding="utf-8")
        changed = {"dataset": str(tmp_path / "my.csv")}
    with pytest.raises(InputError, match=told):
        experiment(**changed)


@pytest.mark.parametrize("name", setting.NETWORKS)
@pytest.mark.parametrize("depth", [2, 5])
def test_families_are_what_they_say(name: str, depth: int) -> None:
    rng = np.random.default_rng([depth, setting.NETWORKS.index(name)])
    network = own_data.family(name, depth, 2, 6, "relu", rng)
    assert network.degree == depth
    numbers = [g[g > 0] for g in network.maps]
    shared = [len(v) != len(set(v.tolist())) for v in numbers]
    assert shared == [name == "convolutional"] + [False] * (depth - 1)
    assert all((g > 0).any(axis=k).all() for g in network.maps for k in (0, 1))
    if name == "diagonal":
        theta, x = np.arange(1.0, network.size + 1), np.full(6, 0.5)
        beta = theta.reshape(depth, 6).prod(axis=0)
        assert network.output(theta, x[None])[0] == pytest.approx(beta @ x)


def test_each_flow_has_its_verdict(own: own_data.Experiment) -> None:
    found = own_data.follow(replace(own, starts=np.array([*own.starts, np.zeros(6)])))
    assert [one.optimum and one.optimum.verdict for one in found] == [
        "not local", "global", None, None]  # fmt: skip
    squares = [float(one.limit.theta @ one.limit.theta) for one in found if one.limit]
    assert squares == pytest.approx([8.0, 16 / 17**0.5])
    assert found[-1].status.startswith("not followed: ")


def test_what_is_too_much_work_is_left_out(own: own_data.Experiment) -> None:
    """The first start may take half of the work, the last all that is left."""
    own, purse = replace(own, reach=1e3), [1e9]
    network = own.network
    metered = own_data.Metered(network.maps, network.activation, purse)
    end = limit(metered, own.loss, own.X, own.y, own.starts[0], reach=own.reach)
    cost = 1e9 - purse[0]
    plain = limit(network, own.loss, own.X, own.y, own.starts[0], reach=own.reach)
    assert np.array_equal(end.theta, plain.theta)
    twice = replace(own, starts=own.starts[[0, 0]])
    assert [one.status for one in own_data.follow(twice, 2.1 * cost)] == ["converged"] * 2
    assert all(one.limit is None for one in own_data.follow(twice, 1.9 * cost))
