"""The process in which a runtime is called, so that a crash or a hang of it leaves the checker alive."""

from __future__ import annotations

import multiprocessing as mp
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sonnx_clip.conform.calls import Answer, Request, answer
from sonnx_clip.conform.runtimes import find_runtime, module_of
from sonnx_clip.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection


class RuntimeDiedError(Exception):
    """The worker died or did not answer in time; `call` is the number of the call that was running."""

    def __init__(self, words: str, call: int) -> None:
        self.call = call
        super().__init__(words)


class UnsupportedError(Exception):
    """The runtime does not support the element type, in its own words."""

    def __init__(self, words: str, version: str) -> None:
        self.version = version
        super().__init__(words)


def serve(connection: Connection, runtime_name: str, etype: str, progress: Any) -> None:
    """The life of a worker: say what the runtime is, open it, answer requests until none can come."""
    try:
        runtime = find_runtime(runtime_name)
    except (ImportError, AttributeError, UserError) as error:
        connection.send(("missing", str(error)))
        return
    try:
        function = runtime.open(etype)
    except Exception as error:  # noqa: BLE001
        connection.send(("unsupported", runtime.version, f"{type(error).__name__}: {error}"))
        return
    connection.send(("ready", runtime.version, runtime.imports, runtime.call(etype)))
    with suppress(EOFError, OSError):  # the checker is gone
        while True:
            connection.send(answer(function, etype, connection.recv(), progress))


class Child:
    """A process that answers requests, and may die of them.

    Args:
        target: what it runs, called with the child's connection, `arguments`, and a shared count of calls.
        arguments: they must be picklable.
        preload: the module that is imported once, in the server of which each child is a fork.
        timeout: seconds that an answer may take.
    """

    def __init__(
        self, target: Callable[..., None], arguments: tuple[object, ...], preload: str, timeout: float
    ) -> None:
        context = mp.get_context("forkserver")
        context.set_forkserver_preload(["__main__", target.__module__, preload])
        self._timeout = timeout
        self._progress: Any = context.RawValue("l", 0)
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=target, args=(theirs, *arguments, self._progress), daemon=True)
        self._process.start()
        theirs.close()

    def _send(self, request: object) -> None:
        self._progress.value = 0
        try:
            self._connection.send(request)
        except OSError:
            raise RuntimeDiedError(self._last_words(), 0) from None

    def _receive(self) -> Any:
        try:
            if self._connection.poll(self._timeout):
                return self._connection.recv()
        except (EOFError, OSError):
            raise RuntimeDiedError(self._last_words(), self._progress.value) from None
        self._process.kill()
        raise RuntimeDiedError(f"no answer within {self._timeout:g} s", self._progress.value)

    def _last_words(self) -> str:
        self._process.join(5)
        code = self._process.exitcode or 0
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exited with status {code}"

    def kill(self) -> None:
        """End the process; from another thread, too: whoever waits for an answer gets a RuntimeDiedError."""
        self._process.kill()

    def close(self) -> None:
        """End the process, and leave nothing of it."""
        self._connection.close()
        self._process.kill()
        self._process.join(5)


def missing_runtime(name: str, words: str) -> UserError:
    """What is said of a runtime that cannot be imported."""
    todo = "install it: pip install 'sonnx-clip[onnx]'" if "onnx" in name else None
    return UserError(f"the runtime {name} cannot be loaded: {words}", todo=todo)


class Worker(Child):
    """A runtime in its own process, opened for one element type.

    Args:
        runtime_name: a name that `find_runtime` knows.
        etype: the id of an element type.
        timeout: seconds that a request may take.

    Raises:
        UserError: the runtime, or a package that it needs, is missing.
        UnsupportedError: the runtime refuses the type.
        RuntimeDiedError: the runtime died or hung while it was opened.
    """

    def __init__(self, runtime_name: str, etype: str, timeout: float) -> None:
        self.etype = etype
        self.version = runtime_name
        super().__init__(serve, (runtime_name, etype), module_of(runtime_name), timeout)
        try:
            self._greet(runtime_name)
        except BaseException:
            self.close()
            raise

    def _greet(self, runtime_name: str) -> None:
        word, *rest = self._receive()
        if word == "missing":
            raise missing_runtime(runtime_name, rest[0])
        self.version = rest[0]
        if word == "unsupported":
            raise UnsupportedError(rest[1], self.version)
        self.imports, self.call = rest[1], rest[2]

    def ask(self, request: Request) -> Answer:
        """The answer to a request; RuntimeDiedError if none comes."""
        self._send(request)
        found = self._receive()
        assert isinstance(found, Answer)
        return found
