"""The two routes of a claim share no code: the functions that each may call are walked.

What both may use is the ledger, which writes evidence down, and what makes the instance itself. A
function is known by its name in the sources, so that methods count with their class.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import pytest
from reluflow.places import LIBRARY

ROOT = LIBRARY.parent
COMMON = ("reluflow.ledger", "reluflow.errors", "reluflow.approx")
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(LIBRARY.rglob("*.py"))
}
DEFINED = (ast.FunctionDef, ast.ClassDef)
Place = tuple[str, str]
"""A module and a name in it; the name is empty for the module itself."""


@dataclass(frozen=True, eq=False)
class Library:
    """The modules by name, some with other sources than those on the disk."""

    other: dict[str, str]

    def defined(self, place: Place) -> tuple[Place, ast.AST] | None:
        """Where a function or class is defined, through what hands it on; None for other names."""
        while True:
            module, name = place
            for node in tree_of(self, module).body:
                if isinstance(node, DEFINED) and node.name == name:
                    return place, node
            if (place := scope_of(self, module).get(name, place)) == (module, name) or not place[1]:
                return None

    def used(
        self, module: str, nodes: Iterable[ast.AST], local: Iterable[str] = ()
    ) -> Iterator[tuple[Place, ast.AST]]:
        """The functions and classes that are named in some pieces of a module; `local` names mean
        something else in them, and so do those that a function among them binds."""
        scope = scope_of(self, module)
        owned = ((top, {*local, *bound(top)}) for top in nodes)
        for node, own in ((inner, own) for top, own in owned for inner in ast.walk(top)):
            place = None
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
                place = scope.get(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                owner = scope.get(node.value.id, ("", "none"))
                place = None if owner[1] else (owner[0], node.attr)
            if place and place[1] and (found := self.defined(place)):
                yield found

    def reached(
        self, module: str, nodes: Iterable[ast.AST], local: Iterable[str] = ()
    ) -> set[Place]:
        """All functions and classes below some pieces of a module."""
        todo, seen = list(self.used(module, nodes, local)), set[Place]()
        while todo:
            place, node = todo.pop()
            if place not in seen:
                seen.add(place)
                todo += below(self, place[0], node)
        return seen


@cache
def below(library: Library, module: str, node: ast.AST) -> list[tuple[Place, ast.AST]]:
    """What one function or class of a module uses."""
    return list(library.used(module, [node]))


@cache
def tree_of(library: Library, module: str) -> ast.Module:
    return ast.parse(library.other.get(module) or SOURCES[module].read_text("utf-8"))


@cache
def scope_of(library: Library, module: str) -> dict[str, Place]:
    """The names that a module defines or imports from the library."""
    tree, found = tree_of(library, module), dict[str, Place]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "") in SOURCES:
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                place = (inner, "") if inner in SOURCES else (node.module, name.name)
                found[name.asname or name.name] = place
    return found | {n.name: (module, n.name) for n in tree.body if isinstance(n, DEFINED)}


def bound(node: ast.AST) -> set[str]:
    """The names that a function binds: what it is given, and what it assigns."""
    if not isinstance(node, ast.FunctionDef):
        return set()
    given = {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
    return given | {n.id for n in names_in(node) if isinstance(n.ctx, ast.Store)}


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
        if isinstance(node, ast.FunctionDef) and node is not function:
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                made(target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and node.value:
            made(node.target, node.value)
        elif isinstance(node, ast.For):
            made(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars:
            made(node.optional_vars, node.context_expr)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            method = node.value.func
            for part in node.value.args if isinstance(method, ast.Attribute) else []:
                made(method.value, part)
    return found


def behind(function: ast.FunctionDef, value: ast.AST) -> list[ast.AST]:
    """An expression in a function, and what the local names in it are made of."""
    local, todo, found = assigned(function), [value], []
    while todo:
        found.append(todo.pop())
        loops = (n.target for n in ast.walk(found[-1]) if isinstance(n, ast.comprehension))
        own = {name.id for target in loops for name in names_in(target)}
        for name in {name.id for name in names_in(found[-1])} - own:
            todo += local.pop(name, [])
    return found


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


@cache
def by_name(function: ast.AST) -> list[ast.Call]:
    """The calls below a node of functions that have a plain name."""
    found = (node for node in ast.walk(function) if isinstance(node, ast.Call))
    return [node for node in found if isinstance(node.func, ast.Name)]


def calls(function: ast.AST, name: str) -> list[ast.Call]:
    return [node for node in by_name(function) if node.func.id == name]


def examples(tree: ast.Module) -> Iterator[tuple[str, dict[str, list[ast.AST]], set[str]]]:
    """The counterexamples of a module: the function that makes it, what is behind each part, also
    where a part is handed over by the function's callers, and the names that these bind."""
    for function in functions(tree):
        names = [argument.arg for argument in function.args.args]
        for call in calls(function, "Counterexample"):
            parts = {k.arg: behind(function, k.value) for k in call.keywords if k.arg}
            yield function.name, parts, bound(function)
            for caller in functions(tree):
                for made in calls(caller, function.name):
                    handed = dict(zip(names, made.args, strict=False))
                    handed |= {k.arg: k.value for k in made.keywords if k.arg}
                    more = {
                        key: [
                            node
                            for name in {n.id for top in nodes for n in names_in(top)}
                            if name in handed
                            for node in behind(caller, handed[name])
                        ]
                        for key, nodes in parts.items()
                    }
                    both = {key: parts[key] + more[key] for key in parts}
                    yield caller.name, both, bound(function) | bound(caller)


def names_in(node: ast.AST) -> Iterator[ast.Name]:
    return (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))


def shared(library: Library, module: str) -> Iterator[tuple[str, Place]]:
    """What both routes of a module's counterexamples may call, with the counterexample's name."""
    for name, parts, local in examples(tree_of(library, module)):
        first, second, own = (
            library.reached(module, parts[key], local) for key in ("breaks", "recheck", "instance")
        )
        for place in sorted((first & second) - own):
            if not place[0].startswith(COMMON):
                yield name, place


ROOMS = [name for name in SOURCES if name.startswith("reluflow.papers.")]
WITH = [name for name in ROOMS if "Counterexample(" in SOURCES[name].read_text("utf-8")]
LIB = Library({})


@pytest.mark.parametrize("module", WITH)
def test_the_second_route_shares_no_code_with_the_first(module: str) -> None:
    assert not list(shared(LIB, module))


@pytest.mark.parametrize("module", WITH)
def test_what_a_page_hands_to_the_second_route_is_of_the_instance(module: str) -> None:
    """So that no page can hand over what the first route has found."""
    made = functions(tree_of(LIB, module))
    for function in (f for f in made if not any(calls(other, f.name) for other in made)):
        handed = {argument.arg for argument in function.args.args}
        for call in calls(function, "Counterexample"):
            parts = {k.arg: behind(function, k.value) for k in call.keywords}
            instance, second = (
                handed & {name.id for node in parts[key] for name in names_in(node)}
                for key in ("instance", "recheck")
            )
            assert second <= instance, function.name


def test_every_counterexample_is_walked() -> None:
    made = sum(SOURCES[name].read_text("utf-8").count("Counterexample(\n") for name in WITH)
    found = sum(len(calls(tree_of(LIB, name), "Counterexample")) for name in WITH)
    walked = {(name, made) for name in WITH for made, _, _ in examples(tree_of(LIB, name))}
    assert len(walked) >= found >= made > 30
    assert all("recheck" in parts for name in WITH for _, parts, _ in examples(tree_of(LIB, name)))


def section_of_second_routes(module: str) -> set[Place]:
    """What a module defines below a heading that begins with "Second route"."""
    lines = SOURCES[module].read_text("utf-8").splitlines()
    found, inside = set(), False
    for line in lines:
        if line.startswith("# --- "):
            inside = line.startswith("# --- Second route")
        if inside and (name := re.match(r"(?:def|class) (\w+)", line)):
            found.add((module, name[1]))
    return found


SECOND = {name: section_of_second_routes(name) for name in ROOMS}


@pytest.mark.parametrize("module", [name for name in ROOMS if SECOND[name]])
def test_a_section_of_second_routes_stands_alone(module: str) -> None:
    """It reaches neither the flows nor what is the paper's own, but for other second routes."""
    nodes = [found[1] for place in SECOND[module] if (found := LIB.defined(place))]
    outside = LIB.reached(module, nodes) - set().union(*SECOND.values())
    first = ("reluflow.flows", "reluflow.papers")
    assert [place for place in sorted(outside) if place[0].startswith(first)] == []


PLANTED = [
    ("min2024early.alignment", 'followed(TIME), "<="', 'leaving(TIME)[0], "<="', "leaving"),
    ("min2024early.theorem_1", "early = certain.exit < certain.t_1",
     "early = setting.flow(X, Y, X, Y).t", "flow"),
    ("lee2022support.dynamics", "loops[0],", "continuation_sides(one, one[0], [0.0], 0)[0],",
     "continuation_sides"),
    ("lee2023magnitude.layers", "after = descents.quadrature_step(start, 1, eta)",
     "after = run_from_the_middle(step)[0]", "run_from_the_middle"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "old", "new", "seen"), PLANTED)
def test_a_second_route_that_is_the_first_is_seen(module, old, new, seen):
    module = f"reluflow.papers.{module}"
    text = SOURCES[module].read_text("utf-8")
    assert old in text
    found = list(shared(Library({module: text.replace(old, new)}), module))
    assert any(place[1] == seen for _, place in found), found


# --- Assumptions are computed, or say why there is nothing to compute -----------------------------


def taken_for_granted(source: str) -> Iterator[str]:
    """The assumptions of a source's counterexamples that are the word True, also where a function
    of the same source makes them."""
    tree = ast.parse(source)
    made = {node.name: node for node in functions(tree)}
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    given = (k.value for call in calls for k in call.keywords if k.arg == "assumptions")
    for mapping in given:
        assert isinstance(mapping, (ast.Dict, ast.Call)), ast.dump(mapping)
        maker = made.get(getattr(getattr(mapping, "func", None), "id", ""), mapping)
        for node in ast.walk(maker):
            if isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                yield from (
                    ast.unparse(key)
                    for key, value in pairs
                    if key and isinstance(value, ast.Constant) and not isinstance(value.value, str)
                )


@pytest.mark.parametrize("module", WITH)
def test_no_assumption_is_taken_for_granted(module: str) -> None:
    assert not list(taken_for_granted(SOURCES[module].read_text("utf-8")))


def test_the_word_true_is_seen() -> None:
    source = (
        """Counterexample(assumptions={**more(x), "A1": True, "A2": x > 0, "A3": "as drawn"})"""
    )
    assert list(taken_for_granted(source)) == ["'A1'"]
    source = "def given():\n    return {'A1': True}\n\nCounterexample(assumptions=given())"
    assert list(taken_for_granted(source)) == ["'A1'"]
