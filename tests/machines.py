"""Other machines, emulated on this one by the environment that a notebook's kernel starts with.

The kernels of BLAS, NumPy, libm and PyTorch are chosen when they are loaded, by the CPU that they
find; each has a variable that makes it find a lesser one. Together with the number of threads they
change the order of sums, and with it the last digits.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from reluflow.places import LIBRARY

EMULATED = ("x86_64", "AMD64")
NO_FUSED = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F"
# Settings of the run around them are not the notebooks': pytest's, matplotlib's, and all that these
# machines set. Native is what is found without any of them.
OUTER = ("PYTEST_", "MPLBACKEND", "OMP_", "OPENBLAS_", "MKL_", "NPY_", "ATEN_", "GLIBC_TUNABLES")
# On two cores two notebooks run side by side: a second thread of BLAS slows both.
NATIVE = {"OMP_NUM_THREADS": "1"}
TWO = {"OMP_NUM_THREADS": "2"}


def numpy_levels() -> list[str]:
    """The levels for which NumPy has kernels and this CPU runs them, least first."""
    return [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]


def machines(levels: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the variables of each machine by name: `native`, `far`, and all between.

    Parameters: `levels` of this CPU, as `numpy_levels` gives them.
    """
    newest, all_of_them = " ".join(levels[1:]), " ".join(levels)
    far = {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": all_of_them,
        "GLIBC_TUNABLES": NO_FUSED,
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "COMPATIBLE",
    }
    between = {
        "two threads": TWO,
        "OpenBLAS Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
        "OpenBLAS Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
        "NumPy's least but one": {"NPY_DISABLE_CPU_FEATURES": newest},
        "NumPy's least": {"NPY_DISABLE_CPU_FEATURES": all_of_them},
        "libm without FMA": {"GLIBC_TUNABLES": NO_FUSED},
        "PyTorch's least": {"ATEN_CPU_CAPABILITY": "default"},
        "MKL for every CPU": {"MKL_CBWR": "COMPATIBLE"},
        "MKL for AVX2": {"MKL_CBWR": "AVX2"},
        "far, two threads": far | TWO,
    }
    return {k: NATIVE | v for k, v in {"native": {}, "far": far, **between}.items()}


def why_not(name: str) -> str:
    """Why this machine cannot be emulated here; empty if it can."""
    if name in ("native", "two threads") or platform.machine() in EMULATED:
        return ""
    return f"{name}: other CPUs are emulated on x86-64 only, and this is {platform.machine()}"


def nbval(notebook, machine, *options) -> subprocess.CompletedProcess[str]:
    """Run a notebook again on a machine and compare every output, pictures up to rounding."""
    # Of pytest's plugins nbval alone: the others take as long to load as many a page to run.
    args = ["-o", "addopts=", "-p", "no:cacheprovider", "-q", "--disable-plugin-autoload"]
    args += ["-p", "nbval.plugin", "-p", "nbval_numbers", "--nbval", "--nbval-current-env"]
    args += ["--nbval-cell-timeout=600", *options, os.path.basename(notebook)]
    server = _server(tuple(sorted(machine.items())))
    with tempfile.NamedTemporaryFile(mode="r", encoding="utf-8") as out:
        page = {"cwd": os.path.dirname(os.path.abspath(notebook)), "args": args, "out": out.name}
        print(json.dumps(page), file=server.stdin, flush=True)
        return subprocess.CompletedProcess(args, int(server.stdout.readline()), out.read(), "")


@cache
def _server(machine: tuple[tuple[str, str], ...]) -> subprocess.Popen[str]:
    """The process that executes pages on a machine, for as long as this one lives."""
    outer = {k: v for k, v in os.environ.items() if not k.startswith(OUTER)}
    tests = os.path.dirname(os.path.abspath(__file__))
    # The library that is tested, where a relative PYTHONPATH would mean another folder.
    parts = (tests, str(LIBRARY.parent), outer.get("PYTHONPATH"))
    path = os.pathsep.join(part for part in parts if part)
    return subprocess.Popen(
        [sys.executable, os.path.join(tests, "forked.py")],
        env={**outer, **dict(machine), "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def nearness(run: subprocess.CompletedProcess[str]) -> str:
    """What the run says of how near its outputs came to their tolerances."""
    lines = (line for line in run.stdout.splitlines() if "measured numbers compared" in line)
    return next(lines, "")
