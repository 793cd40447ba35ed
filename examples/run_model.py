"""Runs an ONNX model once, for `sonnx-clip check --onnx-cmd`; see docs/integrations.md."""  # noqa: INP001

import sys
from pathlib import Path

import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator


def main(model: str, given: str, out: str) -> str | None:
    """Run a model; return None on success, else the reason of the failure."""
    try:
        runtime = ReferenceEvaluator(onnx.load(model))
        files = [Path(given, f"input_{number}.pb") for number in range(len(runtime.input_names))]
        inputs = [numpy_helper.to_array(onnx.load_tensor(file)) for file in files]
        (y,) = runtime.run(None, dict(zip(runtime.input_names, inputs, strict=True)))
    except Exception as error:  # noqa: BLE001 - told as the last line on standard error, with status 1
        return f"{type(error).__name__}: {error}"
    Path(out, "output_0.pb").write_bytes(numpy_helper.from_array(y, "y").SerializeToString())
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
