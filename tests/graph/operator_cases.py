"""Small models of one operator each, in the form of one version: what the table of operators is tried on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, defs, helper, numpy_helper

from tests.graph.same_outputs import answers, feeds

if TYPE_CHECKING:
    from collections.abc import Sequence

F, D, I64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64


@dataclass(frozen=True)
class Given:
    """An input that the caller gives."""

    shape: tuple[int, ...]
    code: int = F


Input = Given | np.ndarray | None


@dataclass(frozen=True)
class Case:
    """One node: inputs (an array is stored, None is left out), attributes, how many outputs it has."""

    inputs: Sequence[Input]
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: int = 1


def f(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def i(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def graph_of(nodes: list[onnx.NodeProto], inputs: list[Any], outputs: list[str]) -> onnx.GraphProto:
    return helper.make_graph(
        nodes,
        "body",
        [helper.make_tensor_value_info(name, code, shape) for name, code, shape in inputs],
        [onnx.ValueInfoProto(name=name) for name in outputs],
    )


def typed(name: str, code: int, shape: Sequence[int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, code, shape)


def branch(number: float, name: str) -> onnx.GraphProto:
    constant = helper.make_tensor("", F, [], [number])
    nodes = [
        helper.make_node("Constant", [], [f"{name}_c"], value=constant),
        helper.make_node("Mul", ["x", f"{name}_c"], [name]),
    ]
    return helper.make_graph(nodes, name, [], [typed(name, F, [2, 3])])


def loop_body() -> onnx.GraphProto:
    nodes = [
        helper.make_node("Identity", ["go"], ["go_on"]),
        helper.make_node("Mul", ["state", "state"], ["next"]),
        helper.make_node("Neg", ["state"], ["scanned"]),
    ]
    inputs = [typed("n", I64, []), typed("go", TensorProto.BOOL, []), typed("state", F, [2, 3])]
    outputs = [typed("go_on", TensorProto.BOOL, []), typed("next", F, [2, 3]), typed("scanned", F, [2, 3])]
    return helper.make_graph(nodes, "body", inputs, outputs)


def scan_body() -> onnx.GraphProto:
    nodes = [helper.make_node("Add", ["state", "row"], ["next"]), helper.make_node("Neg", ["next"], ["out"])]
    return helper.make_graph(
        nodes, "body", [typed("state", F, [3]), typed("row", F, [3])],
        [typed("next", F, [3]), typed("out", F, [3])],
    )  # fmt: skip


X23, X234, IMAGE = Given((2, 3)), Given((2, 3, 4)), Given((1, 2, 6, 5))
UNARY = [
    "Abs", "Ceil", "Exp", "Floor", "Identity", "IsNaN", "Log", "Neg", "NonZero", "Reciprocal", "Relu",
    "Shape", "Sigmoid", "Sign", "Size", "Sqrt", "Tanh",
]  # fmt: skip
BINARY = ["Add", "Div", "Greater", "Less", "Mul", "PRelu", "Pow", "Sub"]
VARIADIC = ["Max", "Mean", "Min", "Sum"]
REDUCE = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]
SLICES = [
    {"starts": [1], "ends": [3]},
    {"starts": [-2, 0], "ends": [2147483647, -1], "axes": [1, 2]},
    {"starts": [0, 9], "ends": [-9, 9], "axes": [0, 2]},
]
ANYWHERE: dict[str, list[Case]] = {
    **{name: [Case([X23]), Case([Given((), F)]), Case([Given((4,), D)])] for name in UNARY},
    "Erf": [Case([X23]), Case([Given((2, 3), I64)])],
    **{
        name: [Case([X234, Given((3, 4))]), Case([X23, Given((2, 1))]), Case([X23, f(0.5)])]
        for name in BINARY
    },
    "Mod": [Case([Given((6,), I64), i(3)]), Case([X23, Given((2, 3))], {"fmod": 1})],
    "Equal": [Case([Given((2, 3), I64), Given((3,), I64)])],
    **{name: [Case([X23, Given((2, 3)), Given((2, 3))]), Case([X23])] for name in VARIADIC},
    **{
        f"Reduce{name}": [
            Case([X234]),
            Case([X234], {"axes": [1]}),
            Case([X234], {"axes": [-1, 0], "keepdims": 0}),
        ]
        for name in REDUCE
    },
    **{
        name: [Case([X23]), Case([X23], {"axis": 1, "keepdims": 0}), Case([X23], {"axis": -1})]
        for name in ("ArgMax", "ArgMin")
    },
    **{
        name: [
            Case([X23]),
            Case([X234], {"axis": 2}),
            Case([X234], {"axis": -1}),
            Case([X234], {"axis": 1}),
        ]
        for name in ("Softmax", "LogSoftmax", "Hardmax")
    },
    "AveragePool": [
        Case([IMAGE], {"kernel_shape": [2, 2]}),
        Case([IMAGE], {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]}),
        Case([IMAGE], {"kernel_shape": [2, 2], "pads": [0, 1, 1, 0], "count_include_pad": 1}),
        Case([IMAGE], {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
        Case([IMAGE], {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "VALID"}),
    ],
    "MaxPool": [
        Case([IMAGE], {"kernel_shape": [2, 2]}),
        Case([IMAGE], {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]}),
        Case([IMAGE], {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
        Case([IMAGE], {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "VALID"}),
    ],
    "LpPool": [
        Case([IMAGE], {"kernel_shape": [2, 2], "p": 2}),
        Case([IMAGE], {"kernel_shape": [3, 3], "strides": [2, 2]}),
    ],
    "BatchNormalization": [
        Case([IMAGE, f(0.5, -2), f(0.1, 3), f(-1, 2), f(0.25, 4)]),
        Case([IMAGE, f(0.5, -2), f(0.1, 3), f(-1, 2), f(0.25, 4)], {"spatial": 1, "epsilon": 1e-3}),
        Case([Given((2, 2)), f(0.5, -2), f(0.1, 3), f(-1, 2), f(0.25, 4)], {"spatial": 0}),
    ],
    "Cast": [
        Case([X23], {"to": D}),
        Case([Given((2, 3), D)], {"to": F}),
        Case([Given((4,), I64)], {"to": F}),
        Case([X23], {"to": TensorProto.BOOL}),
        Case([Given((4,), TensorProto.INT32)], {"to": I64}),
        Case([X23], {"to": TensorProto.FLOAT16}),
    ],
    "Clip": [
        Case([X23, np.float32(-1), np.float32(2)]),
        Case([X23, np.float32(2), np.float32(-1)]),
        Case([X23]),
        Case([X23, None, np.float32(0)]),
    ],
    "Compress": [
        Case([X23, np.array([True, False, True])], {"axis": 1}),
        Case([X23, np.array([True, False])]),
    ],
    "Concat": [
        Case([X23, Given((2, 2))], {"axis": 1}),
        Case([X23, X23], {"axis": -1}),
        Case([X23, f(1, 2, 3)[None]], {"axis": 0}),
    ],
    "Conv": [
        Case([IMAGE, Given((4, 2, 3, 3))]),
        Case([IMAGE, Given((4, 1, 3, 3)), Given((4,))], {"group": 2, "pads": [1, 1, 1, 1]}),
        Case([IMAGE, Given((4, 2, 2, 2))], {"dilations": [2, 1], "strides": [2, 1]}),
        Case([IMAGE, Given((4, 2, 3, 3))], {"auto_pad": "SAME_UPPER"}),
        Case([IMAGE, Given((4, 2, 3, 3))], {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
        Case([IMAGE, Given((4, 2, 2, 2))], {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
        Case([IMAGE, Given((4, 2, 2, 2))], {"auto_pad": "VALID", "strides": [2, 2]}),
    ],
    "ConvTranspose": [
        Case([IMAGE, Given((2, 3, 3, 3))]),
        Case(
            [IMAGE, Given((2, 3, 2, 2))], {"strides": [2, 2], "pads": [0, 1, 1, 0], "output_padding": [1, 0]}
        ),
        Case([IMAGE, Given((2, 3, 3, 3))], {"strides": [2, 2], "output_shape": [12, 10]}),
        Case([IMAGE, Given((2, 3, 3, 3))], {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ],
    "Constant": [
        Case([], {"value": helper.make_tensor("", F, [2, 3], [0.5] * 6)}),
        Case([], {"value": helper.make_tensor("", I64, [], [7])}),
    ],
    "DepthToSpace": [Case([Given((1, 8, 2, 3))], {"blocksize": 2})],
    "SpaceToDepth": [Case([Given((1, 2, 4, 6))], {"blocksize": 2})],
    "DequantizeLinear": [
        Case([Given((2, 3), TensorProto.UINT8), np.float32(0.5), np.uint8(7)]),
        Case([Given((2, 3), TensorProto.INT8), np.float32(0.1)]),
        Case([Given((2, 3), TensorProto.INT8), f(0.1)]),
    ],
    "QuantizeLinear": [
        Case([X23, np.float32(0.5), np.uint8(7)]),
        Case([X23, f(0.1), np.array([3], np.uint8)]),
    ],
    "Dropout": [Case([X23], {"ratio": 0.25}), Case([X23]), Case([X23], {"ratio": 0.25}, outputs=2)],
    "Expand": [Case([Given((3, 1)), i(2, 3, 4)])],
    "Flatten": [Case([X234]), Case([X234], {"axis": 2}), Case([X234], {"axis": 0})],
    "Gather": [
        Case([X23, i(1, 0)]),
        Case([X234, np.array([[0, 2]])], {"axis": 1}),
        Case([X23, np.int64(1)], {"axis": -1}),
    ],
    "GatherElements": [Case([X23, np.array([[1, 0, 1]])]), Case([X23, np.array([[2], [0]])], {"axis": 1})],
    "GatherND": [Case([X234, np.array([[0, 1], [1, 2]])]), Case([X234, np.array([[1]])])],
    "Gemm": [
        Case([Given((2, 3)), Given((3, 4)), Given((4,))]),
        Case(
            [Given((3, 2)), Given((4, 3)), Given((2, 4))],
            {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0},
        ),
        Case([Given((2, 3)), Given((3, 4)), Given(())], {"beta": 0.25}),
    ],
    "MatMul": [Case([Given((2, 3)), Given((3, 4))]), Case([Given((2, 2, 3)), Given((3,))])],
    "If": [
        Case(
            [Given((), TensorProto.BOOL)], {"then_branch": branch(2.0, "t"), "else_branch": branch(-1.0, "e")}
        )
    ],
    "Loop": [Case([np.int64(3), np.array(True), X23], {"body": loop_body()}, outputs=2)],
    "Scan": [Case([Given((3,)), Given((4, 3))], {"body": scan_body(), "num_scan_inputs": 1}, outputs=2)],
    "LRN": [Case([IMAGE], {"size": 3}), Case([IMAGE], {"size": 1, "alpha": 0.5, "beta": 0.5, "bias": 2.0})],
    "MeanVarianceNormalization": [Case([IMAGE])],
    "NonMaxSuppression": [
        Case([Given((1, 6, 4)), Given((1, 1, 6)), np.int64(3).reshape(1), f(0.5), f(0.0)]),
    ],
    "OneHot": [Case([i(0, 2, 1), np.int64(3), f(0, 1)]), Case([i(0, 2, 1), i(3), f(5, -1)], {"axis": 0})],
    "Pad": [
        Case([X23], {"pads": [0, 1, 2, 0]}),
        Case([X23], {"pads": [1, 1, 0, 0], "value": -0.5}),
        Case([X234], {"pads": [0, 1, 1, 0, 1, 1], "mode": "reflect", "value": 3.0}),
        Case([X23], {"pads": [1, 0, 0, 2], "mode": "edge"}),
        Case([X23], {"pads": [0, -1, 0, 0], "value": -0.0}),
    ],
    "Reshape": [Case([X234, i(4, -1)]), Case([X234, i(0, 12)])],
    "Resize": [
        Case([IMAGE, f(1, 1, 2, 2)]),
        Case([IMAGE, f(1, 1, 2, 2)], {"mode": "linear"}),
        Case([IMAGE, f(1, 1, 1.6, 1.3)]),
        Case([IMAGE, f(1, 1, 1.6, 1.3)], {"mode": "linear"}),
        Case([IMAGE, f(1, 1, 0.5, 0.5)], {"mode": "linear"}),
        Case([IMAGE, f(1, 1, 0.7, 2)], {"mode": "linear"}),
        Case([IMAGE, f(1, 1, 0.6, 0.6)]),
        Case([IMAGE, Given((4,))]),
        Case([IMAGE, f(), f(), i(1, 2, 4, 9)]),
    ],
    "Scatter": [
        Case([X23, np.array([[1, 0, 1]]), Given((1, 3))]),
        Case([X23, np.array([[2], [0]]), Given((2, 1))], {"axis": 1}),
    ],
    "ScatterElements": [
        Case([X23, np.array([[1, 0, 1]]), Given((1, 3))]),
        Case([X23, np.array([[2], [0]]), Given((2, 1))], {"axis": 1}),
    ],
    "ScatterND": [Case([X23, np.array([[1], [0]]), Given((2, 3))])],
    "Slice": [Case([X234], given) for given in SLICES],
    "Split": [
        Case([Given((4, 3))], outputs=2),
        Case([Given((2, 6))], {"axis": 1, "split": [1, 3, 2]}, outputs=3),
        Case([Given((2, 6))], {"axis": -1}, outputs=3),
    ],
    "Squeeze": [
        Case([Given((1, 3, 1))], {"axes": [0]}),
        Case([Given((1, 3, 1))]),
        Case([Given((1, 3, 1))], {"axes": [0, 2]}),
    ],
    "Unsqueeze": [Case([X23], {"axes": [0]}), Case([X23], {"axes": [1, 3]})],
    "Tile": [Case([X23, i(2, 3)])],
    "TopK": [Case([X234], {"k": 2}, outputs=2), Case([X234], {"k": 1, "axis": 1}, outputs=2)],
    "Transpose": [Case([X234]), Case([X234], {"perm": [1, 2, 0]})],
    "Upsample": [
        Case([IMAGE], {"scales": [1.0, 1.0, 2.0, 2.0]}),
        Case([IMAGE], {"scales": [1.0, 1.0, 2.0, 2.0], "mode": "linear"}),
        Case([IMAGE], {"scales": [1.0, 1.0, 1.6, 1.3]}),
        Case([IMAGE], {"scales": [1.0, 1.0, 1.6, 1.3], "mode": "linear"}),
    ],
}
_BOTH_WAYS = {
    "Slice": ("starts", "ends", "axes"), "TopK": ("k",), "Upsample": ("scales",), "Pad": ("pads", "value"),
    "Squeeze": ("axes",), "Unsqueeze": ("axes",), "ReduceSum": ("axes",), "Split": ("split",),
}  # fmt: skip


def fitted(operator: str, case: Case, version: int) -> Case | None:
    """The case in the form of a version: lists as inputs where it takes them so, None where not."""
    schema = defs.get_schema(operator, version, "")
    attributes, inputs = dict(case.attributes), list(case.inputs)
    names = [one.name for one in schema.inputs]
    for name in _BOTH_WAYS.get(operator, ()):
        if name in attributes and name not in schema.attributes:
            number = attributes.pop(name)
            form: Any = np.array(number if isinstance(number, list) else [number], np.int64)
            if name == "scales":
                form = np.array(number, np.float32)
            if name == "value":
                form = np.float32(number)
            position = names.index({"k": "K", "value": "constant_value"}.get(name, name))
            inputs += [None] * (position + 1 - len(inputs))
            inputs[position] = form
    if operator == "Resize" and version >= 11 and len(inputs) == 2:
        inputs = [inputs[0], np.zeros(0, np.float32), inputs[1]]
    if operator == "Dropout":
        attributes = {name: value for name, value in attributes.items() if name in schema.attributes}
    if set(attributes) - set(schema.attributes) or (len(inputs) > len(names) and operator not in (
        *VARIADIC, "Concat", "Scan", "Loop",
    )):  # fmt: skip
        return None
    return Case(inputs, attributes, case.outputs)


def one_node(operator: str, case: Case, opset: int) -> onnx.ModelProto:
    """A model of this node alone, its outputs without types."""
    names, given, stored = [], [], []
    for number, one in enumerate(case.inputs):
        name = "x" if number == 0 else f"i{number}"
        names.append("" if one is None else name)
        if isinstance(one, Given):
            given.append(typed(name, one.code, one.shape))
        elif one is not None:
            stored.append(numpy_helper.from_array(np.asarray(one), name))
    if operator == "If":
        names, given[0].name = ["c"], "c"
        given.append(typed("x", F, [2, 3]))
    outputs = [f"y{number}" for number in range(case.outputs)]
    node = helper.make_node(operator, names, outputs, name="node", **case.attributes)
    main = helper.make_graph(
        [node], "main", given, [onnx.ValueInfoProto(name=name) for name in outputs], stored
    )
    model = helper.make_model(main, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)
    found = onnx.shape_inference.infer_shapes(model)
    for value, inferred in zip(model.graph.output, found.graph.output, strict=True):
        value.CopyFrom(inferred)
        if not value.type.tensor_type.elem_type:
            value.type.tensor_type.elem_type = F
    if not all(value.type.tensor_type.HasField("shape") for value in model.graph.output):
        _ranks_by_running(model)
    return model


def _ranks_by_running(model: onnx.ModelProto) -> None:
    """Declare the ranks of outputs of which inference says nothing."""
    ran = answers(model, feeds(model, count=1))
    assert not isinstance(ran, str), ran
    for value, (_, shape, _) in zip(model.graph.output, ran[0], strict=True):
        for axis in range(len(shape)):
            value.type.tensor_type.shape.dim.add(dim_param=f"{value.name}_{axis}")
        value.type.tensor_type.shape.SetInParent()


def models_of(operator: str, opset: int) -> list[tuple[str, onnx.ModelProto]]:
    """The models of an operator in the form that an operator set has."""
    version = defs.get_schema(operator, opset, "").since_version
    found = []
    for number, case in enumerate(ANYWHERE.get(operator, [])):
        form = fitted(operator, case, version)
        if form is not None:
            found.append((f"{operator}-{version} case {number}", one_node(operator, form, opset)))
    return found
