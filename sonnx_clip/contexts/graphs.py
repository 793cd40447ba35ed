"""The ONNX models of a context: the whole graph, and its nodes one by one.

A model is a text in ONNX's syntax and the constants that are added to it, which the text cannot hold bit for
bit. So a reproducer shows what was run.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from sonnx_clip.contexts.context import BOUNDS, Tensor, X, scalar_of
from sonnx_clip.language import tree
from sonnx_clip.root.dtypes import Array, bits_of, bits_type, hex_bits, numpy_type
from sonnx_clip.runtimes.model_forms import FIRST_OPSET, ONNX_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import onnx

    from sonnx_clip.contexts.context import Context, ContextStep, Shape, Stage
    from sonnx_clip.language.tree import Expr

BoundsAs: TypeAlias = Literal[
    "initializers", "Constant nodes", "inputs", "results of nodes", "attributes"
]
CONSTANT: Final = ("initializers", "Constant nodes", "attributes")
"""The forms of a model in which an optimiser sees the values of the bounds."""

SOURCE: Final = "source_of_"
"""Begins the name of the input that a bound is computed from."""
ATTRIBUTES_OPSET = 10
"""The last operator set in which bounds are attributes, where optimisers lose them."""
# An old version of the format: runtimes refuse models of a newer one than theirs.
_IR_VERSION = 8
# Those of spec/ that operator set 10 has with one meaning: bounds are attributes of Clip alone.
_WITH_ATTRIBUTES = ("Clip", "Relu", "Neg", "Abs", "Identity", "Max", "Min")
_NAME_OF_VALUE = re.compile(r"\b\w+\b(?! *\()")
_ABSENT = '""'  # an input of a node that is absent
# C and D are the bounds of a second Clip.
_ATTRIBUTE_OF = {"A": "min", "B": "max", "C": "min", "D": "max"}


@dataclass(frozen=True)
class Model:
    """A model as text, and the constants that it needs beside it.

    Args:
        text: in ONNX's syntax.
        constants: by name.
        in_nodes: the names of those that Constant nodes have; the others are initializers.
        inputs: the names of its inputs, in order.
        output: the name of the output that is compared.
        shape: of that output.
        etype: of that output.
    """

    text: str
    constants: Mapping[str, Array]
    in_nodes: frozenset[str]
    inputs: tuple[str, ...]
    output: str
    shape: Shape
    etype: str

    def proto(self) -> onnx.ModelProto:
        """The model; ValueError if onnx does not parse the text."""
        import onnx
        import onnx.parser

        model = onnx.parser.parse_model(self.text)
        for name, value in self.constants.items():
            tensor = onnx.numpy_helper.from_array(value, name)
            if name in self.in_nodes:
                # In front, since nodes have to be in the order in which they read each other.
                node = onnx.helper.make_node("Constant", [], [name], value=tensor)
                model.graph.node.insert(0, node)
            else:
                model.graph.initializer.append(tensor)
        return model

    def statements(self) -> list[str]:
        """Python statements that make the model ``p``; they need `numpy` as np, `onnx` and `onnx.parser`."""
        lines = [f"p = onnx.parser.parse_model({json.dumps(self.text)})"]
        for name, value in self.constants.items():
            quoted = json.dumps(name)
            tensor = f"onnx.numpy_helper.from_array({array_text(value)}, {quoted})"
            if name in self.in_nodes:
                node = f'onnx.helper.make_node("Constant", [], [{quoted}], value={tensor})'
                lines.append(f"p.graph.node.insert(0, {node})")
            else:
                lines.append(f"p.graph.initializer.append({tensor})")
        return lines


def array_text(value: Array) -> str:
    """An array as Python text, bit for bit; equal entries are written once."""
    name = value.dtype.name
    unsigned = bits_type(name)
    # As unsigned integers: a decimal would lose the sign and the payload of a NaN.
    texts = [hex_bits(pattern, name) for pattern in bits_of(value).tolist()]
    first = texts[0]
    in_bits = f"np.{unsigned.name}"
    as_type = f"view(np.{name})"
    if value.ndim == 0:
        return f"np.array({first}, {in_bits}).{as_type}"
    if len(set(texts)) == 1:
        return f"np.full({value.shape}, {first}, {in_bits}).{as_type}"
    listed = ", ".join(texts)
    return f"np.array([{listed}], {in_bits}).{as_type}.reshape({value.shape})"


@dataclass(frozen=True)
class Graphs:
    """The whole graph of a context, and its nodes in order, each as a model of one node."""

    whole: Model
    parts: tuple[Model, ...]


@dataclass(frozen=True)
class _Slot:
    """A step in a graph: the names of its input and its output, and an index for its own values."""

    step: ContextStep
    index: int
    input: str
    output: str
    etype: str


class _NodeText(NamedTuple):
    """The text of a node, or of several, and the constants that it reads, by name."""

    text: str
    constants: dict[str, Array]


@dataclass(frozen=True)
class _Builder:
    """Writes the nodes of a graph for some bounds."""

    bounds: Mapping[str, Array]
    bounds_as: BoundsAs

    def node(self, slot: _Slot) -> _NodeText:
        """A step as text."""
        step = slot.step
        if step.term:
            return self._of_term(slot)
        if step.nodes:
            return self._of_nodes(slot)
        # Two steps may be equal, so the names of constants get the index of the step.
        constants: dict[str, Array] = {}
        for name, constant in step.constants.items():
            constants[f"{name}{slot.index}"] = constant.array(slot.etype)
        # The last parenthesis, since attributes may have others.
        operator, _, listed = step.node.rpartition("(")
        arguments: list[str] = []
        for part in listed.rstrip(") ").split(","):
            name = part.strip()
            if name == "x":
                arguments.append(slot.input)
            else:
                arguments.append(f"{name}{slot.index}")
        text = _node_text(slot.output, operator.strip(), arguments)
        return _NodeText(text, constants)

    def _of_nodes(self, slot: _Slot) -> _NodeText:
        """Several nodes: the names of their own values get the index of the step."""
        step = slot.step
        names = {"x": slot.input, "y": slot.output}
        constants: dict[str, Array] = {}
        for bound in step.bounds:
            name = bound.lower()
            names[bound] = name
            if self.bounds_as in CONSTANT:
                constants[name] = self.bounds[bound]

        def renamed(match: re.Match[str]) -> str:
            own_name = f"{match[0]}{slot.index}"
            return names.get(match[0], own_name)

        # A name before a parenthesis is an operator.
        lines = [_NAME_OF_VALUE.sub(renamed, line) for line in step.nodes]
        return _NodeText("\n".join(lines), constants)

    def _of_term(self, slot: _Slot) -> _NodeText:
        """An operator of spec/ on X, bounds and other constants."""
        step = slot.step
        arguments: list[str] = []
        attributes: list[str] = []
        constants: dict[str, Array] = {}
        for part in step.call.arguments:
            bound = part.id if isinstance(part, tree.Name) and part.id in BOUNDS else None
            if part == X:
                arguments.append(slot.input)
            elif bound is None:
                name = f"c{slot.index}_{len(arguments)}"
                constants[name] = _own_constant(part, step, slot.etype)
                arguments.append(name)
            elif self.bounds_as == "attributes" and step.op_type == "Clip":
                # Of other operators, such as Max, a bound stays an input, and is an initializer.
                if bound in self.bounds:
                    value = float(self.bounds[bound])
                    attributes.append(f"{_ATTRIBUTE_OF[bound]} = {value!r}")
            elif bound not in self.bounds:
                arguments.append(_ABSENT)
            else:
                name = bound.lower()
                arguments.append(name)
                if self.bounds_as in CONSTANT:
                    constants[name] = self.bounds[bound]
        while arguments[-1] == _ABSENT:  # ONNX leaves absent inputs out at the end
            arguments.pop()
        operator = step.op_type
        if attributes:
            operator += f" <{', '.join(attributes)}>"
        return _NodeText(_node_text(slot.output, operator, arguments), constants)


def _node_text(output: str, operator: str, arguments: Sequence[str]) -> str:
    """A node in ONNX's syntax."""
    return f"{output} = {operator} ({', '.join(arguments)})"


def _own_constant(part: Expr, step: ContextStep, etype: str) -> Array:
    """A constant of a term that is no bound: a number, or a constant of the step by its name."""
    if isinstance(part, tree.Number):
        return scalar_of(part.text, etype)
    assert isinstance(part, tree.Name)
    return step.constants[part.id].array(etype)


def graphs(
    context: Context,
    etype: str,
    bounds: Mapping[str, Array],
    opset: int,
    bounds_as: BoundsAs = "initializers",
) -> Graphs:
    """The models of a context for bounds of shape (), in an operator set."""
    stages = context.stages(etype)
    builder = _Builder(bounds, bounds_as)
    in_nodes: frozenset[str] = frozenset()
    if bounds_as == "Constant nodes":
        in_nodes = frozenset(name.lower() for name in bounds)
    whole = _Graph(opset, {"x": stages[0].given}, in_nodes=in_nodes)
    # The whole and the parts are put together side by side, from the same texts: a difference of
    # their results is then no difference of nodes.
    length = len(stages) // context.entry.turns
    parts: list[Model] = []
    current = "x"
    for index, stage in enumerate(stages):
        is_last = index == length - 1
        output = "y" if is_last else f"t{index}"
        slot = _Slot(stage.step, index, current, output, stage.given.etype)
        text, constants = builder.node(slot)
        inputs = {current: stage.given}
        if bounds_as not in CONSTANT:
            of_bounds = _bounds_of(stage, bounds)
            inputs |= of_bounds
            if bounds_as == "inputs":
                whole.inputs |= of_bounds
            else:
                _add_nodes_that_give(whole, of_bounds)
        # Where the bounds are results of nodes, a part has them as inputs: it is one node.
        outputs = {output: stage.result}
        part = _Graph(opset, inputs, outputs, [text], constants, in_nodes)
        parts.append(part.model(output))
        current = output
        if index < length:  # a Loop has the nodes of one turn
            whole.lines.append(text)
            whole.constants |= constants
    whole.outputs = {"y": stages[-1].result}
    if context.entry.fork:
        parts.append(_add_fork(whole, stages))
    if context.entry.two_zeros:
        _add_two_zeros(whole, etype, context.entry.two_zeros)
    if context.entry.inside:
        model = _with_body(context.entry.inside, whole)
    else:
        compared = next(iter(whole.outputs))
        model = whole.model(compared)
    return Graphs(model, tuple(parts))


@dataclass
class _Graph:
    """A graph that is put together: values by name, and nodes as lines."""

    opset: int
    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    in_nodes: frozenset[str] = frozenset()

    def model(self, compared: str) -> Model:
        """The model, of which one output is compared."""
        head = f'<ir_version: {_IR_VERSION}, opset_import: ["": {self.opset}]>'
        values = f"({_declared(self.inputs)}) => ({_declared(self.outputs)})"
        nodes = "\n".join(self.lines)
        result = self.outputs[compared]
        return Model(
            text=f"{head} g {values} {{ {nodes} }}",
            constants=self.constants,
            # A model of one node has the constants alone that it reads.
            in_nodes=self.in_nodes & self.constants.keys(),
            inputs=tuple(self.inputs),
            output=compared,
            shape=result.shape,
            etype=result.etype,
        )


def _add_nodes_that_give(whole: _Graph, bounds: Mapping[str, Tensor]) -> None:
    """Let each bound be the result of a node, which is an input of the graph as it is."""
    for name, tensor in bounds.items():
        source = SOURCE + name
        if source not in whole.inputs:
            whole.inputs[source] = tensor
            # In front of all others, so that an optimiser may swap those.
            whole.lines.insert(0, f"{name} = Min ({source}, {source})")


def _add_fork(whole: _Graph, stages: Sequence[Stage]) -> Model:
    """Let the result of the first step be used twice: the node that joins both results, as a model."""
    first = stages[0].result
    last = stages[-1].result
    rows, *others = last.shape
    both = Tensor(last.etype, (2 * rows, *others))
    line = "z = Concat <axis = 0> (y, t0)"
    inputs = {"y": last, "t0": first}
    outputs = {"z": both}
    whole.lines.append(line)
    whole.outputs = outputs
    alone = _Graph(whole.opset, inputs, outputs, [line])
    return alone.model("z")


def _add_two_zeros(whole: _Graph, etype: str, first: str) -> None:
    """Add two nodes that nothing else reads, with zeros of both signs.

    An optimiser that merges equal constants may keep the first.
    """
    zero = np.zeros((), numpy_type(etype))
    minus_zero = np.asarray(-zero)
    zeros = {"plus_zero": zero, "minus_zero": minus_zero}
    if first == "minus":
        zeros = dict(reversed(zeros.items()))
    one = Tensor(etype, (1,))
    whole.constants = {**zeros, **whole.constants}
    whole.lines += ["v = Max (w, plus_zero)", "u = Min (w, minus_zero)"]
    whole.inputs["w"] = one
    whole.outputs |= {"v": one, "u": one}


def asked_opsets(context: Context, etype: str, newest: int) -> tuple[int, ...]:
    """The operator sets in which a context is asked: the first from 13 on that has it, and the newest.

    Operator set 10, in which the bounds are attributes, comes first where it has the context for float32.
    """
    opsets = range(FIRST_OPSET, newest + 1)
    having = [opset for opset in opsets if _has(context, etype, opset)]
    ends = [*having[:1], *having[-1:]]
    asked = dict.fromkeys(ends)  # once, if the first is the newest
    # Attributes are float32, so they are asked where X is, too.
    is_float32 = etype == "float32" == context.clip_type(etype)
    if is_float32 and _may_have_attributes(context) and _has(context, etype, ATTRIBUTES_OPSET):
        asked[ATTRIBUTES_OPSET] = None
    return tuple(asked)


def _may_have_attributes(context: Context) -> bool:
    """Whether operator set 10 is of interest: no step reads bounds in another way than Clip, Max and Min."""
    for step in context.steps:
        is_other_term = step.term and step.op_type not in _WITH_ATTRIBUTES
        if step.chooses or is_other_term:
            return False
    return True


def _has(context: Context, etype: str, opset: int) -> bool:
    """Whether an operator set has all nodes of a context, with as many inputs."""
    return all(_has_node(stage, opset) for stage in context.stages(etype))


@cache
def _schema(op_type: str, opset: int) -> onnx.defs.OpSchema | None:
    import onnx

    try:
        return onnx.defs.get_schema(op_type, opset, "")
    except onnx.defs.SchemaError:
        return None


def _has_node(stage: Stage, opset: int) -> bool:
    step = stage.step
    if step.nodes:
        schemas = [_schema(op_type, opset) for op_type in step.op_types]
        return None not in schemas
    schema = _schema(step.op_type, opset)
    if schema is None:
        return False
    etype = stage.given.etype
    tensor = f"tensor({ONNX_NAMES.get(etype, etype)})"
    if tensor not in schema.inputs[0].types:
        return False
    # Inputs that became attributes, or attributes that became inputs, are another form of the
    # operator. A term has its own in every operator set: the bounds of Clip may be either.
    inputs = 1 if step.term else 1 + len(step.constants)
    is_variadic = schema.max_input > 100  # then it is 2 ** 31 - 1
    if not is_variadic and schema.max_input < inputs:
        return False
    attributes = re.findall(r"(\w+) =", step.node)
    return all(name in schema.attributes for name in attributes)


def _bounds_of(stage: Stage, bounds: Mapping[str, Array]) -> dict[str, Tensor]:
    """The bounds that a step reads, as inputs."""
    scalar = Tensor(stage.given.etype, ())
    inputs: dict[str, Tensor] = {}
    for name in stage.step.bounds:
        if name in bounds:  # another one is absent
            inputs[name.lower()] = scalar
    return inputs


def _declared(values: Mapping[str, Tensor]) -> str:
    declared = [f"{_type_text(tensor)} {name}" for name, tensor in values.items()]
    return ", ".join(declared)


def _type_text(tensor: Tensor) -> str:
    name = ONNX_NAMES.get(tensor.etype, tensor.etype)
    if not tensor.shape:
        return name
    dimensions = ", ".join(map(str, tensor.shape))
    return f"{name}[{dimensions}]"


def _with_body(kind: str, graph: _Graph) -> Model:
    """A graph as the branch of an If that is taken, or the body of a Loop of two turns, or of a Scan."""
    ((name, result),) = graph.outputs.items()
    type_text = _type_text(result)
    chain = "\n".join(graph.lines)
    # The body of a Loop or Scan reads its own X: the value that is carried from one run to the next.
    carried_chain = re.sub(r"\bx\b", "carried", chain)
    inputs = dict(graph.inputs)
    constants = dict(graph.constants)
    if kind in ("If", "Else"):
        # The condition is an input, so that no optimiser can tell which branch is taken.
        taken = f"taken () => ({type_text} {name}) {{ {chain} }}"
        left = f"left () => ({type_text} e) {{ e = Identity (x) }}"
        then_branch, else_branch = taken, left
        if kind == "Else":
            then_branch, else_branch = left, taken
        branches = f"then_branch = {then_branch}, else_branch = {else_branch}"
        line = f"out = If (condition) <{branches}>"
        inputs["condition"] = Tensor("bool", ())
    elif kind == "Loop":
        values = f"(int64 i, bool c, {type_text} carried) => (bool goes_on, {type_text} {name})"
        body = f"body = turn {values} {{ goes_on = Identity (c)\n{carried_chain} }}"
        line = f"out = Loop (trips, condition, x) <{body}>"
        inputs["condition"] = Tensor("bool", ())
        constants["trips"] = np.array(2, np.int64)
    else:
        # A Scan has to scan something: the one turn reads a zero that nothing uses.
        values = f"({type_text} carried, int64 i) => ({type_text} {name})"
        body = f"body = turn {values} {{ {carried_chain} }}"
        line = f"out = Scan (x, turns) <num_scan_inputs = 1, {body}>"
        constants["turns"] = np.zeros(1, np.int64)
    outputs = {"out": result}
    around = _Graph(graph.opset, inputs, outputs, [line], constants, graph.in_nodes)
    return around.model("out")
