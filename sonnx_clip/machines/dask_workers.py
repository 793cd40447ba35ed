"""The workers of a Dask scheduler, for `check`; workers that differ from this machine are rejected."""

from __future__ import annotations

import asyncio
import logging
import pickle
import re
import threading
import time
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from sonnx_clip.machines.on_worker import FarProcessEndedError, run_far
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.machines.on_worker import Outcome

_T = TypeVar("_T")
# Of a call whose process has ended, though its worker lives; Dask counts the dead workers.
_RETRIES = 3
_LOOK = 1.0  # seconds between two looks whether the work was stopped, or no worker is left
_END = 10.0  # seconds that the end of all processes may take

_START = "start workers: dask worker {address}, each with this sonnx-clip and the packages of the runtime"
_AGAIN = "restart it, then repeat the command: a journal resumes where it stopped"
_LOGS = "look for the reason, such as memory, in the logs of the workers, then repeat the command"
_SAME = "install the same sonnx-clip, with the extra dask, for the scheduler and for every worker"


class WorkLostError(UserError):
    """The workers or the processes that had a unit ended, one after the other."""


class DaskWorkers:
    """The workers of a scheduler.

    Dask's setting distributed.comm.timeouts.connect is how long the scheduler is waited for, and a worker
    where there is none. Certificates for ``tls://`` are Dask's settings, too.

    Args:
        address: of the scheduler, such as ``tcp://10.0.0.1:8786``.
        prefixes: of the environment variables that calls have there as they are here.
        variables: those of them that are set here.

    Raises:
        UserError: the scheduler cannot be reached, or has no workers.
        ModuleNotFoundError: distributed is not installed.
    """

    def __init__(
        self,
        address: str,
        prefixes: Sequence[str],
        variables: Mapping[str, str],
    ) -> None:
        from dask import config
        from dask.utils import parse_timedelta
        from distributed import Client  # it sets the levels of its loggers when it is imported

        for name in tuple(logging.root.manager.loggerDict):
            if name.startswith("distributed"):
                # Errors are reported by us, once.
                logging.getLogger(name).setLevel(logging.CRITICAL)
        self.address = address
        self._patience = parse_timedelta(config.get("distributed.comm.timeouts.connect"))
        self._prefixes = prefixes
        self._variables = variables
        self._stopped = threading.Event()
        try:
            # First without a Client: one that fails logs a traceback at the end.
            asyncio.run(_reach(address, self._patience))
            self._client = Client(address, timeout=self._patience, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            message = f"the scheduler cannot be reached: {_words(error)}"
            todo = "use the address that `dask scheduler` prints, such as tcp://10.0.0.1:8786"
            raise UserError(message, address, todo) from None
        try:
            self._client.wait_for_workers(1, timeout=self._patience)
            threads = self._client.nthreads()
        except (OSError, TimeoutError) as error:
            self._client.close()
            message = f"the scheduler has no workers: {_words(error)}"
            raise UserError(message, address, _START.format(address=address)) from None
        # By worker, how many calls it makes at once.
        self.workers = len(threads)
        self.threads = sum(threads.values())

    @property
    def name(self) -> str:
        """Its name in a plan: ``4 threads of 2 workers of tcp://…``."""
        threads = counted(self.threads, "thread")
        workers = counted(self.workers, "worker")
        return f"{threads} of {workers} of {self.address}"

    def call(self, function: Callable[..., _T], *args: object) -> _T:
        """Call a function at a worker, and wait for its result. Threads may call side by side.

        Raises:
            UserError: the function raised it (with the address of the worker), or the scheduler or every
                worker is gone.
            WorkLostError: worker after worker ended, or process after process.
            CancelledError: the work was stopped.
        """
        # Pickled here: Dask would unpickle it in the worker, which has older modules than the process.
        payload = pickle.dumps(partial(function, *args))
        try:
            address, (value, failure) = self._at_a_worker(payload)
        except Exception as error:  # noqa: BLE001 - Dask's own
            if self._stopped.is_set():
                raise CancelledError from None
            if isinstance(error, CancelledError) or self._client.status != "running":
                raise UserError(
                    "the connection to the scheduler is lost",
                    self.address,
                    _AGAIN,
                ) from None
            raise _in_our_words(error) from None
        if isinstance(failure, UserError):
            where = address if failure.where is None else f"{address}: {failure.where}"
            raise UserError(failure.what, where, failure.todo)
        if failure is not None:
            raise RuntimeError(f"at {address}:\n{failure}")
        result: _T = value
        return result

    def _at_a_worker(self, payload: bytes) -> tuple[str, Outcome]:
        """What a task returns, unless no worker is left for long."""
        far = self._client.submit(
            run_far,
            self._prefixes,
            self._variables,
            payload,
            pure=False,  # the same call again may have another outcome: Dask is not to reuse it
            retries=_RETRIES,
        )
        seen = time.monotonic()
        while not self._stopped.is_set():
            with suppress(TimeoutError):
                outcome: tuple[str, Outcome] = far.result(timeout=_LOOK)
                return outcome
            # A scheduler that does not answer counts as one without workers.
            with suppress(Exception):
                if self._client.nthreads():
                    seen = time.monotonic()
            if time.monotonic() - seen > self._patience + _LOOK:
                raise UserError("no workers are left", self.address, _AGAIN)
        raise CancelledError

    def stop(self) -> None:
        """End all that the workers do for this campaign, and leave them; who waits gets a CancelledError."""
        if not self._stopped.is_set():
            self._stopped.set()
            leaving = threading.Thread(target=self._leave, daemon=True)  # a scheduler may hang
            leaving.start()
            leaving.join(_END)

    def _leave(self) -> None:
        with suppress(Exception):
            self._client.close(timeout=_LOOK)  # its tasks are cancelled, and their processes killed


async def _reach(address: str, seconds: float) -> None:
    """Connect to a scheduler once; OSError, ValueError or TypeError where that is not possible."""
    from distributed import Security
    from distributed.comm.core import connect

    comm = await connect(address, timeout=seconds, **Security().get_connection_args("client"))
    await comm.close()


def _in_our_words(error: Exception) -> Exception:
    """An error of Dask as a message with a remedy."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        # Dask gives up at the first failure beyond those that it allows.
        deaths = error.allowed_failures + 1
        last = getattr(error.last_worker, "address", error.last_worker)
        message = f"{counted(deaths, 'worker')} ended while judging this unit, the last one {last}"
        return WorkLostError(message, todo=_LOGS)
    if isinstance(error, FarProcessEndedError):
        return WorkLostError(f"at a worker, {_RETRIES + 1} times: {error}", todo=_LOGS)
    if not isinstance(error, UserError) and "deserialization" in str(error):
        message = f"the scheduler or a worker cannot read a message: {_words(error)}"
        return UserError(message, todo=_SAME)
    return error


def _words(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


# --- Workers that differ from this machine: one report does not mix machines, code or packages --------------

_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
_SHOWN = 60  # characters of a value
_TODO = "stop them, or run them with the code, Python, packages and processor of this machine"


def require_same(here: Mapping[str, str], there: Mapping[str, str]) -> None:
    """UserError with the parts in which a worker differs from this machine; digests are not shown."""
    # The names of both: a package may be missing on either side.
    differing: list[str] = []
    for name in dict.fromkeys((*here, *there)):
        value_there = there.get(name, "")
        value_here = here.get(name, "")
        if value_there == value_here:
            continue
        far = _without_digests(value_there)
        near = _without_digests(value_here)
        differing.append(name if far == near else f"{name} ({far}; here {near})")
    if differing:
        parts = "; ".join(differing)
        raise UserError(f"this worker differs from the client: {parts}", todo=_TODO)


def _without_digests(value: str) -> str:
    """A part of what makes a machine, as a message shows it."""
    text = " ".join(_DIGEST.sub("", value).split()) or "none"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"
