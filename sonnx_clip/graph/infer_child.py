"""Run as a process of its own: models on standard input, the same with inferred shapes on standard output.

Each model is eight bytes of length, the greatest first, and its protobuf. A hostile model can keep onnx's
shape inference busy for ever or bring its process down; the caller kills this process after a time limit and
reads its exit status, so neither reaches the user.
"""

from __future__ import annotations

import sys

from onnx import shape_inference


def main() -> None:
    """Infer without strictness: what cannot be inferred stays unknown."""
    given, result = sys.stdin.buffer, sys.stdout.buffer
    while size := given.read(8):
        serialized = given.read(int.from_bytes(size, "big"))
        model = shape_inference.infer_shapes(serialized, strict_mode=False).SerializeToString()
        result.write(len(model).to_bytes(8, "big") + model)


if __name__ == "__main__":
    main()
