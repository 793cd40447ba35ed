"""The process in which a runtime opens and runs models, so that a crash of it leaves the comparison alive."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.root.dtypes import Array, bits_type, numpy_type
from sonnx_clip.runtimes.board import IMPORTS
from sonnx_clip.runtimes.calls import Answer, Failure, call_once, failure_of, note
from sonnx_clip.runtimes.find_runtime import find_model_runtime
from sonnx_clip.runtimes.words import printable
from sonnx_clip.runtimes.worker import Child, RuntimeDiedError, missing

if TYPE_CHECKING:
    from sonnx_clip.runtimes.board import Board
    from sonnx_clip.runtimes.limits import Limits
    from sonnx_clip.runtimes.runtime import ModelFunction, OpenModel
    from sonnx_clip.runtimes.supervisor import Handle


@dataclass(frozen=True)
class ModelCalls:
    """Calls of models of one form: one model for all calls, or one for each.

    `x` are bits of X, shape (n,); `bounds` those of the bounds that are inputs, by name, each of shape (p,).
    """

    etype: str
    models: tuple[bytes, ...]
    x: Array
    bounds: dict[str, Array]
    count: int

    @property
    def answer_shape(self) -> tuple[int, int]:
        """The shape of the bits of an answer."""
        return self.count, len(self.x)

    @property
    def answer_type(self) -> np.dtype[Any]:
        """Their type."""
        return bits_type(self.etype)


def answer_calls(open_model: OpenModel, request: ModelCalls, board: Board) -> None:
    """Make the calls, one by one; a model that cannot be opened fails every call that it was for."""
    dtype = numpy_type(request.etype)
    x = request.x.view(dtype)
    bounds = {name: bits.view(dtype) for name, bits in request.bounds.items()}
    found = board.bits(request.answer_shape, request.answer_type)
    for call in range(request.count):
        board.call = call
        if call < len(request.models):
            function = _opened(open_model, request.models[call])
        if isinstance(function, Failure):
            note(board, call, function)
            continue
        inputs = {"x": x, **{name: values[call, ...] for name, values in bounds.items()}}
        result = call_once(partial(function, inputs), x)
        if isinstance(result, Failure):
            note(board, call, result)
        else:
            found[call] = np.frombuffer(result.tobytes(), found.dtype)


def _opened(open_model: OpenModel, model: bytes) -> ModelFunction | Failure:
    try:
        return open_model(model)
    except BaseException as error:  # noqa: BLE001  (whatever a runtime raises is its answer)
        return failure_of(error)


def open_models(board: Board, runtime_name: str) -> tuple[dict[str, Any], Handle | None]:
    """What the process does first: say what the runtime is. Its greeting, and what runs models."""
    board.call = IMPORTS
    try:
        version, open_model = find_model_runtime(runtime_name, board)
    except BaseException as error:  # noqa: BLE001 - the code of a runtime
        return missing(error), None
    return {"word": "ready", "version": printable(version)}, partial(answer_calls, open_model)


class ModelRunner(Child):
    """A runtime of models in its own process; UserError if it is missing, or runs no models."""

    def __init__(self, runtime_name: str, limits: Limits) -> None:
        super().__init__(runtime_name, open_models, (runtime_name,), limits)
        try:
            found, _ = self.start()
        except BaseException:
            self.close()
            raise
        self.version = str(found["version"])

    def answered(self, request: ModelCalls) -> Answer:
        """The answer to a request; RuntimeDiedError if it does not come whole."""
        found = self.ask(request)
        if found.died is not None:
            raise RuntimeDiedError(found.died)
        return found
