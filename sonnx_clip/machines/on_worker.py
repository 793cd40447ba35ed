"""What a Dask worker runs: a separate process for each call, killed when the client stops waiting.

A worker lives long, and Dask's nanny gives it variables of its own. So each call has a process that begins
with the variables of the caller's machine, reads every module anew, and can be killed with all that it has
started. It ends when the worker does.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import IO, TYPE_CHECKING, Any

from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LOOK = 0.1  # seconds between two looks whether anybody waits for the answer
_SAID = 300  # characters shown of what a process wrote last
_AT_WORK = ("running", "paused", "closing_gracefully")


class FarProcessEndedError(Exception):
    """The process ended before it had answered, or was killed because the client stopped waiting."""


@dataclass(frozen=True)
class FarReply:
    """The outcome of a call: a value; what, where and what to do, of a UserError; or a traceback."""

    value: Any = None
    refused: tuple[str, str | None, str | None] | None = None
    failed: str | None = None


@dataclass(frozen=True)
class FarEnvironment:
    """The environment of calls: variables with these prefixes are those of the caller's machine."""

    prefixes: tuple[str, ...]
    variables: Mapping[str, str]

    def run(self, payload: bytes, gone: Callable[[], bool] = lambda: False) -> FarReply:
        """Call a pickled function of no arguments in a process of its own.

        The process is killed once `gone` is true: the client stopped waiting for the answer.

        Raises:
            FarProcessEndedError: it has ended, or was killed.
        """
        others = {name: value for name, value in os.environ.items() if not name.startswith(self.prefixes)}
        ours, theirs = Pipe()
        with ours, tempfile.TemporaryFile() as wrote:
            with theirs:
                program = f"from {__name__} import serve; serve({theirs.fileno()})"
                process = subprocess.Popen(
                    [sys.executable, "-c", program], env={**others, **self.variables},
                    pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=wrote,
                )  # fmt: skip
            try:
                ours.send_bytes(payload)
                while not ours.poll(_LOOK):
                    if gone():
                        raise FarProcessEndedError("the client stopped waiting for the answer")
                found = ours.recv()
            except (EOFError, OSError):
                raise FarProcessEndedError(_how_ended(process, wrote)) from None
            finally:
                process.kill()  # what it has started notices that
                process.wait()
        assert isinstance(found, FarReply)
        return found


def _how_ended(process: subprocess.Popen[bytes], wrote: IO[bytes]) -> str:
    process.kill()
    status = process.wait()
    how = f"with status {status}" if status >= 0 else f"by {signal.Signals(-status).name}"
    wrote.seek(0)
    said = wrote.read().decode("utf-8", "replace").strip().rpartition("\n")[2][-_SAID:]
    return f"a process of {sys.executable} ended {how}{': ' if said else ''}{said}"


def serve(descriptor: int) -> None:
    """Main function of such a process: answer the call that comes by a descriptor."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker's to answer
    connection: Connection = Connection(descriptor)
    payload = connection.recv_bytes()

    def end_with_worker() -> None:
        with suppress(EOFError, OSError):
            connection.recv_bytes()
        os._exit(1)

    threading.Thread(target=end_with_worker, daemon=True).start()
    try:
        reply = FarReply(value=pickle.loads(payload)())  # noqa: S301 - a scheduler executes what it is sent
    except UserError as error:
        reply = FarReply(refused=(error.what, error.where, error.todo))
    except Exception:  # noqa: BLE001 - raised again where it was called
        reply = FarReply(failed=traceback.format_exc())
    connection.send(reply)


def run_far(environment: FarEnvironment, payload: bytes) -> tuple[str, FarReply]:
    """A task of Dask: the worker's address, and the outcome of a call.

    Raises:
        FarProcessEndedError: its process ended; Dask tries again.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def gone() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled" or worker.status.name not in _AT_WORK

    return worker.address, environment.run(payload, gone)
