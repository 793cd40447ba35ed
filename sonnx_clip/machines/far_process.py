"""A process that calls functions for a Dask worker: of the code as it lies on the disk there.

A worker lives long, and Dask's nanny gives it variables of its own. So the functions run beside it: in a
process that begins with the variables of whoever asks, that reads every module anew, and that can be killed
with all that it has started. It ends when the worker is gone.
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
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LOOK = 0.1  # seconds between two looks whether anybody waits for the answer
_SAID = 300  # characters of what it wrote last


class FarProcessEndedError(Exception):
    """The process ended before it had answered, or was ended because nobody waits for the answer."""


@dataclass(frozen=True)
class FarReply:
    """What comes of a call.

    Args:
        value: what the function returned.
        refused: what, where and what to do, of a UserError.
        failed: the traceback of any other exception.
    """

    value: Any = None
    refused: tuple[str, str | None, str | None] | None = None
    failed: str | None = None


@dataclass(frozen=True)
class HomeVariables:
    """The variables of the environment that a process has as whoever asks has them.

    Args:
        prefixes: with which their names begin.
        values: those that are set; others with these prefixes are not.
    """

    prefixes: tuple[str, ...]
    values: Mapping[str, str]

    def applied(self) -> dict[str, str]:
        """The environment of this process with them."""
        others = {name: value for name, value in os.environ.items() if not name.startswith(self.prefixes)}
        return {**others, **self.values}


class FarProcess:
    """Such a process, and the worker's end of the line to it.

    Args:
        variables: what it begins with.
    """

    def __init__(self, variables: HomeVariables) -> None:
        self._connection, theirs = Pipe()
        self._wrote = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        with theirs:
            program = f"from {__name__} import serve; serve({theirs.fileno()})"
            self._process = subprocess.Popen(
                [sys.executable, "-c", program], env=variables.applied(), pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._wrote,
            )  # fmt: skip

    def call(self, payload: bytes, gone: Callable[[], bool]) -> FarReply:
        """What comes of a call.

        Args:
            payload: a function of no arguments, pickled.
            gone: says whether nobody waits for the answer any more; the process is then killed.

        Raises:
            FarProcessEndedError: it has ended.
        """
        try:
            self._connection.send_bytes(payload)
            while not self._connection.poll(_LOOK):
                if gone():
                    self.kill()
                    raise FarProcessEndedError("nobody waits for the answer")
            found = self._connection.recv()
        except (EOFError, OSError):
            raise FarProcessEndedError(self._how_ended()) from None
        assert isinstance(found, FarReply)
        return found

    def kill(self) -> None:
        """End it; what it has started notices that."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End it, and leave nothing of it."""
        self.kill()
        self._connection.close()
        self._wrote.close()

    def _how_ended(self) -> str:
        self.kill()
        status = self._process.returncode
        how = f"with status {status}" if status >= 0 else f"by {signal.Signals(-status).name}"
        said = ""
        with suppress(OSError, ValueError):
            self._wrote.seek(0)
            said = self._wrote.read().decode("utf-8", "replace").strip().rpartition("\n")[2][-_SAID:]
        return f"a process of {sys.executable} ended {how}{': ' if said else ''}{said}"


def _answer(payload: bytes) -> FarReply:
    try:
        return FarReply(value=pickle.loads(payload)())  # noqa: S301 - a scheduler executes what it is sent
    except UserError as error:
        return FarReply(refused=(error.what, error.where, error.todo))
    except Exception:  # noqa: BLE001 - told where it was asked
        return FarReply(failed=traceback.format_exc())


def _listen(connection: Connection, asked: SimpleQueue[bytes]) -> None:
    """Hear what is asked; when the worker is gone, end at once, whatever is at work."""
    try:
        while True:
            asked.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(1)


def serve(descriptor: int) -> None:
    """The life of such a process: answer what comes by a descriptor, one call after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker's to answer
    connection: Connection = Connection(descriptor)
    asked: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(connection, asked), daemon=True).start()
    while True:
        connection.send(_answer(asked.get()))
