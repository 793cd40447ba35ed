"""How lint and normalise do on large models: time against shape inference, memory against the file.

``python -m bench.lint`` makes a model of 200 MB, chains of Clip nodes, functions that call each other, and a
small model, runs processes (nothing but the imports; onnx.load and shape inference; lint; normalise), and
prints CPU seconds of a process and those it starts, and ratios of them. Exit status 1 where a limit is not
kept; the other figures are printed beside their goals.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TypeAlias

import onnx
from onnx import TensorProto, helper

_WEIGHTS = 500_000_000

_MEASURE = """
import json, os, sys
{imports}
start = sum(os.times()[:4])
{work}
seconds = sum(os.times()[:4]) - start
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
_JSON = (
    "from sonnx_clip.graph import json_parts\n"
    "sys.stderr.writelines(json_parts([lint_model(Path(sys.argv[1]))]))"
)
# The self-check in this process, whose memory then is its own and that of normalise, which is small.
_SELF_CHECK = (
    "from sonnx_clip.graph import self_check\n"
    "from sonnx_clip.root.isolated import IsolatedOutcome\n"
    "self_check.run_isolated = lambda work, *given, seconds: IsolatedOutcome(work(*given))\n"
    + _NORMALISE.format("True")
)
_LINT_COMMAND = "from sonnx_clip.cli.app import main\nsys.argv = ['sonnx-clip', 'lint', sys.argv[1]]\nmain()"


@dataclass(frozen=True)
class Cost:
    """CPU seconds of the work, and the greatest memory in bytes that the process had (Linux)."""

    seconds: float
    peak: int


Measure: TypeAlias = Callable[[str, Path, int], Cost]
"""What one kind of work costs on a file, over so many processes: see `measure`."""


@dataclass(frozen=True)
class Limits:
    """The most that lint may take: seconds over those of shape inference, memory over the file's size."""

    time: float
    memory: float


LIMITS = Limits(1.5, 2.0)


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


def doubling_functions(count: int) -> onnx.ModelProto:
    """Functions of which each calls the next twice; the last one clips."""
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("f", 1)]
    last = helper.make_node("Clip", ["a", "l", "m"], ["b"])
    functions = [helper.make_function("f", f"F{count}", ["a", "l", "m"], ["b"], [last], imports)]
    for number in range(count - 1, 0, -1):
        name = f"F{number + 1}"
        nodes = [
            helper.make_node(name, ["a", "l", "m"], ["t"], domain="f"),
            helper.make_node(name, ["t", "l", "m"], ["b"], domain="f"),
        ]
        functions.append(helper.make_function("f", f"F{number}", ["a", "l", "m"], ["b"], nodes, imports))
    stored = [helper.make_tensor(name, TensorProto.FLOAT, [], [0.5]) for name in ("l", "m")]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
    graph = helper.make_graph(
        [helper.make_node("F1", ["x", "l", "m"], ["y"], domain="f")], "calls", ends[:1], ends[1:], stored
    )
    return helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=8)


def many_nodes(file: Path, times: int, cost_of: Measure) -> None:
    """Print what a chain of 100,000 Clip nodes costs lint, runs of both kinds by turns."""
    file.write_bytes(clip_chain(100_000, 13).SerializeToString())
    pairs = [(cost_of(_LOAD, file, 1), cost_of(_LINT, file, 1)) for _ in range(times)]
    ratio = median(lint.seconds / load.seconds for load, lint in pairs)
    memory = max(lint.peak for _, lint in pairs) / max(load.peak for load, _ in pairs)
    text = median(lint.seconds for _, lint in pairs)
    print(f"lint, 100,000 Clip nodes: {ratio:.1f} x onnx.load and shape inference (goal 2), {text:.2f} s;")
    written = cost_of(_JSON, file, times)
    print(f"    memory {memory:.2f} x (goal 3); as JSON {written.seconds:.1f} s")


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


def chains(folder: Path, times: int, weights: int = _WEIGHTS, cost_of: Measure = measure) -> None:
    """Print what models of many nodes, of `weights` bytes, of functions, and of little cost."""
    file = folder / "chain.onnx"
    many_nodes(file, times, cost_of)
    for count in (300, 2_500, 10_000):
        file.write_bytes(clip_chain(count, 13).SerializeToString())
        cost = [cost_of(_NORMALISE.format(check), file, times).seconds for check in (False, True)]
        print(
            f"normalise, a chain of {count}: {cost[0]:.1f} s; with the self-check {cost[1]:.1f} s (goal 10)"
        )
    file.write_bytes(doubling_functions(20).SerializeToString())
    print(f"lint, 20 functions calling doubly: {cost_of(_LINT, file, times).seconds:.2f} s (goal 1)")
    file.write_bytes(large_model(weights).SerializeToString())
    size = file.stat().st_size
    for title, work in (
        ("without the self-check", _NORMALISE.format("False")),
        ("its self-check", _SELF_CHECK),
    ):
        cost500 = cost_of(work, file, 1)
        ratio = cost500.peak / size
        print(f"normalise, 500 MB, {title}: {cost500.seconds:.1f} s, {ratio:.2f} x the file (goal 2.5)")


def small(folder: Path, times: int) -> None:
    """Print what commands on a small model cost as whole processes, beside the imports that they need."""
    file = folder / "small.onnx"
    file.write_bytes(clip_chain(3, 13).SerializeToString())
    command = [sys.executable, "-m", "sonnx_clip"]
    commands = {
        "importing onnx": [sys.executable, "-c", "import onnx"],
        "importing onnx and typer with its pydantic": [
            *(sys.executable, "-c"),
            "import onnx, typer, pydantic; pydantic.TypeAdapter(int)",
        ],
        "lint": [*command, "lint", str(file)],
        "normalise with the self-check": [*command, "normalise", str(file), "--dry-run"],
    }
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(times):
        for name, given in commands.items():  # by turns: the load of the machine is that of all
            start = sum(os.times()[2:4])
            subprocess.run(given, capture_output=True, check=False)
            spent[name].append(sum(os.times()[2:4]) - start)
    for name, seconds in spent.items():
        print(f"a small model, {name}: {median(seconds):.2f} s")


def judge(idle: Cost, load: Cost, lint: Cost, size: int, limits: Limits) -> int:
    """Print the ratios of a model of `size` bytes; 1 where a limit is not kept, else 0."""
    time_ratio, memory_ratio = lint.seconds / load.seconds, lint.peak / size
    print(f"time:   lint takes {time_ratio:.2f} x onnx.load and shape inference (limit {limits.time})")
    print(
        f"memory: lint peaks at {memory_ratio:.2f} x the file (limit {limits.memory}); "
        f"{idle.peak / size:.2f} x are the"
    )
    print(f"        imports alone, and onnx.load with shape inference peaks at {load.peak / size:.2f} x")
    return 0 if time_ratio <= limits.time and memory_ratio <= limits.memory else 1


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
        small(Path(folder), asked.times)
    print(f"a model of {size / 1e6:.0f} MB, {asked.times} runs each")
    return judge(idle, load, lint, size, LIMITS)


if __name__ == "__main__":
    sys.exit(main())
