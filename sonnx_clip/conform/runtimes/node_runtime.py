"""A runtime of models, asked for a node of another operator than Clip: its inputs are the operands."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from sonnx_clip.conform.model_forms.model_text import node_text
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from sonnx_clip.conform.operator_node import OperatorNode
    from sonnx_clip.conform.runtimes import ClipFunction, Runtime


def for_node(name: str, runtime: Runtime, node: OperatorNode) -> Runtime:
    """A runtime that serves models, as one of another operator.

    Raises:
        UserError: it serves no models.
    """
    open_model, texts = runtime.open_model, runtime.run_texts
    if open_model is None or not texts:
        what = f"the runtime {name} knows no operator but Clip"
        raise UserError(what, todo="choose onnxruntime or onnx-reference, or name a function")
    set_up, call = texts[True]

    def opened(etype: str) -> ClipFunction:
        from sonnx_clip.conform.runtimes.clip_model import (
            function_of_model,  # needs onnx, as the runtime does
        )

        return function_of_model(open_model, etype, node)

    def before(etype: str) -> list[str]:
        made = f"p = onnx.parser.parse_model({json.dumps(node_text(etype, node))})"
        return [made, *([set_up] if set_up else []), f"d = {node.inputs}"]

    return replace(
        runtime, open=opened, call=lambda _: call, before=before, open_model=None, open_unoptimised=None,
        run_model=None, caller=None,
    )  # fmt: skip
