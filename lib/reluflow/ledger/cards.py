"""Claims as readers see them: cards, lists, errata, and where each is stated and proved."""

from __future__ import annotations

import ast
import json
import operator
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, partial
from html import escape
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, Template
from markupsafe import Markup

from reluflow import pages
from reluflow.ledger.evidence import Evidence, LedgerError, printed, told, vector
from reluflow.ledger.rows import (
    CITED,
    EXACT,
    NOT_REPRODUCED,
    PROVED,
    PROVED_HERE,
    PROVED_WITH_CITATION,
    REFUTED,
    REPRODUCED,
    SURVIVED,
    WITH_READING,
    Row,
    badge,
    mathematics,
)
from reluflow.ledger.scoreboard import WEIGHTS, Instead, Scoreboard, causes, in_short, link, page
from reluflow.places import BOOK, CHAPTERS

# --- Words with the mathematics in them set in type for a page ------------------------------------

_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eps": "ε", "epsilon": "ε", "zeta": "ζ",
    "eta": "η", "theta": "θ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ",
    "sigma": "σ", "tau": "τ", "phi": "φ", "psi": "ψ", "omega": "ω",
}  # fmt: skip
_LETTERS = "A-Za-zα-ωΑ-Ωℓ"
_NAME = rf"(?:d?[{_LETTERS}]\u0303?|min|max|ln)"
_TYPE: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile(rf"(?<![A-Za-z])({'|'.join(_GREEK)})(?![A-Za-z])"), lambda m: _GREEK[m[1]]),
    (re.compile(r"&lt;="), "≤"),
    (re.compile(r"&gt;="), "≥"),
    (re.compile(r"-&gt;"), "→"),
    (re.compile(r"\.\.\."), "…"),
    (re.compile(r"\|\|([A-Za-z]\w*(?:\([^()]*\))?)\|\|"), r"‖\1‖"),
    (re.compile(r"\bsqrt(?=[(|])"), "√"),
    (re.compile(r"\bangle\("), "∠("),
    (re.compile(r"\(inf\)"), "(∞)"),
    (re.compile(r"\bgrad L\b"), "∇L"),
    (re.compile(r"\brelu\b"), "ReLU"),
    (re.compile(r"\blog10\b"), "log<sub>10</sub>"),
    # a product of vectors: x_1.w, grad L(w).x
    (re.compile(rf"(?:(?<=[{_LETTERS})*])|(?<=_\d))\.(?=[Hu-x](?![A-Za-z]))"), "·"),
    (re.compile(r"\+ -(?=\d)"), "− "),
    # a minus sign, which no hyphen is, nor the dash of a range
    (re.compile(rf"(?<=\s)-(?=\s)|(?<![\w)\]^|'*-])-(?=[({_LETTERS}\d.∇])"), "−"),
    (re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+‑-]?\d+)\b"), lambda m: _scientific(m[1], m[2])),
    (re.compile(r"(?<![\w.])\d{5,}(?!\w)"), lambda m: f"{int(m[0]):,}".replace(",", "\u202f")),
    (re.compile(r"\^\(((?:[^()]|\([^()]*\))*)\)"), lambda m: f"<sup>{_sign(m[1])}</sup>"),
    (re.compile(rf"\^(-?(?:\d[\d\u202f]*(?:\.\d+)?(?![{_LETTERS}\d*+])|[{_LETTERS}\d*+]+))"),
     lambda m: f"<sup>{_sign(m[1])}</sup>"),
    (re.compile(rf"(?<![A-Za-z])({_NAME})_\(([^()]*)\)"), r"\1<sub>\2</sub>"),
    (re.compile(rf"(?<![A-Za-z])({_NAME})_([a-z]\+1)(?=[|‖])"), r"\1<sub>\2</sub>"),
    (re.compile(rf"(?<![A-Za-z])({_NAME}['*]?)_([{_LETTERS}\d]+(?:,[a-z\d])?|[+*±-])"),
     r"\1<sub>\2</sub>"),
    (re.compile(r"(?<![\w.])([a-zα-ω])(\d)(?!\w|\.\d)"), r"\1<sub>\2</sub>"),
    (re.compile(r"([|‖)])_([Ff21])(?![A-Za-z])"), r"\1<sub>\2</sub>"),
]  # fmt: skip


def _sign(text: str) -> str:
    return text.replace("-", "−")


def _scientific(factor: str, exponent: str) -> str:
    """3e-7 as a power of ten, 1e-7 without its factor; 1e-3 and 2.5e4, shorter so, as they are."""
    power = int(exponent.replace("‑", "-"))
    if -3 <= power < 6:
        return f"{Decimal(factor).scaleb(power):f}"
    times = "" if factor in ("1", "1.0") else f"{factor}·"
    return f"{times}10<sup>{_sign(str(power))}</sup>"


def typeset(words: str) -> str:
    """Words as HTML: formulas between dollars for MathJax; what else is typed as mathematics, t_1,
    e^(-1e6) or 3e-7, with subscripts, exponents and Greek letters, which cost a page nothing."""
    pieces = re.split(r"(\$[^$]+\$)", words)
    for k, piece in enumerate(pieces):
        if piece.startswith("$"):
            pieces[k] = mathematics(piece)
            continue
        pieces[k] = escape(piece, quote=False)
        for pattern, replacement in _TYPE:
            pieces[k] = pattern.sub(replacement, pieces[k])
    return "".join(pieces)


# --- The link that shows a counterexample in the explorer or in a chapter's live picture ----------
#
# The explorer is a page of the book that draws the flow of such a neuron; it reads its setting from
# the end of its address: `#X=1,0;0,1&y=2,1&w=0.1,0.1`.

EXPLORER = "chapters/explorer.html"
LIVE = {
    "orbits": "chapters/02_magnitude_angle",
    "polygon": "chapters/03_early_alignment",
    "turning": "chapters/04_orthogonal_separability",
}
"""The pages of the live pictures on which a counterexample can be shown."""
SMALL = 10_000
"""A start of which the instance says only that it is small is its direction divided by this."""


@dataclass(frozen=True)
class Setting:
    """Data X (n, 2), labels y (n,) and a start w (2,): all that the explorer draws."""

    X: tuple[tuple[float, float], ...]
    y: tuple[float, ...]
    w: tuple[float, float]

    @property
    def fragment(self) -> str:
        """The end of the explorer's address that shows the setting."""
        X, y, w = (";".join(map(_numbers, self.X)), _numbers(self.y), _numbers(self.w))
        return f"X={X}&y={y}&w={w}"


def setting(row: Row) -> Setting | None:
    """A refuted claim's counterexample as a setting; None where it is not one neuron in the plane
    under the square loss.

    That loss on data X, y is the first paper's; where the second one has a finite law of inputs and
    a teacher, these are data and labels. Without a start a small one along the velocity at 0 is
    taken, from where the flow goes as from any small start in its cell.
    """
    if row.verdict != REFUTED or row.counterexample is None:
        return None
    given = row.counterexample.instance
    law = next((v for k, v in given.items() if k.startswith("x, each with probability")), None)
    if row.claim.paper == "lee2022support" and {"X", "y"} <= given.keys():
        X, y = given["X"], given["y"]
    elif row.claim.paper == "lee2023magnitude" and law is not None and "w*" in given:
        X, y = law, [max(sum(map(operator.mul, x, given["w*"])), 0) for x in law]
    else:
        return None
    if any(len(x) != 2 for x in X):
        return None
    start = given.get("w0")
    if start is None:
        start = [sum(map(operator.mul, column, y)) / SMALL for column in zip(*X, strict=True)]
    elif isinstance(start, str):
        start = [int(v) / SMALL for v in re.findall(r"-?\d+", start.partition(")")[0])]
    first, second = map(float, start)
    return Setting(tuple((float(a), float(b)) for a, b in X), tuple(map(float, y)), (first, second))


def open_live(row: Row, page: str, live: str = "") -> str:
    """Where a counterexample can be moved, from a card on `page`; empty for any other claim. `live`
    is a picture and its state, `orbits?m=10`; the explorer's follows from the row."""
    found = setting(row)
    picture, _, state = (live if found is None else f"explorer?{found.fragment}").partition("?")
    if not picture:
        return ""
    there = f"{LIVE[picture]}.html#live-{live}" if picture in LIVE else f"{EXPLORER}#{state}"
    return _way(there, page)


def _way(there: str, page: str) -> str:
    """The way from a page of the book to another file of it."""
    return posixpath.relpath(there, posixpath.dirname(page) or ".")


def _numbers(values: Sequence[float]) -> str:
    return ",".join(map(printed, values))


# --- Where a claim is stated or settled: a function whose docstring opens with its id; its proof --

PAPERS = Path(__file__).resolve().parents[1] / "papers"
_IDS = re.compile(r"[a-z]+(?:\.[A-Za-z0-9-]+)+(?:,\s+[a-z]+(?:\.[A-Za-z0-9-]+)+)*(?=[.:] )")

_PROOF = re.compile(r"^\((proof-[\w-]+)\)=$", re.MULTILINE)


@dataclass(frozen=True)
class Address:
    """A claim's function, in `file` from `line` to `end`."""

    id: str
    function: str
    file: Path
    line: int
    end: int

    def __str__(self) -> str:
        below = self.file.relative_to(PAPERS.parents[2])
        return f"{below}:{self.line} ({self.function})"

    @property
    def source(self) -> str:
        """The function's lines."""
        lines = self.file.read_text(encoding="utf-8").splitlines()
        return "\n".join(lines[self.line - 1 : self.end])


def proof_label(id: str) -> str:
    """The label of the anchor at the proof of a claim."""
    return f"proof-{id.replace('.', '-')}"


def proofs(folder: Path = CHAPTERS) -> list[tuple[str, str]]:
    """All anchors of proofs on the pages below `folder`, in order, also those that occur twice: the
    label, such as `proof-sv-thm4-7`, and the page, such as `01_support_vectors/starts.ipynb`."""
    listed = []
    for file in pages.in_order(folder):
        for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
            text = "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
            listed += [(label, pages.name(file)) for label in _PROOF.findall(text)]
    return listed


def addresses(folder: Path = PAPERS) -> list[Address]:
    """All addresses below `folder`; an id that two functions open with has two.

    A docstring opens with its ids, such as "sv.lemF.1: adjacent cells ..." or, for a function that
    states several claims, "sv.propF.3.1, sv.propF.3.2: ...".
    """
    listed = []
    for file in sorted(folder.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                opening = _IDS.match(ast.get_docstring(node) or "")
                lines = node.lineno, node.end_lineno or node.lineno
                for id in re.split(r",\s+", opening.group()) if opening else ():
                    listed.append(Address(id, node.name, file, *lines))
    return listed


# --- Every settled claim as one flat record of words, for a table, a file or an index -------------


def listing(rows: Iterable[Row], told: Mapping[str, Instead]) -> list[dict[str, str]]:
    """The records. `told`: id -> what is true instead.

    `known` is the strongest way in which the claim is known, `by` all of them in words; `instances`
    how many were tried, of several statements the fewest; `why` the evidence or the counterexample;
    `cause` and `weight` why the claim falls, and how much; `page` the claim's card, below the
    folder of the chapters.
    """
    records = []
    for row in rows:
        claim, known = row.claim, row.known
        other = Instead("; ".join(_listed_words(row.instead)), "", "")
        instead = told.get(claim.id, other)
        records.append({
            "id": claim.id,
            "paper": claim.paper,
            "at": claim.at,
            "kind": claim.kind,
            "given": " ".join((claim.given or {}).values()),
            "says": claim.says,
            "verdict": row.verdict,
            "known": known[0].how if known else "",
            "by": "; ".join(map(str, known)),
            "instances": str(min(row.tried, default="")),
            "why": "; ".join(why(row)),
            "reading": row.reading.taken if row.reading else "",
            "instead": instead.sentence,
            "cause": instead.cause,
            "weight": instead.weight,
            "page": f"{page(row)}#{claim.anchor}",
            "chapter": row.chapter,
            "cell": row.cell,
        })  # fmt: skip
    return records


def as_csv(records: Sequence[Mapping[str, str]]) -> str:
    """Records as the text of a CSV file, with a head."""
    import pandas as pd  # half a second for which no other form of the list waits

    return str(pd.DataFrame(records).to_csv(index=False, lineterminator="\n"))


def why(row: Row) -> list[str]:
    """What decided: the counterexample and what fails there, or the evidence, line by line."""
    if row.why:
        return [row.why]
    if case := row.counterexample:
        instance = ", ".join(f"{name} = {vector(value)}" for name, value in case.instance.items())
        return [instance, *_listed_words(case.breaks)]
    return _listed_words(row.evidence)


def _listed_words(evidence: Sequence[Evidence]) -> list[str]:
    return [line.words for line in told(evidence)]


# --- Claims on pages of the built book: `_templates/claim.html` and `errata.html` -----------------
#
# Drawn from the stored record when the pages are built, so that their looks can change without
# running a notebook.

CHECKS = CHAPTERS / "errata" / "checks"
"""For each refuted claim a program that needs nothing of ours."""


@cache
def template(name: str) -> Template:
    """A template of `_templates`, whose filters write what the ledger has as HTML."""
    made = Environment(loader=FileSystemLoader(BOOK / "_templates"), autoescape=True)
    for html in (badge, mathematics, typeset, link):
        made.filters[html.__name__] = lambda *given, html=html: Markup(html(*given))
    return made.get_template(name)


def page_card(
    row: Row, checks: Sequence[Address], page: str, proof: str = "",
    told: Instead | None = None,
) -> str:  # fmt: skip
    """The card as HTML; a refuted claim's is open, unless a sentence says what it shows.

    Parameters: `row`; `checks`, where the claim is stated or settled; `page` on which the card
    stands, such as `chapters/scoreboard`; `proof`, the page that proves the claim; `told`, what is
    true instead, with the counterexample in a sentence.
    """
    told, claim, refuted = told or Instead("", "", ""), row.claim, row.verdict == REFUTED
    way, alone = partial(_way, page=page), CHECKS / f"{claim.id}.py"
    # docutils writes the ids of anchors in small letters
    label = proof_label(claim.id).lower()
    there = proof and f"chapters/{proof.removesuffix('.ipynb')}.html#{label}"
    return template("claim.html").render(
        row=row, claim=claim, checks=checks, told=told, refuted=refuted, way=way, how=_how(row),
        live=open_live(row, page, told.live), proof=there and way(there),
        alone=alone if refuted and alone.is_file() else None,
    )  # fmt: skip


def _how(row: Row) -> str:
    """How the claim is known, in one word or two, where the verdict does not say so."""
    if not row.known or row.counterexample or row.verdict in (PROVED, PROVED_WITH_CITATION):
        return ""
    words = {
        PROVED_HERE: "proved",
        CITED: "proved with a citation",
        EXACT: "exact",
        SURVIVED: f"survived {min(row.tried, default=0)}",
    }
    how = row.known[0].how
    return words.get(how, how)


def errata(board: Scoreboard, told: Mapping[str, Instead]) -> str:
    """The errata of the paper of a board as HTML, short enough to be sent: what stands; a table of
    what is false, the heaviest first and claims of one cause together, each with a counterexample
    in a sentence, a check to download and what is true instead; misprints; what did not come out
    again; folded, the claims with a reading, and the paper's setting, so that the page can be read
    alone. Raises LedgerError for a claim that fell and of which `told` says nothing."""
    board = replace(board, rows=tuple(row for row in board.rows if ".ours." not in row.claim.id))
    kinds: dict[str, dict[str, list[Row]]] = {}
    for row in board.rows:
        entry, kind, what = told.get(row.claim.id), row.verdict, ""
        if kind in (REFUTED, NOT_REPRODUCED) and entry is None:
            raise LedgerError(f"{row.claim.id} is {kind}: say in data/instead what is true instead")
        if kind == REFUTED and entry and entry.weight == "misprint":
            kind = "misprint"
        if kind == REPRODUCED:
            what = row.claim.at if row.claim.kind == "theorem" else ""
        elif entry:
            what = entry.sentence
        elif row.reading:
            what = f"Read as: {row.reading.taken}"
        kinds.setdefault(kind, {}).setdefault(what, []).append(row)
    stands, found = kinds.get(REPRODUCED, {}), {k: list(v.values()) for k, v in kinds.items()}
    false = found.get(REFUTED, [])
    ranked = causes(told, (row.claim.id for rows in false for row in rows))
    ranks = {cause: (list(WEIGHTS).index(w), k) for k, (cause, w) in enumerate(ranked.items())}
    return template("errata.html").render(
        theorems=[(at, rows) for at, rows in stands.items() if at],
        others=len(stands.get("", [])),
        short=in_short(board, told),
        wrong=sorted(false, key=lambda rows: ranks[told[rows[0].claim.id].cause]),
        misprints=found.get("misprint", []),
        absent=found.get(NOT_REPRODUCED, []),
        read=kinds.get(WITH_READING, {}).items(),
        # What the paper's statements share: notation, and the assumptions that they name.
        setting=[p for i in board.inventories if not i.ours for p in i.setting.split("\n\n")],
        told=told,
        weights=WEIGHTS,
        programs={file.stem for file in CHECKS.glob("*.py")},
    )
