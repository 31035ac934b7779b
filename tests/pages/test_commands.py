"""The two commands of the README, with stand-ins for Python, pip and the tools that they call."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

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

    script: Path | None = None  # where it is not the folder's own

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

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        known = {"PATH": self.programs, "LOG": self.log, "TOOL": self.programs / "tool"}
        return subprocess.Popen(
            ["bash", str(self.script or self.folder / "book"), *arguments],
            env={**{k: str(v) for k, v in known.items()}, "REAL": sys.executable, **more},
            cwd=self.folder.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def book(self, *arguments: str, **more: str) -> tuple[int, list[str], list[str]]:
        """The exit status, and the lines that it writes."""
        self.log.write_text("", encoding="utf-8")
        process = self.start(*arguments, **more)
        told = [text.splitlines() for text in process.communicate(timeout=60)]
        return process.returncode, *told

    @property
    def calls(self) -> str:
        return self.log.read_text(encoding="utf-8")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def test_build_makes_the_environment_and_prints_the_page_last(clone: Clone) -> None:
    status, told, errors = clone.book("build")
    assert (status, told[-1]) == (0, "_build/html/index.html"), errors
    for call in ("-m venv", "-m pip install", "jupyter-book build . --all -n -W --keep-going"):
        assert call in clone.calls


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
    ended, told, errors = clone.book(*arguments, FAILING=failing)
    assert ended == status
    assert called in clone.calls
    assert "_build/html/index.html" not in told
    assert any(line.startswith("usage: bash book build") for line in errors) == (status == 2)


def test_the_environment_is_made_again_where_it_does_not_fit(clone: Clone) -> None:
    """By other requirements, or because the clone was moved; not else."""
    clone.book("test")
    clone.book("test")
    assert "install" not in clone.calls
    for name in ("requirements.txt", "lib/pyproject.toml"):
        with (clone.folder / name).open("a", encoding="utf-8") as file:
            file.write("# changed\n")
        clone.book("build")
        assert "-m pip install" in clone.calls
        assert "-m venv" not in clone.calls
    clone.folder = clone.folder.rename(clone.folder.parent / "moved")
    assert clone.book("test")[0] == 0
    assert "-m venv" in clone.calls


def test_a_failed_installation_is_tried_again(clone: Clone) -> None:
    status, _, errors = clone.book("test", NO_PIP="1")
    assert status != 0
    assert "pytest" not in clone.calls
    # pip's reason, and not its trace.
    assert "install requirements.txt (No matching distribution)" in errors[-1]
    assert "trace" not in "".join(errors)
    assert clone.book("test")[0] == 0
    assert "-m pip install" in clone.calls


def test_both_commands_at_once_make_one_environment(clone: Clone) -> None:
    """The second waits for the first, finds the environment made and goes on."""
    running = [clone.start(name, SLOW="0.5") for name in ("build", "test", "test")]
    ended = [process.communicate(timeout=60) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], ended
    assert clone.calls.count("-m venv") == clone.calls.count("-m pip install") == 1
    assert clone.calls.count("-m pytest") == 2
    assert sum("waiting" in stderr for _, stderr in ended) == 2


def test_a_command_that_was_killed_leaves_no_lock(clone: Clone) -> None:
    clone.log.touch()
    process = clone.start("build", SLOW="0.2")
    while "-m pip install" not in clone.calls:
        time.sleep(0.01)
    process.kill()
    process.communicate()  # also the stand-in for pip, which holds the output open, is gone then
    assert clone.book("test")[0] == 0


@pytest.mark.parametrize("linked", ["clone", "clone/book"])
def test_a_symbolic_link_leads_to_the_same_environment(linked, clone, tmp_path):
    clone.book("test")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / linked)
    clone.script = link / "book" if link.is_dir() else link
    assert clone.book("test")[0] == 0
    assert "-m pytest" in clone.calls
    assert "install" not in clone.calls
    assert "-m venv" not in clone.calls


def test_without_python_one_sentence(clone: Clone) -> None:
    (clone.programs / "python3.11").unlink()
    clone.program("python3", "#!/bin/sh\nexit 1\n")  # an older one
    status, _, errors = clone.book("build")
    assert status != 0
    assert errors == ["book: Python 3.11 is needed and was not found."]


def test_without_venv_it_is_installed_or_one_sentence_says_how(clone: Clone) -> None:
    clone.program("id", "#!/bin/sh\necho 1000\n")
    status, _, (line,) = clone.book("build", NO_VENV="1")
    assert status != 0
    assert "apt-get install python3.11-venv" in line
    clone.program("id", "#!/bin/sh\necho 0\n")
    clone.program("apt-get", '#!/bin/sh\necho "apt-get $*" >>"$LOG"\n')
    assert clone.book("build", NO_VENV="1")[0] == 0
    assert "apt-get install -y python3.11-venv" in clone.calls
