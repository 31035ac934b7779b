"""An executed notebook without MyST: Jupyter shows what the pages of the book show."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy

from nbformat import NotebookNode
from pybtex.database import Entry, parse_file

from reluflow.places import BIBLIOGRAPHY

_GLUED = "application/papermill.record/"
_OPEN = re.compile(r"^(:{3,}|`{3,})\{([\w:-]+)\}[ \t]*(.*)$")
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)\s]*\)")


def plain(notebook: NotebookNode) -> NotebookNode:
    """A copy whose text is Markdown alone: glued numbers and citations are written out, what folds
    is HTML's own, and links to other pages are their words."""
    made = deepcopy(notebook)
    glued, cited = _glued(made), parse_file(str(BIBLIOGRAPHY)).entries
    for cell in made.cells:
        if cell.cell_type == "markdown":
            cell.source = _text(cell.source, glued, cited)
        for tag in set(cell.metadata.get("tags", [])) & {"remove-input", "hide-input", "hide-cell"}:
            cell.metadata.setdefault("jupyter", {})["source_hidden"] = bool(tag)
    return made


def _glued(notebook: NotebookNode) -> dict[str, Mapping[str, str]]:
    """What each name was glued to, by kinds of text."""
    found = dict[str, Mapping[str, str]]()
    for output in (o for c in notebook.cells for o in c.get("outputs", [])):
        name = output.get("metadata", {}).get("scrapbook", {}).get("name")
        if name:
            data = {k.removeprefix(_GLUED): "".join(v) for k, v in output["data"].items()}
            found[name] = data
    return found


def _text(source: str, glued: Mapping[str, Mapping[str, str]], cited: Mapping[str, Entry]) -> str:
    lines, ends = [], list[tuple[str, str]]()
    for line in source.splitlines():
        opened = _OPEN.match(line)
        if ends and line.strip() == ends[-1][0]:
            lines.append(ends.pop()[1])
        elif opened:
            fence, kind, words = opened.groups()
            first, last = _block(kind, words, glued)
            lines.append(first)
            ends.append((fence, last))
        elif not re.fullmatch(r"\([\w.-]+\)=", line.strip()):
            lines.append(line)
    text = "\n".join(lines)
    text = re.sub(r"\{glue:\w*\}`([^`]+)`", lambda m: _number(m[1], glued), text)
    text = re.sub(r"\{cite:(\w+)\}`([^`]+)`", lambda m: _citation(m[1], m[2], cited), text)
    text = re.sub(r"\{[\w:-]+\}`([^`<]+?)(?: ?<[^`]*>)?`", r"\1", text)
    return _LINK.sub(r"\1", text)


def _block(kind: str, words: str, glued: Mapping[str, Mapping[str, str]]) -> tuple[str, str]:
    """What stands for the first and for the last line of a directive."""
    if kind.startswith("glue:"):
        data = glued.get(words.strip(), {})
        return data.get("text/html", data.get("text/plain", "")), ""
    if kind == "dropdown":
        return f"<details><summary>{words}</summary>\n", "\n</details>"
    return f"**{words or kind.capitalize()}**\n", ""


def _number(asked: str, glued: Mapping[str, Mapping[str, str]]) -> str:
    name, _, form = asked.partition(":")
    text = glued.get(name, {}).get("text/plain", "").strip("'\"")
    return format(float(text), form) if form and form != "s" else text


def _citation(style: str, keys: str, cited: Mapping[str, Entry]) -> str:
    told = []
    for key in keys.split(","):
        entry = cited[key.strip()]
        names = [" ".join(person.last_names).strip("{}") for person in entry.persons["author"]]
        who = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
        year = entry.fields["year"]
        told.append(f"{who} ({year})" if style == "t" else f"{who}, {year}")
    return ", ".join(told) if style == "t" else f"({'; '.join(told)})"
