"""The workers of a Dask scheduler as an `Executor`, for `check`, refused where they are not what
home is.
"""

from __future__ import annotations

import asyncio
import pickle
import re
import threading
import time
import uuid
from concurrent.futures import CancelledError, Executor, Future
from concurrent.futures import wait as futures_wait
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sonnx_clip.machines.far_process import FarProcessEndedError
from sonnx_clip.machines.on_worker import IDLE, FarCaller, answer_far, end_far, run_far
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sonnx_clip.machines.far_process import FarReply, HomeVariables


_T = TypeVar("_T")
_RETRIES = 3  # of a call whose process has ended, though its worker lives; Dask counts the dead workers
_LOOK = 1.0
_END = 10.0  # seconds that the end of all processes may take

_START = "start workers: dask worker {address}, each with this sonnx-clip and all that the runtime needs"
_AGAIN = "start what is missing, and give the same command: a journal goes on where it was"


class WorkLostError(UserError):
    """The workers or the processes that had a unit ended, one after the other."""


class DaskWorkers(Executor):
    """The workers of a scheduler.

    How long the scheduler is waited for, and a first worker, and another one where all are gone, is Dask's
    own setting distributed.comm.timeouts.connect. Certificates for ``tls://`` are Dask's settings, too.

    Args:
        address: of the scheduler, such as ``tcp://10.0.0.1:8786``.
        variables: of the environment that calls have there as they are here.
        idle: seconds after which a process there that has nothing to do ends.

    Raises:
        UserError: the scheduler cannot be reached, or has no workers.
        ModuleNotFoundError: distributed is not installed.
    """

    def __init__(self, address: str, variables: HomeVariables, idle: float = IDLE) -> None:
        from dask import config
        from dask.utils import parse_timedelta
        from distributed import Client

        self.address = address
        self._patience = parse_timedelta(config.get("distributed.comm.timeouts.connect"))
        self._caller = FarCaller(uuid.uuid4().hex, variables, idle)
        self._over: BaseException | None = None
        self._left = False
        self._under_way: set[Future[Any]] = set()
        self._lock = threading.Lock()
        try:
            asyncio.run(_reach(address, self._patience))  # a Client that fails is heard of again at the end
            self._client = Client(address, timeout=self._patience, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            what = f"the scheduler cannot be reached: {_words(error)}"
            todo = "give the address that `dask scheduler` prints, such as tcp://10.0.0.1:8786"
            raise UserError(what, address, todo) from None
        try:
            self._client.wait_for_workers(1, timeout=self._patience)
            threads = self._client.nthreads()
        except (OSError, TimeoutError) as error:
            self._client.close()
            what = f"the scheduler has no workers: {_words(error)}"
            raise UserError(what, address, _START.format(address=address)) from None
        self.workers, self.threads = len(threads), sum(threads.values())
        self._pool = self._client.get_executor(pure=False, retries=_RETRIES)
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def name(self) -> str:
        """What it is called in a plan: ``4 threads of 2 workers of tcp://…``."""
        return f"{counted(self.threads, 'thread')} of {counted(self.workers, 'worker')} of {self.address}"

    def submit(self, function: Callable[..., _T], /, *args: object, **kwargs: object) -> Future[_T]:
        """Call a function at a worker.

        The future raises the UserError that the function raises, with the address of the worker, or a
        WorkLostError, or a UserError where the scheduler or every worker is gone.
        """
        home: Future[_T] = Future()
        home.set_running_or_notify_cancel()  # it is cancelled by `shutdown` alone
        with self._lock:
            if self._over is not None:
                home.set_exception(self._over)
                return home
            self._under_way.add(home)
        payload = pickle.dumps(partial(function, *args, **kwargs))
        far = self._pool.submit(run_far, self._caller, payload)
        far.add_done_callback(partial(self._bring_home, home))
        return home

    def ask_all(self, function: Callable[..., _T], *args: object) -> dict[str, _T]:
        """What a function answers at each worker, by its address; one that has gone meanwhile is left out.

        Raises:
            UserError: it cannot be called at one of them.
        """
        payload = pickle.dumps(partial(function, *args))
        found = self._client.run(answer_far, self._caller, payload, on_error="return")
        answers = {}
        for address, answer in found.items():
            if isinstance(answer, OSError):  # the connection to it
                continue
            if isinstance(answer, BaseException):
                raise UserError(f"it cannot be asked: {_words(answer)}", address, _SAME)
            answers[address] = _value(answer, address)
        return answers

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all that the workers do for this campaign, and leave them; who waits gets a CancelledError."""
        if wait and not cancel_futures:
            with self._lock:
                left = list(self._under_way)
            futures_wait(left)
        self._end(CancelledError())
        if not self._left:
            self._left = True
            leaving = threading.Thread(target=self._leave, daemon=True)  # a scheduler may hang
            leaving.start()
            leaving.join(_END)

    def _leave(self) -> None:
        with suppress(Exception):
            self._pool.shutdown(wait=False)
        with suppress(Exception):
            if self._client.status == "running":  # else the scheduler is gone, and the workers know it
                self._client.run(end_far, self._caller.token, on_error="ignore")
        with suppress(Exception):
            self._client.close(timeout=_LOOK)

    def _end(self, error: BaseException) -> None:
        """Nothing more comes home: whoever waits is told why."""
        with self._lock:
            if self._over is None:
                self._over = error
            left, self._under_way = self._under_way, set()
        for home in left:
            home.set_exception(error)

    def _bring_home(self, home: Future[Any], far: Future[tuple[str, FarReply]]) -> None:
        """The outcome of a task becomes that of the call."""
        with self._lock:
            if home not in self._under_way:
                return
            self._under_way.discard(home)
        try:
            address, reply = far.result()
            home.set_result(_value(reply, address))
        except CancelledError:
            home.set_exception(UserError("the scheduler is gone", self.address, _AGAIN))
        except BaseException as error:  # noqa: BLE001 - it is told where the result is asked for
            home.set_exception(_told(error))

    def _watch(self) -> None:
        """Where no worker is left for long, no unit waits for ever."""
        alone = 0.0
        while self._over is None:
            with suppress(Exception):
                alone = 0.0 if self._client.nthreads() else alone + _LOOK
            if alone > self._patience:
                self._end(UserError("no workers are left", self.address, _AGAIN))
            time.sleep(_LOOK)


async def _reach(address: str, seconds: float) -> None:
    """Connect to a scheduler once; OSError, ValueError or TypeError where that is not possible."""
    from distributed import Security
    from distributed.comm.core import connect

    comm = await connect(address, timeout=seconds, **Security().get_connection_args("client"))
    await comm.close()


_LOGS = "look for the reason in the logs of the workers, such as memory, and give the same command again"
_SAME = "install the same sonnx-clip for the scheduler and for every worker: pip install 'sonnx-clip[dask]'"


def _value(reply: FarReply, address: str) -> Any:
    if reply.refused is not None:
        what, where, todo = reply.refused
        raise UserError(what, address if where is None else f"{address}: {where}", todo)
    if reply.failed is not None:
        raise RuntimeError(f"at {address}:\n{reply.failed}")
    return reply.value


def _told(error: BaseException) -> BaseException:
    """An error of Dask in words that say what to do."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        deaths = error.allowed_failures + 1
        last = getattr(error.last_worker, "address", error.last_worker)
        what = f"{counted(deaths, 'worker')} ended while they had this unit, the last of them {last}"
        return WorkLostError(what, todo=_LOGS)
    if isinstance(error, FarProcessEndedError):
        return WorkLostError(
            f"at a worker, {_RETRIES + 1} times: {error}", todo="see the logs of the workers"
        )
    if isinstance(error, UserError) or not isinstance(error, Exception):
        return error
    if "deserialization" in str(error):
        return UserError(
            f"the scheduler or a worker cannot read what it is sent: {_words(error)}", todo=_SAME
        )
    return error


def _words(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


# --- Refuses workers that are not what home is: one report does not mix machines, code or packages ----------


_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
_NAMED = 5  # workers whose differences are told
_SHOWN = 60  # characters of a value
_TODO = "give them the code, the Python, the packages and the processor of this machine, or stop them"


def differences(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """In which parts a worker differs from home, in words; empty if in none."""
    names = [name for name in dict.fromkeys((*here, *there)) if here.get(name) != there.get(name)]
    return "; ".join(_difference(name, here.get(name, ""), there.get(name, "")) for name in names)


def _difference(name: str, here: str, there: str) -> str:
    a, b = (" ".join(_DIGEST.sub("", value).split()) for value in (here, there))
    if a == b:
        return name
    return f"{name} ({_cut(b) or 'none'}; here {_cut(a) or 'none'})"


def _cut(value: str) -> str:
    return value if len(value) <= _SHOWN else f"{value[:_SHOWN]} …"


def require_same_workers(
    workers: DaskWorkers, parts: Callable[..., Mapping[str, str]], *args: object
) -> Mapping[str, str]:
    """Ask every worker what it is, before the start; what this machine is.

    Args:
        workers: that are asked.
        parts: says of the machine where it is called what it is, part by part.
        args: of this function.

    Raises:
        UserError: some worker differs.
    """
    here = parts(*args)
    found = [
        f"{address}: {words}"
        for address, there in sorted(workers.ask_all(parts, *args).items())
        if (words := differences(here, there))
    ]
    if found:
        more = f"\n  and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        lines = "".join(f"\n  {line}" for line in found[:_NAMED])
        raise UserError(f"not every worker is as this machine is:{lines}{more}", workers.address, _TODO)
    return here


def require_same(here: Mapping[str, str], there: Mapping[str, str]) -> None:
    """The same for one machine, which may have joined later; UserError if it differs."""
    if words := differences(here, there):
        raise UserError(f"this worker is not as the machine that asks: {words}", todo=_TODO)
