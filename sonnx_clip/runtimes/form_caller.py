"""Models of one Clip node in a form, opened and called in the process of the runtime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sonnx_clip.runtimes.calls import Caller, Request
from sonnx_clip.runtimes.operator_node import CLIP_NODE

if TYPE_CHECKING:
    from sonnx_clip.runtimes.board import Board
    from sonnx_clip.runtimes.model_forms import ModelForm
    from sonnx_clip.runtimes.runtime import ClipFunction, ModelFunction, OpenModel, Runtime
    from sonnx_clip.runtimes.supervisor import Handle


@dataclass(frozen=True)
class FormRequest(Request):
    """Calls as in a `Request`, of models of one form."""

    form: ModelForm | None = None


class FormCaller:
    """Makes the calls of requests: of a form of a model, or by `caller`, None if the runtime lacks that."""

    def __init__(self, runtime: Runtime, etype: str, caller: Handle | None) -> None:
        self._runtime, self._type, self._caller = runtime, etype, caller
        self._form: ModelForm | None = None
        self._of_form: Caller | None = None

    def __call__(self, request: Request, board: Board) -> None:
        """Make the calls of a request, and write what they give on the board."""
        caller: Handle | None = self._caller
        form = request.form if isinstance(request, FormRequest) else None
        if form is not None:
            if form != self._form:
                opener = self._runtime.open_model if form.optimised else self._runtime.open_unoptimised
                assert opener is not None
                self._form = form
                self._of_form = Caller(form_function(opener, form, self._type), self._type)
            caller = self._of_form
        assert caller is not None
        caller(request, board)


def form_function(open_model: OpenModel, form: ModelForm, etype: str) -> ClipFunction:
    """A function (x, min, max) by models of a form; the last one stays open while it can serve.

    The rank is that of X in each call.
    """
    from sonnx_clip.runtimes.clip_model import model_of_form  # needs onnx, as the runtime does

    constant = form.bounds != "inputs"
    last: list[Any] = [None, None]

    def opened(x: Any, bounds: tuple[Any, ...]) -> ModelFunction:
        shape = x.shape if form.shape == "static" else x.ndim if form.shape == "symbolic" else ()
        key = (shape, *(bound.tobytes() for bound in bounds if constant))
        if last[0] != key:
            model = model_of_form(etype, form, x.shape, bounds).SerializeToString()
            last[:] = None, None  # the memory of one model at a time
            last[:] = key, open_model(model)
        found: ModelFunction = last[1]
        return found

    def clip(*operands: Any) -> Any:
        given = dict(zip(CLIP_NODE.operands, operands, strict=True))
        inputs = CLIP_NODE.operands[:1] if constant else (CLIP_NODE.operands[0], *form.bound_names)
        return opened(operands[0], operands[1:])({name: given[name] for name in inputs})

    return clip
