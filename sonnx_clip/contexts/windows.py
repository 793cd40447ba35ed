"""Cuts each Clip of a model out with its neighbours: its producer, and two levels of consumers.

A window keeps the real shapes and weights. Windows that are equal but for names and weights are one. The
input of a Clip is never made an output of its window: that would prevent the fusion that is looked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from sonnx_clip.contexts.context import Tensor
from sonnx_clip.contexts.model_graph import ModelGraph, name_of
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.root.dtypes import Array

_LEVELS = 2
_WITH_BODIES = frozenset({"If", "Loop", "Scan"})
_MOST_ENTRIES = 1 << 22  # of an input of a window
# Operators that add up many entries: one NaN spoils all, and the order of additions changes the rounding.
_ADDS_UP = frozenset({
    "Conv", "ConvTranspose", "Gemm", "MatMul", "AveragePool", "GlobalAveragePool", "BatchNormalization",
    "InstanceNormalization", "LayerNormalization", "Softmax", "ReduceMean", "ReduceSum", "Einsum", "LRN",
    "LpNormalization", "ReduceL2", "GroupNormalization",
})  # fmt: skip


@dataclass(frozen=True)
class Window:
    """A Clip with its neighbours.

    Args:
        clips: the names of the Clips that have this window.
        nodes: in their order.
        clip: the index of the Clip.
        inputs: the element type and the shape of each input, by name.
        outputs: the element type and the shape of each output, by name.
        inner: those of the other results, by name.
        constants: by name.
        bounds_of: both bounds of each Clip, by its index; None for one that is absent or no constant.
        opset: of the model.
    """

    clips: tuple[str, ...]
    nodes: tuple[onnx.NodeProto, ...]
    clip: int
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    inner: Mapping[str, Tensor]
    constants: Mapping[str, Array]
    bounds_of: Mapping[int, tuple[Array | None, Array | None]]
    imports: tuple[onnx.OperatorSetIdProto, ...]
    ir_version: int

    @property
    def chain(self) -> str:
        """Its operators in order, Clips with their bounds."""
        names = [node.op_type for node in self.nodes]
        for place, (low, high) in self.bounds_of.items():
            names[place] = f"Clip({_bound_text(low)}, {_bound_text(high)})"
        return ", ".join(names)

    @property
    def bounds(self) -> tuple[Array | None, Array | None]:
        """The bounds of the Clip; None for one that is absent or no constant."""
        return self.bounds_of[self.clip]

    @property
    def x(self) -> str:
        """The name of the Clip's input."""
        inputs = self.nodes[self.clip].input
        return str(inputs[0])

    @property
    def y(self) -> str:
        """The name of the Clip's output."""
        outputs = self.nodes[self.clip].output
        return str(outputs[0])

    @property
    def adds_up(self) -> bool:
        """Whether a node adds up many entries."""
        return any(adds_up(node) for node in self.nodes)

    @property
    def spreads(self) -> bool:
        """Whether one NaN among the entries of a value reaches others."""
        return any(spreads(node) for node in self.nodes)

    def typed(self, name: str) -> Tensor:
        """The element type and shape of a value."""
        if name in self.inputs:
            return self.inputs[name]
        if name in self.outputs:
            return self.outputs[name]
        return self.inner[name]

    def whole(self, output: str) -> onnx.ModelProto:
        """The model of the window, with one of its outputs first."""
        others = [name for name in self.outputs if name != output]
        outputs = [output, *others]
        return self._model(self.nodes, self.inputs, outputs)

    def parts(self) -> Iterator[tuple[onnx.ModelProto, tuple[str, ...], str]]:
        """Each node as a model for each of its outputs: the model, its inputs, and the output."""
        for node in self.nodes:
            inputs: dict[str, Tensor] = {}
            for name in node.input:
                if name and name not in self.constants:
                    inputs[name] = self.typed(name)
            names = tuple(inputs)
            for output in filter(None, node.output):
                model = self._model([node], inputs, [output])
                yield model, names, output

    def _model(
        self,
        nodes: Sequence[onnx.NodeProto],
        inputs: Mapping[str, Tensor],
        outputs: Sequence[str],
    ) -> onnx.ModelProto:
        read: set[str] = set()
        for node in nodes:
            read.update(node.input)
        # The weights of other nodes would make a model of one node as large as the window.
        constants: list[onnx.TensorProto] = []
        for name, value in self.constants.items():
            if name in read:
                constants.append(numpy_helper.from_array(value, name))
        graph = helper.make_graph(
            nodes=list(nodes),
            name="window",
            inputs=[_declared(name, tensor) for name, tensor in inputs.items()],
            outputs=[_declared(name, self.typed(name)) for name in outputs],
            initializer=constants,
        )
        return helper.make_model(
            graph,
            opset_imports=list(self.imports),
            ir_version=self.ir_version,
        )


def _bound_text(bound: Array | None) -> str:
    """A bound as text; empty for one that is absent or no constant."""
    return "" if bound is None else f"{bound:g}"


def _declared(name: str, tensor: Tensor) -> onnx.ValueInfoProto:
    """The declaration of a value in a graph."""
    dtype = np.dtype(tensor.etype)
    code = helper.np_dtype_to_tensor_dtype(dtype)
    return helper.make_tensor_value_info(name, code, tensor.shape)


def adds_up(node: onnx.NodeProto) -> bool:
    """Whether a node adds up many entries."""
    return node.op_type in _ADDS_UP


def spreads(node: onnx.NodeProto) -> bool:
    """Whether one NaN among its entries reaches others."""
    # BatchNormalization rounds as sums do, but computes with each entry alone.
    return adds_up(node) and node.op_type != "BatchNormalization"


@dataclass
class Cut:
    """The windows of a model, and why others could not be cut, by the name of a Clip."""

    windows: list[Window] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def cut_windows(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> Cut:
    """Cut the windows of a model's graph; Clips in functions and in bodies of nodes are left out.

    Args:
        model: with its constants loaded; it is changed.
        shapes: of inputs, by name.

    Raises:
        UserError: there is no such input.
    """
    _declare(model, shapes)
    # What an exporter has inferred may contradict the shapes that were just declared.
    del model.graph.value_info[:]
    # With the values of small tensors: exporters compute shapes by nodes.
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    graph = ModelGraph(inferred)
    cut = Cut()
    by_key: dict[Any, Window] = {}
    for place in graph.clips():
        name = name_of(graph.nodes[place])
        try:
            window = _window(graph, inferred, place, name)
        except _NotCutError as error:
            cut.left_out[name] = str(error)
            continue
        key = _key(window)
        earlier = by_key.get(key)
        if earlier is not None:
            # Judged once, and reported with the names of all Clips that have it.
            window = replace(earlier, clips=(*earlier.clips, name))
        by_key[key] = window
    cut.windows = list(by_key.values())
    return cut


class _NotCutError(Exception):
    """A window cannot be cut, for the reason in the text."""


def _declare(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> None:
    """Declare the shapes of inputs, over those that the model declares."""
    by_name = {value.name: value for value in model.graph.input}
    for name, shape in shapes.items():
        if name not in by_name:
            known = ", ".join(by_name) or "none"
            todo = f"it has {known}"
            raise UserError(f"the model has no input {name}", "--input-shape", todo)
        tensor = by_name[name].type.tensor_type
        dimensions = tensor.shape.dim
        del dimensions[:]
        for size in shape:
            dimension = dimensions.add()
            dimension.dim_value = size


# --- One window ---------------------------------------------------------------------------------------------


def _window(graph: ModelGraph, model: onnx.ModelProto, clip: int, name: str) -> Window:
    """The window of a Clip; _NotCutError if a shape is not known, or nothing of it is an output."""
    places = sorted(_places(graph, clip))
    nodes = [graph.nodes[place] for place in places]
    # A dict keeps the order in which nodes read, which becomes that of the window's inputs. What
    # is absent has an empty name.
    read: dict[str, None] = {}
    produced: set[str] = set()
    for node in nodes:
        read |= dict.fromkeys(filter(None, node.input))
        produced.update(filter(None, node.output))
    inputs: dict[str, Tensor] = {}
    constants: dict[str, Array] = {}
    for value in read:
        constant = graph.constant(value)
        if constant is not None:
            constants[value] = constant
        elif value not in produced:
            inputs[value] = _typed(graph, value)
    # As an output, X of the Clip would have to be kept, and no optimiser could fuse the Clip into
    # its producer. So it is an inner value, even where the model gives it or others read it.
    x = graph.nodes[clip].input[0]
    names_of_outputs = [value for value in _outputs(graph, places) if value != x]
    if not names_of_outputs:
        raise _NotCutError("nothing of its window is an output")
    outputs = _all_typed(graph, names_of_outputs)
    inner = _all_typed(graph, produced - outputs.keys())
    # Of each Clip: a consumer may be another one, whose bounds show in the chain.
    bounds_of: dict[int, tuple[Array | None, Array | None]] = {}
    for place in graph.clips():
        if place in places:
            # By its place in the window, in which `chain` finds it.
            index = places.index(place)
            bounds_of[index] = graph.bounds(graph.nodes[place])
    return Window(
        clips=(name,),
        nodes=tuple(nodes),
        clip=places.index(clip),
        inputs=inputs,
        outputs=outputs,
        inner=inner,
        constants=constants,
        bounds_of=bounds_of,
        imports=tuple(model.opset_import),
        ir_version=min(model.ir_version, 10),
    )


def _places(graph: ModelGraph, clip: int) -> set[int]:
    """The places of a Clip, of its producer, and of two levels of consumers."""
    places = {clip}
    x = graph.nodes[clip].input[0]
    # A node with a body reads values of the whole model, which are not among its inputs.
    producer = graph.producer(x)
    if producer is not None and not _has_body(graph, producer):
        places.add(producer)
    level = {clip}
    for _ in range(_LEVELS):
        readers: set[int] = set()
        for place in level:
            for name in graph.nodes[place].output:
                readers.update(graph.readers(name))
        level = {place for place in readers if not _has_body(graph, place)}
        places |= level
    return places


def _has_body(graph: ModelGraph, place: int) -> bool:
    node = graph.nodes[place]
    return node.op_type in _WITH_BODIES


def _outputs(graph: ModelGraph, places: Sequence[int]) -> Iterator[str]:
    """The results of some nodes that the model gives, or that another node or none reads."""
    names: list[str] = []
    for place in places:
        names += filter(None, graph.nodes[place].output)
    for name in names:
        readers = graph.readers(name)
        is_read_outside = any(reader not in places for reader in readers)
        if name in graph.results or not readers or is_read_outside:
            yield name


def _all_typed(graph: ModelGraph, names: Iterable[str]) -> dict[str, Tensor]:
    """The element types and shapes of values, by name."""
    return {name: _typed(graph, name) for name in names}


def _typed(graph: ModelGraph, name: str) -> Tensor:
    """The element type and the shape of a value; _NotCutError if they are not known, or cannot be fed."""
    declared = graph.declared.get(name)
    if declared is None or not declared.type.HasField("tensor_type"):
        raise _NotCutError(f"the type of {name} is not known")
    tensor = declared.type.tensor_type
    sizes = [dimension.dim_value for dimension in tensor.shape.dim]
    # An open size has the value 0. A scalar has a shape, without sizes.
    is_known = tensor.HasField("shape") and all(sizes)
    if not is_known:
        raise _NotCutError(f"the shape of {name} is not known: use --input-shape")
    entries = prod(sizes)
    if entries > _MOST_ENTRIES:
        raise _NotCutError(f"{name} has more than {_MOST_ENTRIES:,} entries")
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    # Of NumPy's own floats, integers and Booleans; bfloat16 and float8 have the kind "V".
    if dtype.kind not in "fiub":
        raise _NotCutError(f"{name} has the element type {dtype}")
    return Tensor(dtype.name, tuple(sizes))


# --- Equal windows ------------------------------------------------------------------------------------------


def _key(window: Window) -> Any:
    """What equal windows share: nodes, attributes, connections, shapes, and constants of one entry."""
    # Names differ between layers of a model. In their place: which value of the window it is.
    numbers: dict[str, int] = {}

    def number(name: str) -> int:
        return numbers.setdefault(name, len(numbers))

    def constant(name: str) -> Any:
        value = window.constants.get(name)
        if value is None:
            return number(name) if name else ""
        # Weights may differ: the kernels are the same. Bounds and slopes are of one entry.
        content = value.tobytes() if value.size == 1 else b""
        return value.dtype.name, value.shape, content

    nodes = []
    for node in window.nodes:
        inputs = tuple(map(constant, node.input))
        outputs = tuple(map(number, node.output))
        serialised = [attribute.SerializeToString() for attribute in node.attribute]
        # Sorted, since the order of attributes says nothing.
        attributes = tuple(sorted(serialised))
        nodes.append((node.op_type, inputs, outputs, attributes))
    typed = []
    for values in (window.inputs, window.outputs):
        for name, tensor in values.items():
            typed.append((number(name), tensor))
    return tuple(nodes), tuple(sorted(typed))
