"""Claims as readers see them: cards, lists, errata, and where each is stated and proved."""

from __future__ import annotations

import ast
import csv
import io
import json
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from pathlib import Path
from typing import Any

from reluflow import pages
from reluflow.ledger.evidence import SIGNS, Evidence, printed
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
    Counterexample,
    Row,
    badge,
    mathematics,
)
from reluflow.ledger.scoreboard import (
    FALLEN,
    WEIGHTS,
    Instead,
    Scoreboard,
    alike,
    causes,
    in_short,
    link,
    page,
)
from reluflow.places import CHAPTERS

# --- Evidence in a reader's words, and the mathematics in them set in type for a page -------------

SURVEY = re.compile(r"(.+): instances that break it")
_SEARCHED = re.compile(r"(.+): broken by a search of (\d+) evaluations from the worst")
SMALL_PRINT = {
    "instances tried, and drawn": "instances tried, and drawn",
    "instances tried": "instances tried",
    "instances drawn": "instances drawn",
    "sizes of 5, 50 and 95 % of their entries, at most": "sizes of their entries (5, 50, 95 %)",
    "smallest slack of those": "smallest slack",
    "smallest slacks": "smallest slacks",
    "slack at an instance that must break it": "slack at an instance that must break it",
    "slack at a fixed instance": "slack at a fixed instance",
    "seed": "seed",
}
"""Notes on how instances were drawn, and their names in the small print."""


@dataclass(frozen=True)
class Line:
    """One line of a card: `mark` is ✓, ✗ or, where nothing depends on it, a dot."""

    mark: str
    words: str


def told(evidence: Sequence[Evidence]) -> list[Line]:
    """What was found, without the small print; a survey and the search from its worst instance
    share a line, and so do the two limits of a value, of which the second is called "the same"."""
    lines: list[Line] = []
    for item in evidence:
        if searched := _SEARCHED.fullmatch(item.what) if item.form == "fact" else None:
            mark = "✓" if item.holds else "✗"
            found = "found none" if item.holds else "broke it"
            says, words = searched[1], f"a search of {searched[2]} more from the worst {found}"
            if lines and lines[-1].words.startswith(f"{says}: broken by"):
                before = lines.pop()
                mark = mark if before.mark == "✓" else before.mark
                words = f"{before.words.removeprefix(f'{says}: ')}; {words}"
            lines.append(Line(mark, f"{says}: {words}"))
        elif item.what == "the same" and lines and item.decides:
            before = lines.pop()
            mark = before.mark if item.holds else "✗"
            lines.append(Line(mark, f"{before.words.removesuffix(')')} and {_asked(item)})"))
        elif not is_small(item):
            mark = ("✓" if item.holds else "✗") if item.decides else "·"
            after = f"; chosen after seeing: {item.after}" if item.after else ""
            lines.append(Line(mark, f"{_found(item)}{after}"))
    # Lines "case: what was found" of several cases that differ in the case alone are one.
    cases: dict[tuple[str, str, str], list[str]] = {}
    for line in lines:
        case, colon, rest = line.words.partition(": ")
        cases.setdefault((line.mark, colon, rest), []).append(case)
    return [Line(mark, f"{'; '.join(dict.fromkeys(these))}{colon}{rest}")
            for (mark, colon, rest), these in cases.items()]  # fmt: skip


def is_small(item: Evidence) -> bool:
    """Whether evidence is a note on how instances were drawn."""
    return not item.decides and item.what in SMALL_PRINT


def _found(item: Evidence) -> str:
    if (survey := SURVEY.fullmatch(item.what)) and item.form == "fact" and item.limit == 0:
        of = f" of {item.tried}" if item.tried else ""
        more = f", by more than {printed(item.rounding)}" if item.rounding else ""
        return f"{survey[1]}: broken by {item.value or 'none'}{of} instances{more}"
    value = f"{item.around}{_value(item)} {item.unit}".rstrip()
    if not item.decides:
        return f"{item.what}: {value}"
    if item.form == "fact" and item.holds:
        if item.value is True:
            return item.what
        return f"{item.what}: {value}{f' of {item.tried}' if item.tried else ''}"
    return f"{item.what}: {value} (asked: {_asked(item)})"


def _asked(item: Evidence) -> str:
    sign = "" if item.op == "==" else f"{SIGNS[item.op]} "
    return f"{sign}{in_words(item.limit)}"


def vector(value: object) -> str:
    """A value of an instance: vectors and rows of a matrix in parentheses."""
    flat = isinstance(value, tuple | list) and not any(isinstance(v, tuple | list) for v in value)
    return f"({in_words(value)})" if flat else in_words(value)


def _value(item: Evidence) -> str:
    return in_words(item.value, item.digits)


def in_words(value: object, digits: int | None = None) -> str:
    """A value as it is printed, with yes and no, lists without and their rows in parentheses."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        each = [in_words(v, digits) for v in value]
        nested = [isinstance(v, tuple | list) for v in value]
        return ", ".join(f"({v})" if deep else v for v, deep in zip(each, nested, strict=True))
    return printed(value, digits)


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
    """3e-7 as a power of ten, 1e-7 without its factor; 1e-3 and 2.5e4 written out, as they are
    shorter so."""
    power = int(exponent.replace("‑", "-"))
    if -3 <= power < 6:
        return f"{Decimal(factor).scaleb(power):f}"
    times = "" if factor in ("1", "1.0") else f"{factor}·"
    return f"{times}10<sup>{_sign(str(power))}</sup>"


def typeset(words: str) -> str:
    """Words as HTML: formulas between dollars for MathJax; what else is typed as mathematics, t_1,
    e^(-1e6) or 3e-7, with subscripts, exponents and Greek letters, which cost a page nothing."""
    pieces = re.split(r"(\$[^$]+\$)", words)
    return "".join(mathematics(p) if p.startswith("$") else _in_type(p) for p in pieces)


def _in_type(words: str) -> str:
    html = escape(words, quote=False)
    for pattern, replacement in _TYPE:
        html = pattern.sub(replacement, html)
    return html


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

_DIRECTION = re.compile(r"eps \((-?\d+), (-?\d+)\), eps > 0")


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
    found = _data(row.claim.paper, row.counterexample.instance)
    if found is None or any(len(x) != 2 for x in found[0]):
        return None
    X, y = found
    start = row.counterexample.instance.get("w0")
    if isinstance(start, str):
        direction = _DIRECTION.fullmatch(start)
        if direction is None:
            raise ValueError(f"{row.claim.id}: no start can be read from {start!r}")
        start = [int(v) / SMALL for v in direction.groups()]
    if start is None:
        pull = [sum(label * x[c] for x, label in zip(X, y, strict=True)) for c in (0, 1)]
        start = [v / SMALL for v in pull]
    first, second = map(float, start)
    return Setting(tuple((float(a), float(b)) for a, b in X), tuple(map(float, y)), (first, second))


def open_live(row: Row, page: str, live: str = "") -> str:
    """The link beside a counterexample that can be moved, for a card on `page`; empty for any other
    claim. `live` is a picture and its state, `orbits?m=10`; the explorer's follows from the row."""
    found = setting(row)
    if found is not None:
        live = f"explorer?{found.fragment}"
    if not live:
        return ""
    picture, _, state = live.partition("?")
    there = f"{LIVE[picture]}.html#live-{live}" if picture in LIVE else f"{EXPLORER}#{state}"
    to = escape(_way(there, page))
    return f'<p><a class="explore" href="{to}">Open it and move it yourself</a>.</p>'


def _way(there: str, page: str) -> str:
    """The way from a page of the book to another file of it."""
    return posixpath.relpath(there, posixpath.dirname(page) or ".")


def _data(paper: str, instance: Mapping[str, Any]) -> tuple[Sequence[Any], Sequence[Any]] | None:
    if paper == "lee2022support" and {"X", "y"} <= set(instance):
        return instance["X"], instance["y"]
    law = next((v for k, v in instance.items() if k.startswith("x, each with probability")), None)
    if paper == "lee2023magnitude" and law is not None and "w*" in instance:
        teacher = instance["w*"]
        return law, [max(sum(a * b for a, b in zip(x, teacher, strict=True)), 0) for x in law]
    return None


def _numbers(values: Sequence[float]) -> str:
    return ",".join(map(printed, values))


# --- Where a claim is stated or settled: a function whose docstring opens with its id; its proof --

PAPERS = Path(__file__).resolve().parents[1] / "papers"
_IDS = re.compile(r"[a-z]+(?:\.[A-Za-z0-9-]+)+(?:,\s+[a-z]+(?:\.[A-Za-z0-9-]+)+)*(?=[.:] )")

_LABEL = re.compile(r"\((proof-[\w-]+)\)=")
_PROOFS = re.compile(
    r"^((?:\(proof-[\w-]+\)=\n)+)((?:\([\w-]+\)=\n)*[^\n]*(?:\n(?!\s*\n)[^\n]+)*)", re.M
)


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


@dataclass(frozen=True)
class Proof:
    """The place of a proof: the `label` of the anchor, such as `proof-sv-thm4-7`, the `page`, such
    as `01_support_vectors/starts.ipynb`, and the paragraph or list that `opens` it."""

    label: str
    page: str
    opens: str


def proof_label(id: str) -> str:
    """The label of the anchor at the proof of a claim."""
    return f"proof-{id.replace('.', '-')}"


def proofs(folder: Path = CHAPTERS) -> list[Proof]:
    """All anchors of proofs on the pages below `folder`, in order; a label that occurs twice has
    two."""
    listed = []
    for file in pages.in_order(folder):
        for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
            text = "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
            listed += [Proof(label, pages.name(file), found[2].strip())
                       for found in _PROOFS.finditer(text)
                       for label in _LABEL.findall(found[1])]  # fmt: skip
    return listed


def addresses(folder: Path = PAPERS) -> list[Address]:
    """All addresses below `folder`; an id that two functions open with has two.

    A docstring opens with its ids, such as "sv.lemF.1: adjacent cells ..." or, for a function that
    states several claims, "sv.propF.3.1, sv.propF.3.2: ...".
    """
    listed = []
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                opening = _IDS.match(ast.get_docstring(node) or "")
                lines = node.lineno, node.end_lineno or node.lineno
                for id in re.split(r",\s+", opening.group()) if opening else ():
                    listed.append(Address(id, node.name, file, *lines))
    return listed


# --- Every settled claim as one flat record of words, for a table, a file or an index -------------

COLUMNS = (
    "id", "paper", "at", "kind", "given", "says", "verdict", "known", "by", "instances", "why",
    "reading", "instead", "cause", "weight", "page", "chapter", "cell",
)  # fmt: skip
"""`known` is the strongest way in which the claim is known, `by` all of them in words; `instances`
how many were tried, of several statements the fewest; `why` the evidence or the counterexample;
`instead` what is true instead, `cause` and `weight` why the claim falls, and how much; `page` the
claim's card, below the folder of the chapters."""


def listing(rows: Iterable[Row], told: Mapping[str, Instead]) -> list[dict[str, str]]:
    """The records, with `COLUMNS` as keys. `told`: id -> what is true instead."""
    return [_record(row, told.get(row.claim.id)) for row in rows]


def as_csv(records: Iterable[Mapping[str, str]]) -> str:
    """Records as the text of a CSV file, with a head."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def _record(row: Row, told: Instead | None) -> dict[str, str]:
    claim = row.claim
    values = (
        claim.id,
        claim.paper,
        claim.at,
        claim.kind,
        " ".join((claim.given or {}).values()),
        claim.says,
        row.verdict,
        row.known[0].how if row.known else "",
        "; ".join(map(str, row.known)),
        str(min(row.tried, default="")),
        "; ".join(why(row)),
        row.reading.taken if row.reading else "",
        told.sentence if told else "; ".join(_listed_words(row.instead)),
        told.cause if told else "",
        told.weight if told else "",
        f"{page(row)}#{claim.anchor}",
        row.chapter,
        row.cell,
    )
    return dict(zip(COLUMNS, values, strict=True))


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


# --- A settled claim on a page of the built book: one line when folded ----------------------------
#
# Drawn from the stored record when the pages are built, so that its looks can change without
# running a notebook; its style is in _static/book.css.

CHECKS = CHAPTERS / "errata" / "checks"
"""For each refuted claim a program that needs nothing of ours."""


def page_card(
    row: Row, checks: Sequence[Address], page: str, proof: Proof | None = None,
    told: Instead | None = None,
) -> str:  # fmt: skip
    """The card as HTML; a refuted claim's is open, unless a sentence says what it shows.

    Parameters: `row`; `checks`, where the claim is stated or settled; `page` on which the card
    stands, such as `chapters/scoreboard`; `proof`, where the book proves the claim; `told`, what is
    true instead, with the counterexample in a sentence.
    """
    shows, live, seen = (told.shows, told.live, "") if told else ("", "", "")
    if shows and row.verdict == REFUTED:
        seen = f'<div class="shows"><em>Counterexample:</em> {mathematics(shows)}</div>'
    head = (
        f'<summary><span class="line">{badge(row.verdict)} '
        f'<span class="where">{typeset(row.claim.at)}</span>{_how(row)}</span>'
        f'<div class="says">{mathematics(row.claim.full)}</div>{seen}</summary>'
    )
    parts = [counterexample(row.counterexample)] if row.counterexample else []
    parts += [_lines(row.evidence)] if row.evidence else []
    parts += [f"<p>{typeset(row.why)}</p>"] if row.why else []
    if row.reading:
        parts.append(f"<p><em>Read as:</em> {typeset(row.reading.taken)}</p>")
        parts.append(f"<p><em>Under other readings:</em> {typeset(row.reading.others)}</p>")
    if row.instead:
        parts.append(f"<p><em>What appeared instead:</em></p>{_lines(row.instead)}")
    ways = "" if row.counterexample else "; ".join(typeset(str(way)) for way in row.known)
    if proof and ways:  # docutils writes the ids of anchors in small letters
        there = _way(f"chapters/{proof.page.removesuffix('.ipynb')}.html", page)
        ways += f' (<a href="{there}#{proof.label.lower()}">to the proof</a>)'
    parts += [f"<p><em>How it is known:</em> {ways}</p>"] if ways else []
    small = [f"{SMALL_PRINT[i.what]}: {_value(i)}" for i in row.all_evidence if is_small(i)]
    listed = "; ".join(dict.fromkeys(small))  # how the instances were drawn
    parts += [f'<p class="small">{typeset(listed)}</p>'] if small else []
    parts += [_source(checks, row.claim.id), _alone(row, page)]
    state = " open" if row.verdict == REFUTED and not shows else ""
    return (
        f'<details class="claim" id="{row.claim.anchor}"{state}>{head}'
        f'<div class="told">{open_live(row, page, live)}{"".join(parts)}'
        f'<p class="small"><a href="#{row.claim.anchor}"><code>{row.claim.id}</code></a> · '
        f'<a href="{_way("chapters/scoreboard.html", page)}">scoreboard</a></p></div></details>'
    )


def counterexample(case: Counterexample) -> str:
    """The instance, the assumptions that it meets, and what fails there by either route."""
    instance = "".join(
        f"<tr><th>{typeset(name)}</th><td>{typeset(vector(value))}</td></tr>"
        for name, value in case.instance.items()
    )
    met = "".join(f'<li><span class="tick">✓</span> {typeset(a)}</li>' for a in case.met())
    return (
        f'<div class="counterexample"><p><em>Counterexample</em></p><table>{instance}</table>'
        f"<p><em>Inside the assumptions:</em></p><ul class='met'>{met}</ul>"
        f"<p><em>The claim fails there:</em></p>{_lines(case.breaks)}"
        f"<p><em>By a second route,</em> {typeset(case.route)}:</p>{_lines(case.recheck)}</div>"
    )


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
    return f' <span class="how">{words.get(how, how)}</span>'


def _lines(evidence: Sequence[Evidence]) -> str:
    items = (f'<li><span class="tick">{line.mark}</span> {typeset(line.words)}</li>'
             for line in told(evidence))  # fmt: skip
    return f"<ul>{''.join(items)}</ul>"


def _source(checks: Sequence[Address], id: str) -> str:
    """The functions that state or settle the claim, folded, and the command that runs them."""
    code = "".join(
        f"<p><code>{escape(str(at))}</code></p><pre>{escape(at.source)}</pre>" for at in checks
    )
    command = f"<p><em>Run it alone:</em> <code>python -m reluflow.ledger {id} --rerun</code></p>"
    if not code:
        return command
    return (
        f"<details class='source'><summary>source of the check</summary>{code}</details>{command}"
    )


def _alone(row: Row, page: str) -> str:
    """The program that checks a refuted claim without the library, folded, with a link to it."""
    file = CHECKS / f"{row.claim.id}.py"
    if row.verdict != REFUTED or not file.is_file():
        return ""
    way = _way(f"chapters/errata/checks/{file.name}", page)
    return (
        "<details class='source'><summary>a check that needs nothing of ours</summary>"
        f'<p><a href="{way}">{file.name}</a></p><pre>{escape(file.read_text("utf-8"))}</pre>'
        "</details>"
    )


# --- What a paper prints that does not hold, as a letter to its authors ---------------------------

HERE = "errata"
"""The folder of these pages, below that of the chapters."""


def errata(board: Scoreboard, told: Mapping[str, Instead]) -> str:
    """The errata of the paper of a board as HTML, short enough to be sent: what stands; a table of
    what is false, the heaviest first and claims of one cause together, each with a counterexample
    in a sentence, a check to download and what is true instead; misprints; what did not come out
    again; folded, the claims with a reading, and the paper's setting, so that the page can be read
    alone."""
    theirs = tuple(row for row in board.rows if ".ours." not in row.claim.id)
    board = Scoreboard(board.inventories, theirs)
    sentences = {id: each.sentence for id, each in told.items()}
    kinds: dict[str, list[Group]] = {
        "false": [],
        "misprint": [],
        NOT_REPRODUCED: [],
        WITH_READING: [],
    }
    for (verdict, what), rows in alike(board, sentences, (*FALLEN, WITH_READING)).items():
        entry = told.get(rows[0].claim.id)
        slip = "misprint" if entry and entry.weight == "misprint" else "false"
        kinds[slip if verdict == REFUTED else verdict].append((what, rows, entry))
    false = kinds["false"]
    found = causes(told, (row.claim.id for _, rows, _ in false for row in rows))
    order, weights = list(found), list(WEIGHTS)

    def rank(group: Group) -> tuple[int, int]:
        cause = group[2].cause if group[2] else ""
        return (weights.index(found[cause]), order.index(cause)) if cause else (len(weights), 0)

    false.sort(key=rank)
    # What the paper's statements share: notation, and the assumptions that they name.
    given = [part for i in board.inventories if not i.ours for part in i.setting.split("\n\n")]
    words = "".join(f"<p>{mathematics(part)}</p>" for part in given)
    return (
        _stands(board, told)
        + _table(false)
        + _list("Misprints", kinds["misprint"])
        + _list("Tried as printed, and not seen again", kinds[NOT_REPRODUCED])
        + _folded("Holds under one reading only", _items(kinds[WITH_READING], False))
        + _folded(
            "The words that these statements use", f'<section class="setting">{words}</section>'
        )
    )


Group = tuple[str, list[Row], Instead | None]
"""What is true instead, the claims that fall by it, and the entry of `data/instead`."""


def _stands(board: Scoreboard, told: Mapping[str, Instead]) -> str:
    """What holds as printed, the numbered statements by name, and the score of what does not."""
    held = [row for row in board.rows if row.verdict == REPRODUCED]
    places: dict[str, list[Row]] = {}
    for row in (row for row in held if row.claim.kind == "theorem"):
        places.setdefault(row.claim.at, []).append(row)
    named = ", ".join(
        f"{escape(at)} ({', '.join(link(row, HERE) for row in rows)})"
        for at, rows in places.items()
    )
    others = sum(row.claim.kind != "theorem" for row in held)
    more = f", and {others} statements of figures, examples, tables and the text"
    return (
        f'<section class="stands"><p><strong>Stands as printed:</strong> {named}'
        f"{more if others else ''}.</p><p>{in_short(board, told)}</p></section>"
    )


def _table(groups: Sequence[Group]) -> str:
    """A line for each error: where it stands, what is printed and an instance, what is true."""
    lines = ""
    for what, rows, entry in groups:
        weight = f"<p>{escape(WEIGHTS[entry.weight])}</p>" if entry else ""
        shows = f"<p><em>Counterexample:</em> {mathematics(entry.shows)}</p>" if entry else ""
        lines += (
            f'<tr class="erratum"><td><strong>{_places(rows)}</strong>{weight}'
            f"{_checks(rows)}</td><td>{_says(rows)}{shows}</td><td>{mathematics(what)}</td></tr>"
        )
    head = "<tr><th>where</th><th>printed, and a counterexample</th><th>true instead</th></tr>"
    return f'<table class="errata"><thead>{head}</thead><tbody>{lines}</tbody></table>'


def _says(rows: Sequence[Row]) -> str:
    taken = dict.fromkeys(row.reading.taken for row in rows if row.reading)
    return "".join(
        [f"<p>{mathematics(row.claim.says)}</p>" for row in rows]
        + [f"<p><em>Read as:</em> {typeset(text)}</p>" for text in taken]
    )


def _checks(rows: Sequence[Row]) -> str:
    """The ways to the programs, beside the page, that check these claims without the library."""
    files = [f"{row.claim.id}.py" for row in rows]
    ways = [f'<a href="checks/{f}">{f}</a>' for f in files if (CHECKS / f).is_file()]
    return f'<p class="check">check it: {", ".join(ways)}</p>' if ways else ""


def _list(title: str, groups: Sequence[Group]) -> str:
    return f'<p class="weight">{title}</p>{_items(groups, True)}' if groups else ""


def _items(groups: Sequence[Group], says: bool) -> str:
    items = []
    for what, rows, entry in groups:
        printed = f" {_says(rows)}" if says else ""
        shows = f" {mathematics(entry.shows)}" if entry and says and entry.shows else ""
        true = f"<em>Instead:</em> {mathematics(what)}" if says else mathematics(what)
        check = _checks(rows) if says else ""
        items.append(f"<li><strong>{_places(rows)}.</strong>{printed}{shows} {true}{check}</li>")
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _folded(title: str, inside: str) -> str:
    return f'<details class="more"><summary>{title}</summary>{inside}</details>' if inside else ""


def _places(rows: Sequence[Row]) -> str:
    return "; ".join(f"{escape(row.claim.at)} ({link(row, HERE)})" for row in rows)
