"""The two routes of a claim share no code: the functions that each may call are walked.

What both may use is the ledger, which writes evidence down, and what makes the instance itself. A
function is known by its name in the sources, so that methods count with their class.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from types import ModuleType

import pytest
from reluflow.places import LIBRARY

COMMON = ("reluflow.ledger", "reluflow.errors", "reluflow.approx")
FILES = {".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts): path
         for path in sorted(LIBRARY.rglob("*.py"))}  # fmt: skip
SOURCES = {name.removesuffix(".__init__"): path.read_text("utf-8") for name, path in FILES.items()}
ROOMS = [name for name in SOURCES if name.startswith("reluflow.papers.")]
WITH = [name for name in ROOMS if "Counterexample(" in SOURCES[name]]
Place = tuple[str, str]
"""A module, and the name of a function or class of it."""


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(SOURCES[module])


@cache
def defined(module: str) -> dict[str, ast.AST]:
    """The functions and classes of a module by name."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name: node for node in tree_of(module).body if isinstance(node, kinds)}


def functions(module: str) -> list[ast.FunctionDef]:
    return [node for node in defined(module).values() if isinstance(node, ast.FunctionDef)]


def names_in(node: ast.AST) -> Iterator[ast.Name]:
    return (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))


@cache
def bound(node: ast.AST) -> frozenset[str]:
    """The names that a function binds: what it is given, and what it assigns."""
    if not isinstance(node, ast.FunctionDef):
        return frozenset()
    given = {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
    return frozenset(given | {n.id for n in names_in(node) if isinstance(n.ctx, ast.Store)})


def used(module: str, top: ast.AST, local: Iterable[str] = ()) -> Iterator[Place]:
    """The functions and classes of the library that are named in a piece of a module; `local` names
    mean something else in it, and so do those that it binds itself."""
    names, own = vars(import_module(module)), {*local, *bound(top)}
    for node in ast.walk(top):
        thing = None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
            thing = names.get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = names.get(node.value.id)
            thing = getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
        place = getattr(thing, "__module__", ""), getattr(thing, "__name__", "")
        if place[0] in SOURCES and place[1] in defined(place[0]):
            yield place


@cache
def below(place: Place) -> list[Place]:
    """What one function or class uses."""
    return list(used(place[0], defined(place[0])[place[1]]))


def reached(todo: Iterable[Place]) -> set[Place]:
    """All functions and classes below these."""
    todo, seen = list(todo), set[Place]()
    while todo:
        if (place := todo.pop()) not in seen:
            seen.add(place)
            todo += below(place)
    return seen


@cache
def assigned(function: ast.FunctionDef) -> dict[str, list[ast.AST]]:
    """What each local name of a function is made of: values, what a loop takes it from, and what
    is added to it or handed to one of its methods."""
    found: dict[str, list[ast.AST]] = {}

    def made(target: ast.AST, value: ast.AST) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for part, own in zip(target.elts, value.elts, strict=True):
                made(part, own)
            return
        for name in names_in(target):
            found.setdefault(name.id, []).append(value)

    for node in ast.walk(function):
        match node:
            case ast.FunctionDef(name=name) if node is not function:
                found.setdefault(name, []).append(node)
            case (
                ast.Assign(targets=[target], value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.AugAssign(target=target, value=value)
                | ast.For(target=target, iter=value)
                | ast.withitem(context_expr=value, optional_vars=ast.expr() as target)
            ):
                made(target, value)
            case ast.Expr(ast.Call(func=ast.Attribute(value=target), args=values)):
                for value in values:
                    made(target, value)
    return found


def behind(function: ast.FunctionDef, value: ast.AST) -> list[ast.AST]:
    """An expression in a function, and what the local names in it are made of."""
    local, todo, found = dict(assigned(function)), [value], []
    while todo:
        found.append(todo.pop())
        loops = (n.target for n in ast.walk(found[-1]) if isinstance(n, ast.comprehension))
        own = {name.id for target in loops for name in names_in(target)}
        for name in {name.id for name in names_in(found[-1])} - own:
            todo += local.pop(name, [])
    return found


@cache
def calls(function: ast.AST, name: str) -> list[ast.Call]:
    """The calls of what has this plain name, below a node."""
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Call))
    return [node for node in nodes if getattr(node.func, "id", "") == name]


def examples(module: str) -> Iterator[tuple[str, dict[str, list[ast.AST]], set[str]]]:
    """The counterexamples of a module: the function that makes it, what is behind each part, also
    where a part is handed over by the function's callers, and the names that these bind."""
    for function in functions(module):
        given = [argument.arg for argument in function.args.args]
        for call in calls(function, "Counterexample"):
            parts = {k.arg: behind(function, k.value) for k in call.keywords if k.arg}
            yield function.name, parts, {*bound(function)}
            for caller in functions(module):
                for made in calls(caller, function.name):
                    handed = dict(zip(given, made.args, strict=False))
                    handed |= {k.arg: k.value for k in made.keywords if k.arg}
                    more = {}
                    for key, nodes in parts.items():
                        asked = handed.keys() & {n.id for node in nodes for n in names_in(node)}
                        made_of = [behind(caller, handed[name]) for name in asked]
                        more[key] = sum(made_of, nodes)
                    yield caller.name, more, {*bound(function), *bound(caller)}


def shared(module: str) -> Iterator[tuple[str, Place]]:
    """What both routes of a module's counterexamples may call, with the counterexample's name."""
    for name, parts, local in examples(module):
        first, second, own = (
            reached(place for node in parts[key] for place in used(module, node, local))
            for key in ("breaks", "recheck", "instance")
        )
        for place in sorted((first & second) - own):
            if not place[0].startswith(COMMON):
                yield name, place


@pytest.mark.parametrize("module", WITH)
def test_the_second_route_shares_no_code_with_the_first(module: str) -> None:
    assert not list(shared(module))


@pytest.mark.parametrize("module", WITH)
def test_what_a_page_hands_to_the_second_route_is_of_the_instance(module: str) -> None:
    """So that no page can hand over what the first route has found."""
    made = functions(module)
    for function in (f for f in made if calls(f, "Counterexample")):
        handed = {argument.arg for argument in function.args.args}
        own = any(calls(other, function.name) for other in made)
        for call in [] if own else calls(function, "Counterexample"):
            parts = {k.arg: behind(function, k.value) for k in call.keywords}
            instance, second = (
                handed & {name.id for node in parts[key] for name in names_in(node)}
                for key in ("instance", "recheck")
            )
            assert second <= instance, function.name


def test_every_counterexample_is_walked() -> None:
    made = sum(SOURCES[name].count("Counterexample(\n") for name in WITH)
    found = sum(len(calls(tree_of(name), "Counterexample")) for name in WITH)
    walked = [(name, *example) for name in WITH for example in examples(name)]
    assert len({(name, function) for name, function, _, _ in walked}) >= found >= made > 30
    assert all("recheck" in parts for _, _, parts, _ in walked)


def section_of_second_routes(module: str) -> set[Place]:
    """What a module defines below a heading that begins with "Second route"."""
    sections = SOURCES[module].split("\n# --- ")[1:]
    text = "\n".join(part for part in sections if part.startswith("Second route"))
    return {(module, name) for name in re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE)}


SECOND = {name: section_of_second_routes(name) for name in ROOMS}


@pytest.mark.parametrize("module", [name for name in ROOMS if SECOND[name]])
def test_a_section_of_second_routes_stands_alone(module: str) -> None:
    """It reaches neither the flows nor what is the paper's own, but for other second routes."""
    first = ("reluflow.flows", "reluflow.papers")
    outside = reached(SECOND[module]) - set().union(*SECOND.values())
    assert [place for place in sorted(outside) if place[0].startswith(first)] == []


PLANTED = [
    ("min2024early.alignment", 'followed(TIME), "<="', 'leaving(TIME)[0], "<="', "leaving"),
    ("min2024early.theorem_1", "early = certain.exit < certain.t_1",
     "early = Start(X, Y, X, Y).flow(1.0).t", "Start"),
    ("lee2022support.dynamics", "loops[0],", "continuation_sides(one, one[0], [0.0], 0)[0],",
     "continuation_sides"),
    ("lee2023magnitude.layers", "after = descent.vector_descent(start, eta, 1)",
     "after = run_from_the_middle(step)[0]", "run_from_the_middle"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "old", "new", "seen"), PLANTED)
def test_a_second_route_that_is_the_first_is_seen(module, old, new, seen, monkeypatch):
    text = SOURCES[f"reluflow.papers.{module}"]
    assert old in text
    name = f"planted.{module}"
    made = ModuleType(name)
    monkeypatch.setitem(SOURCES, name, text.replace(old, new))
    monkeypatch.setitem(sys.modules, name, made)
    exec(compile(SOURCES[name], name, "exec"), vars(made))
    found = list(shared(name))
    assert any(place[1] == seen for _, place in found), found


# --- Assumptions are computed, or say why there is nothing to compute -----------------------------


def taken_for_granted(source: str) -> Iterator[str]:
    """The assumptions of a source's counterexamples that are the word True, also where a function
    of the same source makes them."""
    nodes = list(ast.walk(ast.parse(source)))
    makers = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    for node in nodes:
        if isinstance(node, ast.keyword) and node.arg == "assumptions":
            assert isinstance(node.value, (ast.Dict, ast.Call)), ast.dump(node.value)
            maker = makers.get(getattr(getattr(node.value, "func", None), "id", ""), node.value)
            for given in (inner for inner in ast.walk(maker) if isinstance(inner, ast.Dict)):
                for key, value in zip(given.keys, given.values, strict=True):
                    said = isinstance(value, ast.Constant) and not isinstance(value.value, str)
                    if key and said:
                        yield ast.unparse(key)


@pytest.mark.parametrize("module", WITH)
def test_no_assumption_is_taken_for_granted(module: str) -> None:
    assert not list(taken_for_granted(SOURCES[module]))


@pytest.mark.parametrize(
    "source",
    [
        'Counterexample(assumptions={**more(x), "A1": True, "A2": x > 0, "A3": "as drawn"})',
        "def given():\n    return {'A1': True}\n\nCounterexample(assumptions=given())",
    ],
)
def test_the_word_true_is_seen(source: str) -> None:
    assert list(taken_for_granted(source)) == ["'A1'"]
