"""Settings that every test shares, and how two workers divide the tests."""

import fcntl
import gc
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from built import ROOT, build
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

# Two workers on two cores: with more threads of BLAS each waits for the other. The workers and the
# kernels that they start inherit it; this process, which runs no test, does not need it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A figure is drawn for its file, never for a window.  Not by an environment
# variable: the kernels that the tests start would inherit it and show no figure.
matplotlib.use("Agg")

# The same examples on every run, and no test that fails because a machine was busy.
settings.register_profile("book", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("book")

# Long tests that share no fixture: each may go to the worker that is free.
ALONE = (
    "test_notebooks.py::test_a_notebook_gives_its_outputs_again",
    "test_notebooks.py::test_another_seed_gives_the_same_verdicts",
    "papers/test_pages.py::",
)


class ByModule(LoadScopeScheduling):
    """The tests of a module go to one worker, which makes their fixtures once; pages on the far
    machine go to every other one, and on this machine to the rest, as long as there is more to do:
    of the process from which they are forked (`forked.py`) each then needs one."""

    def _assign_work_unit(self, node: Any) -> None:
        is_far = int(node.gateway.id.removeprefix("gw")) % 2
        others = ("-native]", "test_nbval_numbers.py") if is_far else ("-far]",)
        for scope in self.workqueue:
            if not scope.endswith(others):
                self.workqueue.move_to_end(scope, last=False)
                break
        super()._assign_work_unit(node)

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if any(name in nodeid for name in ALONE) else nodeid.split("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByModule:
    return ByModule(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """What is collected stays to the end: to look for what may go would take a third as long."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Start the tests that run whole chapters or builds first, so that two workers end together;
    before all the one that builds the book: else both come to it at once, and one waits.

    On all emulated machines, and with other seeds, they run only when `-m matrix` asks for it.
    """
    if "matrix" not in config.option.markexpr:
        kept = [item for item in items if not _on_demand(item)]
        config.hook.pytest_deselected(items=[item for item in items if _on_demand(item)])
        items[:] = kept
    first = "site/test_book.py"
    items.sort(key=lambda i: (first not in i.nodeid, i.get_closest_marker("long") is None))


def _on_demand(item: pytest.Item) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    return "matrix" in marks and "long" not in marks


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built pages, which one worker builds for all."""
    place = tmp_path_factory.getbasetemp()
    output = (place.parent if "PYTEST_XDIST_WORKER" in os.environ else place) / "book"
    with open(f"{output}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (output / "built").exists():
            run = build(ROOT, output)
            assert run.returncode == 0, run.stdout + run.stderr
            (output / "built").touch()
    return output / "_build" / "html"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how near the notebooks' outputs came to their tolerances, on each machine."""
    for report in (r for key in ("passed", "failed") for r in terminalreporter.stats.get(key, [])):
        for name, line in report.user_properties if report.when == "call" else ():
            if name == "nearness":
                terminalreporter.write_line(line)
