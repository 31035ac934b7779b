"""Appendices B and C: the network against plain loops and torch, false variants of each statement
that must be found, and evidence that can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reluflow import ledger, networks
from reluflow.approx import MARK
from reluflow.falsify import falsify
from reluflow.figures import cut_off, fingerprint_of
from reluflow.networks import backpropagate, gradient
from reluflow.papers.lee2022support import deep, deep_evidence, deep_training
from reluflow.papers.lee2022support.pictures.deep import label_backpropagation

# By hand: o1 = (1, 2, 0), o2 = (3, 1), o3 = 5; delta3 = 2, delta2 = (4, -2), delta1 = (-2, 6, 0).
WHOLE = [
    np.array([[1.0, 0], [0, 1], [1, -1]]),
    np.array([[1.0, 1, 2], [3, -1, 1]]),
    np.array([[2.0, -1]]),
]
X1, Y1 = np.array([[1.0, 2.0]]), np.array([[3.0]])


def draw(kind: str, seed: int):
    item = deep.network_draws()[kind](np.random.default_rng(seed))
    return deep.weights_of(item), item["X"], item["Y"]


def loops(weights, X, Y):
    """Gradients and labels by one plain loop over data, layers, units and weights."""
    gradients = [np.zeros(W.shape) for W in weights]
    labels = []
    for x, y in zip(X, Y, strict=True):
        inputs, outputs = [list(x)], []
        for m, W in enumerate(weights):
            o = [sum(W[j][k] * inputs[m][k] for k in range(len(inputs[m]))) for j in range(len(W))]
            if m < len(weights) - 1:
                o = [v if v > 0 else 0.0 for v in o]
            outputs.append(o)
            inputs.append(o)
        delta = [o - t for o, t in zip(outputs[-1], y, strict=True)]
        mine = [list(y)]
        for m in reversed(range(len(weights))):
            for j in range(len(delta)):
                for k in range(len(inputs[m])):
                    gradients[m][j, k] += delta[j] * inputs[m][k]
            if m > 0:
                back = [
                    sum(weights[m][j][k] * delta[j] for j in range(len(delta)))
                    for k in range(len(outputs[m - 1]))
                ]
                delta = [b if o > 0 else 0.0 for b, o in zip(back, outputs[m - 1], strict=True)]
                mine.insert(0, [o - d for o, d in zip(outputs[m - 1], delta, strict=True)])
        labels.append(mine)
    return gradients, labels


# --- The network ----------------------------------------------------------------------------------


def test_the_figures_network_by_hand() -> None:
    found = backpropagate(WHOLE, X1, Y1)
    assert [o[0].tolist() for o in found.outputs] == [[1, 2, 0], [3, 1], [5]]
    assert [o[0].tolist() for o in found.inputs] == [[1, 2], [1, 2, 0], [3, 1]]
    assert [v[0].tolist() for v in found.deltas] == [[-2, 6, 0], [4, -2], [2]]
    assert [v[0].tolist() for v in found.labels] == [[3, -4, 0], [-1, 3], [3]]
    expected = [[[-2, -4], [6, 12], [0, 0]], [[4, 8, 0], [-2, -4, 0]], [[6, 2]]]
    assert [g.tolist() for g in found.gradients] == expected


@settings(max_examples=20)
@given(st.sampled_from(sorted(deep.network_draws())), st.integers(0, 10**6))
def test_both_passes_agree_with_plain_loops_and_torch(kind, seed) -> None:
    weights, X, Y = draw(kind, seed)
    found = backpropagate(weights, X, Y)
    gradients, labels = loops(weights, X, Y)
    value, other = deep.autograd(weights, X, Y)
    for m in range(len(weights)):
        scale = 1e-12 * (1.0 + np.abs(gradients[m]).max())
        np.testing.assert_allclose(found.gradients[m], gradients[m], rtol=1e-10, atol=scale)
        np.testing.assert_allclose(found.gradients[m], other[m], rtol=1e-10, atol=scale)
        mine = np.array([datum[m] for datum in labels])
        np.testing.assert_allclose(found.labels[m], mine, rtol=1e-10, atol=scale)
    assert value == pytest.approx(0.5 * ((found.outputs[-1] - Y) ** 2).sum(), rel=1e-12)


def test_networks_side_by_side_are_networks() -> None:
    weights, X, Y = deep_training.side_by_side(3, (2, 4, 3), 5, np.random.default_rng(1))
    assert (X >= 0).all()
    assert (Y > 0).all()
    together = backpropagate(weights, X, Y)
    for k in range(3):
        alone = backpropagate([W[k] for W in weights], X[k], Y[k])
        for m in range(2):
            np.testing.assert_allclose(together.gradients[m][k], alone.gradients[m], atol=1e-14)
            np.testing.assert_allclose(together.labels[m][k], alone.labels[m], atol=1e-14)


def test_one_linear_layer_is_a_linear_neuron() -> None:
    rng = np.random.default_rng(2)
    W, X, Y = rng.normal(size=(1, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 1))
    mine = backpropagate([W], X, Y)
    np.testing.assert_allclose(mine.gradients[0][0], gradient(X, Y[:, 0], W[0], "linear"))
    np.testing.assert_array_equal(mine.labels[0], Y)


# --- Statements that hold, and false ones that must be found --------------------------------------

TRUE = [
    deep.independent_neurons(),
    deep.layer_gradient(indicator=True),
    deep.label_backpropagation(),
    deep.hidden_labels(),
    deep.balance(),
    deep.balance(units=True),
]


@pytest.mark.parametrize("statement", TRUE, ids=lambda s: s.says)
def test_the_true_statements_survive(statement) -> None:
    report = falsify(statement, seed=3, count=60)
    assert report.survives
    assert report.tried == 60
    assert ledger.open("lee2022support")  # the inventory with our claims can be read


def test_the_printed_gradient_fails_where_a_datum_is_inactive_and_only_there() -> None:
    printed = deep.layer_gradient(indicator=False)
    assert sum(falsify(printed, seed=0, count=30).violations.values()) > 15
    active = replace(
        printed, hypotheses={"all active": lambda i: bool((i["X"] @ i["W"].T > 0).all())}
    )
    report = falsify(active, seed=0, count=400)
    assert report.survives
    assert report.tried > 5


def test_the_first_layer_is_caught_at_a_kink_by_the_other_convention() -> None:
    def other(item):
        X, Y, W = item["X"], item["Y"], item["W"]
        h = X @ W.T
        formula = np.where(h >= 0.0, h - Y, 0.0).T @ X
        return -float(np.abs(formula - deep.autograd([W], X, Y, "relu")[1][0]).max())

    report = falsify(replace(TRUE[1], slack=other, tolerance=1e-6), seed=0, count=60)
    assert set(report.violations) == {"on the boundaries"}


def no_indicator(found, weights, X, Y):
    deltas = [found.deltas[-1]]
    for W in weights[:0:-1]:
        deltas.insert(0, deltas[0] @ W)
    return replace(found, deltas=tuple(deltas), labels=relabelled(found, deltas, -1.0))


def relabelled(found, deltas, sign):
    hidden = zip(found.outputs[:-1], deltas[:-1], strict=True)
    return (*(o + sign * d for o, d in hidden), found.labels[-1])


FALSE = {
    "labels o + delta": lambda f, *_: replace(f, labels=relabelled(f, f.deltas, 1.0)),
    "labels o": lambda f, *_: replace(f, labels=relabelled(f, f.deltas, 0.0)),
    "1 % less delta": lambda f, *_: replace(f, labels=relabelled(f, f.deltas, -0.99)),
    "data of the layer behind": lambda f, W, X, Y: replace(f, inputs=(X, X, *f.inputs[2:])),
}


@pytest.mark.parametrize("name", FALSE)
def test_false_labels_are_found(name, monkeypatch) -> None:
    true = backpropagate

    def false(weights, X, Y):
        return FALSE[name](true(weights, X, Y), weights, X, Y)

    statement = deep.label_backpropagation()
    if name == "data of the layer behind":  # all layers of one width, so that shapes fit

        def square(rng):
            item = {f"W{m}": rng.normal(size=(3, 3)) for m in (1, 2, 3)}
            return {**item, "X": rng.normal(size=(2, 3)), "Y": rng.normal(size=(2, 3))}

        statement = replace(statement, draws={"square": square})
    monkeypatch.setattr(deep, "backpropagate", false)
    assert not falsify(statement, seed=0, count=30, evaluations=0).survives


def test_labels_without_the_indicator_are_no_longer_zero(monkeypatch) -> None:
    true = backpropagate

    def false(weights, X, Y):
        return no_indicator(true(weights, X, Y), weights, X, Y)

    monkeypatch.setattr(deep, "backpropagate", false)
    assert not falsify(deep.hidden_labels(), seed=0, count=30, evaluations=0).survives


@pytest.mark.parametrize("power", [1.0, 1.98])
def test_other_powers_of_the_norms_are_not_balanced(power) -> None:
    def slack(item):
        W = deep.weights_of(item)
        _, G = deep.autograd(W, item["X"], item["Y"])
        rates = [
            np.linalg.norm(w) ** (power - 2.0) * (w * g).sum() for w, g in zip(W, G, strict=True)
        ]
        return -max(abs(a - rates[0]) for a in rates) / (1.0 + abs(rates[0]))

    statement = replace(deep.balance(), slack=slack)
    assert falsify(statement, seed=0, count=30, evaluations=0).violations


def test_units_are_not_balanced_against_each_other() -> None:
    def slack(item):
        W = deep.weights_of(item)
        _, G = deep.autograd(W, item["X"], item["Y"])
        ahead, behind = (W[0] * G[0]).sum(axis=1), (W[1] * G[1]).sum(axis=0)
        return -float(np.abs(np.sort(ahead)[::-1] - behind).max())

    assert falsify(replace(deep.balance(), slack=slack), 0, 30, 0).violations


# --- Surveys --------------------------------------------------------------------------------------


def test_layers_train_as_their_neurons_do() -> None:
    survey = deep.survey_layers(4, seed=5)
    assert survey.descent < 1e-12
    assert survey.flow < 1e-7
    assert survey.neurons == 12
    assert survey.events > 0


def test_the_whole_layers_flow_sees_a_wrong_neuron(monkeypatch) -> None:
    true = deep.affine_flow
    monkeypatch.setattr(deep, "affine_flow", lambda X, y, w: true(X, 1.001 * y, w))
    assert deep.survey_layers(2, seed=5).flow > 1e-5


def test_descent_side_by_side_is_descent_with_torch() -> None:
    weights, X, Y = deep_training.side_by_side(2, (2, 3, 2), 3, np.random.default_rng(4))
    together = deep_training.descend(weights, X, Y, 0.05, 20)
    for k in range(2):
        W = [w[k] for w in weights]
        for _ in range(20):
            W = [w - 0.05 * g for w, g in zip(W, deep.autograd(W, X[k], Y[k])[1], strict=True)]
        for m in range(2):
            np.testing.assert_allclose(together[m][k], W[m], rtol=1e-10, atol=1e-12)


def test_the_label_survey_counts_what_loops_count() -> None:
    survey = deep_training.survey_labels(4, seed=6, steps=(0, 5), step=0.03)
    weights, X, Y = deep_training.side_by_side(4, (3, 6, 6, 1), 8, np.random.default_rng(6))
    weights = deep_training.descend(weights, X, Y, 0.03, 5)
    for k in range(4):
        _, labels = loops([W[k] for W in weights], X[k], Y[k])
        hidden = np.array([[*datum[0], *datum[1]] for datum in labels])  # (data, units)
        found = backpropagate([W[k] for W in weights], X[k], Y[k])
        on = np.hstack(found.outputs[:2]) > 0
        assert survey.positive[1, k] == (hidden > 0).mean()
        assert survey.active[1, k] == on.mean()
        assert survey.suited[1, k] == (hidden > 0).all(axis=0).mean()
        assert survey.negative[1, k] == pytest.approx((hidden[on] <= 0).mean())
    assert len(survey.table()) == 2
    assert (survey.moved > 0).all()


def test_a_network_without_gradient_is_not_said_to_train(monkeypatch) -> None:
    true = deep_training.side_by_side

    def dead(count, widths, n, rng):
        weights, X, Y = true(count, widths, n, rng)
        weights[0][0] = -np.abs(weights[0][0])
        return weights, X, Y

    monkeypatch.setattr(deep_training, "side_by_side", dead)
    survey = deep_training.survey_labels(5, seed=6, steps=(0, 5))
    assert len(survey.moved) < 5
    assert (survey.moved > 0).all()


def test_the_interval_is_that_of_a_mean() -> None:
    mean, low, high = deep_training.LabelSurvey.interval(np.array([0.0, 1.0, 1.0, 0.0]))
    assert mean == 0.5
    assert high - mean == pytest.approx(1.96 * np.sqrt(1 / 3) / 2)
    assert mean - low == pytest.approx(high - mean)


def test_the_flow_up_to_a_flip_is_the_limit_of_descent_and_stops_at_the_flip() -> None:
    weights, X, Y = deep_training.side_by_side(12, (2, 3, 2), 3, np.random.default_rng(7))
    stopped, fine = [], deep_training.descend(weights, X, Y, 0.05 / 2000, 2000)
    for k in range(12):
        W = [w[k] for w in weights]
        end, reached = deep_training.flow_to_flip(W, X[k], Y[k], 0.05)
        stopped.append(reached)
        if reached:
            h = X[k] @ end[0].T
            assert np.abs(h).min() < 1e-7
        else:
            for a, b in zip(end, fine, strict=True):
                np.testing.assert_allclose(a, b[k], atol=4e-4)
    assert {True, False} == set(stopped)


def test_a_flow_that_comes_to_slide_is_stopped_there() -> None:
    """The second network of seed 39 slides along the boundary of a unit from t = 0.1189 on."""
    weights, X, Y = deep_training.side_by_side(30, (3, 5, 4, 2), 4, np.random.default_rng(39))
    layers = [W[1] for W in weights]
    end, stopped = deep_training.flow_to_flip(layers, X[1], Y[1], 0.2)
    first = X[1] @ end[0].T
    second = np.maximum(first, 0.0) @ end[1].T
    assert stopped
    assert min(np.abs(first).min(), np.abs(second).min()) < 1e-7


def test_balance_drifts_with_the_step_and_not_along_the_flow() -> None:
    survey = deep_training.survey_balance(20, seed=8)
    assert survey.identity < 1e-12
    assert survey.flow < 1e-10
    means = survey.drift.mean(axis=1)
    assert 1.8 < means[0] / means[1] < 2.2
    assert 1.8 < means[1] / means[2] < 2.2
    assert survey.flips > 0
    assert 0 < survey.opposed <= 20


def test_a_network_whose_steps_are_too_long_does_not_hide_the_order() -> None:
    # With seed 17 one network oscillates at the largest step and makes up most of the mean drift.
    survey = deep_training.survey_balance(30, seed=17)
    means = survey.drift.mean(axis=1)
    assert means[0] / means[1] > 3
    report = falsify(deep.balance(), 17, 10, 0)
    decides = [e for e in deep_evidence.balanced_layers(report, survey)["evidence"] if e.decides]
    assert all(item.holds for item in decides)
    least, largest = (e.value for e in decides if "factor" in e.what)
    assert 1.95 < least <= largest < 2.05


def test_descent_with_wrong_gradients_owes_another_drift(monkeypatch) -> None:
    true = networks.backpropagate

    def false(weights, X, Y):
        found = true(weights, X, Y)
        return replace(found, deltas=(1.01 * found.deltas[0], *found.deltas[1:]))

    monkeypatch.setattr(deep_training, "backpropagate", false)
    assert deep_training.survey_balance(10, seed=8).identity > 1e-6


# --- Evidence -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def measured():
    return {
        "neurons": falsify(deep.independent_neurons(), 0, 12, 0),
        "layers": deep.survey_layers(2, 0),
        "printed": falsify(deep.layer_gradient(indicator=False), 0, 12, 0),
        "labels": deep_training.survey_labels(30, 0, steps=(0, 30)),
        "hidden": falsify(deep.hidden_labels(), 0, 10, 0),
        "balance": deep_training.survey_balance(20, 0),
        "identity": falsify(deep.balance(), 0, 10, 0),
    }


def verdict(id: str, settlement) -> str:
    return ledger.open("lee2022support").settle(id, **settlement).verdict


def test_every_claim_gets_its_verdict(measured) -> None:
    m = measured
    both = deep_evidence.layers_and_neurons(m["neurons"], m["layers"])
    assert verdict("sv.appB", both) == "reproduced"
    refuted = deep_evidence.printed_gradient(m["printed"])
    assert verdict("sv.appB.gradient", refuted) == "refuted"
    kept = deep_evidence.with_indicator(m["neurons"])
    assert verdict("sv.ours.appB.indicator", kept) == "reproduced"
    figure = deep_evidence.back_propagation(m["hidden"], WHOLE, X1[0], Y1[0])
    assert verdict("sv.propC.1", figure) == "reproduced"
    signs = deep_evidence.label_signs(m["hidden"], m["labels"])
    assert verdict("sv.ours.backprop.labels", signs) == "reproduced"
    layers = deep_evidence.balanced_layers(m["identity"], m["balance"])
    assert verdict("sv.lemC.2", layers) == "reproduced"
    units = deep_evidence.balanced_units(m["identity"], m["balance"])
    assert verdict("sv.ours.balance.units", units) == "reproduced"


def test_every_survey_can_fail_its_claim(measured) -> None:
    m, bad = measured, lambda survey, **fields: replace(survey, **fields)
    hidden, labels, balance = m["hidden"], m["labels"], m["balance"]
    slower, idle = np.array([[1.0], [1.3], [1.69]]), labels.idle.copy()
    idle[1, 3] = 1
    settlements = [
        deep_evidence.layers_and_neurons(m["neurons"], bad(m["layers"], descent=1e-8)),
        deep_evidence.layers_and_neurons(m["neurons"], bad(m["layers"], flow=1e-5)),
        deep_evidence.layers_and_neurons(m["printed"], m["layers"]),
        deep_evidence.with_indicator(m["printed"]),
        deep_evidence.back_propagation(m["printed"], WHOLE, X1[0], Y1[0]),
        deep_evidence.label_signs(m["printed"], labels),
        deep_evidence.label_signs(hidden, bad(labels, idle=idle)),
        deep_evidence.label_signs(hidden, bad(labels, negative=0.0 * labels.negative)),
        deep_evidence.label_signs(hidden, bad(labels, suited=0.0 * labels.suited + 1.0)),
        deep_evidence.label_signs(hidden, bad(labels, moved=0.0 * labels.moved)),
        deep_evidence.balanced_layers(m["printed"], balance),
        deep_evidence.balanced_layers(m["identity"], bad(balance, identity=1e-6)),
        deep_evidence.balanced_layers(m["identity"], bad(balance, flow=1e-6)),
        deep_evidence.balanced_layers(m["identity"], bad(balance, drift=balance.drift[::-1])),
        deep_evidence.balanced_layers(m["identity"], bad(balance, drift=balance.drift**2)),
        deep_evidence.balanced_layers(m["identity"], bad(balance, drift=balance.drift * slower)),
        deep_evidence.balanced_units(m["printed"], balance),
        deep_evidence.balanced_units(m["identity"], bad(balance, opposed=0)),
    ]
    for settlement in settlements:
        assert any(not item.holds for item in settlement["evidence"] if item.decides)


# --- The figure -----------------------------------------------------------------------------------


def test_the_figure_carries_the_computed_values() -> None:
    fig = label_backpropagation(WHOLE, X1[0], Y1[0])
    text = fingerprint_of(fig).replace(MARK, "")
    assert not cut_off(fig)
    for m, units in enumerate(([(-2, 3), (6, -4), (0, 0)], [(4, -1), (-2, 3)], [(2, 3)]), start=1):
        for delta, label in units:
            for name, value in (("\\\\delta", delta), ("y", label)):
                shown = f"'${name} = {value}$' ({m}".replace("-", "\u2212")
                assert shown in text
    # Arrows from outputs to labels, none for the inactive unit.
    assert "arrow (2.0000, -4.000) from (2.0000, 2.000)" in text
    assert text.count("note arrow") == 5


# --- An error of either sign is an error: each of these checks was once one-sided unnoticed ------


@pytest.mark.parametrize("off", [1e-3, -1e-3])
@pytest.mark.parametrize("name", ["gradient", "loss"])
def test_a_layer_is_compared_both_ways(name, off, monkeypatch) -> None:
    right = getattr(deep, name)
    monkeypatch.setattr(deep, name, lambda X, y, w: right(X, y, w) + off)
    report = falsify(deep.independent_neurons(), seed=0, count=30, evaluations=0)
    # Beside a loss of 1e9 and more, 1e-3 is rounding: a draw or two of the widest kinds.
    assert sum(report.violations.values()) >= report.tried - 2


@pytest.mark.parametrize("off", [1e-3, -1e-3])
def test_labels_are_compared_both_ways(off, monkeypatch) -> None:
    right = deep.gradient
    monkeypatch.setattr(deep, "gradient", lambda *arguments: right(*arguments) + off)
    report = falsify(deep.label_backpropagation(), seed=0, count=30, evaluations=0)
    assert sum(report.violations.values()) == report.tried


@pytest.mark.parametrize("off", [1e-3, -1e-3])
@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("units", [False, True])
def test_balance_is_compared_both_ways(units, layer, off, monkeypatch) -> None:
    """A gradient with a part along W adds or takes |w|^2, in every unit."""
    right = deep.autograd

    def wrong(W, X, Y):
        value, gradients = right(W, X, Y)
        gradients = [
            g + off * w * (k == layer) for k, (g, w) in enumerate(zip(gradients, W, strict=True))
        ]
        return value, gradients

    monkeypatch.setattr(deep, "autograd", wrong)
    report = falsify(deep.balance(units), seed=0, count=30, evaluations=0)
    assert sum(report.violations.values()) == report.tried
