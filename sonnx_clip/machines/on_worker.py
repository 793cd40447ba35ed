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
import time
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.processes import how_ended

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# Seconds between two looks whether anybody waits for the answer, or the worker has ended.
_LOOK = 0.1
_SHOWN = 300  # characters shown of what a process wrote last
_AT_WORK = ("running", "paused", "closing_gracefully")

Outcome: TypeAlias = "tuple[Any, Exception | None]"
"""A value; or the UserError that was raised, or a RuntimeError with the traceback of any other exception."""


class FarProcessEndedError(Exception):
    """The process ended before it had answered, or was killed because the client stopped waiting."""


def run_far(
    prefixes: Sequence[str],
    variables: Mapping[str, str],
    payload: bytes,
) -> tuple[str, Outcome]:
    """A task of Dask: the worker's address, and the outcome of a call in a process of its own.

    Args:
        prefixes: of the environment variables that the call has as on the caller's machine.
        variables: those of them that are set there.
        payload: a pickled function of no arguments.

    Raises:
        FarProcessEndedError: its process ended; Dask tries again.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def gone() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled" or worker.status.name not in _AT_WORK

    # The caller's variables of these prefixes, and none of the worker's; of others the worker's own.
    environment = dict(variables)
    for name, value in os.environ.items():
        if not name.startswith(tuple(prefixes)):
            environment.setdefault(name, value)
    return worker.address, call_in_process(environment, payload, gone)


def call_in_process(
    environment: Mapping[str, str],
    payload: bytes,
    gone: Callable[[], bool],
) -> Outcome:
    """The outcome of a pickled function in a process with this environment, killed once `gone` is true.

    Raises:
        FarProcessEndedError: the process has ended, or was killed.
    """
    with (
        tempfile.TemporaryFile() as request,
        tempfile.TemporaryFile() as answer,
        tempfile.TemporaryFile() as wrote,
    ):
        request.write(payload)
        request.seek(0)
        program = f"from {__name__} import serve; serve({answer.fileno()}, {os.getpid()})"
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            env=environment,
            pass_fds=[answer.fileno()],
            stdin=request,
            stdout=subprocess.DEVNULL,
            stderr=wrote,
        )
        try:
            while process.poll() is None:
                if gone():
                    raise FarProcessEndedError("the client stopped waiting for the answer")
                time.sleep(_LOOK)
        finally:
            process.kill()  # what it has started notices that
            status = process.wait()
        if status == 0:
            answer.seek(0)
            # A function that ends the process itself, as by sys.exit(), leaves no answer or a part.
            with suppress(EOFError, pickle.UnpicklingError):
                outcome: Outcome = pickle.load(answer)  # noqa: S301 - of our own process
                return outcome
        wrote.seek(0)
        output = wrote.read().decode("utf-8", "replace").strip()
        last_line = output.rpartition("\n")[2][-_SHOWN:]
        message = f"a process of {sys.executable} ended: {how_ended(status)}"
        if last_line:
            message += f": {last_line}"
        raise FarProcessEndedError(message)


def serve(answer: int, worker: int) -> None:
    """Main function of such a process: call the function at standard input, write the outcome to a file."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker's to answer

    def end_with_worker() -> None:
        while os.getppid() == worker:
            time.sleep(_LOOK)
        os._exit(1)

    threading.Thread(target=end_with_worker, daemon=True).start()
    outcome: Outcome
    try:
        outcome = pickle.load(sys.stdin.buffer)(), None  # noqa: S301 - a scheduler executes what it is sent
    except UserError as error:
        outcome = None, error
    except Exception:  # noqa: BLE001 - raised again where it was called
        outcome = None, RuntimeError(traceback.format_exc())
    with os.fdopen(answer, "wb") as file:
        pickle.dump(outcome, file)
    os._exit(0)  # whatever the function has left running
