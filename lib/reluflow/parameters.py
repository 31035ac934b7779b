"""What a chapter's parameters cell may hold.

papermill writes a reader's values into a cell after the one tagged `parameters`, and only warns of
a name that the chapter does not know.  So the cell that follows calls `check`, which refuses
misspelt names, wrong types and values out of range before anything is computed.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, make_dataclass
from reprlib import repr as short
from typing import Any, NoReturn

from reluflow.errors import InputError, meant

# Every value that papermill can write into a cell is of one of these types; what else a notebook
# holds at that point (modules, functions, IPython's helpers) is no parameter.
_PLAIN = (str, int, float, list, dict, tuple, type(None))
# IPython's history, Python's own names and what papermill adds with --inject-paths share the
# notebook's namespace. Any other name is a reader's, also one that begins with an underscore.
_NOT_OURS = re.compile(r"__\w+__|_+|_i{1,3}|_i?[0-9]+|_[ido]h|_exit_code|PAPERMILL_\w+")
_MOST_EFFORT = 1000
_WORDS = {str: "text", int: "a whole number", float: "a number", list: "a list"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a chapter.

    type      str, int, float (a whole number will do) or list
    meaning   one phrase for the reader of a refusal
    check     the condition on the value, asked once the type is right
    rule      that condition in words, as in "must be {rule}"
    optional  whether None is allowed, for "the chapter's own choice"
    """

    type: type
    meaning: str
    check: Callable[[Any], bool] = lambda value: True
    rule: str = ""
    optional: bool = False


def _told(v: float) -> str:
    if v == int(v) and abs(v) < 1e10:
        return f"{int(v):_}".replace("_", " ")
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{v:g}")


def between(least: float, most: float) -> tuple[Callable[[Any], bool], str]:
    """A condition on a number, and the condition in words."""
    words = " to ".join(map(_told, (least, most)))
    return lambda value: least <= value <= most, f"from {words}"


def one_of(*words: str) -> tuple[Callable[[Any], bool], str]:
    """A condition on a text, one of two words or more, and the condition in words."""
    named = [f'"{word}"' for word in words]
    return lambda value: value in words, f"{', '.join(named[:-1])} or {named[-1]}"


SEED = Parameter(int, "seed of every random draw", lambda value: value >= 0, "at least 0")
EFFORT = Parameter(
    float,
    "scales the numbers of random instances",
    lambda value: 0 < value <= _MOST_EFFORT,
    f"greater than 0 and at most {_MOST_EFFORT}",
)
SECTION: Mapping[str, Parameter] = {"seed": SEED, "effort": EFFORT}
"""Those of most sections."""


def _is_here(device: str) -> bool:
    import torch

    try:
        return float(torch.zeros((), device=device)) == 0.0
    except (RuntimeError, AssertionError):
        return False


DEVICE = Parameter(
    str,
    'where PyTorch trains: "cpu", or "cuda" where there is a GPU',
    lambda name: name == "cpu" or _is_here(name),  # PyTorch takes seconds
    '"cpu", or a device that PyTorch finds on this machine',
)


def counts(effort: float) -> Callable[..., int]:
    """The rule by which a chapter's `effort` scales a number of random instances.

    A low effort leaves at least `least`, or the default where that is less: fewer than 30 would not
    tell a claim that survives from one whose hypotheses were never met, and a mean needs so many
    that its interval is narrower than the effect.
    """
    return lambda base, least=30: max(min(least, base), round(base * effort))


def check(namespace: Mapping[str, Any], spec: Mapping[str, Parameter]) -> Any:
    """The chapter's parameters, checked, as an immutable object with one attribute each.

    namespace   the notebook's names, `globals()`; call this right after the parameters cell,
                before the notebook assigns any other plain value.
    spec        the chapter's parameters by name.
    Returns a frozen dataclass whose fields are the names of `spec`, in that order.
    Raises InputError for an unknown name, a missing one, a wrong type or a value out of range.
    """
    # IPython's `In` and `Out` are these two objects; what a reader calls so is another one.
    history = [id(namespace[name]) for name in ("_ih", "_oh") if name in namespace]
    for name, value in namespace.items():
        ours = not _NOT_OURS.fullmatch(name) and id(value) not in history
        if ours and isinstance(value, _PLAIN) and name not in spec:
            raise InputError(f'unknown parameter "{name}": {meant(name, spec)}')
    for name in spec:
        if name not in namespace:
            raise InputError(f'parameter "{name}" is missing from the parameters cell.')
    values = {name: _value(name, namespace[name], spec[name]) for name in spec}
    kind = make_dataclass("Parameters", list(spec), frozen=True)
    return kind(**values)


def _value(name: str, value: Any, parameter: Parameter) -> Any:
    if value is None and parameter.optional:
        return None
    what = f" ({parameter.meaning})." if parameter.meaning else "."
    if parameter.type is float and isinstance(value, str):
        with suppress(ValueError):  # YAML 1.1 takes 1e-3 for text
            value = float(value)
    # True is an int to Python, and never what a reader means by a number.
    accepted: Any = (int, float) if parameter.type is float else parameter.type
    if isinstance(value, bool) or not isinstance(value, accepted):
        words = _WORDS[parameter.type] + (" or None" if parameter.optional else "")
        hint = ""
        if parameter.type is list and isinstance(value, str):
            hint = f'; with papermill, write -y "{name}: {value}"'
        raise InputError(f'parameter "{name}" must be {words}, not {short(value)}{hint}{what}')
    if parameter.type is float:
        try:
            value = float(value)
        except OverflowError:  # a whole number of more than 308 digits
            raise InputError(f'parameter "{name}" must be a finite number{what}') from None
        if not math.isfinite(value):
            raise InputError(f'parameter "{name}" must be a finite number, not {value}{what}')
    if not parameter.check(value):
        raise InputError(f'parameter "{name}" must be {parameter.rule}, not {short(value)}{what}')
    return value


class Parser(argparse.ArgumentParser):
    """Wrong use is an InputError, one sentence like any other."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; {' '.join(self.format_usage().split())}")
