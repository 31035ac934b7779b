"""Tables 1 and 2, filled by certificates: one limit that is not optimal, or a survey of limits that
all are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from reluflow.falsify import survived
from reluflow.ledger import Evidence, Known, fact, note, proved
from reluflow.papers.vardi2022margin import deeper, guaranteed, instances, off_the_kinks
from reluflow.papers.vardi2022margin.curves import S
from reluflow.papers.vardi2022margin.guaranteed import (
    Claimed,
    Ends,
    Survey,
    gaps,
    spoken_of,
    tried,
)
from reluflow.papers.vardi2022margin.instances import Construction
from reluflow.papers.vardi2022margin.perturbations import changed_layers, shorter_all_the_way
from reluflow.papers.vardi2022margin.printed_limits import (
    BOTH,
    Runs,
    as_printed,
    flows,
    inputs_not_zero,
    neurons_not_zero,
)
from reluflow.papers.vardi2022margin.rays import better_is_shorter

GLOBAL, LOCAL, NOT_LOCAL, MIXED = "Global", "Local", "Not local", "Local, not global"
KKT_FULL = "Certificates: Theorem 3.1, of every KKT point"
KKT_TWO = "Certificates: Theorems 4.2 (1) and 4.3, of every KKT point"
KKT_LAYER = "Certificates: Theorems 5.2 and 5.4, of every KKT point"
BY_HAND = "Counterexamples: the flow and the shorter points in closed form"
DEEPER = "this section: the same with a third layer"
_RANK = {"not local": NOT_LOCAL, "local": LOCAL, "global": GLOBAL}


@dataclass(frozen=True)
class Cell:
    """One entry of a table.

    printed   the paper's entry, and its theorem
    found     the entry that the program finds
    proofs    how many certificates of each kind stand behind it, all checked in rational arithmetic
    evidence  what settles the entry
    known     where the book proves it
    """

    printed: str
    theorem: str
    found: str
    proofs: Mapping[str, int]
    evidence: tuple[Evidence, ...]
    known: Known

    @property
    def settles(self) -> dict[str, Any]:
        """The arguments with which a ledger settles the entry."""
        return {"evidence": list(self.evidence), "known": self.known}


NAMES = {"linear": "linear", "relu": "ReLU"}


@dataclass(frozen=True)
class Table:
    """A table of the paper: for each row and activation ("fc.linear", ...) its cell."""

    rows: Mapping[str, str]
    cells: Mapping[str, Cell]

    def __getitem__(self, name: str) -> Cell:
        return self.cells[name]

    @property
    def frame(self) -> pd.DataFrame:
        """Both entries of every cell side by side, and the certificates behind the program's."""
        return pd.DataFrame([
            {"networks": words, "activation": NAMES[activation], "paper": f"{cell.printed} "
             f"({cell.theorem})", "program": cell.found, "certificates": _listed(cell.proofs)}
            for row, words in self.rows.items()
            for activation in BOTH
            for cell in [self.cells[f"{row}.{activation}"]]
        ]).set_index(["networks", "activation"])  # fmt: skip


def table_1(survey: Survey) -> Table:
    """mm.tab1.fc.linear, mm.tab1.fc.relu, mm.tab1.noshare.linear, mm.tab1.noshare.relu,
    mm.tab1.nonzerow.linear, mm.tab1.nonzerow.relu, mm.tab1.nonzeroin.linear,
    mm.tab1.nonzeroin.relu, mm.tab1.shared.linear, mm.tab1.shared.relu: Table 1, networks of depth
    2."""
    dead, alive = _flows([instances.theorem_3_2()]), off_the_kinks.two_data()
    coordinate = {name: instances.theorem_4_1(name) for name in BOTH}
    return Table(
        {
            "fc": "fully connected",
            "noshare": "no shared weights",
            "nonzerow": "no shared weights, no neuron 0",
            "nonzeroin": "no shared weights, no input 0",
            "shared": "shared weights, no input 0",
        },
        {
            "fc.linear": _all(
                GLOBAL, "Thm. 3.1", guaranteed.full_linear_is_global, survey.full_2, KKT_FULL
            ),
            "fc.relu": _one("Thm. 3.2", dead, "the chapter's page: Theorem 3.2"),
            "noshare.linear": _one("Thm. 4.1", _flows([coordinate["linear"]]), BY_HAND),
            "noshare.relu": _one("Thm. 3.2", [*dead, *_flows([coordinate["relu"]])], BY_HAND),
            "nonzerow.linear": _all(
                GLOBAL, "Thm. 4.2", guaranteed.sparse_linear_is_global, survey.sparse, KKT_TWO
            ),
            "nonzerow.relu": _one(
                "Thm. 4.2", _flows([alive]), BY_HAND, more=neurons_not_zero([alive])
            ),
            "nonzeroin.linear": _all(
                GLOBAL,
                "Thm. 4.2",
                guaranteed.sparse_linear_with_inputs_is_global,
                survey.sparse,
                KKT_TWO,
            ),
            "nonzeroin.relu": _mixed(
                "Thm. 4.3",
                guaranteed.relu_is_local,
                survey.relu,
                [instances.lemma_C_6()],
                None,
                f"{KKT_TWO}; {BY_HAND}",
            ),
            **{
                f"shared.{name}": _one(
                    "Thm. 4.4", _flows([instances.theorem_4_4(name)]), BY_HAND, True
                )
                for name in BOTH
            },
        },
    )


def table_2(survey: Survey) -> Table:
    """mm.tab2.fc.linear, mm.tab2.fc.relu, mm.tab2.noshare.linear, mm.tab2.noshare.relu,
    mm.tab2.layer.linear, mm.tab2.layer.relu, mm.tab2.layer-nonzero.linear,
    mm.tab2.layer-nonzero.relu: Table 2, networks of any depth, with examples of depth 3."""
    dead = deeper.dead_neuron()
    alive = off_the_kinks.two_data_deeper()
    return Table(
        {
            "fc": "fully connected",
            "noshare": "no shared weights, no input 0",
            "layer": "each layer by itself",
            "layer-nonzero": "each layer by itself, no input 0",
        },
        {
            "fc.linear": _all(
                GLOBAL,
                "Thm. 3.1",
                guaranteed.full_linear_is_global,
                (*survey.full_2, *survey.full),
                KKT_FULL,
            ),
            "fc.relu": _one(
                "Thm. 3.2", _flows([dead]), DEEPER, more=shorter_all_the_way((dead, S**2 / 2))
            ),
            **{
                f"noshare.{name}": _one(
                    "Thm. 5.1",
                    _flows([instances.theorem_5_1(m, name) for m in (3, 4)]),
                    BY_HAND,
                    True,
                )
                for name in BOTH
            },
            "layer.linear": _all(
                GLOBAL, "Thm. 5.2", guaranteed.linear_layers_are_global, survey.shared, KKT_LAYER
            ),
            "layer.relu": _one(
                "Thm. 5.3",
                _flows([alive], 1),
                DEEPER,
                layer=1,
                more=[
                    *shorter_all_the_way((alive, S)),
                    fact(
                        "layers in which the points of this curve differ from the limit",
                        changed_layers(alive),
                        (1,),
                    ),
                ],
            ),
            "layer-nonzero.linear": _all(
                GLOBAL,
                "Thm. 5.2",
                guaranteed.linear_layers_with_inputs_are_global,
                survey.shared,
                KKT_LAYER,
            ),
            "layer-nonzero.relu": _mixed(
                "Thm. 5.4",
                guaranteed.relu_layers_with_inputs_are_local,
                survey.shared_relu,
                [instances.lemma_C_6(), deeper.two_groups()],
                1,
                f"{KKT_LAYER}; {BY_HAND}",
            ),
        },
    )


def _flows(constructions: Sequence[Construction], layer: int | None = None) -> Runs:
    """Both losses; that sigma'(0) is of no effect the theorems' own claims tell."""
    return flows(constructions, layer, at_zero=(0.0,))


def _one(
    theorem: str,
    runs: Runs,
    where: str,
    inputs: bool = False,
    layer: int | None = None,
    more: Sequence[Evidence] = (),
) -> Cell:
    """ "Not local": a limit that is not; with `inputs` one where no input is 0."""
    found = _weakest(run.checked.verdict for _, run in runs)
    more = [*more, *inputs_not_zero([c for c, _ in runs])] if inputs else more
    proofs = Counter(type(run.optimum.certificate).__name__ for _, run in runs)
    told = (_entry(found, NOT_LOCAL), *as_printed(runs, "not local", layer), *more)
    return Cell(NOT_LOCAL, theorem, found, proofs, told, proved(where))


def _all(printed: str, theorem: str, statement: Claimed, ends: Ends, where: str) -> Cell:
    """ "Global" or "Local": every limit that meets the hypotheses is."""
    judged = spoken_of(statement, ends)
    found = _weakest(one.verdict for one in judged)
    told = (_entry(found, printed), *_surveyed(statement, ends))
    proofs = Counter(one.proof for one in judged)
    return Cell(printed, theorem, found, proofs, told, proved(where))


def _surveyed(statement: Claimed, ends: Ends) -> list[Evidence]:
    """What a survey says; its seed is told with the theorem's own claim."""
    checks = [item for item in survived(tried(statement, ends, 0)) if item.what != "seed"]
    return [
        *checks,
        gaps(statement, ends),
        note("problems judged", len(spoken_of(statement, ends))),
    ]


def _mixed(
    theorem: str,
    statement: Claimed,
    ends: Ends,
    examples: list[Construction],
    layer: int | None,
    where: str,
) -> Cell:
    """ "Local, not global": every limit is a local optimum, and some are beaten from afar."""
    judged, runs = spoken_of(statement, ends), _flows(examples, layer)
    verdicts = [one.verdict for one in judged] + [run.checked.verdict for _, run in runs]
    beaten = [better_is_shorter(c) for c in examples]
    weakest = _weakest(verdicts)
    found = MIXED if weakest != NOT_LOCAL and all(beaten) else weakest
    told = (
        _entry(found, MIXED),
        *_surveyed(statement, ends),
        *as_printed(runs, "local", layer),
        *inputs_not_zero(examples),
        fact("of these limits shorter points exist far away, in exact numbers", sum(beaten),
             len(examples)),
    )  # fmt: skip
    proofs = Counter(one.proof for one in judged)
    proofs.update(type(run.optimum.certificate).__name__ for _, run in runs)
    return Cell(MIXED, theorem, found, proofs, told, proved(where))


def _entry(found: str, printed: str) -> Evidence:
    return fact("the entry that the program finds", found, printed)


def _weakest(verdicts: Iterable[str]) -> str:
    """The entry that verdicts on limits allow; "no limit" without any."""
    seen = set(verdicts)
    return next((_RANK[name] for name in _RANK if name in seen), "no limit")


def _listed(proofs: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in sorted(proofs.items()))
