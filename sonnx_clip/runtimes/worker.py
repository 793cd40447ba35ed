"""Runs a runtime in a process of its own, so that a crash or a hang does not end the checker."""

from __future__ import annotations

import multiprocessing as mp
import sys
import threading
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from multiprocessing import forkserver, resource_tracker
from multiprocessing.reduction import send_handle
from types import ModuleType
from typing import TYPE_CHECKING, Any

import psutil

from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.board import IMPORTS, OPENS, Board
from sonnx_clip.runtimes.calls import (
    Answer,
    Caller,
    Died,
    answer_on,
    failure_of,
    remarks_of,
)
from sonnx_clip.runtimes.find_runtime import environment, find_runtime, split_name
from sonnx_clip.runtimes.model_forms import ModelForm, call_statements
from sonnx_clip.runtimes.models import handler_of
from sonnx_clip.runtimes.supervisor import supervise
from sonnx_clip.runtimes.words import error_words, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sonnx_clip.root.signature import Signature
    from sonnx_clip.runtimes.board import Asked
    from sonnx_clip.runtimes.runtime import Limits, RunText
    from sonnx_clip.runtimes.supervisor import Handle, Program

_LISTEN = 1.0  # seconds between two looks at a silent supervisor
# What the server of forks imports once, so that a new supervisor starts in milliseconds.
_PRELOADED = ["sonnx_clip.runtimes.worker", "ml_dtypes"]
_STARTING = threading.Lock()  # `_start` changes sys.modules for a moment


class RuntimeDiedError(Exception):
    """The process of a runtime crashed or hung, as the words say, before a call or during one."""


class UnsupportedError(Exception):
    """The runtime rejects the element type, in its own words; it may accept it in forms of a model."""

    def __init__(self, words: str, version: str, *, opens_models: bool = False) -> None:
        self.version = version
        self.opens_models = opens_models
        super().__init__(words)


def open_runtime(
    board: Board,
    runtime_name: str,
    etype: str,
    *,
    signature: Signature,
    models_only: bool = False,
) -> tuple[dict[str, Any], Handle | None]:
    """Import a runtime in its process and open it for an element type, or for forms of a model only.

    Returns a greeting, whose word is ``missing``, ``unsupported`` or ``ready``, and a handler of requests.
    """
    try:
        runtime = find_runtime(runtime_name, signature, board)
    except BaseException as error:  # noqa: BLE001 - the code of a runtime
        return missing(error), None
    board.call = OPENS
    version = printable(str(runtime.version))
    models = list(runtime.run_texts.items())  # JSON has no keys that are true or false
    caller: Handle | None = None
    form: ModelForm | None = None
    if not models_only:
        try:
            function = runtime.open(etype)
            caller = Caller(function, etype, signature)
            # A runtime of models says by which form it serves plain calls: reproducers make such a model.
            form = getattr(function, "form", None)
        except BaseException as error:  # noqa: BLE001 - likewise
            failure = failure_of(error)
            if failure.environment:
                return missing(error), None
            rejection = {
                "word": "unsupported",
                "version": version,
                "words": failure.words,
                "models": models,
            }
            return rejection, None
    greeting = {
        "word": "ready", "version": version, "imports": runtime.imports, "call": runtime.call(etype),
        "models": models, "strides": runtime.strides, "entries": runtime.entries,
        "few": runtime.few, "set_up": runtime.set_up, "form": form and asdict(form),
    }  # fmt: skip
    return greeting, handler_of(runtime, etype, caller, signature)


def missing(error: BaseException) -> dict[str, Any]:
    """The greeting of a process that could not load a runtime."""
    if isinstance(error, UserError):
        return {"word": "missing", "words": error.what, "where": error.where, "todo": error.todo}
    # The text of these says all; that of others may be nothing without the class of the exception.
    plain = isinstance(error, (ImportError, AttributeError, TypeError))
    words = printable(str(error)) if plain and str(error) else error_words(error)
    return {"word": "missing", "words": words, "where": None, "todo": None}


class Child:
    """A supervisor with the process of a runtime, which handles requests and may die of them.

    `program` is called first in that process, with picklable arguments; see `supervise`.
    """

    def __init__(
        self, name: str, program: Program, arguments: tuple[object, ...], limits: Limits
    ) -> None:
        context = mp.get_context("forkserver")
        context.set_forkserver_preload(_PRELOADED)
        self.name = name
        self._connection, theirs = context.Pipe()
        self._board = Board()
        supervised = (theirs, program, arguments, limits)
        self._process = context.Process(target=supervise, args=supervised, daemon=True)
        try:
            _start(self._process)
            with suppress(OSError):  # it has ended, which `start` reports
                send_handle(self._connection, self._board.descriptor, self._process.pid)
        finally:
            self._board.close_descriptor()
            theirs.close()
        self._here = False
        self.on_call: Callable[[int], None] = lambda _: None
        """Called at most once a second with the number of the running call."""

    def start(self) -> dict[str, Any]:
        """Start the process of the runtime, after ending a running one: its greeting.

        Raises:
            UserError: it could not be loaded, or no process can be started at all.
            RuntimeDiedError: it died while it was opened.
        """
        if not self._here:  # before the supervisor runs, nothing of the runtime has run
            try:
                self._receive()
            except (EOFError, OSError):
                self.close()
                message = f"environment: no process can be started for the runtime {self.name}"
                todo = "the standard error of that process has the reason"
                raise UserError(message, todo=todo) from None
            self._here = True
        died = self._order("start")
        is_program = split_name(self.name)[0] == "exec"
        if died is not None:
            # A runtime that cannot even be imported was not judged; one that dies when it is opened was.
            if died.call == IMPORTS:
                began = "started" if is_program else "imported"
                raise environment(self.name, f"while it was {began}: {died.words}")
            raise RuntimeDiedError(died.words)
        # Its first note with a word, written before anything of a request.
        greeting = next(self._board.notes("word"))
        self.remarks = remarks_of(self._board)
        if greeting["word"] == "missing":
            reasons = [greeting["words"]]
            if is_program:  # what it printed may say why it ended
                reasons += self.remarks
            words = "; ".join(reasons)
            raise environment(self.name, words, greeting["where"], greeting["todo"])
        return greeting

    def open(self) -> dict[str, Any]:
        """The greeting of a runtime that is started for the first time; all has ended if there is none.

        Raises UnsupportedError if the runtime rejects what it is opened for, and as `start`.
        """
        try:
            greeting = self.start()
        except BaseException:
            self.close()
            raise
        self.version: str = greeting["version"]
        if greeting["word"] == "unsupported":  # its process has ended by itself
            self.close()
            opens_models = bool(greeting["models"])
            raise UnsupportedError(greeting["words"], self.version, opens_models=opens_models)
        return greeting

    def ask(self, request: Asked) -> Answer:
        """The answer to a request up to a crash; RuntimeDiedError if the supervisor was ended."""
        self._board.write_request(request)
        return answer_on(self._board, request, self._order("handle"))

    def kill(self) -> None:
        """End all, also from another thread: whoever waits for an answer gets a RuntimeDiedError."""
        self._process.terminate()

    def close(self) -> None:
        """End all, and wait until it has ended."""
        with suppress(OSError):
            self._connection.close()
        # Closing the connection ends it in an orderly way, which kills the runtime; a stuck one is killed.
        # Longer than the supervisor takes to kill the processes of a runtime.
        self._process.join(20)
        self._process.kill()
        self._process.join(5)

    def _order(self, word: str) -> Died | None:
        try:
            self._connection.send(word)
            return self._receive()  # type: ignore[no-any-return]
        except (EOFError, OSError):
            raise RuntimeDiedError("its supervisor was ended") from None

    def _receive(self) -> Any:
        """The next message of the supervisor; RuntimeDiedError if that is stopped and will send none."""
        while not self._connection.poll(_LISTEN):
            self.on_call(max(0, self._board.call))
            try:
                supervisor = psutil.Process(self._process.pid)
                if supervisor.status() == psutil.STATUS_STOPPED:
                    self.kill()
                    supervisor.resume()  # so that it ends, with its descendants
                    raise RuntimeDiedError(
                        "the process that watches it was stopped by a signal (SIGSTOP)"
                    )
            except psutil.NoSuchProcess:
                if not self._connection.poll(0):  # something else may hold the other end open
                    raise EOFError from None
        return self._connection.recv()


def _start(process: Any) -> None:
    """Start a process that does not import the main module, as Python would.

    So a script without `if __name__ == "__main__"`, standard input and a notebook may check runtimes.
    """
    with _STARTING:
        program = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            process.start()
        finally:
            sys.modules["__main__"] = program


def end_servers() -> None:
    """End the processes by which Python starts others, and wait for them; later ones start them again."""
    for server in (forkserver._forkserver, resource_tracker._resource_tracker):  # noqa: SLF001
        server._stop()  # type: ignore[union-attr]  # noqa: SLF001


class Worker(Child):
    """A runtime in its own process, opened for one element type.

    Its attributes are those of `Runtime`; `models` are the `Runtime.run_texts`. It raises as `start`, and
    UnsupportedError if the runtime rejects the type.
    """

    def __init__(
        self,
        runtime_name: str,
        etype: str,
        limits: Limits,
        *,
        signature: Signature,
        models_only: bool = False,
    ) -> None:
        self.etype = etype
        self._signature = signature
        program = partial(open_runtime, models_only=models_only, signature=signature)
        super().__init__(runtime_name, program, (runtime_name, etype), limits)
        greeting = self.open()
        self.imports: str = greeting["imports"]
        self.call: str = greeting["call"]
        self.strides: bool = greeting["strides"]
        self.entries: int | None = greeting["entries"]
        self.few: bool = greeting["few"]
        self.models: dict[bool, RunText] = dict(greeting["models"])
        # For reproducers of plain calls; those of forms have the texts of `models`.
        self._set_up: str = greeting["set_up"]
        self._form = None if greeting["form"] is None else ModelForm(**greeting["form"])

    def call_text(
        self, shape: Sequence[int], form: ModelForm | None = None
    ) -> tuple[list[str], str]:
        """The Python text of a call with X of a shape: statements after the operands, and the result."""
        # A call of a form is made by a model of that form, a plain one by the model that was opened.
        set_up = self._set_up
        call = self.call
        if form is not None:
            set_up, call = self.models[form.optimised]
        form = form or self._form
        before: list[str] = []
        if form is not None:
            before = call_statements(self.etype, form, self._signature, shape, set_up)
        return before, call
