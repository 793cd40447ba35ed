"""Models of many Clip nodes: every triple of an 8-bit type in few calls of a runtime, for `triples`.

A call of a model of one node takes microseconds, most of them to call. A model of 256 nodes has X and a min
as inputs, and each node another max, an initializer; one concatenation gives all results. It is another
program than a model of one node, and says nothing of other forms: `sonnx-clip check` asks those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

from sonnx_clip.conform.model_forms.model_text import ONNX_NAMES, OPSET, graph_text
from sonnx_clip.conform.operator_node import CLIP_NODE

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import ModelProto

    from sonnx_clip.conform.dtypes import Array
    from sonnx_clip.conform.runtimes import ModelFunction, OpenModel


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
