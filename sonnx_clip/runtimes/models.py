"""Runtimes that open ONNX models of one node: how a model is built, opened and called.

Only what builds a model needs onnx, as such a runtime does.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.calls import Caller, failure_of
from sonnx_clip.runtimes.model_forms import ATTRIBUTES, SYMBOLIC, node_text, text_of_form
from sonnx_clip.runtimes.operator_node import CLIP_NODE, OperatorNode
from sonnx_clip.runtimes.runtime import ClipFunction, OpenModel, RunText, Runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import onnx

    from sonnx_clip.runtimes.board import Board
    from sonnx_clip.runtimes.calls import Request
    from sonnx_clip.runtimes.model_forms import ModelForm
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
    node: OperatorNode = CLIP_NODE,
    strides: bool = True,
    few: bool = False,
) -> Runtime:
    """The runtime of a function that opens models.

    Args:
        open_model: the function.
        version: as in `Runtime`, and likewise `open_unoptimised`, `strides` and `few`.
        imports: Python text that imports what `run_text` names.
        run_text: the text of `open_model`, or as `Runtime.run_model`. A function with a text may reject
            models whose X has no rank: then each rank has a model, whose X has a symbolic shape.
        ranked: whether it is known to reject them.
        open_unoptimised: see above.
        node: the node of the models.
        strides: see above.
        few: see above.
    """
    by_rank: set[str] = set()
    optimised = True
    runs = run_text if callable(run_text) else lambda _: (f"f = {run_text}(p.SerializeToString())", "f(d)")

    def open_(etype: str) -> ClipFunction:
        import onnx.parser

        refusal: Exception | None = None
        if not ranked:
            model = onnx.parser.parse_model(node_text(etype, node)).SerializeToString()
            try:
                run = open_model(model)
            except Exception as error:
                if callable(run_text) or not failure_of(error).refusal:
                    raise
                refusal = error
            else:
                return lambda *operands: run(dict(zip(node.operands, operands, strict=True)))
        try:
            clip = ranked_function(open_model, etype)
        except Exception as error:  # noqa: BLE001 - the code of a runtime
            raise refusal or error from None
        by_rank.add(etype)
        return clip

    def before(etype: str) -> list[str]:
        set_up, _ = runs(optimised)
        made = f"p = onnx.parser.parse_model({json.dumps(node_text(etype, node))})"
        return [] if etype in by_rank else [made, *([set_up] if set_up else []), f"d = {node.inputs}"]

    def call(etype: str) -> str:
        ranks = f'ranked_function({run_text}, "{etype}")({node.call})'
        return ranks if etype in by_rank else runs(optimised)[1]

    if not callable(run_text):
        imports = f"{imports}; from {__name__} import ranked_function"
    return Runtime(
        version=version,
        open=open_,
        imports=f"import onnx.parser; {imports}",
        call=call,
        open_model=open_model,
        open_unoptimised=open_unoptimised,
        run_model=runs,
        strides=strides,
        few=few,
        before=before,
    )


def for_node(name: str, runtime: Runtime, node: OperatorNode) -> Runtime:
    """A runtime of models as one of another operator than Clip; UserError if it opens no models."""
    if runtime.open_model is None or runtime.run_model is None:
        what = f"the runtime {name} knows no operator but Clip"
        raise UserError(what, todo="choose onnxruntime or onnx-reference, or name a function")
    found = runtime_of_models(
        runtime.open_model, runtime.version, runtime.imports, runtime.run_model, node=node, few=runtime.few
    )
    return replace(found, open_model=None, run_model=None, strides=runtime.strides)


# --- Models of a form ---------------------------------------------------------------------------------------


def model_of_form(
    etype: str, form: ModelForm, shape: Sequence[int], bounds: Sequence[Any]
) -> onnx.ModelProto:
    """The model of a form for X of a shape; `statements` of model_forms.py says the same in Python text.

    The bounds, min and max of shape (), are part of it where they are constants.
    """
    import onnx.parser
    from onnx import helper, numpy_helper

    model = onnx.parser.parse_model(text_of_form(etype, form, shape))
    for name, bound in zip(CLIP_NODE.operands[1:], bounds, strict=True):
        if name not in form.bound_names:
            continue
        if form.bounds == "initializers":
            model.graph.initializer.append(numpy_helper.from_array(bound, name))
        if form.bounds == "Constant nodes":
            node = helper.make_node("Constant", [], [name], value=numpy_helper.from_array(bound))
            model.graph.node.insert(0, node)
        if form.bounds == "attributes":
            model.graph.node[0].attribute.append(helper.make_attribute(ATTRIBUTES[name], float(bound)))
    return model


def form_function(open_model: OpenModel, form: ModelForm, etype: str) -> ClipFunction:
    """A function (x, min, max) by models of a form; the last one stays open while it can serve.

    The rank is that of X in each call.
    """
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


def ranked_function(open_model: OpenModel, etype: str) -> ClipFunction:
    """A function (x, min, max) by models with a symbolic shape of X, whose rank is that of the call.

    One of rank 1 is opened at once: what this raises is the refusal of the element type.
    """
    clip, two = form_function(open_model, SYMBOLIC, etype), np.zeros(2, numpy_type(etype))
    clip(two, two[0, ...], two[1, ...])
    return clip


def handler_of(runtime: Runtime, etype: str, caller: Handle | None) -> Handle:
    """A function that makes the calls of requests: of a form of a model, or by `caller`."""

    @lru_cache(maxsize=1)
    def of_form(form: ModelForm) -> Handle:
        opener = runtime.open_model if form.optimised else runtime.open_unoptimised
        assert opener is not None
        return Caller(form_function(opener, form, etype), etype)

    def handle(request: Request, board: Board) -> None:
        found = caller if request.form is None else of_form(request.form)
        assert found is not None
        found(request, board)

    return handle
