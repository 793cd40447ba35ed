"""Where Clip nodes and the names that they read are found: subgraphs, scopes, domains, operator sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from onnx import defs

from tests.lint.build import HEAD, lint, model, parsed, problems, verdicts

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

NEWEST = defs.onnx_opset_version()
OLD = {"R1": "violates", "R2": "violates"}  # of a node whose bounds are attributes


def conditional(then: str, *, more: str = "") -> onnx.ModelProto:
    """A model with a Clip in one branch of an If node, and none in the other."""
    return parsed(
        f"main (float[2,3] X, bool c{more}) => (float[2,3] Y) <float L = {{0}}, float M = {{6}}>"
        f" {{ Y = If (c) <then_branch = then () => (float[2,3] y) {then},"
        " else_branch = other () => (float[2,3] z) { z = Neg(X) }> }"
    )


def test_node_of_a_subgraph_reads_the_names_around_it(tmp_path: Path) -> None:
    report = lint(tmp_path, conditional("{ y = Clip(X, L, M) }"))
    assert verdicts(report) == {}
    node = report.nodes[0]
    assert (node.name, node.position, node.output) == (None, 0, "y")
    assert node.graph == "graph 'main' > If node 0, then_branch"


def test_name_inside_hides_the_same_name_outside(tmp_path: Path) -> None:
    """The outer X declares a shape; the inner X, which the node reads, declares none."""
    inner = "{ X = Neg(A) y = Clip(X, L, M) }"
    hidden = {"R4": "violates", "R5": "unknown", "element_types": "unknown"}
    assert verdicts(lint(tmp_path, conditional(inner, more=", float[2,3] A"))) == hidden
    declared = conditional(f"<float[9] X> {inner}", more=", float[2,3] A")
    assert verdicts(lint(tmp_path, declared)) == {}
    stored = conditional("<float[1] L = {0}> { y = Clip(X, L, M) }")
    assert verdicts(lint(tmp_path, stored)) == {"scalar_bounds": "violates"}


def test_inference_reaches_into_subgraphs(tmp_path: Path) -> None:
    proto = conditional("{ a = Neg(X) y = Clip(a, L, M) }")
    assert problems(lint(tmp_path, proto), "R4")[0][1] == "known only by inference"
    assert verdicts(lint(tmp_path, proto, accept_inferred=True)) == {}


def test_clip_of_another_domain_is_noted_and_not_judged(tmp_path: Path) -> None:
    report = lint(tmp_path, parsed(f"{HEAD} {{ Y = my.Clip(X) }}"))
    assert report.nodes == ()
    assert report.verdict is None
    assert report.notes == (
        "1 node named Clip of the domain 'my' is another operator and was not judged",
    )


@pytest.mark.parametrize(("opset", "version"), [(1, 1), (10, 6), (11, 11), (12, 12), (NEWEST, 13)])
def test_version_of_clip_is_that_of_the_operator_set(
    tmp_path: Path, opset: int, version: int
) -> None:
    call = "Clip <min = 0.0, max = 6.0> (X)" if opset < 11 else "Clip(X, L, M)"
    report = lint(tmp_path, parsed(f"{HEAD} {{ Y = {call} }}", opset))
    assert report.nodes[0].findings.operator == f"Clip-{version}"
    assert verdicts(report) == (OLD if opset < 11 else {})


def test_opset_from_the_future_is_noted(tmp_path: Path) -> None:
    report = lint(tmp_path, model(opset=2**63 - 1))
    assert verdicts(report) == {}
    assert report.notes[0].startswith(f"opset {2**63 - 1} is newer than the installed onnx")
