"""One small model for each way in which a node breaks the profile, and lint's verdicts on its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto, helper

from sonnx_clip.lint import Verdict, lint_model
from sonnx_clip.lint import tensors as tensors_module
from sonnx_clip.spec import DeclaredTensor, declared_example, evaluate, load_spec
from tests.lint.build import bounds, clip, graph, model, scalar, sparse, value
from tests.lint.test_same_as_specification import disagreements

if TYPE_CHECKING:
    from pathlib import Path

    import onnx
    import pytest

_UNTYPED = {"R5": "unknown", "element_types": "unknown"}


def _branching(inner_node: onnx.NodeProto, *before: onnx.NodeProto) -> onnx.ModelProto:
    inner = graph(*before, inner_node, inputs=[], outputs=[value("y", [2, 3])], stored=[])
    node = helper.make_node("If", ["c"], ["Y"], then_branch=inner)
    return model(graph(node, inputs=[value("X", [2, 3]), value("c", [], TensorProto.BOOL)]))


def _in_function() -> onnx.ModelProto:
    called = helper.make_function(
        "here", "F", ["X", "L", "M"], ["Y"], [clip()], [helper.make_opsetid("", 13)]
    )
    call = helper.make_node("F", ["X", "L", "M"], ["Y"], domain="here")
    return model(graph(call), functions=[called], imports={"": 13, "here": 1})


def _called(*actual: str) -> onnx.ModelProto:
    infos = [value("a", [2, 3]), value("b", []), value("c", []), value("d", [2, 3])]
    called = helper.make_function(
        "here",
        "F",
        ["a", "b", "c"],
        ["d"],
        [clip("a", "b", "c", out="d")],
        [helper.make_opsetid("", 13)],
        value_info=infos,
    )
    call = helper.make_node("F", actual, ["Y"], domain="here")
    return model(graph(call), functions=[called], imports={"": 13, "here": 1})


def _computed_min() -> onnx.ModelProto:
    three = helper.make_tensor("three", TensorProto.FLOAT, [3], [0.0] * 3)
    copy = helper.make_node("Identity", ["three"], ["L"])
    return model(graph(copy, clip(), stored=[three, scalar("M", 6.0)], infos=[value("L", [])]))


def _negated() -> onnx.ModelProto:
    return model(graph(helper.make_node("Neg", ["X"], ["Z"]), clip("Z", "L", "M")))


_STRINGS = [value(name, [], TensorProto.STRING) for name in ("X", "L", "M")]

# For each model the verdicts, other than `meets`, of each Clip node that is in it.
MODELS: dict[str, tuple[onnx.ModelProto, list[dict[str, str]]]] = {
    "all is declared": (model(), [{}]),
    "min has the empty name": (model(graph(clip("X", "", "M"))), [{"R1": "violates"}]),
    "max is absent": (model(graph(clip("X", "L"))), [{"R2": "violates"}]),
    "bounds as attributes": (
        model(graph(clip("X", min=0.0, max=6.0)), opset=6),
        [{"R1": "violates", "R2": "violates"}],
    ),
    "in a branch": (_branching(clip("X", "", "M", out="y")), [{"R1": "violates"}]),
    "in a function": (_in_function(), [{}]),
    "hidden name": (
        _branching(clip(out="y"), helper.make_node("Own", ["L"], ["X"], domain="o")),
        [{"R4": "violates"} | _UNTYPED],
    ),
    "sparse initializer": (
        model(graph(inputs=[], sparse_stored=[sparse("X")])),
        [{"R3": "violates"}],
    ),
    "symbolic dimension": (model(graph(inputs=[value("X", ["N", 3])])), [{"R4": "violates"}]),
    "dimension -1": (
        model(graph(inputs=[value("X", [-1, 3])], outputs=[value("Y", [-1, 3])])),
        [{"R4": "violates"}],
    ),
    "only inference knows": (_negated(), [{"R4": "violates"} | _UNTYPED]),
    "no shape": (
        model(graph(inputs=[value("X", None)], outputs=[value("Y", [2, 3])])),
        [{"R4": "violates"}],
    ),
    "two shapes": (
        model(graph(stored=[*bounds(), helper.make_tensor("X", TensorProto.FLOAT, [1, 1], [0.0])])),
        [{"R4": "violates"}],
    ),
    "max is double": (
        model(graph(stored=[scalar("L", 0.0), scalar("M", 6.0, TensorProto.DOUBLE)])),
        [{"R5": "violates"}],
    ),
    "no element type": (model(graph(inputs=[value("X", [2, 3], TensorProto.UNDEFINED)])), [_UNTYPED]),
    "min has one entry": (
        model(graph(inputs=[value("X", [2, 3]), value("L", [1])], stored=[scalar("M", 6.0)])),
        [{"scalar_bounds": "violates"}],
    ),
    "strings": (
        model(graph(inputs=_STRINGS, outputs=[value("Y", [], TensorProto.STRING)], stored=[])),
        [{"element_types": "violates"}],
    ),
    "domain by its long name": (
        model(graph(clip("X", "", "M", domain="ai.onnx"))),
        [{"R1": "violates"}],
    ),
    "the call leaves min out": (_called("X", "", "M"), [{"R1": "violates"}]),
    "computed min is no scalar": (_computed_min(), [{"R4": "violates", "scalar_bounds": "violates"}]),
    "X and Y differ": (model(graph(outputs=[value("Y", [7])])), [{"C1": "violates"}]),
    "clip of another domain": (
        model(graph(clip("X", domain="com.acme")), imports={"": 13, "com.acme": 13}),
        [],
    ),
}


def misjudged(folder: Path, names: list[str]) -> list[str]:
    """The models whose nodes do not get exactly the verdicts that they should."""
    found = []
    for name in names:
        proto, expected = MODELS[name]
        path = folder / "model.onnx"
        path.write_bytes(proto.SerializeToString())
        report = lint_model(path)
        verdicts = [
            {j.id: str(j.verdict) for j in node.judgements if j.verdict is not Verdict.MEETS}
            for node in report.nodes
        ]
        if verdicts != expected:
            found.append(name)
    return found


def test_the_checker_as_it_is_judges_every_model_rightly(tmp_path: Path) -> None:
    assert misjudged(tmp_path, list(MODELS)) == []


_BELOW_ZERO = DeclaredTensor("float32", (-1, 3))


def test_lint_and_the_specification_part_where_one_takes_what_is_not_declared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before, a bound without a shape was scalar to the specification and unknown to lint."""
    tensors = declared_example(load_spec()) | {"L": DeclaredTensor("float32", None)}
    assert disagreements(tensors) == []
    monkeypatch.setitem(evaluate.DECLARED_WORDS, "is_scalar", lambda t: t is None or t.dims in (None, ()))
    monkeypatch.setattr("tests.lint.test_same_as_specification.evaluator", evaluate.Evaluator)
    assert disagreements(tensors) == ["scalar_bounds"]


def test_lint_and_the_specification_part_where_one_takes_minus_one_for_a_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before, a dimension of -1 was explicit to the specification and none to lint."""
    tensors = declared_example(load_spec()) | {"X": _BELOW_ZERO, "Y": _BELOW_ZERO}
    assert disagreements(tensors) == []
    monkeypatch.setattr(tensors_module, "_type_dim", lambda dim: dim.dim_value)
    assert disagreements(tensors) == ["R4"]
