"""A model of one Clip node whose bounds are inputs, so that one session serves all triples."""

from __future__ import annotations

import json

import onnx
import onnx.parser

# Opset 13 is the version on which the SONNX page is based. X has any rank, the bounds rank 0.
_HEAD = '<ir_version: 8, opset_import: ["": 13]>'
_GRAPH = "g ({t}[] x, {t} l, {t} m) => ({t}[] y) {{ y = Clip(x, l, m) }}"
_ONNX_NAMES = {"float32": "float", "float64": "double"}


def model_text(etype: str) -> str:
    """The model in ONNX's textual syntax."""
    return f"{_HEAD} {_GRAPH.format(t=_ONNX_NAMES.get(etype, etype))}"


def one_node_model(etype: str) -> onnx.ModelProto:
    """The model for an element type."""
    return onnx.parser.parse_model(model_text(etype))


def parse_call(etype: str) -> str:
    """The Python text that makes the same model; without single quotes, for the sake of shells."""
    return f"onnx.parser.parse_model({json.dumps(model_text(etype))})"
