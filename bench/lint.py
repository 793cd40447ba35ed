"""How lint and normalise do on large models: time against shape inference, memory against the file.

``python -m bench.lint`` makes a model of 200 MB and chains of Clip nodes, runs processes (nothing but the
imports; onnx.load and shape inference; lint; normalise), and prints ratios. Exit status 1 where a limit is
not kept; the figures of the chains are printed beside their goals.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import onnx
from onnx import TensorProto, helper

MEMORY_LIMIT = 2.0
TIME_LIMIT = 1.5

_MEASURE = """
import json, sys, time
{imports}
start = time.perf_counter()
{work}
seconds = time.perf_counter() - start
# Not getrusage: its maximum counts what the parent had before this process became its own.
status = Path("/proc/self/status").read_text()
peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024
print(json.dumps([seconds, peak]))
"""
_IMPORTS = "from pathlib import Path\nimport onnx\nfrom sonnx_clip.graph import lint_model, to_text"
_LOAD = "model = onnx.shape_inference.infer_shapes(onnx.load(sys.argv[1]))"
_NORMALISE = (
    "from sonnx_clip.graph.normalise import Wish, normalise\n"
    "normalise(Path(sys.argv[1]), None, Wish(self_check={}))"
)
_LINT = "print(to_text(lint_model(Path(sys.argv[1]))), file=sys.stderr)"


@dataclass(frozen=True)
class Cost:
    """Seconds of the work, and the greatest memory in bytes that the process had (Linux)."""

    seconds: float
    peak: int


def large_model(size: int, layers: int = 16) -> onnx.ModelProto:
    """A chain of products and clips whose stored weights have about `size` bytes."""
    width = 512
    rows = max(1, size // (4 * width * layers))
    nodes, stored = [], [helper.make_tensor("L", TensorProto.FLOAT, [], [0.0])]
    stored.append(helper.make_tensor("M", TensorProto.FLOAT, [], [6.0]))
    data = bytes(range(256)) * (rows * width * 4 // 256 + 1)
    for layer in range(layers):
        weights = TensorProto(name=f"w{layer}", data_type=TensorProto.FLOAT, dims=[rows, width])
        weights.raw_data = data[: rows * width * 4]
        stored.append(weights)
        nodes.append(
            helper.make_node("Add", ["X" if layer == 0 else f"y{layer - 1}", f"w{layer}"], [f"a{layer}"])
        )
        nodes.append(helper.make_node("Clip", [f"a{layer}", "L", "M"], [f"y{layer}"], name=f"clip{layer}"))
    shape = [rows, width]
    graph = helper.make_graph(
        nodes,
        "large",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(f"y{layers - 1}", TensorProto.FLOAT, shape)],
        stored,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def clip_chain(count: int, opset: int) -> onnx.ModelProto:
    """Clip nodes one behind the other; their bounds are attributes before operator set 11, then inputs."""
    names = ["X", *(f"t{number}" for number in range(count - 1)), "Y"]
    pairs = list(pairwise(names))
    if opset < 11:
        nodes = [helper.make_node("Clip", [x], [y], name=f"c{y}", min=-1.0, max=6.0) for x, y in pairs]
    else:
        nodes = [helper.make_node("Clip", [x, "L", "M"], [y], name=f"c{y}") for x, y in pairs]
    bounds = {"L": -1.0, "M": 6.0} if opset >= 11 else {}
    stored = [helper.make_tensor(name, TensorProto.FLOAT, [], [number]) for name, number in bounds.items()]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "XY"]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def chains(folder: Path, times: int) -> None:
    """Print what chains of Clip cost."""
    file = folder / "chain.onnx"
    file.write_bytes(clip_chain(100_000, 13).SerializeToString())
    load, lint = (measure(work, file, times) for work in (_LOAD, _LINT))
    ratios = (lint.seconds / load.seconds, lint.peak / load.peak)
    print(f"lint, 100,000 Clip nodes: {ratios[0]:.1f} x onnx.load and shape inference (goal 2),")
    print(f"    memory {ratios[1]:.2f} x (goal 3)")
    for count in (300, 2_500, 10_000):
        file.write_bytes(clip_chain(count, 9).SerializeToString())
        cost = [measure(_NORMALISE.format(check), file, times).seconds for check in (False, True)]
        print(
            f"normalise, a chain of {count}: {cost[0]:.1f} s; with the self-check {cost[1]:.1f} s (goal 10)"
        )


def measure(work: str, file: Path, times: int) -> Cost:
    """Run one kind of work in processes of their own: the median time, the greatest memory."""
    program = _MEASURE.format(imports=_IMPORTS, work=work)
    costs = []
    for _ in range(times):
        done = subprocess.run(
            [sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=True
        )
        costs.append(Cost(*json.loads(done.stdout)))
    return Cost(median(cost.seconds for cost in costs), max(cost.peak for cost in costs))


def main() -> int:
    """Print the ratios; 1 where a limit is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--times", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.onnx"
        file.write_bytes(large_model(asked.megabytes * 1_000_000).SerializeToString())
        size = file.stat().st_size
        idle, load, lint = (measure(work, file, asked.times) for work in ("pass", _LOAD, _LINT))
        chains(Path(folder), max(1, asked.times // 2))
    time_ratio, memory_ratio = lint.seconds / load.seconds, lint.peak / size
    print(f"a model of {size / 1e6:.0f} MB, {asked.times} runs each")
    print(f"time:   lint takes {time_ratio:.2f} x onnx.load and shape inference (limit {TIME_LIMIT})")
    print(
        f"memory: lint peaks at {memory_ratio:.2f} x the file (limit {MEMORY_LIMIT}); "
        f"{idle.peak / size:.2f} x are the"
    )
    print(f"        imports alone, and onnx.load with shape inference peaks at {load.peak / size:.2f} x")
    return 0 if time_ratio <= TIME_LIMIT and memory_ratio <= MEMORY_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
