"""What adapters share: a `Runtime` from a function (x, min, max), or from what opens ONNX models, of Clip or
of another node.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.form_caller import form_function
from sonnx_clip.runtimes.model_forms import SYMBOLIC, node_text
from sonnx_clip.runtimes.operator_node import CLIP_NODE
from sonnx_clip.runtimes.runtime import ClipFunction, RunText, Runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.runtimes.operator_node import OperatorNode
    from sonnx_clip.runtimes.runtime import OpenModel


def runtime_of_function(function: ClipFunction, version: str) -> Runtime:
    """The runtime of a function (x, min, max) of a module, which copies X: layouts do not matter to it."""
    name = function.__name__
    return Runtime(
        version=version,
        open=lambda _: function,
        imports=f"from {function.__module__} import {name}",
        call=lambda _: f"{name}({CLIP_NODE.call})",
        strides=False,
    )


def runtime_of_ranked_models(open_model: OpenModel, version: str) -> Runtime:
    """The runtime of a function ``open_model`` of a module that must know the rank of X: a model for each."""
    return Runtime(
        version=version,
        open=lambda etype: form_function(open_model, SYMBOLIC, etype),
        imports=f"import onnx.parser; from {open_model.__module__} import open_model, RUNTIME",
        call=lambda etype: f'RUNTIME.open("{etype}")({CLIP_NODE.call})',
        open_model=open_model,
        run_model=_runs_by("open_model"),
        strides=False,
    )


def runtime_of_models(
    open_model: OpenModel, version: str, opener: tuple[str, str], *, strides: bool = True, few: bool = False
) -> Runtime:
    """The runtime of a function that opens models of any rank.

    `opener` is the Python text that imports it, and the text that names it; the others are as in `Runtime`.
    """
    from sonnx_clip.runtimes.clip_model import function_of_model, parse_call

    imports, name = opener
    return Runtime(
        version=version,
        open=lambda etype: function_of_model(open_model, etype),
        imports=f"import onnx.parser; {imports}",
        call=lambda etype: f"{name}({parse_call(etype)}.SerializeToString())({CLIP_NODE.inputs})",
        open_model=open_model,
        run_model=_runs_by(name),
        strides=strides,
        few=few,
    )


def _runs_by(name: str) -> Callable[[bool], RunText]:
    return lambda _: (f"f = {name}(p.SerializeToString())", "f(d)")


# --- A runtime of models, asked for a node of another operator than Clip: its inputs are the operands -------


def for_node(name: str, runtime: Runtime, node: OperatorNode) -> Runtime:
    """A runtime of models as one of another operator; UserError if it opens no models."""
    open_model, texts = runtime.open_model, runtime.run_texts
    if open_model is None or not texts:
        what = f"the runtime {name} knows no operator but Clip"
        raise UserError(what, todo="choose onnxruntime or onnx-reference, or name a function")
    set_up, call = texts[True]

    def opened(etype: str) -> ClipFunction:
        from sonnx_clip.runtimes.clip_model import function_of_model

        return function_of_model(open_model, etype, node)

    def before(etype: str) -> list[str]:
        made = f"p = onnx.parser.parse_model({json.dumps(node_text(etype, node))})"
        return [made, *([set_up] if set_up else []), f"d = {node.inputs}"]

    return replace(
        runtime, open=opened, call=lambda _: call, before=before, open_model=None, open_unoptimised=None,
        run_model=None, caller=None,
    )  # fmt: skip
