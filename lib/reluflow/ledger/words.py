"""Evidence in a reader's words, and the mathematics in them set in type for a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape

from reluflow.ledger.display import mathematics
from reluflow.ledger.evidence import SIGNS, Evidence
from reluflow.ledger.numbers import printed

SURVEY = re.compile(r"(.+): instances that break it")
THE_SAME = "the same"
"""What a second limit of a value is called, that of a value between two."""
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
    share a line, and so do the two limits of a value."""
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
        elif item.what == THE_SAME and lines and item.decides:
            before = lines.pop()
            mark = before.mark if item.holds else "✗"
            lines.append(Line(mark, f"{before.words.removesuffix(')')} and {_asked(item)})"))
        elif not is_small(item):
            mark = ("✓" if item.holds else "✗") if item.decides else "·"
            lines.append(Line(mark, _words(item)))
    return _joined(lines)


def _joined(lines: Sequence[Line]) -> list[Line]:
    """Lines "case: what was found" of several cases that differ in the case alone, as one."""
    cases: dict[tuple[str, str, str], list[str]] = {}
    for line in lines:
        case, colon, rest = line.words.partition(": ")
        cases.setdefault((line.mark, colon, rest), []).append(case)
    return [Line(mark, f"{'; '.join(dict.fromkeys(these))}{colon}{rest}")
            for (mark, colon, rest), these in cases.items()]  # fmt: skip


def small_print(evidence: Sequence[Evidence]) -> str:
    """How the instances were drawn, on one line; empty where none were."""
    each = [f"{SMALL_PRINT[item.what]}: {_value(item)}" for item in evidence if is_small(item)]
    return "; ".join(dict.fromkeys(each))


def is_small(item: Evidence) -> bool:
    """Whether evidence is a note on how instances were drawn."""
    return not item.decides and item.what in SMALL_PRINT


def _words(item: Evidence) -> str:
    """One piece of evidence: what was found, what was asked where the two differ, and what of it
    was chosen after something had been seen."""
    return f"{_found(item)}; chosen after seeing: {item.after}" if item.after else _found(item)


def _found(item: Evidence) -> str:
    if (survey := SURVEY.fullmatch(item.what)) and item.form == "fact" and item.limit == 0:
        of = f" of {item.tried}" if item.tried else ""
        more = f", by more than {printed(item.rounding)}" if item.rounding else ""
        return f"{survey[1]}: broken by {item.value or 'none'}{of} instances{more}"
    value = value_in_words(item)
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


def value_in_words(item: Evidence) -> str:
    """The value with its unit, or the end of the rounding level that it stands for."""
    value = f"{_value(item)} {item.unit}".rstrip()
    if item.clipped:
        return f"{'at most' if item.op in ('<', '<=') else 'at least'} {value}"
    return value


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
WRITTEN_OUT = range(-3, 6)
"""The powers of ten below which a number with an exponent is written without."""
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
    if power in WRITTEN_OUT:
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
