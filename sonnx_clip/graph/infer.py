"""What onnx's shape inference finds, asked in a process that may fail or hang."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import DecodeError
from onnx import ModelProto

_CHILD = Path(__file__).with_name("infer_child.py")
SECONDS = 60.0


@dataclass(frozen=True)
class Inference:
    """The model with inferred shapes, or the reason why there is none."""

    model: ModelProto | None
    failure: str | None


def infer(serialized: bytes, *, seconds: float = SECONDS, child: Path = _CHILD) -> Inference:
    """Shape inference of onnx on a serialized model, within a time limit.

    Args:
        serialized: the model as protobuf.
        seconds: how long inference may take.
        child: the program that infers.
    """
    try:
        # -P keeps the folder of the child, whose file names are common words, off its module path.
        done = subprocess.run(
            [sys.executable, "-P", str(child)],
            input=serialized,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Inference(None, f"shape inference did not end within {seconds:g} s")
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return Inference(None, f"shape inference failed: {last[-1] if last else f'status {done.returncode}'}")
    model = ModelProto()
    try:
        model.ParseFromString(done.stdout)
    except DecodeError:
        model.Clear()
    if not model.HasField("graph"):
        return Inference(None, "shape inference gave an unreadable model")
    return Inference(model, None)
