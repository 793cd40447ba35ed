"""A scheduler of Dask and workers on loopback, each a process of its own, for tests that kill them."""

import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from sonnx_clip.root.folders import repo_root

PATIENCE = 60  # seconds
AT_WORK = 4
"""Processes below a worker when a runtime is called: ours, one that forks, the supervisor, the runtime."""


class Cluster:
    """A scheduler that listens at `address`, and its workers, with settings of Dask as variables."""

    def __init__(self, folder, protocol="tcp", settings=None):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address, self._folder, self._settings = (
            f"{protocol}://127.0.0.1:{port}",
            folder,
            settings or {},
        )
        self._started = []
        host = f"{protocol}://127.0.0.1"
        self._start("scheduler", "--host", host, "--port", str(port), "--no-show")

    def worker(self, threads, *more):
        """Start a worker, or a nanny with one."""
        words = ("--nthreads", str(threads), "--local-directory", str(self._folder), *more)
        return psutil.Process(self._start("worker", self.address, *words).pid)

    def _start(self, kind, *words):
        settings = {
            "PYTHONPATH": str(repo_root()),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
            "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "False",
            **self._settings,
        }
        program = f"{Path(sys.executable).with_name('dask')}"
        with (self._folder / f"{kind}.log").open("ab") as log:
            found = subprocess.Popen(
                [sys.executable, program, kind, *words, "--no-dashboard"], cwd=repo_root(),
                env={**os.environ, **settings}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        self._started.append(found)
        return found

    def close(self):
        """End all, and leave nothing."""
        left = [found for one in self._started for found in below(psutil.Process(one.pid))]
        for one in self._started:
            one.kill()
            one.wait()
        _, alive = psutil.wait_procs(left, PATIENCE)
        assert not alive, "what a worker has started ends with it"


def below(process):
    """All that descends from a process; nothing, if that has ended."""
    with suppress(psutil.Error):
        return process.children(recursive=True)
    return []
