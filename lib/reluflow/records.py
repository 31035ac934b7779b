"""Records: what takes too long for a page is read from `data/records`, or made again in pieces.

A record in the making is a folder of pieces, each written to a temporary name and renamed, so that
a run that was killed goes on behind the last one. Seed, device, code and packages are in the name
of the folder: what any of them changed is not taken for what is asked.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import platform
import re
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from reluflow.errors import InputError
from reluflow.parameters import Parameter
from reluflow.places import LIBRARY, RECORDS, RUNS

T = TypeVar("T")
PAGE, PAPER = "page", "paper"


class Pieces:
    """What has been made of a record, in a folder, and the seconds that this took so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._clock = folder / "seconds.pickle"
        there = self._clock.is_file()
        self._spent = pickle.loads(self._clock.read_bytes()) if there else (0.0, 0.0)
        self._since = time.perf_counter(), time.process_time()

    def __call__(self, name: str, make: Callable[[], T]) -> T:
        """The piece of this name, made where there is none."""
        file = self.folder / f"{name}.pickle"
        if not file.is_file():
            write(file, pickle.dumps(make()))
            write(self._clock, pickle.dumps(self.seconds))
        return pickle.loads(file.read_bytes())

    @property
    def seconds(self) -> tuple[float, float]:
        """What all runs took so far: seconds that passed, and those of the processor."""
        now = time.perf_counter(), time.process_time()
        wall, cpu = (s + b - a for s, a, b in zip(self._spent, self._since, now, strict=True))
        return wall, cpu


@dataclass(frozen=True)
class Shelf:
    """The records of a page.

    page    the page's path in `chapters`, without its ending
    prefix  of the files: PREFIXNAME.json
    make    makes a record from its name, pieces, seed and device: what JSON takes
    names   the records of the page
    folder  where they are read; what it lacks is read in `data/records`
    """

    page: str
    prefix: str
    make: Callable[[str, Pieces, int, str], dict[str, Any]]
    names: tuple[str, ...]
    folder: Path = RECORDS

    @property
    def parameter(self) -> Parameter:
        """The page's parameter `scale`."""
        known = (PAGE, PAPER, *self.names)
        told = ", ".join(f'"{name}"' for name in known)
        return Parameter(
            str,
            '"page" shows the records, "paper" makes them again first, the name of one makes that '
            f"one: {told}",
            lambda value: value in known,
            f"one of {told}",
        )

    def file(self, name: str) -> Path:
        """Where a record is read."""
        own = self.folder / f"{self.prefix}{name}.json"
        return own if own.is_file() else RECORDS / own.name

    def read(self, name: str) -> dict[str, Any]:
        """A record."""
        return json.loads(self.file(name).read_text(encoding="utf-8"))

    def at(self, scale: str, seed: int, device: str = "cpu", root: Path | None = None) -> Shelf:
        """The shelf that a page with this `scale` reads; first makes what is asked, in a folder of
        `root`, by default `_runs/records`. Raises InputError where that cannot be written."""
        if scale == PAGE:
            return self
        key = f"seed-{seed}" if device == "cpu" else f"seed-{seed}-{device.replace(':', '-')}"
        folder = (root or RUNS / "records") / f"{key}-{code()[:8]}"
        for name in self.names if scale == PAPER else (scale,):
            file = folder / f"{self.prefix}{name}.json"
            if not file.is_file():
                self._make(name, file, seed, device)
            print(f"record: {file}")
        return replace(self, folder=folder)

    def _make(self, name: str, file: Path, seed: int, device: str) -> None:
        pieces = Pieces(file.with_suffix(""))
        facts = self.make(name, pieces, seed, device)
        wall, cpu = pieces.seconds
        command = f"papermill chapters/{self.page}.ipynb out.ipynb -p scale {name} -p seed {seed}"
        facts = {
            "command": command if device == "cpu" else f"{command} -p device {device}",
            "versions": {
                "python": platform.python_version(),
                "numpy": metadata.version("numpy"),
                "torch": metadata.version("torch"),
            },
            "seed": seed,
            "wall_s": round(wall),
            "cpu_s": round(cpu),
            **facts,
        }
        text = json.dumps(facts).replace(', "', ',\n"').replace("], [", "],\n[")
        write(file, f"{text}\n".encode())
        shutil.rmtree(pieces.folder, ignore_errors=True)


def write(file: Path, data: bytes) -> None:
    """Write a file, whole or not at all. Raises InputError where that is not possible."""
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(data)
        new.replace(file)
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}.") from None
    finally:
        with suppress(OSError):
            new.unlink()  # what there is of it


def code(*more: str | Path) -> str:
    """16 hexadecimal digits, a digest of the library, of this Python with the packages that the
    library asks for, and of `more`, texts and files."""
    told = [platform.python_version()]
    for name in sorted(re.split(r"[^\w.-]", p)[0] for p in metadata.requires("reluflow") or ()):
        with suppress(metadata.PackageNotFoundError):
            told.append(f"{name}=={metadata.version(name)}")
    for each in (*sorted(LIBRARY.rglob("*.py")), *more):
        told += [each.name, each.read_text("utf-8")] if isinstance(each, Path) else [each]
    return hashlib.sha256("\0".join(told).encode()).hexdigest()[:16]
