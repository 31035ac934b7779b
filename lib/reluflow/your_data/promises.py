"""What each theorem promises on a reader's data, and what happens: one line, one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from reluflow.approx import approx
from reluflow.flows.trajectory import largest_norm_drop
from reluflow.geometry import nested_pairs
from reluflow.ledger.scoreboard import View
from reluflow.margin.limits import AT_REST
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


def lines(study: Study, neuron: OneNeuron, layers: Followed | None) -> list[Line]:
    """All theorems, in the order of the chapters."""
    return [
        *_of_one_neuron(study, neuron),
        _of_the_law(study),
        *_of_alignment(study, layers),
        _of_separability(study, layers),
        *_of_limits(study, layers),
    ]


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
        f"{silent}{'; of the others ' * bool(told)}{told}."
        + (f" Broken: {broken}." if broken else ""),
    ]
    items = "".join(f"<li>{escape(line)}</li>" for line in five)
    return View(f"<ul>{items}</ul>", "\n".join(five))


def _data(study: Study) -> str:
    n, d = study.X.shape
    kind = (
        f"labels 1 ({np.sum(study.y > 0)}) and -1 ({np.sum(study.y < 0)})"
        if study.signs
        else f"labels from {study.y.min():g} to {study.y.max():g}"
    )
    two = np.unique(study.y)
    kind = kind if study.signs or len(two) > 1 else f"all labels {two[0]:g}"
    hint = ""
    if not study.signs and len(two) == 2 < len(study.y):
        hint = f" If {two[0]:g} and {two[1]:g} are two classes, write -1 and 1 for them."
    many = "1 datum" if n == 1 else f"{n} data"
    return f"{study.name}: {many} in {d} dimension{'s' * (d > 1)}, {kind}.{hint}"


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
    X, y = study.X, study.y
    held, run = of_support(X, y), neuron.run
    minima = run.minima
    three = zip(run.flows, run.limits, neuron.forced, strict=False)
    small = [(path, limit) for path, limit, forced in three if forced]
    all_three = [name for name in ("A1", "A2", "A3") if not held[name]]
    plane = X.shape[1] == 2
    why = _missing(all_three)

    name = "Lee et al. 2022a, Lemma F.5: a small start activates all data"
    if all_three or neuron.radius is None:
        promised = _nothing(why) if why else "from q > 0 and a norm too small to be computed here"
        paths = run.flows[: neuron.small]
        most = max(int((path.states @ X.T > 0.0).sum(axis=1).max()) for path in paths)
        happened = f"of {len(y)} data up to {most} are active at once"
        yield Line(name, promised, happened, SILENT if why else OPEN)
    else:
        count = sum(entered(X, path) for path, _ in small)
        promised = f"from q > 0 and norm below δ₀ = {approx(neuron.radius)}"
        happened = f"{count} of {len(small)} small starts do"
        yield Line(name, promised, happened, _all(count, len(small)))

    name = "Lee et al. 2022a, Theorem 4.7: a small start ends at the global minimum"
    happened = ends(neuron)
    if all_three or not plane:
        yield Line(name, _nothing(why or "it is about the plane"), happened, SILENT)
    elif not minima:
        yield Line(name, "the global minimum", happened, OPEN)
    else:
        best = sum(limit.rank == 1 for _, limit in small)
        known = all(limit.rank for _, limit in small)
        happened = f"{best} of {len(small)} small starts end there; {happened}"
        verdict = _all(best, len(small)) if known else OPEN
        yield Line(name, f"the loss {approx(minima[0].loss)}", happened, verdict)

    name = "Lee et al. 2022a, Theorem 4.7: the norm increases"
    drops = [largest_norm_drop(path) for path, _ in small if path.has_limit]
    grows = sum(drop <= _ROUNDING for drop in drops)
    if all_three or not plane:
        yield Line(name, _nothing(why or "it is about the plane"), "not asked", SILENT)
    else:
        verdict = _all(grows, len(drops if grows < len(drops) else small)) if drops else OPEN
        happened = f"along {grows} of {len(small)} flows"
        yield Line(name, "from every small start with q > 0", happened, verdict)

    name = "Lee et al. 2022a, Theorem 3.6: fewer support vectors, no smaller loss"
    promised = "for all nested pairs of minima"
    if not held["A2"]:
        yield Line(name, _nothing(_missing(["A2"])), "not asked", SILENT)
    elif not minima:
        yield Line(name, promised, "too many cells to find them", OPEN)
    elif not (pairs := nested_pairs(minima)):
        yield Line(name, _nothing("no two minima are nested"), f"{len(minima)} minima", SILENT)
    else:
        unit = 0.5 * float(y @ y)
        fine = sum(few.loss >= more.loss - _ROUNDING * unit for more, few in pairs)
        happened = f"for {fine} of {len(pairs)} pairs of {len(minima)} minima"
        yield Line(name, promised, happened, _all(fine, len(pairs)))


def _missing(names: Sequence[str]) -> str:
    return f"{' and '.join(names)} fail{'s' if len(names) == 1 else ''}" if names else ""


def _nothing(why: str) -> str:
    return f"nothing, for {why}"


def _all(count: int, total: int) -> str:
    """The verdict of a promise for all of `total` tries."""
    if not total:
        return OPEN
    return KEPT if count == total else BROKEN


# --- Lee, Sim & Ye 2022b, about a law -------------------------------------------------------------


def _of_the_law(study: Study) -> Line:
    (fits,) = (a for a in assumptions(study) if a.name == "realisable")
    values = np.linalg.eigvalsh(study.X.T @ study.X / len(study.X))
    spread = approx(values[-1] / values[0], 3) if values[0] > _ROUNDING * values[-1] else "infinite"
    target = "some neuron fits the labels" if fits.holds else "no neuron fits the labels"
    return Line(
        "Lee et al. 2022b, Theorems 3.2 and 3.7: magnitude and angle converge",
        _nothing("they are about a Gaussian law and a neuron that fits it"),
        f"{target}; the largest second moment over the least, 1 for that law, is {spread}",
        SILENT,
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


def _of_alignment(study: Study, layers: Followed | None) -> list[Line]:
    name = "Min et al. 2024, Theorem 1"
    if layers is None:
        return [_not_followed(name, study)]
    own, turned = layers.two.turning, layers.turned
    home = [path.status in ("serves", "dead") for path in turned.paths]
    lost = any(path.status == "unfinished" for path in turned.paths)
    last = float(turned.homes.max())
    happened = (
        f"{sum(home)} of {len(home)} neurons in the limit ε → 0, the last at t = {approx(last)}"
    )
    promised = early.promises_alignment_times(own)
    if not study.mu > 0.0:
        return [Line(f"{name}: alignment", _nothing("(A1) fails"), happened, SILENT)]
    found = []
    for (which, time), scale in zip(promised, early.promise(own).iloc[:, 1], strict=True):
        verdict = KEPT if all(home) and last <= time else OPEN if lost else BROKEN
        words = f"all neurons home by t = {approx(time)}, for ln ε up to {scale}"
        found.append(Line(f"{name}: alignment, {which}", words, happened, verdict))
    told = early.growth_table(own, layers.grown)[""]
    rank = told.get("stable rank of W at L = 1e-100", "")
    happened = f"{rank} at the loss 1e-100" if rank else f"the flow is {layers.grown.status}"
    happened += f", from ln ε = {approx(layers.grown.log_eps)}"
    tiny = layers.grown.log_eps <= enough_log_eps(own.X, own.y, own.W0, own.signs)
    verdict = KEPT if tiny and rank and float(rank.removeprefix("≈")) <= 2.0 else OPEN
    promise = "a stable rank of at most 2 in the end, from a start tiny enough to align"
    alive = {v for v, path in zip(own.signs, turned.paths, strict=True) if path.status != "dead"}
    if len(alive) < 2:
        promise, verdict = _nothing("all neurons of a label die"), SILENT
    return [*found, Line(f"{name}: rank", promise, happened, verdict)]


def _not_followed(name: str, study: Study) -> Line:
    """A theorem on two layers, of which nothing was followed: it is not about other labels."""
    if not study.signs:
        return Line(name, _nothing("it is about labels 1 and -1"), "not asked", SILENT)
    return Line(name, "not worked out here", f"not followed: {study.obstacle}", OPEN)


def _of_separability(study: Study, layers: Followed | None) -> Line:
    name = "Phuong & Lampert 2021, Theorem 1: all neurons along w₊ or w₋"
    if layers is None:
        return _not_followed(name, study)
    trained = layers.trained
    far = trained.distances
    way = _way(layers)
    if trained.goal is not None:
        way += f"; the distance of (8) comes from {approx(far[0], 2)} to {approx(far[-1], 2)}"
    if not separable.violations(trained.own.X, trained.own.y).none:
        return Line(name, _nothing("(OS) fails"), way, SILENT)
    if not all(a.holds for a in assumptions(study) if a.name == "(Span)"):
        name += ", without (Span) as it is proved here"
    told = separable.promise(trained.own)[""]
    promised = f"{told.index[0]} {told.iloc[0]}, {told.index[1]} {told.iloc[1]}"
    if trained.goal is not None and len(trained.goal.vectors) == 1:
        promised = f"all along {'w₊' if 1.0 in trained.goal.vectors else 'w₋'}, for the others died"
    verdict = OPEN
    if trained.goal is not None and far[-1] <= _NEAR:
        verdict = KEPT
    elif trained.goal is not None and far[-1] > _FAR and trained.gap <= _STATIONARY:
        verdict = BROKEN
    return Line(name, promised, way, verdict)


def _of_limits(study: Study, layers: Followed | None) -> list[Line]:
    names = (
        "Vardi et al. 2022, Theorem 2.1: the direction converges to a KKT point",
        "Vardi et al. 2022, Theorem 4.3: a limit with no neuron's input 0 is a local optimum",
        "Vardi et al. 2022, Theorem 3.1: a linear network ends at the max-margin vector",
    )
    if layers is None:
        return [_not_followed(name, study) for name in names]
    found = layers.found
    sure = [one for one in found if one.limit is not None]
    ended = Counter(one.status for one in found)
    verdict = KEPT if len(sure) == len(found) else OPEN
    promised = "from where the loss is below that of one datum of margin 0"
    if study.contradicts:
        promised = _nothing("two data of one direction have different labels")
        verdict = SILENT
    elif ended[AT_REST] == len(found):
        promised, verdict = _nothing("no start comes to a loss that is small enough"), SILENT
    lines = [Line(names[0], promised, f"of {len(found)} starts {_told(ended)}", verdict)]
    met = [one for one in sure if _inputs_are_not_zero(layers, one)]
    seen = _told(Counter(one.optimum.verdict for one in sure if one.optimum))
    if met:
        kinds = Counter(one.optimum.verdict for one in met if one.optimum)
        good = kinds["local"] + kinds["global"]
        all_good = good == len(met) and len(sure) == len(found)
        verdict = BROKEN if kinds["not local"] else KEPT if all_good else OPEN
        promised = f"for {len(met)} of {len(found)} limits"
        lines.append(Line(names[1], promised, _told(kinds), verdict))
    elif len(sure) == len(found) or lines[0].verdict == SILENT:
        why = "at every limit some neuron's input is 0" if sure else "there is no limit"
        lines.append(Line(names[1], _nothing(why), seen or "no limit", SILENT))
    else:
        promised = f"not known: {len(sure)} of {len(found)} limits are"
        lines.append(Line(names[1], promised, seen or "no limit is known", OPEN))
    if study.linear is None:
        apart, _ = separated(study)
        why = "no hyperplane separates the labels"
        promised = _nothing(why) if apart is False else "not known: no max-margin vector was found"
        return [*lines, Line(names[2], promised, "not asked", SILENT if apart is False else OPEN)]
    length = study.linear.length * study.unit
    unit = f" for inputs in the unit {study.unit:g}" if study.unit != 1.0 else ""
    kinds = Counter(one.optimum.verdict if one.optimum else one.status for one in layers.straight)
    verdict = BROKEN if kinds["not local"] else OPEN
    verdict = KEPT if kinds["global"] == len(layers.straight) else verdict
    promised = f"a global optimum, ‖u‖ = {approx(length)}{unit}"
    return [*lines, Line(names[2], promised, _told(kinds), verdict)]


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def _inputs_are_not_zero(layers: Followed, one: margin.Found) -> bool:
    assert one.limit is not None
    X, d = layers.two.limits.X, layers.two.limits.X.shape[1]
    width = layers.two.limits.network.size // (d + 1)
    W = one.limit.theta[: width * d].reshape(width, d)
    sizes = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(W, axis=1))
    return bool(np.all(np.abs(X @ W.T) > 1e-8 * sizes) and np.all(sizes > 0.0))
