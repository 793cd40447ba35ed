"""Processor time of whole commands, start-up included, and of lint and check relative to what they call.

    python -m bench.commands [--times 5]

Exit status 1 if a target is missed twice.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median

import onnx
from onnx import TensorProto, helper

from bench.timing import HEADER, Target, cpu_seconds, judge

CLIP = (sys.executable, "-m", "sonnx_clip")
MODEL = "tests/models/relu6_op13.onnx"
COMMANDS = {
    "explain": ("explain", "float32", "--x", "nan", "--min", "1", "--max", "0"),
    "dialect": ("dialect", "onnx-6", "float16", "--x", "inf"),
    "readings": ("readings",),
    "findings": ("findings",),
    "lint of a small model, without import onnx": ("lint", MODEL),
}
_INFER = "import onnx, sys; onnx.shape_inference.infer_shapes(onnx.load(sys.argv[1]))"


def command_seconds(arguments: tuple[str, ...], times: int, *, onnx_apart: bool) -> tuple[float, str]:
    """Median processor seconds of a command; without those of importing onnx where `onnx_apart`."""
    apart = (
        median(cpu_seconds((sys.executable, "-c", "import onnx")) for _ in range(times))
        if onnx_apart
        else 0.0
    )
    return median(cpu_seconds((*CLIP, *arguments)) for _ in range(times)) - apart, ""


def chain(opset: int, nodes: int) -> onnx.ModelProto:
    """A chain of Clip nodes: bounds as inputs from operator set 11, as attributes before."""
    bounds = [helper.make_tensor(n, TensorProto.FLOAT, [], [v]) for n, v in (("l", 0.0), ("m", 6.0))]
    made = [
        helper.make_node("Clip", [f"t{i}", "l", "m"], [f"t{i + 1}"], name=f"clip{i}")
        if opset >= 11
        else helper.make_node("Clip", [f"t{i}"], [f"t{i + 1}"], name=f"clip{i}", min=0.0, max=6.0)
        for i in range(nodes)
    ]
    ends = [helper.make_tensor_value_info(f"t{i}", TensorProto.FLOAT, [2, 3]) for i in (0, nodes)]
    graph = helper.make_graph(made, "chain", ends[:1], ends[1:], bounds if opset >= 11 else [])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def lint_ratio(opset: int, nodes: int, times: int) -> tuple[float, str]:
    """Lint of a chain of Clip nodes over loading it and inferring its shapes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "chain.onnx")
        onnx.save(chain(opset, nodes), path)
        alone = median(cpu_seconds((sys.executable, "-c", _INFER, str(path))) for _ in range(times))
        ours = median(cpu_seconds((*CLIP, "lint", str(path))) for _ in range(times))
    return ours / alone, f"{ours:.1f} and {alone:.1f} CPU-s"


def main() -> int:
    """Measure every row; 1 where one misses twice."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.commands", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--times", type=int, default=5, help="runs of each command (default: 5)")
    times = parser.parse_args().times
    print(HEADER)
    passed = True
    for name, arguments in COMMANDS.items():
        measure = partial(command_seconds, arguments, times, onnx_apart=arguments[0] == "lint")
        passed &= judge(Target(name, 0.45, "CPU-s"), measure)
    for opset in (13, 6):
        target = Target(f"lint of 100,000 Clip nodes, operator set {opset}, over load and inference", 4)
        passed &= judge(target, partial(lint_ratio, opset, 100_000, 1))
    for level, limit in (("quick", 0.8), ("standard", 2.5)):
        arguments = (
            "check",
            "--runtime",
            "numpy",
            "--dtype",
            "float32",
            "--again",
            "--jobs",
            "1",
            "--level",
            level,
        )
        passed &= judge(
            Target(f"check of NumPy, float32, {level}", limit, "CPU-s", gates=False),
            partial(command_seconds, arguments, times, onnx_apart=False),
        )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
