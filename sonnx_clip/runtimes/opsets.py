"""The operator sets of ONNX: those that have an operator, and the version of Clip that each means."""

from __future__ import annotations

import onnx

from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.model_forms import FIRST_OPSET, ONNX_NAMES


def newest_opset() -> int:
    """The newest operator set of the installed onnx."""
    return int(onnx.defs.onnx_opset_version())


def clip_version(opset: int) -> int:
    """The version of Clip that an operator set means; UserError if onnx does not have the set."""
    newest = newest_opset()
    if not 1 <= opset <= newest:
        todo = f"choose one from 1 to {newest}, the newest in onnx {onnx.__version__}"
        raise UserError(f"unknown operator set {opset}", todo=todo)
    schema = onnx.defs.get_schema("Clip", opset, "")
    return int(schema.since_version)


def opsets_of(version: int) -> tuple[int, ...]:
    """The first and the last operator set that mean a version of Clip."""
    opsets = []
    for opset in range(1, newest_opset() + 1):
        if clip_version(opset) == version:
            opsets.append(opset)
    # Once, if the version has only one operator set.
    ends = dict.fromkeys((opsets[0], opsets[-1]))
    return tuple(ends)


def opsets_with(op_type: str, etype: str) -> tuple[int, ...]:
    """The operator sets from `FIRST_OPSET` on that have an operator for an element type; perhaps none.

    Later versions of an operator count as the same one if they have the same inputs and attributes: then
    they have more element types.
    """
    tensor = f"tensor({ONNX_NAMES.get(etype, etype)})"
    # A schema lists what each operand accepts; the first one has the element type of the node.
    first = onnx.defs.get_schema(op_type, FIRST_OPSET, "")
    opsets = []
    for opset in range(FIRST_OPSET, newest_opset() + 1):
        schema = onnx.defs.get_schema(op_type, opset, "")
        is_same = _interface(schema) == _interface(first)
        if is_same and tensor in schema.inputs[0].types:
            opsets.append(opset)
    return tuple(opsets)


def _interface(schema: onnx.defs.OpSchema) -> tuple[list[str], list[str]]:
    inputs = [operand.name for operand in schema.inputs]
    return inputs, sorted(schema.attributes)
