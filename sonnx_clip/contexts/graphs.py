"""The ONNX models of a context: the whole graph, and its nodes one by one.

A model is a text in ONNX's syntax and the constants that are added to it, which the text cannot hold bit for
bit. So a reproducer shows what was run.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.contexts.meaning import number
from sonnx_clip.language import tree
from sonnx_clip.rewrites.terms import ELEMENT
from sonnx_clip.root.dtypes import Array, bits_type, hex_bits, numpy_type
from sonnx_clip.runtimes.model_forms import ONNX_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import onnx

    from sonnx_clip.contexts.model import Constant, Context, Shape, Step

BoundsAs: TypeAlias = Literal["initializers", "inputs", "attributes"]

_FIRST_OPSET = 13
ATTRIBUTES_OPSET = 10
"""The last operator set in which bounds are attributes, where optimisers lose them."""
_IR_VERSION = 8
_ATTRIBUTE_OF = {"A": "min", "B": "max", "C": "min", "D": "max"}


@dataclass(frozen=True)
class Model:
    """A model as text, and the constants that it needs beside it.

    Args:
        text: in ONNX's syntax.
        constants: by name.
        inputs: the names of its inputs, in order.
        output: the name of the output that is compared.
        shape: of that output.
        etype: of that output.
    """

    text: str
    constants: Mapping[str, Array]
    inputs: tuple[str, ...]
    output: str
    shape: Shape
    etype: str

    def proto(self) -> onnx.ModelProto:
        """The model; ValueError if onnx does not parse the text."""
        import onnx
        import onnx.parser

        found = onnx.parser.parse_model(self.text)
        tensors = (
            onnx.numpy_helper.from_array(value, name) for name, value in self.constants.items()
        )
        found.graph.initializer.extend(tensors)
        return found

    def statements(self) -> list[str]:
        """Python statements that make the model ``p``; they need `numpy` as np, `onnx` and `onnx.parser`."""
        lines = [f"p = onnx.parser.parse_model({json.dumps(self.text)})"]
        for name, value in self.constants.items():
            array = f"onnx.numpy_helper.from_array({array_text(value)}, {json.dumps(name)})"
            lines.append(f"p.graph.initializer.append({array})")
        return lines


def array_text(value: Array) -> str:
    """An array as Python text, bit for bit; equal entries are written once."""
    name = value.dtype.name
    bits = np.ascontiguousarray(value).view(bits_type(name)).reshape(-1)
    patterns = [hex_bits(int(pattern), name) for pattern in bits]
    if value.ndim == 0:
        return f"np.array({patterns[0]}, np.{bits_type(name).name}).view(np.{name})"
    if len(set(patterns)) == 1:
        return f"np.full({value.shape}, {patterns[0]}, np.{bits_type(name).name}).view(np.{name})"
    listed = ", ".join(patterns)
    return f"np.array([{listed}], np.{bits_type(name).name}).view(np.{name}).reshape({value.shape})"


@dataclass(frozen=True)
class Graphs:
    """The whole graph of a context, and its nodes in order, each as a model of one node."""

    whole: Model
    parts: tuple[Model, ...]


@dataclass
class _Builder:
    """The nodes and constants of a graph, as they are added."""

    etype: str
    opset: int
    bounds: Mapping[str, Array]
    bounds_as: BoundsAs
    lines: list[str] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)

    def node(
        self, step: Step, index: int, input_: str, output: str, etype: str
    ) -> tuple[str, dict[str, Array]]:
        """The text of a step's node, and its constants."""
        if step.term:
            return self._of_term(step, index, input_, output, etype)
        constants = {
            f"{name}{index}": _array(constant, etype) for name, constant in step.constants.items()
        }
        operator, _, listed = step.node.rpartition("(")
        names = [name.strip() for name in listed.rstrip(") ").split(",")]
        given = [input_ if name == "x" else f"{name}{index}" for name in names]
        return f"{output} = {operator.strip()} ({', '.join(given)})", constants

    def _of_term(
        self, step: Step, index: int, input_: str, output: str, etype: str
    ) -> tuple[str, dict[str, Array]]:
        arguments: list[str] = []
        attributes: list[str] = []
        constants: dict[str, Array] = {}
        for part in step.call.arguments:
            if isinstance(part, tree.Number):
                name = f"c{index}_{len(arguments)}"
                constants[name] = number(part.text, etype)
                arguments.append(name)
                continue
            assert isinstance(part, tree.Name)
            if part.id == ELEMENT:
                arguments.append(input_)
            elif self.bounds_as == "attributes" and step.op_type == "Clip":
                value = float(self.bounds[part.id])
                attributes.append(f"{_ATTRIBUTE_OF[part.id]} = {value!r}")
            else:
                name = part.id.lower()
                arguments.append(name)
                if self.bounds_as != "inputs":
                    constants[name] = self.bounds[part.id]
        shown = f" <{', '.join(attributes)}>" if attributes else ""
        return f"{output} = {step.op_type}{shown} ({', '.join(arguments)})", constants


def graphs(
    context: Context,
    etype: str,
    bounds: Mapping[str, Array],
    opset: int,
    bounds_as: BoundsAs = "initializers",
) -> Graphs:
    """The models of a context for bounds of shape (), in an operator set."""
    types = context.types_of_steps(etype)
    shapes = shapes_of(context)
    builder = _Builder(etype, opset, bounds, bounds_as)
    parts: list[Model] = []
    lines: list[str] = []
    constants: dict[str, Array] = {}
    current = "x"
    for index, step in enumerate(context.steps):
        is_last = index == len(context.steps) - 1
        output = "y" if is_last else f"t{index}"
        line, given = builder.node(step, index, current, output, types[index])
        lines.append(line)
        constants |= given
        inputs = {current: (types[index], shapes[index])}
        if bounds_as == "inputs":
            inputs |= _bounds_of(step, bounds, types[index])
        result = (types[index + 1], shapes[index + 1])
        parts.append(_model([line], given, inputs, {output: result}, opset, output))
        current = output
    inputs = {"x": (types[0], shapes[0])}
    if bounds_as == "inputs":
        for step, type_ in zip(context.steps, types, strict=False):
            inputs |= _bounds_of(step, bounds, type_)
    outputs = {"y": (types[-1], shapes[-1])}
    if context.entry.fork:
        lines.append("z = Concat <axis = 0> (y, t0)")
        both = (2 * shapes[-1][0], *shapes[-1][1:])
        outputs = {"z": (types[-1], both)}
        joined = {"y": (types[-1], shapes[-1]), "t0": (types[1], shapes[1])}
        parts.append(_model([lines[-1]], {}, joined, outputs, opset, "z"))
    if context.entry.two_zeros:
        constants = {**_two_zeros(etype, context.entry.two_zeros), **constants}
        lines += ["v = Max (w, plus_zero)", "u = Min (w, minus_zero)"]
        inputs["w"] = (etype, (1,))
        outputs |= {"v": (etype, (1,)), "u": (etype, (1,))}
    compared = next(iter(outputs))
    if context.entry.inside:
        whole = _with_body(context.entry.inside, lines, constants, inputs, outputs, opset)
    else:
        whole = _model(lines, constants, inputs, outputs, opset, compared)
    return Graphs(whole, tuple(parts))


def shapes_of(context: Context) -> tuple[Shape, ...]:
    """The shape of the input of each step, and of the result."""
    found = [context.first_shape]
    for step in context.steps:
        found.append(step.shape or found[-1])
    return tuple(found)


def opsets_of(context: Context, etype: str, newest: int) -> tuple[int, ...]:
    """The operator sets in which a context is asked: the first from 13 on that has it, and the newest.

    Operator set 10, in which the bounds are attributes, comes first where it has the context for float32.
    """
    having = [opset for opset in range(_FIRST_OPSET, newest + 1) if _has(context, etype, opset)]
    ends = tuple(dict.fromkeys((having[0], having[-1]))) if having else ()
    has_attributes = etype == "float32" == context.clip_type(etype)
    uses_clip = all(
        not step.term or step.op_type in ("Clip", "Relu", "Neg", "Abs", "Identity", "Max", "Min")
        for step in context.steps
    )
    if has_attributes and uses_clip and _has(context, etype, ATTRIBUTES_OPSET):
        return (*ends, ATTRIBUTES_OPSET)
    return ends


def _has(context: Context, etype: str, opset: int) -> bool:
    """Whether an operator set has all nodes of a context, with as many inputs."""
    steps = zip(context.steps, context.types_of_steps(etype), strict=False)
    return all(_has_node(step, type_, opset) for step, type_ in steps)


@cache
def _schema(op_type: str, opset: int) -> onnx.defs.OpSchema | None:
    import onnx

    try:
        return onnx.defs.get_schema(op_type, opset, "")
    except onnx.defs.SchemaError:
        return None


def _has_node(step: Step, etype: str, opset: int) -> bool:
    schema = _schema(step.op_type, opset)
    if schema is None:
        return False
    first = schema.inputs[0]
    tensor = f"tensor({ONNX_NAMES.get(etype, etype)})"
    if tensor not in first.types:
        return False
    is_variadic = schema.max_input > 100
    wanted = 1 if step.term else 1 + len(step.constants)
    if not is_variadic and schema.max_input < wanted:
        return False
    attributes = re.findall(r"(\w+) =", step.node)
    return all(name in schema.attributes for name in attributes)


def _bounds_of(step: Step, bounds: Mapping[str, Array], etype: str) -> dict[str, tuple[str, Shape]]:
    if not step.term:
        return {}
    names = [part.id for part in step.call.arguments if isinstance(part, tree.Name)]
    return {name.lower(): (etype, ()) for name in names if name in bounds}


def _array(constant: Constant, etype: str) -> Array:
    type_ = constant.type or etype
    if type_ == "int64":
        values = np.array([int(text) for text in constant.values], np.int64)
    else:
        values = np.array([number(text, type_) for text in constant.values], numpy_type(type_))
    shape = constant.declared_shape
    if len(constant.values) == 1:
        return np.full(shape, values[0], values.dtype)
    return values.reshape(shape)


def _model(
    lines: Sequence[str],
    constants: Mapping[str, Array],
    inputs: Mapping[str, tuple[str, Shape]],
    outputs: Mapping[str, tuple[str, Shape]],
    opset: int,
    compared: str,
) -> Model:
    head = f'<ir_version: {_IR_VERSION}, opset_import: ["": {opset}]>'
    body = "\n".join(lines)
    text = f"{head} g ({_declared(inputs)}) => ({_declared(outputs)}) {{ {body} }}"
    etype, shape = outputs[compared]
    return Model(text, constants, tuple(inputs), compared, shape, etype)


def _declared(values: Mapping[str, tuple[str, Shape]]) -> str:
    return ", ".join(f"{_tensor(*type_)} {name}" for name, type_ in values.items())


def _tensor(etype: str, shape: Iterable[int]) -> str:
    dimensions = ", ".join(map(str, shape))
    return f"{ONNX_NAMES.get(etype, etype)}{f'[{dimensions}]' if dimensions else ''}"


def _two_zeros(etype: str, first: str) -> dict[str, Array]:
    """The zeros of both signs, of which an optimiser that merges equal constants may keep the first."""
    zero = np.zeros((), numpy_type(etype))
    both = {"plus_zero": zero, "minus_zero": np.asarray(-zero)}
    return both if first == "plus" else dict(reversed(both.items()))


def _with_body(
    kind: str,
    lines: Sequence[str],
    constants: Mapping[str, Array],
    inputs: Mapping[str, tuple[str, Shape]],
    outputs: Mapping[str, tuple[str, Shape]],
    opset: int,
) -> Model:
    """The chain as the branch of an If that is taken, or as the body of a Loop that runs once."""
    ((name, (etype, shape)),) = outputs.items()
    tensor = _tensor(etype, shape)
    chain = "\n".join(lines)
    given = dict(constants)
    if kind == "If":
        other = f"{tensor} e"
        taken = f"then_branch = taken () => ({tensor} {name}) {{ {chain} }}"
        left = f"else_branch = left () => ({other}) {{ e = Identity (x) }}"
        line = f"out = If (condition) <{taken}, {left}>"
        inputs = {**inputs, "condition": ("bool", ())}
    else:
        # The body reads its own X: what the loop carries.
        inner = re.sub(r"\bx\b", "carried", chain)
        body = (
            f"body = once (int64 i, bool c, {tensor} carried) => (bool goes_on, {tensor} {name})"
            f" {{ goes_on = Identity (c)\n{inner} }}"
        )
        line = f"out = Loop (trips, condition, x) <{body}>"
        given["trips"] = np.array(1, np.int64)
        inputs = {**inputs, "condition": ("bool", ())}
    return _model([line], given, inputs, {"out": (etype, shape)}, opset, "out")
