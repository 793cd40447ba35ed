"""A model with large weights, run by the self-check's runtimes on weights that they map from its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import helper

from sonnx_clip.graph import self_check_runs
from sonnx_clip.graph.load_model import parse_model, read_without_weights
from tests.graph.build import clip, graph, model, scalar, value

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

_SHAPE = [600, 600]
NUMBERS = np.random.default_rng(1).standard_normal(_SHAPE).astype(np.float32)


def product(field: str = "raw_data") -> onnx.ModelProto:
    """Clip of X times stored weights, which lie in this field of the tensor."""
    raw = field == "raw_data"
    weights = helper.make_tensor("w", 1, _SHAPE, NUMBERS.tobytes() if raw else NUMBERS.ravel().tolist(), raw)
    nodes = [helper.make_node("Mul", ["X", "w"], ["t"]), clip("t", "L", "M")]
    ends = [value("X", _SHAPE)], [value("Y", _SHAPE)]
    return model(
        graph(
            *nodes,
            inputs=ends[0],
            outputs=ends[1],
            stored=[weights, scalar("L", -1.0), scalar("M", 1.0)],
        )
    )


def read_otherwise(folder: Path, field: str) -> list[str]:
    """The runtimes that give another result than the weights of the file do."""
    path = folder / "large.onnx"
    path.write_bytes(product(field).SerializeToString())
    lean = parse_model(read_without_weights(path), path)
    weights = self_check_runs._Weights(path)
    assert len(weights.mapped(lean).SerializeToString()) < 10_000
    x = np.full(_SHAPE, 0.5, np.float32)
    expected = np.clip(NUMBERS * x, -1, 1).tobytes()
    runtimes = self_check_runs._onnxruntime(weights, path)
    assert len(runtimes) == 2
    return [one.name for one in runtimes if one.open(lean, ())({"X": x})[0].tobytes() != expected]
