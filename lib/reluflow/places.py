"""Where the book's files are: in the repository that the library is part of, or, where it was
installed from the wheel that comes with the pages, in the copy that the wheel carries."""

from __future__ import annotations

from pathlib import Path

LIBRARY = Path(__file__).resolve().parent
CARRIED = "_book"
BOOK = LIBRARY / CARRIED if (LIBRARY / CARRIED).is_dir() else LIBRARY.parents[1]

CHAPTERS = BOOK / "chapters"
BIBLIOGRAPHY = CHAPTERS / "references.bib"
CLAIMS = BOOK / "data" / "claims"
SEAL = CLAIMS / "seal.txt"
INSTEAD = BOOK / "data" / "instead"
DATASETS = BOOK / "data" / "datasets"
RECORDS = BOOK / "data" / "records"
RUNS = (Path() if BOOK.name == CARRIED else BOOK) / "_runs"
WITNESSES = BOOK / "data" / "witnesses"
