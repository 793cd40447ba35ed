"""Run a model before and after normalise in onnxruntime and compare every bit of the outputs.

The model before has the same input shapes declared as the result: declaring them alone lets onnxruntime fuse
nodes differently. Both run without and with all optimisation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from onnx import ModelProto, NodeProto, ValueInfoProto, helper
from rich.console import Console

from sonnx_clip.lint.model_file import bodies, external_files
from sonnx_clip.lint.safe_text import quoted, shown
from sonnx_clip.root.isolated import run_isolated
from sonnx_clip.root.terminal import progress

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    Array = np.ndarray[Any, Any]
    Feed = dict[str, Array]

SECONDS = 120.0

_LEVELS = {"ORT_DISABLE_ALL": "without optimisation", "ORT_ENABLE_ALL": "with all optimisation"}
# Messages of onnxruntime where it has no kernel for a model that onnx's checker accepts: the result is not
# wrong then, and another runtime may have one.
_NO_KERNEL = ("NOT_IMPLEMENTED", "Type Error: Type 'tensor(")
# Operands that are sizes or counts: a large number there takes all time and memory, and says nothing of Clip.
_SIZES_AT = {
    "Loop": (0,), "Range": (0, 1, 2), "ConstantOfShape": (0,), "Expand": (1,), "Tile": (1,), "Reshape": (1,),
    "Resize": (3,), "TopK": (1,), "OneHot": (1,), "Pad": (1,), "CenterCropPad": (1,), "Upsample": (1,),
}  # fmt: skip
_MEMORY = 2 << 30  # that the runtime may use, beside its share for the model
_MEMORY_PER_MODEL = 10  # times the size of the model and its weights
# Sizes to try for open dimensions, in this order, until the model runs.
_SIZES = (2, 1, 3, 4, 8, 16, 32, 48, 64, 224)
_MOST_ENTRIES = 1 << 25  # of one input
_SMALL = np.arange(4)  # in place of special values, for sizes and counts


@dataclass(frozen=True)
class SelfCheck:
    """How the comparison ended; `what` has the comparisons, the first difference, or why there are none."""

    outcome: Literal["equal", "different", "rejected", "not run", "switched off", "nothing changed"]
    what: str = ""

    @property
    def not_known(self) -> str | None:
        """What stays open where nothing was compared."""
        if self.outcome not in ("not run", "switched off"):
            return None
        return "equality of the results before and after in a runtime"


OFF = SelfCheck("switched off")
UNCHANGED = SelfCheck("nothing changed")


def self_check(
    before: ModelProto,
    after: ModelProto,
    folder: Path,
    *,
    finite: bool = False,
    as_read: ModelProto | None = None,
) -> SelfCheck:
    """Run a model and its result on the same inputs in a child process, and compare every bit of the outputs.

    A result that onnxruntime does not load, where it loads the model, is rejected, unless it only lacks a
    kernel.

    Args:
        before: the model, with the input shapes of the result.
        after: the result.
        folder: has the external data.
        finite: no infinity is fed, because the user excludes it: ``--assume finite``.
        as_read: the model as it was read, if shapes of its inputs were set.
    """
    size = before.ByteSize()
    for name in external_files(before):
        file = folder / name
        if file.is_file():
            size += file.stat().st_size
    with progress("self-check", int(SECONDS), "seconds", Console(stderr=True)) as show:
        done = run_isolated(
            _compare, before, after, as_read, folder, finite,
            seconds=SECONDS,
            memory=_MEMORY + _MEMORY_PER_MODEL * size,
            each_second=lambda elapsed: show(int(elapsed), ""),
        )  # fmt: skip
    if done.failure is not None:
        return SelfCheck("not run", shown(done.failure))
    outcome, message = done.result.decode().split("\n", 1)
    return SelfCheck(outcome, shown(message))  # type: ignore[arg-type]


# --- In the child process -----------------------------------------------------------------------------------


class _EndError(Exception):
    """The comparison ends: its outcome, and why."""


def _compare(
    before: ModelProto,
    after: ModelProto,
    as_read: ModelProto | None,
    folder: Path,
    finite: bool,
) -> bytes:
    def compared_at(level: str) -> str:
        return _compare_at(level, before, after, as_read, folder, finite=finite)

    try:
        message = "; ".join(map(compared_at, _LEVELS))
        outcome = "equal"
    except _EndError as error:
        outcome, message = error.args
    # A message of onnxruntime may quote a name that is no text.
    return f"{outcome}\n{message}".encode(errors="backslashreplace")


def _compare_at(
    level: str,
    before: ModelProto,
    after: ModelProto,
    as_read: ModelProto | None,
    folder: Path,
    *,
    finite: bool,
) -> str:
    import onnxruntime  # heavy, and only this process needs it

    name = f"onnxruntime {onnxruntime.__version__} {_LEVELS[level]}"
    try:
        first = _session(onnxruntime, level, before, folder)
    except Exception as error:  # noqa: BLE001  # the exceptions of onnxruntime have no common class
        if as_read is not None and _loads(onnxruntime, level, as_read, folder):
            message = f"{name} loads the model, but not with the sizes of --input-shape: {error}"
            raise _EndError("rejected", message) from None
        raise _EndError("not run", f"onnxruntime does not run the model: {error}") from None
    try:
        second = _session(onnxruntime, level, after, folder)
    except Exception as error:  # noqa: BLE001
        if any(text in str(error) for text in _NO_KERNEL):
            message = f"onnxruntime runs the model but has no kernel for the result: {error}"
            raise _EndError("not run", message) from None
        message = f"{name} loads the model, but not the result: {error}"
        raise _EndError("rejected", message) from None

    answered = _answered(first, before, finite=finite)
    # A model with random numbers differs from itself: no comparison says anything of the result.
    feed, expected = answered[0]
    if _bits(first.run(None, feed)) != expected:
        raise _EndError("not run", "the results of the model change from run to run")
    for feed, expected in answered:
        try:
            results = _bits(second.run(None, feed))
        except Exception as error:  # noqa: BLE001
            raise _EndError("different", f"{name}: the result does not run: {error}") from None
        for output, old, new in zip(before.graph.output, expected, results, strict=True):
            if old != new:
                raise _EndError("different", f"{name}: output {quoted(output.name)} differs")
    return f"{name} on {len(answered)} inputs"


def _loads(
    onnxruntime: Any,
    level: str,
    model: ModelProto,
    folder: Path,
) -> bool:
    try:
        _session(onnxruntime, level, model, folder)
    except Exception:  # noqa: BLE001
        return False
    return True


def _session(
    onnxruntime: Any,
    level: str,
    model: ModelProto,
    folder: Path,
) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # fatal errors only, since others are raised
    options.intra_op_num_threads = 1  # with more, sums may be computed in another order at each run
    options.enable_cpu_mem_arena = False
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    external = "session.model_external_initializers_file_folder_path"
    options.add_session_config_entry(external, str(folder.resolve()))
    data = model.SerializeToString()
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def _answered(
    session: Any,
    model: ModelProto,
    *,
    finite: bool,
) -> list[tuple[Feed, list[object]]]:
    """The inputs on which the original runs, each with its outputs."""
    # An input with a stored tensor has a default, and is left to it.
    stored = {tensor.name for tensor in model.graph.initializer}
    stored |= {sparse.values.name for sparse in model.graph.sparse_initializer}
    inputs = [value for value in model.graph.input if value.name not in stored]
    reason = "it has no output"
    counts = _counts(model)
    # Without open sizes another number would change nothing.
    sizes = _SIZES if any(map(_has_open_size, inputs)) else _SIZES[:1]
    for size in sizes:
        answers = []
        for feed in feeds(inputs, size, finite=finite, counts=counts):
            try:
                answer = _bits(session.run(None, feed))
            except Exception as error:  # noqa: BLE001
                # A special value may be no valid index, for instance; other inputs may still run.
                reason = f"open sizes as {size}: {error}"
                continue
            if answer:
                answers.append((feed, answer))
        if answers:
            return answers
    raise _EndError("not run", f"onnxruntime does not run the model: {reason}")


def _has_open_size(value: ValueInfoProto) -> bool:
    return any(dim.dim_value <= 0 for dim in value.type.tensor_type.shape.dim)


def _bits(result: Any) -> Any:
    """Type, shape and every bit of outputs, which may be sequences and maps."""
    if isinstance(result, list | tuple):
        return [_bits(element) for element in result]
    if isinstance(result, dict):
        return {key: _bits(value) for key, value in result.items()}
    array = np.asarray(result)
    # The bytes of objects are their addresses.
    content = array.tolist() if array.dtype.hasobject else array.tobytes()
    return str(array.dtype), array.shape, content


# --- Inputs -------------------------------------------------------------------------------------------------


def _counts(model: ModelProto) -> set[str]:
    """The names from which sizes or counts are computed; all inputs of a function that computes some."""
    # By name alone: a function too many among them only keeps its inputs small.
    functions: set[str] = set()
    for function in model.functions:
        for body in bodies(function):
            if any(node.op_type in _SIZES_AT for node in body.node):
                functions.add(function.name)
    nodes: list[NodeProto] = []
    for body in bodies(model.graph):
        nodes += body.node
    sizes: set[str] = set()
    for node in nodes:
        sizes.update(_sizes_read(node, functions))

    # What these are computed from, until nothing is added: the nodes of subgraphs are in no one order.
    before = -1
    while before < len(sizes):
        before = len(sizes)
        for node in reversed(nodes):
            if sizes.intersection(node.output):
                sizes.update(node.input)
    return sizes


def _sizes_read(node: NodeProto, functions: Collection[str]) -> Iterator[str]:
    """The inputs of a node that are sizes or counts, or may be as its function has such nodes."""
    positions: Collection[int] = _SIZES_AT.get(node.op_type, ())
    if node.op_type in functions:
        positions = range(len(node.input))
    for position in positions:
        if position < len(node.input):
            yield node.input[position]


def feeds(
    inputs: Sequence[ValueInfoProto],
    size: int,
    *,
    finite: bool,
    counts: Collection[str] = (),
) -> list[Feed]:
    """The inputs to try, with this size for open dimensions.

    Small and ordinary numbers first; then every special value, in as many feeds as the smallest input needs.
    Whole numbers stay small for the inputs in `counts`, from which sizes or counts are computed.
    """
    small: Feed = {}
    ordinary: Feed = {}
    special: Feed = {}  # every special value of each input, in one dimension
    shapes: dict[str, tuple[int, ...]] = {}
    turns = 1
    for value in inputs:
        name = value.name
        dtype, shape = _form(value, size)
        is_count = name in counts
        small[name] = _ordinary(dtype, shape, 4 if is_count else 2)
        ordinary[name] = _ordinary(dtype, shape, 4 if is_count else 100)
        special[name] = _special_values(dtype, finite=finite)
        if is_count and dtype.kind in "iu":
            special[name] = _SMALL.astype(dtype)
        shapes[name] = shape
        entries = max(math.prod(shape), 1)
        turns = max(turns, math.ceil(len(special[name]) / entries))

    # Each turn shows every input the special values after those of the turn before.
    tried = [small, ordinary]
    for turn in range(turns):
        feed = {}
        for name, shape in shapes.items():
            rolled = np.roll(special[name], -turn * math.prod(shape))
            feed[name] = np.resize(rolled, shape)
        tried.append(feed)
    return tried


def _form(value: ValueInfoProto, size: int) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Element type and shape of an input."""
    name = f"input {quoted(value.name)}"
    tensor = value.type.tensor_type
    if value.type.WhichOneof("value") != "tensor_type":
        raise _EndError("not run", f"{name} is not a tensor")
    if not tensor.HasField("shape"):
        raise _EndError("not run", f"{name} has no shape; --input-shape sets it")
    # Protobuf reads a size that is not set as 0, and exporters write -1 for an open one.
    declared = [dim.dim_value for dim in tensor.shape.dim]
    shape = tuple(number if number > 0 else size for number in declared)
    entries = math.prod(shape)
    if entries > _MOST_ENTRIES:
        raise _EndError("not run", f"{name} has {entries} entries, too many to try")
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    except KeyError:
        raise _EndError("not run", f"{name} has no element type") from None
    return dtype, shape


def _special_values(dtype: np.dtype[Any], *, finite: bool) -> Array:
    """The values of a type at which operators go wrong: zeros, limits, subnormals, NaN, infinities."""
    if dtype.hasobject:
        return np.array(["", "a", "text"], object)
    if dtype == np.bool_:
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        ends = [limits.max, limits.max - 1, limits.min, limits.min + 1]
        return np.array([0, 1, 2, 3, *ends], dtype)
    # 6 is the bound of Relu6; the others are bounds of quantised types.
    numbers = [0.0, 0.5, 1.0, 3.0, 6.0, 127.0, 255.0]
    if dtype.kind == "f":
        limit = np.finfo(dtype)
        extremes = (limit.max, limit.smallest_subnormal, limit.smallest_normal)
        numbers += map(float, extremes)
    else:
        numbers += [3.0e38, 1e-40, 1e-38]  # NumPy has no finfo of bfloat16
    numbers.append(np.nan)
    if not finite:
        numbers.append(np.inf)
    # Both signs, so that -0 and a NaN with its sign bit are among them.
    positive = np.array(numbers).astype(dtype)
    return np.concatenate([positive, -positive])


def _ordinary(dtype: np.dtype[Any], shape: tuple[int, ...], most: int) -> Array:
    """Numbers from 0 to about `most`, or around 0; an index or a size may have to be small."""
    if dtype.hasobject:
        return np.resize(_special_values(dtype, finite=True), shape)
    if dtype.kind in "iub":
        return np.resize(np.arange(most).astype(dtype), shape)
    numbers = np.linspace(-most / 20, most / 10, 97)
    return np.resize(numbers.astype(dtype), shape)
