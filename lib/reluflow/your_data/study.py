"""A reader's data: which assumptions of the papers hold, and the flows of one and two layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from reluflow import datasets
from reluflow.approx import approx
from reluflow.datasets import Dataset
from reluflow.errors import InputError, meant
from reluflow.geometry import cell_bound, enumerable, rank
from reluflow.geometry.separability import separation
from reluflow.geometry.separability import violations as repelling
from reluflow.ledger.scoreboard import View
from reluflow.losses import EXPONENTIAL
from reluflow.margin.max_margin import MaxMargin, max_margin
from reluflow.networks.indexed import fully_connected
from reluflow.papers.lee2022support import examples
from reluflow.papers.lee2022support import setting as support
from reluflow.papers.min2024early import own_data as early
from reluflow.papers.min2024early.setting import PRINTED
from reluflow.papers.phuong2021inductive import own_data as separable
from reluflow.papers.vardi2022margin import own_data as margin
from reluflow.parameters import SECTION, Parameter, between

# --- The data and the parameters of the page ------------------------------------------------------

NAMES = ("plane", *datasets.PAPER, *PRINTED, "digits:0-1")
"""Data that need no file; any two digits have a name like the last one."""
PARAMETERS: Mapping[str, Parameter] = {
    "dataset": Parameter(
        str,
        f"the path of a CSV file, or one of {', '.join(NAMES)}",
        bool,
        "a name or a path, not empty",
    ),
    "h": Parameter(int, "most neurons of the two-layer networks", *between(2, 50)),
    **SECTION,
}
_MOST_DATA, _MOST_FEATURES, _MOST_BYTES = 1000, 100, 20_000_000
_SHORTEST, _LONGEST = 1e-3, 1e3
"""Lengths of inputs that the flows of two layers take; others are measured in another unit."""
_FEW = 3
_ROUNDING, _FITTED, _SOLVED = 1e-12, 1e-9, 1e-6
"""What is 0 for a cosine, for labels and directions as written, and for a linear program."""


@dataclass(frozen=True, eq=False)
class Study:
    """Data X (n, d), y (n,), and what is tried on them.

    h       most neurons of a two-layer network
    starts  small starts of the one neuron, and as many large ones
    """

    name: str
    X: NDArray
    y: NDArray
    h: int
    starts: int
    seed: int

    @property
    def signs(self) -> bool:
        """Whether the labels are 1 and -1: two layers then classify, as in three of the papers."""
        return bool(np.all(np.abs(self.y) == 1.0))

    @cached_property
    def lengths(self) -> NDArray:
        """The lengths of the inputs, (n,)."""
        return np.linalg.norm(self.X, axis=1)

    @property
    def unit(self) -> float:
        """The length in which two layers see the inputs: 1, or a power of ten where one is longer
        or shorter than the flows take; times and max-margin vectors are told in it."""
        longest = float(self.lengths.max())
        inside = longest <= _LONGEST and self.lengths.min() >= _SHORTEST
        return 1.0 if inside or not longest else float(10.0 ** np.floor(np.log10(longest)))

    @cached_property
    def obstacle(self) -> str:
        """Why the papers on two layers cannot be asked, in a sentence; empty where they can."""
        short = int(np.argmax(self.lengths / self.unit < _SHORTEST))
        row, length = datasets.data_row(short + 1), self.lengths[short]
        obstacles = {
            "The labels are not all 1 or -1, and the papers on two layers are about signs.":
                not self.signs,
            "There is one datum, and two layers need two.": len(self.y) < 2,
            "There is one feature: on a line every neuron starts along the data.":
                self.X.shape[1] < 2,
            f"No datum has the label {-self.y[0]:g}, and two layers need both.":
                bool(np.all(self.y == self.y[0])),
            f"{row.capitalize()} has the input 0, at which networks are 0: take it out.":
                not length,
            f"The input of {row} has the length {length:.3g}, too little beside the longest of "
            f"{self.lengths.max():.3g} for these flows: take one of them out.":
                length / self.unit < _SHORTEST,
        }  # fmt: skip
        return next((said for said, true in obstacles.items() if true), "")

    @cached_property
    def mu(self) -> float:
        """The least cosine of two of the y_i x_i, as (A1) has it; 0 where it is one of rounding."""
        found = separation(self.X, self.y)
        return found if abs(found) > _ROUNDING else 0.0

    @property
    def contradicts(self) -> bool:
        """Whether two data of one direction have different labels, which no network tells apart."""
        units, positive = self.X / self.lengths[:, None], self.y > 0.0
        return bool(cdist(units[positive], units[~positive]).min() <= _FITTED)

    @cached_property
    def linear(self) -> MaxMargin | None:
        """The linear max-margin vector; None where no hyperplane through 0 separates the labels."""
        try:
            return max_margin(self.X, self.y) if self.signs else None
        except InputError:
            return None


def study(dataset: str, h: int = 8, seed: int = 0, effort: float = 1.0) -> Study:
    """The study of a data set by its name or of a CSV file: a header, the label in the last column.

    Raises InputError, in one sentence, for a file that cannot be used, labels 0 and 1, and data
    that are too many.
    """
    name, X, y = _data(dataset)
    n, d = X.shape
    if n > _MOST_DATA or d > _MOST_FEATURES:
        raise InputError(
            f'dataset "{name}" has {n} data of {d} features, and the page takes {_MOST_DATA} data '
            f"of {_MOST_FEATURES} features: choose some of them."
        )
    if not X.any():
        raise InputError(f'dataset "{name}" has only inputs 0, from which no neuron learns.')
    if not y.any():
        raise InputError(f'dataset "{name}" has only labels 0, which the weight 0 fits already.')
    if np.isin(y, (0.0, 1.0)).all() and not y.all():
        row = datasets.data_row(int(np.argmin(y)) + 1)
        raise InputError(f"{name}, {row}: the label is 0 where others are 1: write -1 for 0.")
    # An exact flow takes about n events, each of about n d operations.
    affordable = int(_MOST_WORK / (n * n * d))
    return Study(name, X, y, h, max(1, min(affordable, round(5 * effort))), seed)


def _data(dataset: str) -> tuple[str, NDArray, NDArray]:
    if dataset == "plane":
        return dataset, separable.PLANE, separable.LABELS
    if dataset in PRINTED or dataset.startswith("digits:"):
        found = early.data(dataset)
        return found.name, found.X, found.y
    path = Path(dataset)
    if dataset not in datasets.PAPER and path.suffix.lower() != ".csv":
        hint = meant(dataset.lower(), NAMES)
        hint = "give the file a name that ends in .csv." if path.is_file() else hint
        raise InputError(
            f'dataset "{dataset[:60]}" is neither a known name nor a .csv file: {hint}'
        )
    if path.is_file() and path.stat().st_size > _MOST_BYTES:
        raise InputError(
            f'dataset "{path.name}" has more than {_MOST_BYTES // 1_000_000} MB, and the page '
            f"takes {_MOST_DATA} data of {_MOST_FEATURES} features: choose some of them."
        )
    given = datasets.load(dataset)
    return given.name, given.X, given.y


# --- Which assumptions of which paper hold, and where not -----------------------------------------


@dataclass(frozen=True)
class Assumption:
    """Whether an assumption holds of the data; `where` has the rows that break it, or a constant.

    holds  None where rounding cannot tell
    """

    paper: str
    name: str
    says: str
    holds: bool | None
    where: str


def assumptions(study: Study) -> list[Assumption]:
    """The assumptions of the five papers."""
    where = rows(np.abs(study.y) != 1.0)
    papers = ("Min et al. 2024", "Phuong & Lampert 2021", "Vardi et al. 2022")
    others = [Assumption(paper, "signs", "labels are 1 or −1", False, where) for paper in papers]
    return [*_of_one_neuron(study), *(_of_signs(study) if study.signs else others)]


def _of_one_neuron(study: Study) -> list[Assumption]:
    X, y = study.X, study.y
    below = ~np.all(X >= 0.0, axis=1) | ~X.any(axis=1)
    held, d = support.assumptions(X, y), X.shape[1]
    return [
        Assumption("Lee et al. 2022a", "A1", "features are at least 0, and not all 0",
                   not below.any(), rows(below)),
        Assumption("Lee et al. 2022a", "A2", "labels are above 0", held["A2"], rows(~(y > 0.0))),
        Assumption("Lee et al. 2022a", "A3", "the data span the space", held["A3"],
                   f"rank {rank(X)} of {d}"),
        Assumption("Lee et al. 2022b", "Gaussian law", "infinitely many data, normally distributed",
                   False, "a file has finitely many"),
    ]  # fmt: skip


def _of_signs(study: Study) -> list[Assumption]:
    if (study.lengths == 0.0).any():
        zero = rows(study.lengths == 0.0)
        return [Assumption("two layers", "inputs", "no input is 0", False, zero)]
    X, y = study.X, study.y
    mu, pairs = study.mu, repelling(X, y)
    bad = separable.violations(X, y)
    broken = np.concatenate([bad.within, bad.across])
    total = len(y) * (len(y) - 1) // 2
    apart, how = separated(study)
    return [
        Assumption("Min et al. 2024", "(A1)", "equal labels attract, different labels repel",
                   mu > 0.0, f"least cosine {approx(mu)}" + _pairs(pairs, total)),
        Assumption("Phuong & Lampert 2021", "(OS)", "orthogonally separable", bad.none,
                   _pairs(broken, total).removeprefix("; ")),
        Assumption("Phuong & Lampert 2021", "(Span)", "the support examples of each label span the "
                   "space", *_spans(study)),
        Assumption("Vardi et al. 2022", "separable", "for Theorem 3.1: a hyperplane through "
                   "0 separates the labels", apart, how),
    ]  # fmt: skip


def _spans(study: Study) -> tuple[bool, str]:
    if len(set(study.y)) < 2:
        return False, "one label has no data"
    found = separable.vectors_table(in_their_unit(study))
    told = ", ".join(f"{w} {rank or 'not there'}" for w, rank in found["their rank"].items())
    return bool((found["(Span)"] == "holds").all()), f"rank of those of {told}"


def separated(study: Study) -> tuple[bool | None, str]:
    """Whether a hyperplane through 0 separates the labels, with its margin, or with rows of which
    a mean of the y_i x_i, each times a number above 0, is 0; None where rounding cannot tell.

    Where the max-margin vector was not found a linear program in the units of the columns looks for
    any vector that separates, and its multipliers for such rows.
    """
    if study.linear is not None:
        return True, f"margin {approx(1.0 / study.linear.length)}"
    X, d = study.X, study.X.shape[1]
    units = np.where(X.any(axis=0), np.abs(X).max(axis=0), 1.0)
    Z = study.y[:, None] * X / units
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    found = linprog(np.append(np.zeros(d), -1.0), A_ub=np.column_stack([-Z, np.ones(len(Z))]),
                    b_ub=np.zeros(len(Z)), bounds=[*[(-1.0, 1.0)] * d, (None, 1.0)])  # fmt: skip
    u = found.x[:-1]
    if (Z @ u).min() > _FITTED:
        margin = (study.y * (X @ (u / units))).min() / np.linalg.norm(u / units)
        return True, f"margin at least {approx(margin)}"
    few = found.ineqlin.marginals < -_FITTED
    *_, mean = np.linalg.svd(Z[few].T)  # its last row is what a sum to 0 takes of each
    share = mean[-1] * np.sign(mean[-1].sum())
    if share.min() > 0.0 and np.linalg.norm(share @ Z[few]) <= _ROUNDING:
        return False, f"{rows(few)} rule it out"
    return None, "if one does, rounding cannot tell: its margin is next to 0"


def rows(which: NDArray) -> str:
    """The rows at which `which` is true, by numbers that a spreadsheet without its header shows."""
    numbers = np.flatnonzero(which) + 1
    told = list(map(str, numbers[:_FEW]))
    more = f" and {len(numbers) - _FEW} more" if len(numbers) > _FEW else ""
    return f"row{'s' if len(numbers) > 1 else ''} {', '.join(told)}{more}" if told else ""


def _pairs(pairs: NDArray, total: int) -> str:
    if not len(pairs):
        return ""
    named = ", ".join(f"{i + 1} and {j + 1}" for i, j in pairs[:_FEW])
    return f"; {len(pairs)} of {total} pairs break it, such as rows {named}"


def assumptions_table(study: Study) -> View:
    """The assumptions, one a line."""
    words = {True: "holds", False: "fails", None: "undecided"}
    found = assumptions(study)
    columns = ["paper", "assumption", "it says", "here", "where"]
    return table(columns, [(a.paper, a.name, a.says, words[a.holds], a.where) for a in found])


def filled(table: pd.DataFrame | None) -> pd.DataFrame | None:
    """A table that has rows; nothing is shown of another one."""
    return None if table is None or table.empty else table


def table(columns: Sequence[str], cells: Iterable[Sequence[str]]) -> View:
    """A table whose cells hold sentences, without numbers of its lines."""
    lines = list(cells)
    html = pd.DataFrame(lines, columns=list(columns)).to_html(index=False, classes="sentences")
    return View(html, "\n".join(" | ".join(line) for line in lines))


# --- One neuron: exact flows from small and from large starts, and all local minima ---------------

_MOST_WORK = 2e7
_MOST_CELLS = 800
_STEP = 0.005


@dataclass(frozen=True)
class OneNeuron:
    """The flows of one neuron with the square loss.

    run     the starts, the small ones first, their flows, limits, and the local minima
    small   how many starts are small
    radius  delta_0: smaller starts activate all data; None where it is not known
    forced  (small,) whether q > 0 at the start, which the theorems ask for
    """

    run: examples.Experiment
    small: int
    radius: float | None
    forced: tuple[bool, ...]


def one_neuron(study: Study) -> OneNeuron:
    """Exact flows from random directions: as many small starts as large ones, ten times as long as
    the least-squares fit, or than |y| / |X| where that is 0. A start that activates no datum is
    turned round."""
    X, y = study.X, study.y
    rng = np.random.default_rng([study.seed, 1])
    held = support.assumptions(X, y)
    some = np.any(np.abs(X.T @ y) > _ROUNDING * (np.abs(X.T) @ np.abs(y)))
    fit = np.linalg.lstsq(X, y, rcond=None)[0] if some else np.linalg.norm(y) / np.linalg.norm(X)
    size = float(np.linalg.norm(fit))
    radius = None
    if all(held.values()) and enumerable(*X.shape) and cell_bound(*X.shape) * X.size <= _MOST_WORK:
        radius = support.guaranteed_radius(X, y)
    starts = []
    for norm in (min(0.5 * (radius or np.inf), 1e-6 * size), 10.0 * size):
        for _ in range(study.starts):
            u = support.random_direction(X, y, rng) if held["A1"] and held["A2"] else _drawn(X, rng)
            starts.append(norm * u)
    data = Dataset(study.name, X, y, printed=False)
    run = examples.Experiment(data, np.array(starts), _STEP, 1, False, _MOST_CELLS)
    forced = tuple(support.forced(X, y, w) for w in starts[: study.starts])
    return OneNeuron(run, study.starts, radius, forced)


def _drawn(X: NDArray, rng: np.random.Generator) -> NDArray:
    w = rng.standard_normal(X.shape[1])
    u = w / np.linalg.norm(w)
    return np.asarray(u if np.any(X @ u > 0.0) else -u)


# --- Two layers: who turns where, the flow to its limit, and the certificate of the limit ---------

_FLOW_WORK, _LIMIT_WORK, _LINEAR_WORK = 4e9, 1e8, 6e7
_MOST_PRODUCTS = 4000
_SCALE = 0.05
_STARTS = 4


@dataclass(frozen=True, eq=False)
class Followed:
    """The experiments of three chapters on the same data in the same unit, and what became of them.

    turned    chapter 3's, in the limit of tiny weights
    grown     the same from one tiny start
    trained   chapter 4's, the flow to a loss of e^-1000000
    found     chapter 5's, where flows end: from the start of `trained`, then from Gaussian ones
    straight  chapter 5's for a linear network; nothing where no hyperplane separates
    """

    turned: early.Turned
    grown: early.Grown
    trained: separable.Trained
    found: Sequence[margin.Found]
    straight: Sequence[margin.Found]


def in_their_unit(study: Study) -> separable.Experiment:
    """The data as two layers see them, and no network."""
    none = study.X[:0]
    return separable.Experiment(
        study.name, study.X / study.unit, study.y, none, study.y[:0], "flow", 0, study.seed
    )


def follow(study: Study) -> Followed | None:
    """All flows of two layers, with their progress; None where there is an obstacle."""
    if study.obstacle:
        return None
    own = in_their_unit(study)
    X, y, (n, d) = own.X, own.y, own.X.shape
    rng = np.random.default_rng([study.seed, 2])
    signs = rng.permutation(np.where(np.arange(study.h) < study.h // 2, -1.0, 1.0))
    W0 = rng.standard_normal((study.h, d)) / np.sqrt(d)
    turning = early.Experiment(
        study.name, X, y, W0, signs, None, W0, signs, 1.0, 1, early.LOSSES["exponential"]
    )
    few = max(2, min(study.h, 600 // (d + 1), _MOST_PRODUCTS // n))
    kept = np.sort(np.concatenate([np.flatnonzero(signs == s)[: -(-few // 2)] for s in (1, -1)]))
    small = _SCALE * W0[kept] / np.linalg.norm(W0[kept], axis=1, keepdims=True)
    outer = signs[kept] * np.linalg.norm(small, axis=1)
    network = fully_connected((d, len(kept)))
    drawn = margin.drawn(network, "gaussian", _STARTS - 1, rng)
    starts = np.vstack([np.append(small.ravel(), outer), 0.5 * drawn])
    limits = margin.Experiment(study.name, network, X, y, EXPONENTIAL, starts, 1e5, None)
    straight: Sequence[margin.Found] = []
    if study.linear is not None:
        line = fully_connected((d, 2), "linear")
        ends = 0.5 * margin.drawn(line, "gaussian", 2, rng)
        linear = margin.Experiment(study.name, line, X, y, EXPONENTIAL, ends, 1e5, None)
        straight = margin.follow(linear, _LINEAR_WORK)
    return Followed(
        early.turn(turning),
        early.grow(turning),
        separable.train(replace(own, W0=small, signs=signs[kept]), _FLOW_WORK),
        margin.follow(limits, _LIMIT_WORK),
        straight,
    )
