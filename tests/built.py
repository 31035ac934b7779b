"""The built book, for the tests that look at its pages."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def build(source: Path, output: Path) -> subprocess.CompletedProcess[str]:
    """Build as `book build` does, into `output`; every proxy leads nowhere."""
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    command = [str(Path(sys.executable).parent / "jupyter-book"), "build", str(source)]
    return subprocess.run(
        [*command, "--path-output", str(output), "--all", "-n", "-W", "--keep-going"],
        env={**os.environ, **nowhere},
        capture_output=True,
        text=True,
        check=False,
    )
