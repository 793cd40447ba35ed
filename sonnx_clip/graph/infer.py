"""What onnx's shape inference finds, asked in a process that may fail or hang."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from onnx import ModelProto

from sonnx_clip.graph.child import run_child

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CHILD = Path(__file__).with_name("infer_child.py")
SECONDS = 60.0


@dataclass(frozen=True)
class Inference:
    """Models with inferred shapes, in the order asked, or the reason why there are none."""

    models: tuple[ModelProto, ...]
    failure: str | None


def infer(serialized: Sequence[bytes], *, seconds: float = SECONDS, child: Path = _CHILD) -> Inference:
    """Shape inference of onnx on serialized models, within one time limit for all of them.

    Args:
        serialized: the models as protobuf.
        seconds: how long inference may take.
        child: the program that infers.
    """
    given = b"".join(len(model).to_bytes(8, "big") + model for model in serialized)
    done = run_child(child, given=given, seconds=seconds)
    if done is None:
        return Inference((), f"shape inference did not end within {seconds:.3g} s")
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return Inference((), f"shape inference failed: {last[-1] if last else f'status {done.returncode}'}")
    models = tuple(_models(done.stdout))
    if len(models) != len(serialized) or not all(model.HasField("graph") for model in models):
        return Inference((), "shape inference gave an unreadable model")
    return Inference(models, None)


def _models(data: bytes) -> Iterator[ModelProto]:
    start = 0
    while start < len(data):
        end = start + 8 + int.from_bytes(data[start : start + 8], "big")
        model = ModelProto()
        try:
            model.ParseFromString(data[start + 8 : end])
        except DecodeError:
            return
        yield model
        start = end
