"""The operator sets of ONNX, and the version of Clip that each means."""

from __future__ import annotations

import onnx

from sonnx_clip.root.errors import UserError


def newest_opset() -> int:
    """The newest operator set of the installed onnx."""
    return int(onnx.defs.onnx_opset_version())


def clip_version(opset: int) -> int:
    """The version of Clip that an operator set means; UserError if onnx does not have the set."""
    if not 1 <= opset <= newest_opset():
        raise UserError(
            f"unknown operator set {opset}",
            todo=f"choose one from 1 to {newest_opset()}, the newest in onnx {onnx.__version__}",
        )
    return int(onnx.defs.get_schema("Clip", opset, "").since_version)


def opsets_of(version: int) -> tuple[int, ...]:
    """The first and the last operator set that mean a version of Clip."""
    every = [opset for opset in range(1, newest_opset() + 1) if clip_version(opset) == version]
    return tuple(dict.fromkeys((every[0], every[-1])))
