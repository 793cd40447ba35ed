"""The process in which a runtime opens and runs models, so that a crash of it leaves the comparison alive."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.calls import Answer, Failure, call_once
from sonnx_clip.conform.dtypes import Array, bits_type, numpy_type
from sonnx_clip.conform.runtimes import find_model_runtime, module_of
from sonnx_clip.conform.worker import Child, missing_runtime
from sonnx_clip.errors import UserError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from sonnx_clip.conform.runtimes import ModelFunction, OpenModel


@dataclass(frozen=True)
class ModelCalls:
    """Calls of models that have one form.

    Args:
        etype: the id of the element type.
        models: one model for all calls, or one for each.
        x: bits of X, shape (n,).
        bounds: bits of the bounds that are inputs, by name, each of shape (p,).
        count: how many calls.
    """

    etype: str
    models: tuple[bytes, ...]
    x: Array
    bounds: dict[str, Array]
    count: int


def answer_calls(open_model: OpenModel, request: ModelCalls, progress: Any) -> Answer:
    """Make the calls, one by one; a model that cannot be opened fails every call that it was for."""
    dtype = numpy_type(request.etype)
    x = request.x.view(dtype)
    bounds = {name: bits.view(dtype) for name, bits in request.bounds.items()}
    found = Answer(np.zeros((request.count, len(x)), bits_type(request.etype)))
    for call in range(request.count):
        progress.value = call
        if call < len(request.models):
            function = _opened(open_model, request.models[call])
        if isinstance(function, Failure):
            found.failures[call] = function
            continue
        inputs = {"x": x, **{name: values[call, ...] for name, values in bounds.items()}}
        result = call_once(partial(function, inputs), x)
        if isinstance(result, Failure):
            found.failures[call] = result
        else:
            found.bits[call] = np.frombuffer(result.tobytes(), found.bits.dtype)
    return found


def _opened(open_model: OpenModel, model: bytes) -> ModelFunction | Failure:
    try:
        return open_model(model)
    except Exception as error:  # noqa: BLE001  (whatever a runtime raises is its answer)
        return Failure((), f"{type(error).__name__}: {error}", raised=True)


def serve_models(connection: Connection, runtime_name: str, progress: Any) -> None:
    """The life of a process: say what the runtime is, answer requests until none can come."""
    try:
        version, open_model = find_model_runtime(runtime_name)
    except (ImportError, AttributeError, UserError) as error:
        connection.send(("missing", str(error)))
        return
    connection.send(("ready", version))
    with suppress(EOFError, OSError):  # the comparison is gone
        while True:
            connection.send(answer_calls(open_model, connection.recv(), progress))


class ModelRunner(Child):
    """A runtime of models in its own process.

    Args:
        runtime_name: a name that `find_model_runtime` knows.
        timeout: seconds that a request may take.

    Raises:
        UserError: the runtime, or a package that it needs, is missing, or it runs no models.
        RuntimeDiedError: it died while it was imported.
    """

    def __init__(self, runtime_name: str, timeout: float) -> None:
        super().__init__(serve_models, (runtime_name,), module_of(runtime_name), timeout)
        try:
            word, self.version = self._receive()
        except BaseException:
            self.close()
            raise
        if word == "missing":
            self.close()
            raise missing_runtime(runtime_name, self.version)

    def ask(self, request: ModelCalls) -> Answer:
        """The answer to a request; RuntimeDiedError if none comes."""
        self._send(request)
        found = self._receive()
        assert isinstance(found, Answer)
        return found
