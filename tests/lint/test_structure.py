"""Where Clip nodes and names are found: subgraphs, functions, domains, scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from onnx import AttributeProto, TensorProto, helper

from sonnx_clip.root.errors import UserError
from tests.lint.build import FLOAT, clip, graph, lint, model, problems, value, verdicts

if TYPE_CHECKING:
    from pathlib import Path

    from onnx import FunctionProto, GraphProto, NodeProto, ValueInfoProto


CONDITION = value("c", [], TensorProto.BOOL)


def conditional(then: GraphProto, other: GraphProto | None = None) -> GraphProto:
    """A main graph with X, L, M and an If node; its other branch has no Clip."""
    plain = graph(helper.make_node("Neg", ["X"], ["e"]), inputs=[], outputs=[value("e", [2, 3])], stored=[])
    node = helper.make_node("If", ["c"], ["Y"], then_branch=then, else_branch=other or plain)
    return graph(node, inputs=[value("X", [2, 3]), CONDITION])


def branch(*nodes: NodeProto, **parts: list[ValueInfoProto]) -> GraphProto:
    return graph(*nodes, inputs=[], outputs=[value("y", [2, 3])], stored=[], name="then", **parts)


def function(*nodes: NodeProto, infos: list[ValueInfoProto] | None = None) -> FunctionProto:
    return helper.make_function(
        "here",
        "Relu6",
        ["X", "L", "M"],
        ["Y"],
        list(nodes),
        [helper.make_opsetid("", 13)],
        value_info=infos or [],
    )


def calling(called: FunctionProto) -> object:
    call = helper.make_node("Relu6", ["X", "L", "M"], ["Y"], domain="here")
    return model(graph(call), functions=[called], imports={"": 13, "here": 1})


def test_a_subgraph_sees_the_names_around_it(tmp_path: Path) -> None:
    report = lint(tmp_path, model(conditional(branch(clip(out="y", name="")))))
    assert verdicts(report) == {}
    node = report.nodes[0]
    assert (node.name, node.position, node.output) == (None, 0, "y")
    assert node.graph == "graph 'main' > If node 0, then_branch"


def test_a_name_inside_hides_the_same_name_outside(tmp_path: Path) -> None:
    inner = branch(helper.make_node("Neg", ["A"], ["X"]), clip(out="y"))
    main = conditional(inner)
    main.input.append(value("A", [2, 3]))
    # The outer X declares a shape; the inner X, which the node means, declares none.
    report = lint(tmp_path, model(main))
    assert verdicts(report) == {"R4": "violates", "R5": "unknown", "element_types": "unknown"}
    inner.value_info.append(value("X", [9]))
    main = conditional(inner)
    main.input.append(value("A", [2, 3]))
    assert verdicts(lint(tmp_path, model(main))) == {}


def test_an_inner_initializer_hides_an_outer_scalar(tmp_path: Path) -> None:
    inner = branch(clip(out="y"))
    inner.initializer.append(helper.make_tensor("L", FLOAT, [1], [0.0]))
    assert verdicts(lint(tmp_path, model(conditional(inner)))) == {"scalar_bounds": "violates"}


def test_inference_reaches_into_subgraphs(tmp_path: Path) -> None:
    inner = branch(helper.make_node("Neg", ["X"], ["a"]), clip("a", "L", "M", out="y"))
    main = conditional(inner)
    assert problems(lint(tmp_path, model(main)), "R4")[0][1] == "known only by inference"
    assert verdicts(lint(tmp_path, model(main), accept_inferred=True)) == {}


def test_a_clip_two_subgraphs_deep_and_in_a_loop(tmp_path: Path) -> None:
    deep = conditional(branch(clip("X", "L", out="y"))).node[0]
    deep.output[0] = "y"
    body = helper.make_graph(
        [helper.make_node("Identity", ["cond"], ["more"]), deep],
        "body",
        [value("i", [], TensorProto.INT64), value("cond", [], TensorProto.BOOL)],
        [value("more", [], TensorProto.BOOL), value("y", [2, 3])],
    )
    loop = helper.make_node("Loop", ["", "c"], ["Y"], body=body)
    main = graph(loop, inputs=[value("X", [2, 3]), CONDITION], outputs=[value("Y", [None, 2, 3])])
    report = lint(tmp_path, model(main))
    assert report.nodes[0].graph == "graph 'main' > Loop node 0, body > If node 1, then_branch"
    assert verdicts(report) == {"R2": "violates"}


def test_a_list_of_graphs_in_one_attribute_is_searched(tmp_path: Path) -> None:
    node = helper.make_node("Choose", ["X"], ["Y"], domain="com.acme", choices=[branch(clip(out="y"))])
    report = lint(tmp_path, model(graph(node), imports={"": 13, "com.acme": 1}))
    assert [n.graph for n in report.nodes] == ["graph 'main' > Choose node 0, choices[0]"]


def test_a_function_has_what_its_caller_passes(tmp_path: Path) -> None:
    report = lint(tmp_path, calling(function(clip())))
    assert [node.graph for node in report.nodes] == ["function 'here::Relu6'"]
    assert verdicts(report) == {}


def test_a_function_that_nobody_calls_has_only_its_own_declarations(tmp_path: Path) -> None:
    report = lint(tmp_path, model(functions=[function(clip())], imports={"": 13, "here": 1}))
    assert [node.graph for node in report.nodes] == ["graph 'main'", "function 'here::Relu6'"]
    assert report.notes == (
        "no call of function 'here::Relu6' could be inlined: it is judged by its own declarations",
    )
    assert [(a, m) for a, m, _ in problems(report, "R4", 1)] == [(r, "no shape") for r in "XLMY"]
    assert "in the function's value_info" in problems(report, "R4", 1)[0][2]
    assert "inline the function" in problems(report, "R5", 1)[0][2]


def test_an_attribute_that_the_caller_of_a_function_gives(tmp_path: Path) -> None:
    node = clip("X")
    node.attribute.add(name="min", ref_attr_name="alpha", type=AttributeProto.FLOAT)
    called = helper.make_function(
        "here", "F", ["X"], ["Y"], [node], [helper.make_opsetid("", 6)], attributes=["alpha"], overload="one"
    )
    call = helper.make_node("F", ["X"], ["Y"], domain="here", overload="one", alpha=1.0)
    report = lint(tmp_path, model(graph(call), functions=[called], imports={"": 6, "here": 1}))
    assert report.nodes[0].graph == "function 'here::F' overload 'one'"
    assert problems(report, "R1")[0][1].endswith("the attribute min = 1")


def test_a_constant_whose_value_the_caller_gives_declares_nothing(tmp_path: Path) -> None:
    constant = helper.make_node("Constant", [], ["l"])
    constant.attribute.add(name="value_float", ref_attr_name="alpha", type=AttributeProto.FLOAT)
    report = lint(tmp_path, calling(function(constant, clip("X", "l", "M"))))
    assert ("L", "no shape") in [(a, m) for a, m, _ in problems(report, "R4")]


def test_a_clip_of_another_domain_is_another_operator(tmp_path: Path) -> None:
    main = graph(clip("X", domain="com.acme"))
    report = lint(tmp_path, model(main, imports={"": 13, "com.acme": 1}))
    assert report.nodes == ()
    assert report.verdict is None
    assert report.notes == (
        "1 node named Clip of the domain 'com.acme' is another operator and was not judged",
    )


def test_a_local_function_named_clip_is_noted(tmp_path: Path) -> None:
    named = helper.make_function(
        "", "Clip", ["X"], ["Y"], [helper.make_node("Neg", ["X"], ["Y"])], [helper.make_opsetid("", 13)]
    )
    report = lint(tmp_path, model(functions=[named]))
    assert len(report.nodes) == 1
    assert "leaves it to the runtime" in report.notes[0]


@pytest.mark.parametrize("opset", [9999, 2**63 - 1])
def test_an_opset_from_the_future_is_noted(tmp_path: Path, opset: int) -> None:
    report = lint(tmp_path, model(opset=opset))
    assert verdicts(report) == {}
    assert report.notes[0].startswith(f"opset {opset} is newer than the installed onnx knows")


@pytest.mark.parametrize(
    ("imports", "message"),
    [
        ([("com.acme", 1)], "no version of that operator set is imported"),
        ([("", 11), ("ai.onnx", 13)], "two versions, 11 and 13, of the operator set 'ai.onnx'"),
        ([("", 0)], "imports version 0 of the operator set 'ai.onnx'"),
    ],
)
def test_imports_that_give_clip_no_meaning(
    tmp_path: Path, imports: list[tuple[str, int]], message: str
) -> None:
    proto = model()
    del proto.opset_import[:]
    proto.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in imports)
    with pytest.raises(UserError, match=message):
        lint(tmp_path, proto)


@pytest.mark.parametrize(
    ("node", "opset", "message"),
    [
        (clip("", "L", "M"), 13, "takes 1 to 3 inputs, the first of them set"),
        (clip("X", "L", "M", "L"), 13, "takes 1 to 3 inputs"),
        (clip("X", "L", "M"), 10, "Clip-6 takes exactly one input"),
        (clip("X", "L", "M", min=0.0), 13, "Clip-13 has no attribute 'min'"),
        (clip("X", "L", max=6.0, axis=1), 12, "Clip-12 has no attribute 'axis'"),
        (clip("X", min=0.0, alpha=1.0), 6, "Clip-6 has no attribute 'alpha'"),
        (clip(out=""), 13, "exactly one output"),
        (clip("nowhere", "L", "M"), 13, "input X is the tensor 'nowhere', which nothing defines"),
    ],
)
def test_a_malformed_node_is_named(tmp_path: Path, node: NodeProto, opset: int, message: str) -> None:
    with pytest.raises(UserError, match=message) as raised:
        lint(tmp_path, model(graph(node), opset=opset))
    assert raised.value.where is not None
    assert raised.value.where.endswith("node 0 'clip' of graph 'main'")
    assert raised.value.todo
