"""What the repository shows to its host and to those who cite it, and what its tools say of it: the
linter's and the formatter's rules, for the library, the tests and the notebooks; types."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import mutate
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "book.yml"


def test_the_workflow_runs_what_is_there_on_two_systems_and_publishes_what_is_built() -> None:
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    systems = jobs["test"]["strategy"]["matrix"]["os"]
    assert sorted(name.split("-")[0] for name in systems) == ["macos", "ubuntu"]
    called = {job: [step["run"] for step in jobs[job]["steps"] if "run" in step] for job in jobs}
    assert called == {"test": ["bash .ci/run"], "publish": ["bash book build"]}
    assert jobs["publish"]["needs"] == "test"
    for lines in called.values():
        assert [line for line in lines if not (ROOT / line.split()[1]).is_file()] == []
    steps = jobs["publish"]["steps"]
    (folder,) = (step["with"]["path"] for step in steps if "path" in step.get("with", {}))
    assert f"{folder}/index.html" in (ROOT / "book").read_text(encoding="utf-8")


@pytest.mark.parametrize("script", ["book", ".ci/run"])
def test_the_scripts_ask_for_no_newer_bash_than_that_of_macos(script: str) -> None:
    """Version 3.2: no arrays by name, no change of case, no reading into an array."""
    text = (ROOT / script).read_text(encoding="utf-8")
    newer = re.compile(r"mapfile|readarray|declare -A|local -n|coproc|\$\{\w+(\^|,|@)|&>>|\|&|;;?&")
    assert newer.findall(text) == []
    for line in text.splitlines():
        if re.search(r"\bapt-get (update|install)\b", line) and not line.lstrip().startswith("#"):
            before = text[: text.index(line)]
            assert "command -v apt-get" in before, "apt-get is called where it need not be"


def test_the_versions_and_titles_of_a_citation_agree() -> None:
    cite = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    front = (ROOT / "chapters" / "index.md").read_text(encoding="utf-8")
    (entry,) = re.findall(r"^```bibtex\n(.*?)^```", front, flags=re.MULTILINE | re.DOTALL)
    bibtex = dict(re.findall(r"(\w+)\s*= \{+(.*?)\}+,?$", entry, flags=re.MULTILINE))
    library = tomllib.loads((ROOT / "lib" / "pyproject.toml").read_text(encoding="utf-8"))
    assert cite["version"] == library["project"]["version"]
    assert bibtex["note"] == f"Version {cite['version']}"
    assert bibtex["title"] == cite["title"]
    assert bibtex["author"] == cite["authors"][0]["name"]
    assert bibtex["year"] == str(cite["date-released"])[:4]
    assert cite["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "--no-cache", "."],
        ["ruff", "format", "--check", "--no-cache", "."],
        ["mypy"],  # its cache: what changed, and who uses it
    ],
    ids=["lint", "format", "types"],
)
def test_a_tool_has_nothing_to_say(command: list[str]) -> None:
    run = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


# --- The faults that `mutate.py` plants: they fit, and change something; hints have none ------

SOURCE = """
import numpy as np

def size(x: list | None, most: int | float = 3) -> int | None:
    kept: list | None = x
    list(zip(x, x, strict=True))
    given = {"small": lambda v: v < 1e-06 and x and kept, "large": 0.5}
    while (x > 1) & (x < 2):
        break
    return max(abs(v) for v in kept) + np.abs(x).max() - most
"""
RIGHT = ast.unparse(ast.parse(SOURCE))
HINTS = ("(x: list | None, most: int | float", "-> int | None", "kept: list |", "strict=True")
FAULTS = {
    "max((abs(v)": ["min((abs(v)"],
    "abs(v)": ["v"],
    "v < 1e-06 and x and kept": ["True", "v < 1e-06 and x", "v < 1e-06 or x or kept"],
    "v < 1e-06": ["v < 1e-05"],
    "(x > 1) & (x < 2)": ["x < 2", "not (x > 1) & (x < 2)"],
    "+ np": ["- np"],
    "0.5": ["-0.5"],
    "break": ["continue"],
}


def test_every_fault_is_another_program_and_those_of_numerical_code_are_among_them() -> None:
    found = [text for place in mutate.places(SOURCE) for text in place.faults()]
    assert len(found) > 40
    assert len({RIGHT, *(ast.unparse(ast.parse(text)) for text in found)}) > len(found)
    assert all(hint in text for text in found for hint in HINTS)
    for old, faults in FAULTS.items():
        assert RIGHT.count(old) == 1
        assert {RIGHT.replace(old, new) for new in faults} <= set(found)
