"""What each theorem promises on a reader's data, and what happens: one line, one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from reluflow.approx import approx
from reluflow.geometry import nested_pairs
from reluflow.ledger.scoreboard import View
from reluflow.margin.limits import AT_REST
from reluflow.papers.lee2022support.norm import largest_norm_drop
from reluflow.papers.lee2022support.setting import assumptions as of_support
from reluflow.papers.lee2022support.starts import entered
from reluflow.papers.min2024early import own_data as early
from reluflow.papers.min2024early.theorem_1 import enough_log_eps
from reluflow.papers.phuong2021inductive import own_data as separable
from reluflow.papers.vardi2022margin import own_data as margin
from reluflow.your_data.study import Followed, OneNeuron, Study, assumptions, separated, table

KEPT, BROKEN, OPEN, SILENT = "kept", "broken", "open", "silent"
_NEAR, _FAR, _STATIONARY = 0.01, 0.1, 1e-3
"""A distance of (8) up to the first is on its way to 0; from the second on, at a network whose KKT
gap is at most the third, it is not."""
_ROUNDING = 1e-9
ALIGNMENT = "Min et al. 2024, Theorem 1"
SEPARABILITY = "Phuong & Lampert 2021, Theorem 1: all neurons along w₊ or w₋"
TO_A_KKT_POINT = "Vardi et al. 2022, Theorem 2.1: the direction converges to a KKT point"
LOCAL = "Vardi et al. 2022, Theorem 4.3: a limit with no neuron's input 0 is a local optimum"
LINEAR = "Vardi et al. 2022, Theorem 3.1: a linear network ends at the max-margin vector"


@dataclass(frozen=True)
class Line:
    """A theorem on these data.

    verdict  "kept" or "broken"; "open" where what happens does not tell, "silent" where the theorem
             does not apply
    """

    theorem: str
    promised: str
    happened: str
    verdict: str


def _silent(theorem: str, why: str, happened: str = "not asked") -> Line:
    return Line(theorem, f"nothing, for {why}", happened, SILENT)


def _line(theorem: str, why: str, promised: str, happened: str, verdict: str) -> Line:
    """A line that is silent where there is a reason."""
    return _silent(theorem, why, happened) if why else Line(theorem, promised, happened, verdict)


def lines(study: Study, neuron: OneNeuron, layers: Followed | None) -> list[Line]:
    """All theorems, in the order of the chapters."""
    found = [*_of_one_neuron(study, neuron), _of_the_law(study)]
    if layers is not None:
        found += _of_alignment(study, layers)
        return [*found, _of_separability(study, layers), *_of_limits(study, layers)]
    names = (ALIGNMENT, SEPARABILITY, TO_A_KKT_POINT, LOCAL, LINEAR)
    if not study.signs:
        return [*found, *(_silent(name, "it is about labels 1 and −1") for name in names)]
    said = "not worked out here", f"not followed: {study.obstacle}", OPEN
    return [*found, *(Line(name, *said) for name in names)]


def lines_table(found: Sequence[Line]) -> View:
    """Promised and happened side by side."""
    columns = ["theorem", "promised", "what happens", "verdict"]
    return table(columns, [(v.theorem, v.promised, v.happened, v.verdict) for v in found])


def summary(
    study: Study, neuron: OneNeuron, layers: Followed | None, found: Sequence[Line]
) -> View:
    """Five sentences: the data, the assumptions, one neuron, two layers, the verdicts `found`."""
    counts = Counter(line.verdict for line in found)
    told = ", ".join(f"{counts[v]} {v}" for v in (KEPT, BROKEN, OPEN) if counts[v])
    silent = f"{counts[SILENT]} of {len(found)} statements do not apply to these data"
    broken = "; ".join(line.theorem for line in found if line.verdict == BROKEN)
    unit = f", inputs in the unit {study.unit:g}" if study.unit != 1.0 else ""
    five = [
        _data(study),
        _held(study),
        f"One neuron: {ends(neuron)}.",
        f"Two layers{unit}: {_layers(layers)}." if layers else f"Two layers: {study.obstacle}",
        f"{silent}{'; the others: ' * bool(told)}{told}."
        + (f" Broken: {broken}." if broken else ""),
    ]
    items = "".join(f"<li>{escape(line)}</li>" for line in five)
    return View(f"<ul>{items}</ul>", "\n".join(five))


def _data(study: Study) -> str:
    n, d = study.X.shape
    two, hint = np.unique(study.y), ""
    kind = f"labels from {two[0]:g} to {two[-1]:g}" if len(two) > 1 else f"all labels {two[0]:g}"
    if study.signs:
        kind = f"labels 1 ({np.sum(study.y > 0)}) and -1 ({np.sum(study.y < 0)})"
    if not study.signs and len(two) == 2 < len(study.y):
        hint = f" If {two[0]:g} and {two[1]:g} are two classes, write -1 and 1 for them."
    many = "1 datum" if n == 1 else f"{n} data"
    return f"{study.name}: {many} in {d} dimension{'s' * (d > 1)}, {kind.replace('-', '−')}.{hint}"


def _held(study: Study) -> str:
    told = []
    for word, holds in (("Hold", True), ("Fail", False), ("Undecided", None)):
        names: dict[str, list[str]] = {}
        for a in assumptions(study):
            if a.holds is holds and a.name != "Gaussian law":
                names.setdefault(a.paper, []).append(a.name)
        parts = (f"{' and '.join(each)} of {paper}" for paper, each in names.items())
        told += [f"{word}: {', '.join(parts)}."] if names else []
    return " ".join(told)


# --- One neuron, Lee, Sim & Ye 2022a --------------------------------------------------------------


def ends(neuron: OneNeuron) -> str:
    """Where the flows from small and from large starts end, in words."""
    many = len(neuron.run.minima)
    which = f"the least of {many} minima or flat pieces" if many > 1 else "the only local minimum"
    least = f", {which} is {approx(neuron.run.minima[0].loss)}" if many else ""
    limits = neuron.run.limits
    halves = ("small", limits[: neuron.small]), ("large", limits[neuron.small :])
    parts = (
        f"{size} starts end at the loss {_losses(half, neuron.run.y)}" for size, half in halves
    )
    return " and ".join(parts) + least


def _losses(limits: Sequence, y: NDArray) -> str:
    """The different losses of limits, each with how many of them have it."""
    unit = max(limit.loss for limit in limits) + float(np.sum(y * y))
    counts = Counter(approx(v.loss) if v.loss > _ROUNDING * unit else "0" for v in limits)
    if len(counts) > 3:
        values = [limit.loss for limit in limits]
        return f"{approx(min(values))} to {approx(max(values))}"
    if len(counts) == 1:
        return next(iter(counts))
    return " or ".join(f"{loss} ({count} of {len(limits)})" for loss, count in counts.items())


def _of_one_neuron(study: Study, neuron: OneNeuron) -> Iterator[Line]:
    X, y, run = study.X, study.y, neuron.run
    held, minima = of_support(X, y), run.minima
    three = zip(run.flows, run.limits, neuron.forced, strict=False)
    small = [(path, limit) for path, limit, forced in three if forced]
    missing = _missing([name for name in ("A1", "A2", "A3") if not held[name]])
    outside = missing or ("" if X.shape[1] == 2 else "it is about the plane")

    name = "Lee et al. 2022a, Lemma F.5: a small start activates all data"
    if missing or neuron.radius is None:
        paths = run.flows[: neuron.small]
        most = max(int((path.states @ X.T > 0.0).sum(axis=1).max()) for path in paths)
        happened = f"of {len(y)} data up to {most} are active at once"
        promised = "from q > 0 and a norm too small to be computed here"
        yield _line(name, missing, promised, happened, OPEN)
    else:
        count = sum(entered(X, path) for path, _ in small)
        promised = f"from q > 0 and norm below δ₀ = {approx(neuron.radius)}"
        yield Line(name, promised, f"{count} of {len(small)} small starts do", _all(count, small))

    name = "Lee et al. 2022a, Theorem 4.7: a small start ends at the global minimum"
    promised, happened, verdict = "the global minimum", ends(neuron), OPEN
    if minima and not outside:
        ranks = [limit.rank for _, limit in small]
        best, promised = ranks.count(1), f"the loss {approx(minima[0].loss)}"
        happened = f"{best} of {len(small)} small starts end there; {happened}"
        verdict = _all(best, ranks) if all(ranks) else OPEN
    yield _line(name, outside, promised, happened, verdict)

    name = "Lee et al. 2022a, Theorem 4.7: the norm increases"
    if outside:
        yield _silent(name, outside)
    else:
        drops = [largest_norm_drop(path) for path, _ in small if path.has_limit]
        grows = sum(drop <= _ROUNDING for drop in drops)
        verdict = _all(grows, drops if grows < len(drops) else small) if drops else OPEN
        happened = f"along {grows} of {len(small)} flows"
        yield Line(name, "from every small start with q > 0", happened, verdict)

    name = "Lee et al. 2022a, Theorem 3.6: fewer support vectors, no smaller loss"
    promised = "for all nested pairs of minima"
    if not held["A2"]:
        yield _silent(name, _missing(["A2"]))
    elif not minima:
        yield Line(name, promised, "too many cells to find them", OPEN)
    elif not (pairs := nested_pairs(minima)):
        yield _silent(name, "no two minima are nested", f"{len(minima)} minima")
    else:
        room = _ROUNDING * 0.5 * float(y @ y)
        fine = sum(few.loss >= more.loss - room for more, few in pairs)
        happened = f"for {fine} of {len(pairs)} pairs of {len(minima)} minima"
        yield Line(name, promised, happened, _all(fine, pairs))


def _missing(names: Sequence[str]) -> str:
    return f"{' and '.join(names)} fail{'s' if len(names) == 1 else ''}" if names else ""


def _all(count: int, tries: Sequence) -> str:
    """The verdict of a promise for all `tries`."""
    if not tries:
        return OPEN
    return KEPT if count == len(tries) else BROKEN


# --- Lee, Sim & Ye 2022b, about a law -------------------------------------------------------------


def _of_the_law(study: Study) -> Line:
    values = np.linalg.eigvalsh(study.X.T @ study.X / len(study.X))
    spread = approx(values[-1] / values[0], 3) if values[0] > _ROUNDING * values[-1] else "infinite"
    return _silent(
        "Lee et al. 2022b, Theorems 3.2 and 3.7: magnitude and angle converge",
        "they are about a Gaussian law and a neuron that fits it",
        f"the largest second moment over the least, 1 for that law, is {spread}",
    )


# --- Two layers: Min et al. 2024, Phuong & Lampert 2021, Vardi et al. 2022 ------------------------


def _layers(layers: Followed) -> str:
    home = sum(path.status in ("serves", "dead") for path in layers.turned.paths)
    counts = Counter(
        one.optimum.verdict if one.optimum else f"no limit ({one.status})" for one in layers.found
    )
    return (
        f"{home} of {len(layers.turned.paths)} neurons turn into the cone of their label or die; "
        f"{_way(layers)}; of {len(layers.found)} flows: {_told(counts)}"
    )


def _way(layers: Followed) -> str:
    status = layers.trained.path.status.replace(" at this loss,", "")
    status = status.replace("e^-1000000", "exp(−1 000 000)")
    return f"the flow {status}" if status.startswith("stops") else f"the flow is {status}"


def _of_alignment(study: Study, layers: Followed) -> Iterator[Line]:
    turned, grown, own = layers.turned, layers.grown, layers.turned.own
    states = [path.status for path in turned.paths]
    home = sum(state in ("serves", "dead") for state in states)
    last = float(turned.homes.max())
    happened = f"{home} of {len(states)} neurons in the limit ε → 0, the last at t = {approx(last)}"
    if not study.mu > 0.0:
        yield _silent(f"{ALIGNMENT}: alignment", "(A1) fails", happened)
        return
    promised = early.promises_alignment_times(own)
    written = early.promise(own).itertuples()
    for (which, time), (_, until, scale) in zip(promised, written, strict=True):
        verdict = OPEN if "unfinished" in states else BROKEN
        verdict = KEPT if home == len(states) and last <= time else verdict
        words = f"all neurons home by t = {until}, for ln ε up to {scale}"
        yield Line(f"{ALIGNMENT}: alignment, {which}", words, happened, verdict)
    rank = early.growth_table(own, grown)[""].get("stable rank of W at L = 1e-100", "")
    happened = f"{rank} at the loss 1e-100" if rank else f"the flow is {grown.status}"
    happened += f", from ln ε = {approx(grown.log_eps)}"
    alive = {v for v, state in zip(own.signs, states, strict=True) if state != "dead"}
    if len(alive) < 2:
        yield _silent(f"{ALIGNMENT}: rank", "all neurons of a label die", happened)
        return
    tiny = grown.log_eps <= enough_log_eps(own.at)
    verdict = KEPT if tiny and rank and float(rank.removeprefix("≈")) <= 2.0 else OPEN
    promise = "a stable rank of at most 2 in the end, from a start tiny enough to align"
    yield Line(f"{ALIGNMENT}: rank", promise, happened, verdict)


def _of_separability(study: Study, layers: Followed) -> Line:
    trained, name, way = layers.trained, SEPARABILITY, _way(layers)
    goal, far = trained.goal, trained.distances
    if goal is not None:
        way += f"; the distance of (8) comes from {approx(far[0], 2)} to {approx(far[-1], 2)}"
    if not separable.violations(trained.own.X, trained.own.y).none:
        return _silent(name, "(OS) fails", way)
    if not all(a.holds for a in assumptions(study) if a.name == "(Span)"):
        name += ", without (Span) as it is proved here"
    told = separable.promise(trained.own)[""]
    promised = f"{told.index[0]} {told.iloc[0]}, {told.index[1]} {told.iloc[1]}"
    if goal is None:
        return Line(name, promised, way, OPEN)
    if len(goal.vectors) == 1:
        promised = f"all along {'w₊' if 1.0 in goal.vectors else 'w₋'}, for the others died"
    verdict = BROKEN if far[-1] > _FAR and trained.gap <= _STATIONARY else OPEN
    return Line(name, promised, way, KEPT if far[-1] <= _NEAR else verdict)


def _of_limits(study: Study, layers: Followed) -> Iterator[Line]:
    found = layers.found
    sure = [one for one in found if one.limit is not None]
    ended = Counter(one.status for one in found)
    happened = f"of {len(found)} starts {_told(ended)}"
    why = "two data of one direction have different labels" if study.contradicts else ""
    if not why and ended[AT_REST] == len(found):
        why = "no start comes to a loss that is small enough"
    all_sure = len(sure) == len(found)
    promised = "from where the loss is below that of one datum of margin 0"
    yield _line(TO_A_KKT_POINT, why, promised, happened, KEPT if all_sure else OPEN)
    seen = _told(Counter(one.optimum.verdict for one in sure if one.optimum))
    if met := [one for one in sure if _inputs_are_not_zero(layers, one)]:
        kinds = Counter(one.optimum.verdict for one in met if one.optimum)
        all_good = kinds["local"] + kinds["global"] == len(met) and all_sure
        verdict = BROKEN if kinds["not local"] else KEPT if all_good else OPEN
        yield Line(LOCAL, f"for {len(met)} of {len(found)} limits", _told(kinds), verdict)
    elif all_sure or why:
        none = "at every limit some neuron's input is 0" if sure else "there is no limit"
        yield _silent(LOCAL, none, seen or "no limit")
    else:
        promised = f"not known: {len(sure)} of {len(found)} limits are"
        yield Line(LOCAL, promised, seen or "no limit is known", OPEN)
    if study.linear is None:
        if separated(study)[0] is False:
            yield _silent(LINEAR, "no hyperplane separates the labels")
        else:
            yield Line(LINEAR, "not known: no max-margin vector was found", "not asked", OPEN)
        return
    unit = f" for inputs in the unit {study.unit:g}" if study.unit != 1.0 else ""
    kinds = Counter(one.optimum.verdict if one.optimum else one.status for one in layers.straight)
    verdict = BROKEN if kinds["not local"] else OPEN
    verdict = KEPT if kinds["global"] == len(layers.straight) else verdict
    promised = f"a global optimum, ‖u‖ = {approx(study.linear.length * study.unit)}{unit}"
    yield Line(LINEAR, promised, _told(kinds), verdict)


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def _inputs_are_not_zero(layers: Followed, one: margin.Found) -> bool:
    assert one.limit is not None
    X, theta = layers.trained.own.X, one.limit.theta
    W = one.limit.path.field.chart.network.weights(theta)[0]
    sizes = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(W, axis=1))
    return bool(np.all(np.abs(X @ W.T) > 1e-8 * sizes) and np.all(sizes > 0.0))
