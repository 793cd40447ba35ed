"""Clip nodes of local functions: what callers pass, calls that cannot be inlined, names of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest

from tests.lint.build import HEAD, lint, parsed, problems, verdicts

if TYPE_CHECKING:
    from pathlib import Path

F = "\n<MY> F (a, b, c) => (d) <float[2,3] a, float b, float c, float[2,3] d> { d = Clip(a, b, c) }"
G = "\n<MY> G (a, b, c) => (d) { d = my.F(a, b, c) }"
CALL = f"{HEAD} {{ Y = my.F(X, L, M) }}"
NAME = "function 'my::F'"


def test_function_has_what_its_caller_passes(tmp_path: Path) -> None:
    report = lint(tmp_path, parsed(CALL + F))
    assert [node.graph for node in report.nodes] == [NAME]
    assert verdicts(report) == {}


def test_function_without_a_call_has_only_its_own_declarations(tmp_path: Path) -> None:
    bare = "\n<MY> F (a, b, c) => (d) { d = Clip(a, b, c) }"
    report = lint(tmp_path, parsed(f"{HEAD} {{ Y = Clip(X, L, M) }}{bare}"))
    assert [node.graph for node in report.nodes] == ["graph 'main'", NAME]
    assert report.notes == (
        f"no call of {NAME} could be inlined: it is judged by its own declarations",
    )
    assert [(a, m) for a, m, _ in problems(report, "R4", 1)] == [(r, "no shape") for r in "XLMY"]
    assert "in the function's value_info" in problems(report, "R4", 1)[0][2]
    assert "inline the function" in problems(report, "R5", 1)[0][2]


@pytest.mark.parametrize(("inputs", "tag"), [("X, , M", "R1"), ("X, L", "R2")])
@pytest.mark.parametrize("name", ["F", "G"])
def test_input_that_the_call_omits_is_not_set(
    tmp_path: Path, name: str, inputs: str, tag: str
) -> None:
    report = lint(tmp_path, parsed(f"{HEAD} {{ Y = my.{name}({inputs}) }}{F}{G}"))
    assert verdicts(report) == {tag: "violates"}
    assert "is the empty name" in problems(report, tag)[0][1]


def test_caller_that_contradicts_the_function_violates(tmp_path: Path) -> None:
    head = "main (float16[N,3] X) => (float16[N,3] Y) <float16[2] L = {1, 2}, float16 M = {3}>"
    report = lint(tmp_path, parsed(f"{head} {{ Y = my.F(X, L, M) }}{F}"))
    assert verdicts(report) == dict.fromkeys(["R4", "R5", "scalar_bounds"], "violates")
    assert problems(report, "R5")[0][1] == "declared with two element types: FLOAT16, FLOAT"
    assert problems(report, "scalar_bounds")[0][1].startswith("shape [2]")


def test_calls_that_multiply_or_never_end_are_undecided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubling = "".join(
        f"\n<MY> G{n} (a, b, c) => (d) {{ e = my.{inner}(a, b, c) d = my.{inner}(e, b, c) }}"
        for n, inner in enumerate(["F", *(f"G{n}" for n in range(59))])
    )
    monkeypatch.setattr("sonnx_clip.lint.onnx_process.SECONDS", 0.5)
    report = lint(tmp_path, parsed(f"{HEAD} {{ Y = my.G59(X, L, M) }}{F}{doubling}"))
    assert report.undecided == ("nothing was inferred: no answer within 0.5 s",)
    assert report.verdict != "meets"
    monkeypatch.undo()
    endless = "\n<MY> E (a, b, c) => (d) { e = Clip(a, b, c) d = my.E(e, b, c) }"
    report = lint(tmp_path, parsed(f"{HEAD} {{ Y = my.E(X, L, M) }}{endless}"))
    assert "must not be recursive" in report.undecided[0]


def test_constant_whose_value_the_caller_gives_declares_nothing(tmp_path: Path) -> None:
    body = "b = Constant <value_float: float = @alpha> () d = Clip(a, b, c)"
    taken = f"\n<MY> F <alpha> (a, c) => (d) {{ {body} }}"
    report = lint(tmp_path, parsed(f"{HEAD} {{ Y = my.F <alpha = 1.0> (X, M) }}{taken}"))
    assert ("L", "no shape") not in [(a, m) for a, m, _ in problems(report, "R4")]
    report = lint(tmp_path, parsed(f"{HEAD} {{ Y = my.F (X, M) }}{taken}"))
    assert ("L", "no shape") in [(a, m) for a, m, _ in problems(report, "R4")]


def test_local_function_named_clip_is_noted(tmp_path: Path) -> None:
    named = '<domain: "", opset_import: ["": 13]> Clip (a) => (b) { b = Neg(a) }'
    report = lint(tmp_path, parsed(f"{HEAD} {{ Y = Clip(X, L, M) }}\n{named}"))
    assert len(report.nodes) == 1
    assert "the runtime chooses which" in report.notes[0]


# --- Graphs as attributes, calls that are not inlined, marks ---

HEAD_IF = "main (float[2] X, bool c) => (float[2] Y) <float[2] lo = {0, 0}, float hi = {1}>"


def _with_default_graph(call: str) -> onnx.ModelProto:
    """A function whose attribute `th` is, unless a call gives another, a graph with a Clip in it."""
    text = (
        f"{HEAD_IF} {{ {call} }}\n<MY> K (a, l, h, c) => (d) {{ d = If (c) <then_branch: graph = @th,"
        " else_branch = e () => (f) { f = Neg(a) }> }"
    )
    model = parsed(text)
    graph = onnx.parser.parse_graph("t () => (float[2] g) { g = Clip(a, l, h) }")
    model.functions[0].attribute_proto.append(onnx.helper.make_attribute("th", graph))
    return model


def test_clip_in_the_default_of_an_attribute_is_judged(tmp_path: Path) -> None:
    report = lint(tmp_path, _with_default_graph("Y = my.K(X, lo, hi, c)"))
    assert [node.graph for node in report.nodes] == ["function 'my::K'"]
    assert problems(report, "scalar_bounds")[0][1].startswith("shape [2]")
    assert report.exit_status == 1


def test_graph_that_a_call_gives_for_a_default_is_unknown(tmp_path: Path) -> None:
    call = "Y = my.K <th = o () => (float[2] p) { p = Neg(X) }> (X, lo, hi, c)"
    report = lint(tmp_path, _with_default_graph(call))
    assert any("give the graph of its attribute 'th'" in text for text in report.undecided)
    assert report.exit_status == 1


def test_call_that_is_not_inlined_is_judged_beside_one_that_is(tmp_path: Path) -> None:
    """A function that imports another operator set is not inlined, and what it calls neither."""
    head = "main (float[2] X) => (float[2] Y, float[2] Z) <float L = {0}, float M = {1}, float[2] B = {0, 0}>"
    other = (
        '\n<domain: "my", opset_import: ["": 11, "my": 1]> W (a, b, c) => (d) { d = my.F(a, b, c) }'
    )
    bare = "\n<MY> F (a, b, c) => (d) { d = Clip(a, b, c) }"
    report = lint(
        tmp_path, parsed(f"{head} {{ Y = my.F(X, L, M) Z = my.W(X, B, M) }}{bare}{other}")
    )
    assert [node.graph for node in report.nodes] == [NAME, NAME]
    assert report.nodes[0].findings.verdict == "meets"
    assert report.exit_status == 1
    assert f"not every call of {NAME} could be inlined" in " ".join(report.notes)


def test_mark_in_the_model_is_ignored(tmp_path: Path) -> None:
    """A node of the main graph cannot pass for one of a function, whose declarations it would inherit."""
    head = "main (float[2] X) => (float[2] Y, float[2] Z) <float L = {0}, float M = {1}>"
    typed = F.replace("[2,3]", "[2]")
    text = f"{head} {{ U = my.Own(X) V = Clip(U, L, M) Y = my.Own(V) Z = my.F(X, L, M) }}{typed}"
    plain, marked = parsed(text), parsed(text)
    node = next(node for node in marked.graph.node if node.op_type == "Clip")
    node.metadata_props.add(key="sonnx-clip lint: node of a function", value="0")
    assert verdicts(lint(tmp_path, marked)) == verdicts(lint(tmp_path, plain))
    assert lint(tmp_path, marked).exit_status == 1
