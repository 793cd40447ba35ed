"""Small models, one idea each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
from onnx import TensorProto, helper, parser

from sonnx_clip.lint import lint_model

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from onnx import FunctionProto, GraphProto, NodeProto, SparseTensorProto, ValueInfoProto

    from sonnx_clip.lint.verdict import ModelReport

FLOAT = TensorProto.FLOAT
DECLARES = "normalise declares the inferred"
HEAD = "main (float[2,3] X) => (float[2,3] Y) <float L = {0}, float M = {6}>"


def parsed(text: str, opset: int = 13) -> onnx.ModelProto:
    """A model in onnx's text syntax; a function of the domain `my` is written ``<MY> F (a) => (b) { … }``."""
    imports = f'opset_import: ["": {opset}, "my": 1]'
    text = text.replace("<MY>", f'<domain: "my", {imports}>')
    return parser.parse_model(f"<ir_version: 10, {imports}>\n{text}")


def value(
    name: str, dims: Sequence[int | str | None] | None, element_type: int = FLOAT
) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, element_type, dims)


def scalar(name: str, number: float, element_type: int = FLOAT) -> TensorProto:
    return helper.make_tensor(name, element_type, [], [number])


def sparse(name: str, dims: Sequence[int] = (2, 3)) -> SparseTensorProto:
    return helper.make_sparse_tensor(
        helper.make_tensor(name, FLOAT, [1], [1.0]),
        helper.make_tensor(f"{name}_i", TensorProto.INT64, [1], [0]),
        dims,
    )


def clip(
    *inputs: str, out: str = "Y", name: str = "clip", domain: str = "", **attributes: float
) -> NodeProto:
    return helper.make_node(
        "Clip", inputs or ["X", "L", "M"], [out], name=name, domain=domain, **attributes
    )


def bounds() -> list[TensorProto]:
    return [scalar("L", 0.0), scalar("M", 6.0)]


def graph(
    *nodes: NodeProto,
    inputs: Sequence[ValueInfoProto] | None = None,
    outputs: Sequence[ValueInfoProto] | None = None,
    stored: Sequence[TensorProto] | None = None,
    sparse_stored: Sequence[SparseTensorProto] = (),
    infos: Sequence[ValueInfoProto] = (),
    name: str = "main",
) -> GraphProto:
    return helper.make_graph(
        list(nodes) or [clip()],
        name,
        [value("X", [2, 3])] if inputs is None else list(inputs),
        [value("Y", [2, 3])] if outputs is None else list(outputs),
        initializer=bounds() if stored is None else list(stored),
        sparse_initializer=list(sparse_stored),
        value_info=list(infos),
    )


def model(
    main: GraphProto | None = None,
    opset: int = 13,
    functions: Sequence[FunctionProto] = (),
    imports: dict[str, int] | None = None,
) -> onnx.ModelProto:
    sets = {"": opset} if imports is None else imports
    return helper.make_model(
        main or graph(),
        opset_imports=[helper.make_opsetid(domain, version) for domain, version in sets.items()],
        functions=list(functions),
        ir_version=10,
    )


def lint(folder: Path, proto: onnx.ModelProto, *, accept_inferred: bool = False) -> ModelReport:
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return lint_model(path, accept_inferred=accept_inferred)


def verdicts(report: ModelReport, index: int = 0) -> dict[str, str]:
    """The verdicts of one node that are not `meets`, by id."""
    findings = report.nodes[index].findings
    assert findings.rules == ("R1", "R2", "R3", "R4", "R5", "scalar_bounds", "element_types", "C1")
    return {rule: str(verdict) for rule, verdict in findings.broken_rules.items()}


def problems(report: ModelReport, tag: str, index: int = 0) -> list[tuple[str, str, str]]:
    """Tensor, message and remedy of each problem of one restriction at one node."""
    of_rule = report.nodes[index].findings.problems_of(tag)
    return [(problem.argument, problem.message, problem.remedy) for problem in of_rule]
