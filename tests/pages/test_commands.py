"""The two commands of the README, with stand-ins for Python, pip and the tools that they call."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

# Does what `book` asks of a Python, and writes down what it was asked.
PYTHON = """#!/bin/sh
echo "$@" >>"$LOG"
case "$*" in
*flock*) exec "$REAL" "$@" ;;
*ensurepip*) exit ${NO_VENV:-0} ;;
*"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python && cp "$TOOL" .venv/bin/jupyter-book ;;
*"-m pip install"*)
    # Two at once would find the other's mark.
    mkdir installing || { echo "two at once" >>"$LOG"; exit 1; }
    sleep ${SLOW:-0}
    rmdir installing
    [ -z "${NO_PIP-}" ] || printf 'Trying\\nERROR: No matching distribution\\n  trace\\n' >&2
    exit ${NO_PIP:-0} ;;
*"-m pytest"*) exit ${FAILING:-0} ;;
esac
"""
TOOL = """#!/bin/sh
echo "jupyter-book $*" >>"$LOG"
echo building
exit ${FAILING:-0}
"""
COMMANDS = (
    "bash", "cat", "cp", "dirname", "head", "id", "mkdir", "readlink", "rmdir", "sh", "sleep"
)  # fmt: skip


class Clone:
    """A folder with the script, the requirements and nothing else, on a machine of stand-ins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "clone"
        self.log = folder / "log"
        self.programs = folder / "programs"
        (self.folder / "lib").mkdir(parents=True)
        self.programs.mkdir()
        for name in ("book", "requirements.txt", "lib/pyproject.toml"):
            shutil.copy(ROOT / name, self.folder / name)
        for name in COMMANDS:
            (self.programs / name).symlink_to(shutil.which(name) or name)
        self.program("python3.11", PYTHON)
        self.program("tool", TOOL)

    def program(self, name: str, text: str) -> None:
        path = self.programs / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def start(
        self, *arguments: str, script: Path | None = None, **environment: str
    ) -> subprocess.Popen[str]:
        known = {"PATH": self.programs, "LOG": self.log, "TOOL": self.programs / "tool"}
        return subprocess.Popen(
            ["bash", str(script or self.folder / "book"), *arguments],
            env={**{k: str(v) for k, v in known.items()}, "REAL": sys.executable, **environment},
            cwd=self.folder.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def book(
        self, *arguments: str, script: Path | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        self.log.write_text("", encoding="utf-8")
        process = self.start(*arguments, script=script, **environment)
        stdout, stderr = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)

    @property
    def calls(self) -> str:
        return self.log.read_text(encoding="utf-8")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def test_build_makes_the_environment_and_prints_the_page_last(clone: Clone) -> None:
    run = clone.book("build")
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "_build/html/index.html"
    assert "-m venv" in clone.calls
    assert "-m pip install" in clone.calls
    assert "jupyter-book build . --all -n -W --keep-going" in clone.calls


@pytest.mark.parametrize(
    ("arguments", "failing", "status", "called"),
    [
        (["test", "-k", "two words"], "0", 0, "-m pytest -k two words"),
        (["test"], "5", 5, "-m pytest"),
        (["build"], "1", 1, "jupyter-book build"),
        (["run", "my.csv", "-p", "h", "3"], "0", 0, "-m reluflow.run my.csv -p h 3"),
        (["tets"], "0", 2, ""),
        ([], "0", 2, ""),
    ],
)
def test_arguments_and_status_are_passed_on(arguments, failing, status, called, clone):
    run = clone.book(*arguments, FAILING=failing)
    assert run.returncode == status
    assert called in clone.calls
    assert "index.html" not in run.stdout
    assert run.stderr.startswith("usage: bash book build") == (status == 2)


def test_requirements_are_installed_when_they_change_and_not_else(clone: Clone) -> None:
    clone.book("test")
    clone.book("test")
    assert "install" not in clone.calls
    for name in ("requirements.txt", "lib/pyproject.toml"):
        with (clone.folder / name).open("a", encoding="utf-8") as file:
            file.write("# changed\n")
        clone.book("build")
        assert "-m pip install" in clone.calls
        assert "-m venv" not in clone.calls


def test_a_failed_installation_is_tried_again(clone: Clone) -> None:
    run = clone.book("test", NO_PIP="1")
    assert run.returncode != 0
    assert "pytest" not in clone.calls
    # pip's reason, and not its trace.
    assert "install requirements.txt (No matching distribution)" in run.stderr.splitlines()[-1]
    assert "trace" not in run.stderr
    assert clone.book("test").returncode == 0
    assert "-m pip install" in clone.calls


def test_a_moved_clone_makes_its_environment_again(clone: Clone) -> None:
    clone.book("test")
    clone.folder = clone.folder.rename(clone.folder.parent / "moved")
    assert clone.book("test").returncode == 0
    assert "-m venv" in clone.calls


def test_both_commands_at_once_make_one_environment(clone: Clone) -> None:
    """The second waits for the first, finds the environment made and goes on."""
    clone.log.write_text("", encoding="utf-8")
    running = [clone.start(name, SLOW="1") for name in ("build", "test", "test")]
    ended = [process.communicate(timeout=60) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], ended
    assert clone.calls.count("-m venv") == clone.calls.count("-m pip install") == 1
    assert clone.calls.count("-m pytest") == 2
    assert sum("waiting" in stderr for _, stderr in ended) == 2


def test_a_command_that_was_killed_leaves_no_lock(clone: Clone) -> None:
    clone.log.write_text("", encoding="utf-8")
    process = clone.start("build", SLOW="0.2")
    while "-m pip install" not in clone.calls:
        time.sleep(0.01)
    process.kill()
    process.communicate()  # also the stand-in for pip, which holds the output open, is gone then
    assert clone.book("test").returncode == 0


@pytest.mark.parametrize("folder", [False, True], ids=["script", "folder"])
def test_a_symbolic_link_leads_to_the_same_environment(clone, folder, tmp_path):
    clone.book("test")
    link = tmp_path / "link"
    link.symlink_to(clone.folder if folder else clone.folder / "book")
    run = clone.book("test", script=link / "book" if folder else link)
    assert run.returncode == 0, run.stderr
    assert "-m pytest" in clone.calls
    assert "install" not in clone.calls
    assert "-m venv" not in clone.calls


def test_without_python_one_sentence(clone: Clone) -> None:
    (clone.programs / "python3.11").unlink()
    clone.program("python3", "#!/bin/sh\nexit 1\n")  # an older one
    run = clone.book("build")
    assert run.returncode != 0
    assert run.stderr == "book: Python 3.11 is needed and was not found.\n"


def test_without_venv_it_is_installed_or_one_sentence_says_how(clone: Clone) -> None:
    clone.program("id", "#!/bin/sh\necho 1000\n")
    run = clone.book("build", NO_VENV="1")
    assert run.returncode != 0
    assert run.stderr.count("\n") == 1
    assert "apt-get install python3.11-venv" in run.stderr

    clone.program("id", "#!/bin/sh\necho 0\n")
    clone.program("apt-get", '#!/bin/sh\necho "apt-get $*" >>"$LOG"\n')
    assert clone.book("build", NO_VENV="1").returncode == 0
    assert "apt-get install -y python3.11-venv" in clone.calls


def test_the_readme_has_the_two_commands_and_ci_calls_the_second() -> None:
    blocks = re.findall(r"^```\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    assert "bash book build\n" in blocks
    assert "bash book test\n" in blocks
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.splitlines()[-1] == "exec bash book test"
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_what_the_readme_names_is_there() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / link).is_file(), link
    for line in re.findall(r"^\.venv/bin/.*", README, flags=re.MULTILINE):
        program, *words = line.split()
        assert (Path(sys.executable).parent / Path(program).name).is_file(), program
        for word in words:
            assert not word.startswith("chapters/") or (ROOT / word).is_file(), word
    modules = re.findall(r"python -m (reluflow[\w.]*)", README)
    assert all([len(modules), *map(importlib.util.find_spec, modules)]), modules
