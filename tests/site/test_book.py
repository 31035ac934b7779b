"""The book builds without a warning and without a network, and its pages are whole."""

import re
import shutil
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from built import ROOT, build
from reluflow import pages as notebooks
from reluflow.ledger.evidence import LedgerError
from reluflow.site import book
from sphinx.errors import ExtensionError

# What the build reads; the tests of a broken book copy it.
SOURCES = ("_config.yml", "_static", "_templates", "chapters/references.bib")

pytestmark = pytest.mark.long


class Page:
    """What a page shows and needs: its words, anchors, links, descriptions, and scripts."""

    def __init__(self, path: Path) -> None:
        silent = re.compile(r"<(script|style)\b([^>]*)>.*?</\1>", re.DOTALL)
        text = silent.sub(r"<\1\2>", path.read_text(encoding="utf-8"))

        def given(name: str, tag: str = r"\w+", of: str = "") -> list[str]:
            tags = "".join(re.findall(rf"<{tag}\b[^>]*{of}[^>]*>", text))
            return [unescape(value) for value in re.findall(rf'\s{name}="([^"]*)"', tags)]

        self.words = re.sub("<[^>]+>", "", text)
        self.anchors = {*given("id"), *given("name")}
        self.links = given("href", "a") + given("href", "link", 'rel="icon"')
        self.loads, self.told = given("src", "script"), given("content", "meta", 'description"')


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted((site / "chapters").rglob("*.html"))}


def test_each_page_is_described_in_words_of_its_own(pages: dict[Path, Page]) -> None:
    assert {(len(page.told), len({*page.told})) for page in pages.values()} == {(2, 1)}
    assert len({page.told[0] for page in pages.values()}) == len(pages)


def files(entries: list[dict]) -> list[str]:
    """The pages of a part of the contents, each before its sections."""
    below = [(entry["file"], files(entry.get("sections", []))) for entry in entries]
    return [page for file, inside in below for page in (file, *inside)]


def test_the_contents_have_every_notebook_below_its_chapter() -> None:
    chapters = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["chapters"]
    for entry in chapters:
        if (page := ROOT / f"{entry['file']}.ipynb").is_file():  # the scoreboard is none
            inside = {f"{part['file']}.ipynb" for part in entry.get("sections", [])}
            assert inside == {f"chapters/{notebooks.name(p)}" for p in notebooks.sections(page)}
    on_disk = {f"chapters/{notebooks.name(p)}" for p in notebooks.in_order(ROOT / "chapters")}
    assert on_disk - {"chapters/index.ipynb"} <= {f"{page}.ipynb" for page in files(chapters)}


def test_the_front_page_leads_to_the_book(site: Path) -> None:
    (target,) = re.findall(r"url=([^\"' >]+)", (site / "index.html").read_text(encoding="utf-8"))
    assert (site / target).is_file()


def test_no_page_shows_a_failed_substitution(pages: dict[Path, Page]) -> None:
    """A number that was not glued, or a role that nothing read, would stand in the text."""
    failed = re.compile(r"pasted-undefined|\{(glue|cite|ref|doc|numref|eq)[:}]|&lt;IPython\.")
    found = {p.name: each[0] for p, page in pages.items() if (each := failed.search(page.words))}
    assert found == {}


def test_every_link_inside_the_book_leads_somewhere(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "ftp", "mailto", "data") or link in ("", "#"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path.name}: {link}"
            picture, _, state = parts.fragment.partition("?")
            if state:  # what a live picture is asked for
                assert picture in pages[target].anchors, f"{path.name}: {link}"
            elif "=" in parts.fragment:  # what the scoreboard or the explorer is asked for
                assert target.name in ("scoreboard.html", "explorer.html"), f"{path.name}: {link}"
            elif parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, f"{path.name}: {link}"


def test_scripts_are_for_the_pages_that_need_them(pages: dict[Path, Page]) -> None:
    """And the theme's icons, 1.5 MB, and the search of Sphinx, which ours stands for, for none."""
    for script, wanted in (("explorer/page.js", ["explorer"]), ("pages/board.js", ["scoreboard"]),
                           ("pages/search.js", []), ("fontawesome.js", []),
                           ("searchindex.js", [])):  # fmt: skip
        found = [path.stem for path, page in pages.items() if any(script in x for x in page.loads)]
        assert found == wanted


def test_every_fault_of_a_page_fails_the_build(tmp_path: Path, site: Path) -> None:
    """Without -W a number that was never glued would be a warning, and a hole in the text. The page
    has the buttons of the repository where there is its address."""
    for name in SOURCES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: chapters/index\n", encoding="utf-8")
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    assert config.count('  url: ""') == 1
    address = config.replace('  url: ""', "  url: https://github.com/someone/book")
    (tmp_path / "_config.yml").write_text(address, encoding="utf-8")
    faults = ("{glue:text}`no-number`", "{cite}`no-paper`", "[](no-page.md)", "![](no-picture.png)")
    page = tmp_path / "chapters" / "index.md"
    page.write_text("# Book\n\n" + ", ".join(faults) + "\n", encoding="utf-8")
    run = build(tmp_path, tmp_path / "bad")
    assert run.returncode != 0
    for fault in ("no-number", "no-paper", "no-page", "no-picture"):
        assert re.search(rf"WARNING: .*{fault}", run.stdout + run.stderr), fault
    built = (folder / "chapters/index.html" for folder in (tmp_path / "bad/_build/html", site))
    kinds = [{*re.findall(r"btn-source-(\w+)-button", b.read_text("utf-8"))} for b in built]
    assert kinds == [{"edit", "file", "issues", "repository"}, set()]


def test_a_ledger_that_cannot_be_read_stops_the_build_with_its_sentence(monkeypatch):
    def broken(folder: Path) -> None:
        raise LedgerError(f"{folder.name} is not a notebook")

    monkeypatch.setattr(book, "scoreboard", broken)
    book.board.cache_clear()
    with pytest.raises(ExtensionError, match=r"^chapters is not a notebook$"):
        book.board()
