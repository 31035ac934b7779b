"""The bar of a long computation: what a terminal, a notebook and a log see of it."""

from __future__ import annotations

import pytest
from reluflow import progress as module
from reluflow.progress import progress


class Handle:
    """A notebook's output, with all that it ever showed."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def update(self, text: str) -> None:
        self.seen.append(repr(text))


@pytest.fixture
def handle(monkeypatch: pytest.MonkeyPatch) -> Handle:
    """A notebook in whose place nothing else is shown."""
    made = Handle()

    def display(text: str, display_id: bool) -> Handle:
        made.update(text)
        return made

    monkeypatch.setattr(module, "get_ipython", object)
    monkeypatch.setattr(module, "display", display)
    return made


def test_a_notebook_stores_the_total_alone(handle: Handle, capsys: pytest.CaptureFixture) -> None:
    assert list(progress("abc", 3, "panels")) == ["a", "b", "c"]
    assert handle.seen[0] == handle.seen[-1] == "3 panels"
    assert any("0/3" in text for text in handle.seen)
    assert capsys.readouterr() == ("", "")


def test_a_failure_leaves_the_total_too(handle: Handle) -> None:
    with pytest.raises(ZeroDivisionError):
        list(progress((1 / k for k in (1, 0)), 2, "panels"))
    assert handle.seen[-1] == "2 panels"
