"""Models with shapes that are not known in numbers, and the root causes that lint finds of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto, helper

from tests.graph.build import bounds, clip, graph, model, value

if TYPE_CHECKING:
    import onnx

    # The title of a root cause, the start of its remedy, and the positions of the Clip nodes behind it.
    Expected = list[tuple[str, str, tuple[int, ...]]]

SETTLES = "sonnx-clip normalise MODEL.onnx -o OUT.onnx --input-shape"
DECLARE = "declare it (value_info), or let it follow from constants"


def _node(operator: str, inputs: str, outputs: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(operator, inputs.split(), outputs.split(), **attributes)


def _chain() -> onnx.ModelProto:
    nodes = [
        _node("Neg", "X", "a"),
        clip("a", "L", "M", out="b"),
        _node("Abs", "b", "c"),
        clip("c", "L", "M"),
    ]
    return model(graph(*nodes, inputs=[value("X", ["N", 3])], outputs=[value("Y", ["N", 3])]))


def _two_inputs() -> onnx.ModelProto:
    """The first sum is met twice on the way back from the last, once before and once behind another node."""
    nodes = [
        _node("Add", "X Z", "s"),
        _node("Neg", "s", "n"),
        _node("Add", "s n", "t"),
        clip("t", "L", "M", out="u"),
        clip("Z", "L", "M"),
    ]
    inputs = [value("X", ["N", 3]), value("Z", None)]
    return model(graph(*nodes, inputs=inputs, outputs=[value("Y", None), value("u", ["p", "q"])]))


def _data_dependent() -> onnx.ModelProto:
    nodes = [
        helper.make_node("NonZero", ["X"], ["i"], name="find"),
        _node("Cast", "i", "f", to=TensorProto.FLOAT),
        clip("f", "L", "M"),
    ]
    return model(graph(*nodes, outputs=[value("Y", ["r", "n"])]))


def _in_branches() -> onnx.ModelProto:
    def branch(name: str) -> onnx.GraphProto:
        nodes = [_node("Neg", "a", "n"), clip("n", "L", "M", out="y")]
        return graph(*nodes, inputs=[], outputs=[value("y", None)], stored=[], name=name)

    nodes = [
        _node("Abs", "X", "a"),
        helper.make_node("If", ["c"], ["h"], then_branch=branch("t"), else_branch=branch("e")),
        clip("h", "L", "M"),
    ]
    inputs = [value("X", ["N"]), value("c", [], TensorProto.BOOL)]
    return model(graph(*nodes, inputs=inputs, outputs=[value("Y", ["N"])]))


def _in_a_loop() -> onnx.ModelProto:
    body = graph(
        _node("Identity", "going", "still"),
        clip("before", "L", "M", out="after"),
        inputs=[
            value("i", [], TensorProto.INT64),
            value("going", [], TensorProto.BOOL),
            value("before", None),
        ],
        outputs=[value("still", [], TensorProto.BOOL), value("after", None)],
        stored=[],
        name="body",
    )
    times = helper.make_tensor("times", TensorProto.INT64, [], [2])
    go = helper.make_tensor("go", TensorProto.BOOL, [], [1])
    node = helper.make_node("Loop", ["times", "go", "X"], ["Y"], body=body)
    inputs, outputs = [value("X", ["N"])], [value("Y", ["N"])]
    return model(graph(node, inputs=inputs, outputs=outputs, stored=[*bounds(), times, go]))


def _in_a_function() -> onnx.ModelProto:
    nodes = [_node("Neg", "a", "n"), clip("n", "b", "c", out="d")]
    called = helper.make_function("here", "F", ["a", "b", "c"], ["d"], nodes, [helper.make_opsetid("", 13)])
    main = [_node("Abs", "X", "p"), helper.make_node("F", ["p", "L", "M"], ["Y"], domain="here")]
    outer = graph(*main, inputs=[value("X", ["N", 3])], outputs=[value("Y", ["N", 3])])
    return model(outer, functions=[called], imports={"": 13, "here": 1})


def _of_another_domain() -> onnx.ModelProto:
    nodes = [helper.make_node("Own", ["X"], ["a"], name="own", domain="o"), clip("a", "L", "M")]
    return model(graph(*nodes, outputs=[value("Y", ["N"])]), imports={"": 13, "o": 1})


def _inferred_alone() -> onnx.ModelProto:
    return model(graph(_node("Neg", "X", "a"), clip("a", "L", "M")))


MODELS: dict[str, tuple[onnx.ModelProto, Expected]] = {
    "two Clip behind one input": (_chain(), [("input 'X'", f"{SETTLES} X=…,3", (0, 1))]),
    "two inputs": (
        _two_inputs(),
        [("input 'X'", f"{SETTLES} X=…,3", (0,)), ("input 'Z'", f"{SETTLES} Z=1,3,64,96", (0, 1))],
    ),
    "a shape that depends on values": (
        _data_dependent(),
        [("node 0 'find' (NonZero) of graph 'main'", DECLARE, (0,))],
    ),
    "in branches and behind them": (_in_branches(), [("input 'X'", f"{SETTLES} X=…", (0, 1, 2))]),
    "in the body of a loop": (_in_a_loop(), [("input 'X'", f"{SETTLES} X=…", (0,))]),
    "in a function": (_in_a_function(), [("input 'X'", f"{SETTLES} X=…,3", (0,))]),
    "behind an operator that onnx does not know": (
        _of_another_domain(),
        [("node 0 'own' (Own) of graph 'main'", DECLARE, (0,))],
    ),
    "known by inference": (_inferred_alone(), []),
    "all is declared": (model(), []),
}
