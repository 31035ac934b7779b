"""Pages executed again by processes that begin where the imports of this one end.

    PYTHONPATH=tests python tests/forked.py

A page needs five seconds of imports before its first cell, and is executed on two machines. This
process has them once for all pages of a machine. It reads a line of JSON for a page, with the
folder `cwd`, pytest's `args` and the file `out` for what it prints, and answers with pytest's
exit status. The process of a page and that of its kernel are forks of this one.
"""

import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from typing import Self

from reluflow.places import LIBRARY

# What the pages import, and what executes them; not the plugins, which pytest imports itself.
BEFORE = (
    *("pytest", "jupyter_client", "ipykernel.kernelapp", "nbformat", "nbval.kernel", "pictures"),
    *("coverage", "ipykernel.debugger", "tornado.platform.asyncio", "IPython.core.completerlib"),
    *("IPython.core.oinspect", "IPython.extensions.storemagic", "_pytest.junitxml", "sqlite3"),
    *("matplotlib.figure", "pandas.io.formats.style", "seaborn", "sympy", "tqdm"),
    *("scipy.integrate", "scipy.optimize", "scipy.stats"),
    *("reluflow.parameters", "reluflow.figures", "reluflow.ledger", "reluflow.falsify"),
    *("reluflow.flows.affine", "reluflow.margin.limits", "reluflow.your_data.study"),
    *(".".join(file.relative_to(LIBRARY.parent).with_suffix("").parts)
      for file in sorted(LIBRARY.glob("papers/*/[a-z]*.py"))),
)  # fmt: skip


class Kernel(subprocess.Popen):
    """A kernel's process, forked before there are threads; it waits for its connection file."""

    def __init__(self) -> None:
        os.environ["JPY_PARENT_PID"] = str(os.getpid())
        self.line, self.theirs = socket.socketpair()
        super().__init__("kernel")
        self.theirs.close()

    def _execute_child(self, *_: object) -> None:
        self._child_created = True
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            self.line.close()
            if connection := self.theirs.recv(4096).decode():
                say_to(os.devnull)
                sys.argv = ["ipykernel_launcher", "-f", connection]
                app = sys.modules["ipykernel.kernelapp"].IPKernelApp.instance()
                app.initialize()
                self.theirs.send(b"listening")
                app.start()
            os._exit(0)

    def begin(self, command: list[str], **_: object) -> Self:
        """Start what jupyter_client means to start, whose last argument is the connection file, and
        wait until it listens: who calls before tries again a tenth of a second later."""
        self.line.send(command[-1].encode())
        self.line.recv(16)
        return self


def say_to(path: str) -> None:
    """Let standard output and error go to a file, and standard input be empty."""
    sys.stdout.flush()
    for descriptor, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY | os.O_CREAT)):
        opened = os.open(os.devnull if descriptor == 0 else path, mode)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.dup2(1, 2)


def execute(cwd: str, args: list[str], out: str) -> int:
    """Run a page in this process; return pytest's exit status."""
    from jupyter_client.blocking import BlockingKernelClient
    from jupyter_client.provisioning import local_provisioner
    from nbval import kernel as running

    os.chdir(cwd)
    say_to(out)
    kernel = Kernel()
    local_provisioner.launch_kernel = kernel.begin

    def died(*_: object) -> None:
        """Where nbval would wait for an answer until the cell's time is over."""
        if kernel.poll() is not None:
            with open(out, "a") as told:
                print("the kernel died", file=told)
            os._exit(1)

    def stopped(one: running.RunningKernel) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        kernel.kill()
        kernel.wait()  # nbval would ask every tenth of a second
        stop(one)

    signal.signal(signal.SIGCHLD, died)
    stop, running.RunningKernel.stop = running.RunningKernel.stop, stopped
    # It ends with a fifth of a second in which nothing comes; nbval goes on to wait for itself.
    BlockingKernelClient.wait_for_ready = lambda *_, **__: None
    running.pformat = lambda message: ""  # of every picture, for a log that nobody keeps
    return int(sys.modules["pytest"].main(args))


def main() -> None:
    # matplotlib reads it when it is imported, and a kernel sets it when it starts.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # a kernel's debugger warns at its import
    for name in BEFORE:
        with suppress(Exception):  # the page will say what is wrong with it
            importlib.import_module(name)
    nbformat = sys.modules["nbformat"]
    nbformat.validate(nbformat.v4.new_notebook())  # compiles a schema
    gc.freeze()  # no collection in a page or a kernel walks through what stands here
    # pandas asks when it is imported whether its tables go to a terminal.
    sys.modules["pandas"].set_option("display.max_columns", 20)
    for line in sys.stdin:
        if (page := os.fork()) == 0:
            status = execute(**json.loads(line))
            sys.stdout.flush()
            os._exit(status)
        print(os.waitstatus_to_exitcode(os.waitpid(page, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
