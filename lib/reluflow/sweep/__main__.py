"""`python -m reluflow.sweep NOTEBOOK --grid NAME=VALUES ... --out FOLDER`, or FOLDER to go on.

Runs a page with papermill at every point of a grid, on the cores of this machine or on the workers
of a Dask scheduler, and writes table.csv, table.parquet and index.html into the folder. What is
done already is not run again.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import logging
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dask.system import CPU_COUNT
from tqdm import tqdm

from reluflow import pages
from reluflow.errors import InputError
from reluflow.parameters import Parser
from reluflow.sweep.plan import Plan, plan
from reluflow.sweep.runs import DIED, Store, run

if TYPE_CHECKING:
    from reluflow.sweep.report import Swept

SETTINGS = "sweep.json"
_KEPT = ("notebook", "folder")
_PATIENCE = 20  # seconds in which a scheduler has to answer, and to have a worker


def main(arguments: Sequence[str] | None = None) -> int:
    """Sweep; 0: every run ended, 1: one failed or is to be done, 2: wrong use, 130: stopped."""
    parser = Parser(prog="sweep", description=__doc__.split("\n\n")[1])
    parser.add_argument("place", metavar="NOTEBOOK or FOLDER", help="a page, or a sweep to go on")
    parser.add_argument("--grid", action="append", default=[], metavar="NAME=VALUES",
                        help="seed=0:40 or n=5,10,20; the product of several is run")  # fmt: skip
    parser.add_argument("--out", metavar="FOLDER", help="for the runs: a path, or s3://...")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, default=CPU_COUNT, help="default: one a core")
    where.add_argument("--scheduler", default=os.environ.get("DASK_SCHEDULER_ADDRESS"),
                       help="of Dask, tcp://...; default: DASK_SCHEDULER_ADDRESS")  # fmt: skip
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        given = parser.parse_args(arguments)
        store, settings = _settings(given)
        asked = plan(_notebook(settings), Path(settings["folder"]), settings["grid"])
        with ExitStack() as stack:
            workers = stack.enter_context(_workers(given.scheduler, given.workers))
            _begun(store, settings, asked, stack)
            return _swept(workers, store, settings, asked)
    except InputError as error:
        print(f"sweep: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("sweep: stopped before it began", file=sys.stderr)
        return 130


def _settings(given: argparse.Namespace) -> tuple[Store, dict[str, Any]]:
    """Where the sweep is stored, and what it was asked for; InputError for another's folder."""
    if not given.place.endswith(".ipynb"):
        if given.grid or given.out:
            raise InputError(f"{given.place} is not a notebook, and goes on without --grid, --out.")
        store = Store(_absolute(given.place))
        old = _stored(store, given.place)
        if old is None:
            raise InputError(f"{given.place} is neither a notebook nor the folder of a sweep.")
        return store, old
    if not given.out:
        raise InputError("--out is missing: name a folder for the runs, such as _runs/first.")
    if not given.grid:
        raise InputError("the grid is empty: say --grid seed=0:10, for example.")
    store = Store(_absolute(given.out))
    new = {"notebook": given.place, "folder": os.getcwd(), "grid": given.grid}
    old = _stored(store, given.out)
    if old is not None and _notebook(old).resolve() != _notebook(new).resolve():
        raise InputError(f"{given.out} has the runs of {old['notebook']}: take another folder.")
    return store, new


def _stored(store: Store, named: str) -> dict[str, Any] | None:
    """What an earlier sweep in this folder was asked for; None where the folder is empty or new."""
    try:
        names = store.names()
        old = json.loads(store.read(SETTINGS)) if SETTINGS in names else None
        if old is not None:
            old = {"grid": [str(g) for g in old["grid"]], **{k: str(old[k]) for k in _KEPT}}
    except (OSError, ValueError, ImportError) as error:
        raise InputError(f"{named} cannot be read as the folder of a sweep ({error}).") from None
    except (KeyError, TypeError, RecursionError):
        raise InputError(f"{named}/{SETTINGS} is damaged: sweep into a new folder.") from None
    if names and old is None:
        raise InputError(f"{named} holds other files than a sweep's: take a new folder.")
    return old


def _absolute(url: str) -> str:
    if url.startswith("memory:"):
        raise InputError(f"{url} is in the memory of one process, and workers are others: take a "
                         "folder that all of them see.")  # fmt: skip
    return url if "://" in url else str(Path(url).resolve())


def _notebook(settings: Mapping[str, Any]) -> Path:
    return Path(settings["folder"], settings["notebook"])


def _begun(store: Store, settings: Mapping[str, Any], asked: Plan, stack: ExitStack) -> None:
    """Make the folder, hold it, where it is a local one, and write down what was asked for."""
    try:
        if "://" not in store.url:
            Path(store.url).mkdir(parents=True, exist_ok=True)
            held = os.open(store.url, os.O_RDONLY)
            stack.callback(os.close, held)
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        store.make()
        store.write(SETTINGS, json.dumps(settings, indent=1).encode())
        store.write(_page(asked), asked.source.encode())
    except BlockingIOError:
        raise InputError(f"another sweep runs in {store.url}: wait for it, or stop it.") from None
    except (OSError, ImportError) as error:
        raise InputError(f"{store.url} cannot be written ({error}).") from None


def _page(asked: Plan) -> str:
    return f"page-{asked.code}.ipynb"


@contextmanager
def _workers(scheduler: str | None, count: int) -> Iterator[Executor]:
    """What runs pages, each in a kernel: so many threads of this process, or Dask's workers."""
    if not scheduler:
        if count < 1:
            raise InputError(f"--workers must be at least 1, not {count}.")
        threads, usual = ThreadPoolExecutor(count), tempfile.gettempdir()
        # In it is all that runs put down: what a stopped one leaves goes with it.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as tempfile.tempdir:
            try:
                yield threads
            finally:
                threads.shutdown(wait=False, cancel_futures=True)
                tempfile.tempdir = usual
        return
    from distributed import Client

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, timeout=_PATIENCE)
    except (OSError, ValueError):
        raise InputError(f"no Dask scheduler answers at {scheduler}: start one there.") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise InputError(
                f"the scheduler at {scheduler} has no worker: `dask worker {scheduler}` starts one."
            ) from None
        yield client.get_executor(pure=False)


def _swept(workers: Executor, store: Store, settings: Mapping[str, Any], asked: Plan) -> int:
    """Do what is left to do, then write the table and the page of all that is done."""
    done = {row["key"]: row for row in _rows(store)}
    left = [key for key in asked.points if key not in done or done[key]["status"] == DIED]
    print(f"runs: {len(asked.points)}, done: {len(asked.points) - len(left)}", flush=True)
    lost: list[str] = []
    stopped = ""
    try:
        for key, row in _runs(workers, store, settings["folder"], asked, left):
            if isinstance(row, Exception):
                lost.append(f"{key}: {row}")
            else:
                done[key] = row
    except KeyboardInterrupt:
        stopped = "stopped"
    except OSError as error:
        stopped = str(error)
    from reluflow.sweep import report  # seaborn takes seconds, and no worker has to wait for it

    rows = report.Swept(done.values(), asked)
    title = f"Runs of {pages.name(_notebook(settings))}"
    shown = f"{store.url}/index.html"
    try:
        for name, data in report.files(title, _command(store, settings), rows):
            store.write(name, data)
    except OSError as error:
        shown, stopped = "", stopped or str(error)
    status = _told(store, asked, rows, lost, stopped)
    print(shown, flush=True)
    return status


def _rows(store: Store) -> list[dict[str, Any]]:
    found = []
    for name in (name for name in store.names("runs") if name.endswith(".json")):
        try:
            found.append(json.loads(store.read(f"runs/{name}")))
        except (ValueError, RecursionError):
            damaged = f"{store.url}/runs/{name} is damaged: delete it, and it is run again."
            raise InputError(damaged) from None
    return found


def _runs(
    workers: Executor, store: Store, folder: str, asked: Plan, keys: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """The rows of these runs as they end, or the error for which one has none; OSError where none
    can be stored any more, or where the scheduler is lost."""
    page, code = _page(asked), asked.code
    futures = {workers.submit(run, store, page, key, code, asked.points[key], folder): key
               for key in keys}  # fmt: skip
    for future in tqdm(as_completed(futures), total=len(futures), unit="run", disable=None):
        try:
            error = future.exception()
        except CancelledError:
            raise OSError("the scheduler was lost") from None
        if isinstance(error, OSError):
            raise error
        yield futures.pop(future), error or future.result()


def _command(store: Store, settings: Mapping[str, Any]) -> str:
    words = ["bash", "book", "sweep", settings["notebook"]]
    words += [word for text in settings["grid"] for word in ("--grid", text)]
    return shlex.join([*words, "--out", store.url.removeprefix(f"{settings['folder']}/")])


def _told(store: Store, asked: Plan, rows: Swept, lost: Sequence[str], stopped: str) -> int:
    for id, counts in rows.flipped.items():
        print(f"{id}: {', '.join(f'{n} {verdict}' for verdict, n in counts.items())}")
    left = len(asked.points.keys() - {*rows.fresh["run.key"]})
    failed, stale = len(rows.fresh) - len(rows.ended), len(rows.table) - len(rows.fresh)
    old = f"; rows of older code: {stale}" if stale else ""
    print(f"runs done: {len(rows.fresh)}, failed: {failed}, to do: {left}{old}", flush=True)
    for line in lost[:10]:
        print(f"sweep: {line}", file=sys.stderr)
    if left or stopped:
        why = stopped or f"runs lost: {len(lost)}"
        print(f"sweep: {why}; `bash book sweep {store.url}` goes on", file=sys.stderr)
    if stopped == "stopped":
        return 130
    return int(bool(left or failed or stopped))


if __name__ == "__main__":
    status = 1
    try:
        status = main()
        sys.stdout.flush()
    except Exception:  # such as of a pipe whose reader is gone
        sys.excepthook(*sys.exc_info())
    os._exit(status)  # kernels of runs that were stopped end with this process; none waits for them
