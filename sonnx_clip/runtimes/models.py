"""Runtimes that open ONNX models of one node: builds, opens and calls the models.

The runtime ``onnx:module:open`` is here, too. Its function takes a serialised model, and returns a function
of the inputs of the model (arrays, in the order of the graph) that returns the output, or a list or tuple of
all outputs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.signature import CLIP_SIGNATURE, Signature
from sonnx_clip.runtimes.calls import Caller, Request, failure_of
from sonnx_clip.runtimes.find_runtime import named_function, python_quoted, split_name
from sonnx_clip.runtimes.model_forms import (
    FIRST_OPSET,
    ModelForm,
    base,
    inputs_of,
    model_statements,
    symbolic,
)
from sonnx_clip.runtimes.runtime import ClipFunction, OpenModel, RunText, Runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import onnx

    from sonnx_clip.runtimes.board import Board
    from sonnx_clip.runtimes.runtime import ModelFunction
    from sonnx_clip.runtimes.supervisor import Handle


def runtime_of_models(
    open_model: OpenModel,
    version: str,
    imports: str,
    run_text: str | Callable[[bool], RunText],
    *,
    ranked: bool = False,
    open_unoptimised: OpenModel | None = None,
    optimisers: tuple[str, ...] = (),
    is_optimiser: bool = False,
    open_without: Callable[[bytes, str], ModelFunction] | None = None,
    graph_that_runs: Callable[[bytes], bytes] | None = None,
    signature: Signature = CLIP_SIGNATURE,
    strides: bool = True,
    few: bool = False,
) -> Runtime:
    """The runtime of a function that opens models.

    `imports` imports the names of `run_text`, which is the text of `open_model`, or as `Runtime.run_model`. A
    function with a text may reject models whose X has no rank (`ranked`: it is known to): then each rank has
    a model, whose X has a symbolic shape. All else is as in `Runtime`.
    """

    def runs(optimised: bool) -> RunText:
        if callable(run_text):
            return run_text(optimised)
        return f"f = {run_text}(p.SerializeToString())", "f(d)"

    def open_(etype: str) -> ClipFunction:
        from sonnx_clip.runtimes.opsets import opsets_with  # imports onnx

        # The oldest set that has the type. Where none has it, the refusal is the runtime's.
        opset = next(iter(opsets_with(signature.op_type, etype)), FIRST_OPSET)
        two = np.zeros(2, numpy_type(etype))
        scalars = len(signature.parameters) - len(signature.tensors)
        operands = (*[two] * len(signature.tensors), *[two[0, ...]] * scalars)
        refusal: Exception | None = None
        # Without a rank, one model serves all calls. What refuses it may open a model of each rank.
        if not ranked:
            function = FormFunction(open_model, base(signature, opset), etype, signature)
            try:
                function.prepare(operands)
            except Exception as error:
                if callable(run_text) or not failure_of(error).refusal:
                    raise
                refusal = error
            else:
                return function
        function = FormFunction(open_model, symbolic(signature, opset), etype, signature)
        try:
            function(*operands)  # an exception is the refusal of the element type
        except Exception as error:  # noqa: BLE001 - the code of a runtime
            # The refusal of the usual form, where both were refused.
            raise refusal or error from None
        return function

    def of_operator(other: Signature) -> Runtime:
        return runtime_of_models(
            open_model, version, imports, run_text, ranked=ranked, open_unoptimised=open_unoptimised,
            optimisers=optimisers, is_optimiser=is_optimiser, open_without=open_without,
            graph_that_runs=graph_that_runs, signature=other, strides=strides, few=few,
        )  # fmt: skip

    optimised = True
    set_up, call = runs(optimised)
    return Runtime(
        version=version,
        open=open_,
        imports=f"import onnx.parser; {imports}",
        call=lambda _: call,
        open_model=open_model,
        open_unoptimised=open_unoptimised,
        optimisers=optimisers,
        is_optimiser=is_optimiser,
        open_without=open_without,
        graph_that_runs=graph_that_runs,
        run_model=runs,
        strides=strides,
        few=few,
        set_up=set_up,
        signature=signature,
        of_operator=of_operator,
    )


# --- Functions that open models -----------------------------------------------------------------------------


def open_named(name: str, _: Board | None = None) -> Runtime:
    """The runtime of a name such as ``onnx:module:open``; it raises as `named_function`, and a TypeError."""
    version = named_function(split_name(name)[2])[1]
    return runtime_of_models(
        opened(name), version, f"from {__name__} import opened", f"opened({python_quoted(name)})"
    )


def opened(name: str) -> OpenModel:
    """How the runtime of a name opens a model, for `open_named` and reproducers."""
    target = split_name(name)[2]
    theirs, _ = named_function(target)
    if not callable(theirs):
        raise TypeError(f"{target} is not a function")

    def open_model(model: bytes) -> ModelFunction:
        function = theirs(model)
        kind = None if callable(function) else type(function).__name__

        def run(inputs: Mapping[str, Any]) -> Any:
            if kind is not None:  # raised by each call, since opening the model was no refusal
                message = f"{target} returned {kind}"
                raise AssertionError(f"{message}, not a function of the inputs of the model")
            result = function(*inputs.values())
            # The operator has one output; any other value is judged as it is.
            return result[0] if isinstance(result, (list, tuple)) and len(result) == 1 else result

        return run

    return open_model


# --- Models of a form ---------------------------------------------------------------------------------------


def model_of_form(
    etype: str,
    form: ModelForm,
    signature: Signature,
    shape: Sequence[int],
    others: Sequence[Any],
) -> onnx.ModelProto:
    """The model of a form for X of a shape, made by the statements that a reproducer has.

    The other operands are part of it where they are constants.
    """
    import onnx.parser

    names: dict[str, Any] = {
        "onnx": onnx,
        **dict(zip(signature.parameters[1:], others, strict=True)),
    }
    exec("; ".join(model_statements(etype, form, signature, shape)), names)  # noqa: S102 - rendered here
    model: onnx.ModelProto = names["p"]
    return model


class FormFunction:
    """A function of the operands by models of a form, of any rank of X; the last model stays open."""

    def __init__(
        self, open_model: OpenModel, form: ModelForm, etype: str, signature: Signature
    ) -> None:
        self.form = form
        self._open = open_model
        self._type = etype
        self._signature = signature
        self._names = inputs_of(form, signature)
        self._key: object = None
        self._run: ModelFunction | None = None

    def prepare(self, operands: Sequence[Any]) -> ModelFunction:
        """Open a model that can serve these operands, if the last one cannot."""
        x, *others = operands
        # What the model declares of X, and the constants in it, decide which operands it can serve.
        shape: object = ()
        if self.form.shape == "static":
            shape = x.shape
        elif self.form.shape == "symbolic":
            shape = x.ndim
        constants = []
        if self.form.bounds != "inputs":
            constants = [(other.shape, other.tobytes()) for other in others]
        key = (shape, constants)
        if self._run is None or self._key != key:
            self._run = None  # the memory of one model at a time
            model = model_of_form(self._type, self.form, self._signature, x.shape, others)
            self._key = key
            self._run = self._open(model.SerializeToString())
        return self._run

    def __call__(self, *operands: Any) -> Any:
        """The result of a model."""
        run = self.prepare(operands)
        by_name = dict(zip(self._signature.parameters, operands, strict=True))
        return run({name: by_name[name] for name in self._names})


def handler_of(runtime: Runtime, etype: str, caller: Handle | None, signature: Signature) -> Handle:
    """A function that makes the calls of requests: of a form of a model, or by `caller`."""

    # One form at a time: requests of a form follow each other, and open models take memory.
    @lru_cache(maxsize=1)
    def of_form(form: ModelForm) -> Handle:
        opener = runtime.open_model if form.optimised else runtime.open_unoptimised
        assert opener is not None
        return Caller(FormFunction(opener, form, etype, signature), etype, signature)

    def handle(request: Request, board: Board) -> None:
        found = caller if request.form is None else of_form(request.form)
        assert found is not None
        found(request, board)

    return handle
