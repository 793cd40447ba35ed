"""Run as a process of its own: a model on standard input, asked of onnx's checker or version converter.

Both are C++ that a hostile model may bring down or keep busy; the caller reads the exit status of this
process and kills it after a time limit. Relative paths of external data mean the folder that this process
runs in.
"""

from __future__ import annotations

import sys

import onnx
from onnx import version_converter


def main() -> None:
    """``check`` says nothing where all is well; ``convert N`` writes the model at operator set N."""
    given = sys.stdin.buffer.read()
    if sys.argv[1] == "check":
        onnx.checker.check_model(given)
        return
    model = onnx.ModelProto.FromString(given)
    converted = version_converter.convert_version(model, int(sys.argv[2]))
    sys.stdout.buffer.write(converted.SerializeToString())


if __name__ == "__main__":
    main()
