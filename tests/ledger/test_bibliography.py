from pathlib import Path

import pytest
from reluflow.ledger import inventory

ENTRIES = """@article{undated2022,
  title = {No year},
}
@article{dated2023,
  year = {2023b},
}
"""


def test_a_year_is_that_of_the_entry_and_of_no_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "references.bib"
    file.write_text(ENTRIES, encoding="utf-8")
    monkeypatch.setattr(inventory, "BIBLIOGRAPHY", file)
    assert [inventory.year(key) for key in ("undated2022", "dated2023", "none")] == [
        "", "2023b", ""
    ]  # fmt: skip
