"""Each change of normalise: what is done, which theorems it cites, and that no output changes by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from onnx import TensorProto

from sonnx_clip.root.errors import UserError
from tests.lint.build import clip, graph, model, parsed, scalar, value
from tests.lint.normalised import assert_same_outputs, done, left, normalised, result

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

# The inputs of a node, and the property that the missing bounds limit nothing.
MISSING = [
    (("X",), "widest_bounds_are_no_bound"),
    (("X", "", "M"), "lowest_is_no_lower_bound"),
    (("X", "L"), "highest_is_no_upper_bound"),
]
HEAD = "main (float[2,3] X) => (float[2,3] Y)"


@pytest.mark.parametrize(("inputs", "theorem"), MISSING)
@pytest.mark.parametrize("code", [TensorProto.INT8, TensorProto.UINT64])
def test_missing_bounds_of_integers_become_the_limits(
    tmp_path: Path, code: int, inputs: tuple[str, ...], theorem: str
) -> None:
    ends = [value(name, [2, 3], code) for name in "XY"]
    given = [t for t in (scalar("L", 1, code), scalar("M", 9, code)) if t.name in inputs]
    main = graph(clip(*inputs), inputs=ends[:1], outputs=ends[1:], stored=given)
    found = normalised(tmp_path, model(main))
    assert done(found) == ["default_made_explicit"] * (2 - len(given))
    cited = {t for step in found.report.nodes[0].steps for t in step.theorems}
    assert {id_.partition(".")[2] for id_ in cited} == {theorem}
    assert left(found) == []
    assert_same_outputs(tmp_path)


@pytest.mark.parametrize(("inputs", "theorem"), MISSING)
def test_missing_bounds_of_floats_are_set_if_the_user_excludes_infinities(
    tmp_path: Path, inputs: tuple[str, ...], theorem: str
) -> None:
    stored = [t for t in (scalar("L", 0.0), scalar("M", 6.0)) if t.name in inputs]
    proto = model(graph(clip(*inputs), stored=stored))
    found = normalised(tmp_path, proto)
    assert not found.report.changed
    assert all("--assume finite" in step.why for step in left(found))
    assert {t.partition(".")[2] for step in left(found) for t in step.theorems} == {
        f"{theorem}_refuted"
    }
    assert found.report.exit_status == 1
    found = normalised(tmp_path, proto, finite=True)
    assert set(done(found)) == {"default_made_explicit"}
    assert left(found) == []
    assert_same_outputs(tmp_path)  # onnxruntime limits infinities either way


# Bounds of one entry: the model, its nodes and its stored tensors afterwards.
STORED = "<float[1] L = {0.5}, float[1] M = {6}"
CONSTANTS = "L = Constant <value = float[1] {0}> () M = Constant <value_floats = [6.0]> () Y = Clip(X, L, M)"
INTEGERS = (
    "L = Constant <value_ints = [-3]> () M = Constant <value_ints = [3]> () Y = Clip(X, L, M)"
)
READ = f"main (float[2,3] X, float[1] M) => (float[2,3] Y) {STORED}, float[2,3] A>"
ONE_ENTRY = {
    "stored": (f"{HEAD} {STORED}> {{ Y = Clip(X, L, M) }}", "Constant Constant", []),
    "stored, and an output": (
        f"main (float[2,3] X) => (float[2,3] Y, float[1] L) {STORED}> {{ Y = Clip(X, L, M) }}",
        "Constant Constant", ["L"],
    ),
    "constants": (f"{HEAD} {{ {CONSTANTS} }}", "Constant Constant Constant Constant", []),
    "integers": (
        f"main (int64[4] X) => (int64[4] Y) {{ {INTEGERS} }}", "Constant Constant Constant Constant", []
    ),
    "computed": (
        f"{HEAD} <float[1] l = {{0.5}}, float[1] m = {{6}}> {{ L = Neg(l) M = Neg(m) Y = Clip(X, L, M) }}",
        "Neg Neg Constant Reshape Reshape", ["l", "m"],
    ),
    "read by others too, and an input": (
        f"{READ} {{ A = Add(X, L) Y = Clip(A, L, M) }}", "Add Constant Constant Reshape", ["L", "M"]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_ENTRY)
def test_bounds_of_one_entry_become_scalars(tmp_path: Path, name: str) -> None:
    text, nodes, initializers = ONE_ENTRY[name]
    found = normalised(tmp_path, parsed(text))
    assert done(found) == ["bound_made_scalar"] * 2
    assert [node.op_type for node in result(found).graph.node] == [*nodes.split(), "Clip"]
    assert [tensor.name for tensor in result(found).graph.initializer] == initializers
    assert left(found) == []
    assert_same_outputs(tmp_path)


@pytest.mark.parametrize(
    ("x", "bound", "reason"),
    [
        ("[2,3]", "[3] L = {0, 0, 0}", "broadcast"),
        ("[2,3]", "[1,1] L = {0}", "broadcast"),
        ("", "[1] L = {0}", "rank 0"),
    ],
)
def test_bounds_of_other_shapes_are_kept(tmp_path: Path, x: str, bound: str, reason: str) -> None:
    head = f"main (float{x} X) => (float{x} Y) <float{bound}, float M = {{6}}>"
    found = normalised(tmp_path, parsed(f"{head} {{ Y = Clip(X, L, M) }}"))
    assert not found.report.changed
    assert reason in next(step.why for step in left(found) if step.rule == "scalar_bounds")


def test_inferred_shapes_are_declared(tmp_path: Path) -> None:
    head = "main (float[2,3] X) => (float[N,3] Y) <float l = {0}, float M = {6}>"
    found = normalised(tmp_path, parsed(f"{head} {{ Z = Neg(X) L = Neg(l) Y = Clip(Z, L, M) }}"))
    assert done(found) == ["shape_declared"] * 3
    assert left(found) == []
    assert_same_outputs(tmp_path)


def test_nodes_of_subgraphs_are_normalised(tmp_path: Path) -> None:
    proto = parsed(
        "main (float[2,3] X, bool c) => (float[2,3] Y) <float L = {0}, float M = {6}> {"
        " Z = If (c) <then_branch = then () => (float[2,3] a) { a = Clip(X, , L) },"
        " else_branch = other () => (float[2,3] b) { b = Clip(X, , M) }> Y = Clip(Z, L) }"
    )
    found = normalised(tmp_path, proto, finite=True)
    assert [left(found, n) for n in range(3)] == [[], [], []]
    assert_same_outputs(tmp_path)


def test_nodes_of_functions_are_kept(tmp_path: Path) -> None:
    found = normalised(
        tmp_path, parsed(f"{HEAD} {{ Y = my.F(X) }}\n<MY> F (a) => (b) {{ b = Clip(a) }}")
    )
    assert not found.report.changed
    assert {step.rule for step in left(found)} == {"R1", "R2"}


def test_new_constants_have_new_names_and_are_shared(tmp_path: Path) -> None:
    taken = parsed("main (float[2,3] Y_min) => (float[2,3] Y) { Y = Clip(Y_min) }")
    names = list(result(normalised(tmp_path, taken, finite=True)).graph.node[-1].input)
    assert names[0] == "Y_min"
    assert len(set(names)) == 3
    assert_same_outputs(tmp_path)
    three = f"{HEAD} <float L = {{0}}, float M = {{6}}> {{ a = Clip(X) b = Clip(a, L) Y = Clip(b, , M) }}"
    after = result(normalised(tmp_path, parsed(three), finite=True))
    assert [node.op_type for node in after.graph.node].count("Constant") == 2
    assert_same_outputs(tmp_path)


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        (model(graph(clip(axis=1))), "onnx's checker rejects the model"),
        (model(opset=9999), "opset 9999 is newer than the installed onnx"),
    ],
)
def test_model_that_onnx_cannot_check_is_refused(
    tmp_path: Path, proto: onnx.ModelProto, reason: str
) -> None:
    with pytest.raises(UserError, match=reason) as raised:
        normalised(tmp_path, proto)
    assert raised.value.where == str(tmp_path / "before.onnx")
