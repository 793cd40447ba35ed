"""Processor time of whole commands, start-up included, and of lint relative to what it calls.

    python -m bench.commands

Exit status 1 if a target is missed twice.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

import onnx
from onnx import parser

from bench.timing import HEADER, Target, cpu_seconds, judge

CLIP = (sys.executable, "-m", "sonnx_clip")
COMMANDS = {
    "explain": "explain float32 --x nan --min 1 --max 0",
    "dialect": "dialect onnx-6 float16 --x inf",
    "readings": "readings",
    "findings": "findings",
    "lint of a small model, without import onnx": "lint tests/models/relu6_op13.onnx",
}
_TIMES = 5
_INFER = "import onnx, sys; onnx.shape_inference.infer_shapes(onnx.load(sys.argv[1]))"


def command_seconds(arguments: str) -> tuple[float, str]:
    """Median processor seconds of a command; of lint without those of importing onnx."""
    onnx_alone = (
        cpu_seconds((sys.executable, "-c", "import onnx"), _TIMES) if "lint" in arguments else 0.0
    )
    return cpu_seconds((*CLIP, *arguments.split()), _TIMES) - onnx_alone, ""


def chain(opset: int, nodes: int) -> onnx.ModelProto:
    """A chain of Clip nodes: bounds as inputs from operator set 11, as attributes before."""
    attributes, inputs = ("", ", l, m") if opset >= 11 else (" <min = 0.0, max = 6.0>", "")
    bounds = " <float l = {0.0}, float m = {6.0}>" if inputs else ""
    clips = "\n".join(f"t{i + 1} = Clip{attributes}(t{i}{inputs})" for i in range(nodes))
    head = f'<ir_version: 8, opset_import: ["": {opset}]>'
    return parser.parse_model(
        f"{head} chain (float[2,3] t0) => (float[2,3] t{nodes}){bounds} {{\n{clips}\n}}"
    )


def lint_ratio(opset: int, nodes: int) -> tuple[float, str]:
    """Lint of a chain of Clip nodes over loading it and inferring its shapes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "chain.onnx")
        onnx.save(chain(opset, nodes), path)
        alone = cpu_seconds((sys.executable, "-c", _INFER, str(path)))
        ours = cpu_seconds((*CLIP, "lint", str(path)))
    return ours / alone, f"{ours:.1f} and {alone:.1f} CPU-s"


def main() -> int:
    """Measure every row; 1 where one misses twice."""
    print(HEADER)
    passed = True
    for name, command in COMMANDS.items():
        passed &= judge(Target(name, 0.45, "CPU-s"), partial(command_seconds, command))
    for opset in (13, 6):
        target = Target(
            f"lint of 100,000 Clip nodes, operator set {opset}, over load and inference", 4
        )
        passed &= judge(target, partial(lint_ratio, opset, 100_000))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
