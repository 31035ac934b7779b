"""A pytest plugin for `tests/mutate.py`: the coverage data say which test ran each line.

Lines that a fixture runs belong to the whole file, for other tests may share the fixture.
"""

from __future__ import annotations

import coverage
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _now(item.nodeid.split("::")[0])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    _now(item.nodeid.split("[")[0])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    _now(item.nodeid.split("::")[0])


def _now(context: str) -> None:
    measured = coverage.Coverage.current()
    assert measured is not None
    measured.switch_context(context)
