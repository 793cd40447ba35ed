"""Runs onnx's shape inference in a process that may fail or hang."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from onnx import ModelProto, onnx_cpp2py_export

from sonnx_clip.root.isolated import run_isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SECONDS = 60.0
_LENIENT = (False, False, False)  # no check of types, no strict mode, no propagation of data


@dataclass(frozen=True)
class Inference:
    """Models with inferred shapes, in the order given, or the reason why there are none."""

    models: tuple[ModelProto, ...]
    failure: str | None


def infer(
    models: Sequence[ModelProto | bytes],
    *,
    seconds: float = SECONDS,
    work: Callable[[Sequence[ModelProto | bytes]], bytes] | None = None,
) -> Inference:
    """Shape inference of onnx on models or their protobuf, within one time limit for all of them.

    The process runs `work`, which answers as `infer_all` does; that itself, if none is given.
    """
    done = run_isolated(work or infer_all, models, seconds=seconds)
    if done.failure is not None:
        return Inference((), f"shape inference failed: {done.failure}")
    found = tuple(_models(done.result))
    if len(found) != len(models) or not all(model.HasField("graph") for model in found):
        return Inference((), "shape inference gave an unreadable model")
    return Inference(found, None)


def infer_all(models: Sequence[ModelProto | bytes]) -> bytes:
    """Each model with inferred shapes: eight bytes of length, the greatest first, and its protobuf.

    Without strictness: what cannot be inferred stays unknown.
    """
    parts: list[bytes] = []
    for model in models:
        written = model if isinstance(model, bytes) else model.SerializeToString()
        # The public function parses the answer and hands over an object, which would be written again.
        data = onnx_cpp2py_export.shape_inference.infer_shapes(written, *_LENIENT)
        parts += [len(data).to_bytes(8, "big"), data]
    return b"".join(parts)


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
