"""Models of one Clip node, with bounds as inputs, so that one session serves all triples, and of any form;
and models of many nodes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.parser
from onnx import helper, numpy_helper

from sonnx_clip.runtimes.model_forms import ONNX_NAMES, OPSET, graph_text, model_text, node_text, text_of_form
from sonnx_clip.runtimes.operator_node import CLIP_NODE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx import ModelProto

    from sonnx_clip.root.dtypes import Array
    from sonnx_clip.runtimes.model_forms import ModelForm
    from sonnx_clip.runtimes.operator_node import OperatorNode
    from sonnx_clip.runtimes.runtime import ClipFunction, ModelFunction, OpenModel


def one_node_model(etype: str) -> onnx.ModelProto:
    """The model of a Clip for an element type."""
    return onnx.parser.parse_model(model_text(etype))


def function_of_model(open_model: OpenModel, etype: str, node: OperatorNode = CLIP_NODE) -> ClipFunction:
    """A function of the operands of a node, by a model of it alone."""
    text = model_text(etype) if node is CLIP_NODE else node_text(etype, node)
    run = open_model(onnx.parser.parse_model(text).SerializeToString())
    return lambda *operands: run(dict(zip(node.operands, operands, strict=True)))


def parse_call(etype: str) -> str:
    """The Python text that makes the same model; without single quotes, for the sake of shells."""
    return f"onnx.parser.parse_model({json.dumps(model_text(etype))})"


def model_of_form(
    etype: str, form: ModelForm, shape: Sequence[int], bounds: Sequence[Any]
) -> onnx.ModelProto:
    """The model of a form; `statements` of model_forms.py says the same in Python text.

    Args:
        etype: the id of an element type.
        form: the form.
        shape: that of X.
        bounds: min and max, arrays of shape (); they take part where they are constants.
    """
    model = onnx.parser.parse_model(text_of_form(etype, form, shape))
    for name, bound in zip(CLIP_NODE.operands[1:], bounds, strict=True):
        if form.bounds == "initializers":
            model.graph.initializer.append(numpy_helper.from_array(bound, name))
        if form.bounds == "Constant nodes":
            node = helper.make_node("Constant", [], [name], value=numpy_helper.from_array(bound))
            model.graph.node.insert(0, node)
    return model


# --- Models of many Clip nodes: every triple of an 8-bit type in few calls of a runtime, for `triples` ------
#
# A call of a model of one node takes microseconds, most of them to call. A model of 256 nodes has X and a min
# as inputs, and each node another max, an initializer; one concatenation gives all results. It is another
# program than a model of one node, and says nothing of other forms: `sonnx-clip check` asks those.


def clip_of_many_nodes(open_model: OpenModel) -> Callable[[Array, Array, Array, Array], None]:
    """What `compare_every_triple` asks, by a runtime that opens models.

    Args:
        open_model: bytes of a model -> a function of its inputs by name.

    Returns:
        A function (x, one min, every max, out), as `triples.clip_under_every_max`; it raises ValueError where
        a runtime answers in another type or size.
    """
    opened: dict[bytes, ModelFunction] = {}
    first, *bounds = CLIP_NODE.operands

    def clip(x: Array, one_min: Array, every_max: Array, out: Array) -> None:
        key = every_max.tobytes()
        if key not in opened:
            opened.clear()  # the memory of one model at a time
            opened[key] = open_model(many_nodes(every_max, len(x)).SerializeToString())
        found = opened[key]({first: x, bounds[0]: np.asarray(one_min)})
        if found.dtype != out.dtype or found.size != out.size:
            raise ValueError(f"{found.size} results of type {found.dtype} are no {out.size} of {out.dtype}")
        out[...] = found.reshape(out.shape)

    return clip


def many_nodes(every_max: Array, length: int) -> ModelProto:
    """The model: a node for each max, with X of one dimension and so many entries."""
    element = ONNX_NAMES.get(every_max.dtype.name, every_max.dtype.name)
    first, low, high = CLIP_NODE.operands
    places = range(len(every_max))
    nodes = [f"y{place} = {CLIP_NODE.op_type}({first}, {low}, {high}{place})" for place in places]
    nodes.append(f"y = Concat<axis = 0>({', '.join(f'y{place}' for place in places)})")
    inputs, output = (
        f"{element}[{length}] {first}, {element} {low}",
        f"{element}[{every_max.size * length}] y",
    )
    model = onnx.parser.parse_model(graph_text(OPSET, inputs, output, " ".join(nodes)))
    model.graph.initializer.extend(
        numpy_helper.from_array(every_max[place], f"{high}{place}") for place in places
    )
    return model
