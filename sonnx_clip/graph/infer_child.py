"""Run as a process of its own: a model on standard input, the same with inferred shapes on standard output.

A hostile model can keep onnx's shape inference busy for ever or bring its process down; the caller kills
this process after a time limit and reads its exit status, so neither reaches the user.
"""

from __future__ import annotations

import sys

import onnx
from onnx import shape_inference


def main() -> None:
    """Infer without strictness: what cannot be inferred stays unknown."""
    model = onnx.ModelProto()
    model.ParseFromString(sys.stdin.buffer.read())
    sys.stdout.buffer.write(shape_inference.infer_shapes(model, strict_mode=False).SerializeToString())


if __name__ == "__main__":
    main()
