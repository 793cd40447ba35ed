"""The runs of the self-check, on inputs that are ordinary, special, and both mixed: onnxruntime at both ends
of optimisation, or else onnx's ReferenceEvaluator.
"""

from __future__ import annotations

import hashlib
import math
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, ValueInfoProto, helper

from sonnx_clip.graph.declared_tensors import quoted
from sonnx_clip.graph.skim import restore, spans

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    Run = Callable[["Feed"], list[Any]]


Array = np.ndarray[Any, Any]
Feed = dict[str, Array]

KINDS = ("ordinary", "special", "mixed", "small")
# What an open dimension is tried with, in this order, until the model runs.
SIZES = (2, 1, 3, 4, 8, 16, 32, 48, 64, 224)
_ENTRIES = 1 << 25
_SPECIAL = (
    *(np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 6.0, -6.0),
    *(3.4028234663852886e38, -3.4028234663852886e38, 1.401298464324817e-45, 65504.0, -65504.0, 127.0, 255.0),
)


class NoInputError(Exception):
    """The model takes what no input can be made for; the message says what."""


def inputs_of(model: ModelProto) -> list[ValueInfoProto]:
    """The inputs that a caller must give."""
    stored = {tensor.name for tensor in model.graph.initializer}
    stored |= {sparse.values.name for sparse in model.graph.sparse_initializer}
    return [value for value in model.graph.input if value.name not in stored]


def is_open(model: ModelProto, sizes: Mapping[str, Sequence[int]]) -> bool:
    """A dimension of an input has no number yet."""
    return any(
        value.name not in sizes and any(dim.dim_value <= 0 for dim in value.type.tensor_type.shape.dim)
        for value in inputs_of(model)
    )


def feeds(model: ModelProto, size: int, sizes: Mapping[str, Sequence[int]]) -> list[tuple[str, Feed]]:
    """One input of each kind, with this size for open dimensions; the same for every run.

    Raises:
        NoInputError: an input is no tensor, has no shape, or is too large.
    """
    found: list[tuple[str, Feed]] = []
    for kind in KINDS:
        source = np.random.default_rng(KINDS.index(kind) + 1)
        feed = {
            value.name: _array(value, sizes.get(value.name), size, source, kind) for value in inputs_of(model)
        }
        found.append((kind, feed))
    return found


def _array(
    value: ValueInfoProto, shape: Sequence[int] | None, size: int, source: np.random.Generator, kind: str
) -> Array:
    name = f"input {quoted(value.name)}"
    if value.type.WhichOneof("value") != "tensor_type":
        raise NoInputError(f"{name} is no tensor")
    tensor = value.type.tensor_type
    if shape is None:
        if not tensor.HasField("shape"):
            raise NoInputError(f"{name} has no shape; --input-shape gives it one")
        shape = [dim.dim_value if dim.dim_value > 0 else size for dim in tensor.shape.dim]
    if math.prod(shape) > _ENTRIES:
        raise NoInputError(f"{name} has {math.prod(shape)} entries, too many to be tried")
    if tensor.elem_type == TensorProto.STRING:
        return source.choice(np.array(["", "a", "text"], object), tuple(shape))
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    except KeyError:
        raise NoInputError(f"{name} has no element type") from None
    return _numbers(dtype, tuple(shape), source, kind)


def _numbers(dtype: np.dtype[Any], shape: tuple[int, ...], source: np.random.Generator, kind: str) -> Array:
    if dtype == np.bool_:
        return np.asarray(source.integers(0, 2, shape), bool)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        extremes = np.array([limits.min, limits.max, 0, 1, 2], dtype)
        if kind == "special":
            return np.asarray(source.choice(extremes, shape), dtype)
        if kind == "ordinary":
            return np.asarray(
                source.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True), dtype
            )
        # Small numbers, which an index or a size may be.
        return np.asarray(source.integers(0, 2, shape), dtype)
    with np.errstate(all="ignore"):
        special = source.choice(np.array(_SPECIAL), shape)
        if kind == "special":
            return np.asarray(special, dtype)
        drawn = source.standard_normal(shape) * (0.1 if kind == "small" else 4)
        if kind == "mixed":
            drawn = np.where(source.random(shape) < 0.1, special, drawn)
        return np.asarray(drawn, dtype)


# ------------------------------------------------------------------------------------------------------------
# The runs of the self-check: onnxruntime at both ends of optimisation, or else onnx's ReferenceEvaluator
#
# This module runs in the process that `self_check` starts, which may be killed: it loads the runtimes.


_LEVELS = {"ORT_DISABLE_ALL": "without optimisation", "ORT_ENABLE_ALL": "with all optimisation"}
_REFERENCE = f"onnx's ReferenceEvaluator {onnx.__version__}"


class _CannotRunError(Exception):
    """A runtime does not take a model; the message says why."""


@dataclass(frozen=True)
class _Runtime:
    """A way to run a model: its name for people, and what opens a model, with these further outputs."""

    name: str
    open: Callable[[ModelProto, Sequence[str]], Run]


def compare(
    before: ModelProto, after: ModelProto, path: Path, sizes: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    """Run both models; the fields are those of `SelfCheck`."""
    weights = _Weights(path)
    reasons: list[str] = []
    runs: list[str] = []
    lost: str | None = None
    for group in (_onnxruntime(weights, path), [_Runtime(_REFERENCE, _evaluator(path, weights))]):
        if runs:
            break
        for runtime in group:
            try:
                count = _compared(runtime, before, after, sizes)
            except (NoInputError, _CannotRunError) as error:
                reasons.append(f"{runtime.name}: {error}")
                break
            except _LostError as error:
                lost = f"{runtime.name} runs the model, but not the result: {error}"
                break
            except _DifferenceError as error:
                return _found("different", runs, f"{runtime.name}, {error}")
            runs.append(f"{runtime.name} on {count} inputs")
    if not runs:
        return _found("not run", [], "; ".join(dict.fromkeys(reasons)) or lost or "no runtime", lost)
    return _found("equal", runs, "", lost)


def _found(outcome: str, runs: list[str], what: str, lost: str | None = None) -> dict[str, Any]:
    return {"outcome": outcome, "runs": runs, "what": what, "lost": lost}


class _DifferenceError(Exception):
    """The two models differ; the message says where."""


class _LostError(Exception):
    """The runtime takes the model, and has no kernel for the result."""


def _compared(
    runtime: _Runtime, before: ModelProto, after: ModelProto, sizes: Mapping[str, Sequence[int]]
) -> int:
    """Compare by one runtime; returns on how many inputs."""
    old = runtime.open(before, ())
    given, expected = _ran(old, before, sizes)
    again = _bits(old(given[0][1]))
    if again != expected[0]:
        raise _CannotRunError("the model gives other results each time, so nothing can be compared")
    del old  # one at a time: each may hold the weights
    try:
        new = runtime.open(after, ())
    except _CannotRunError as error:
        if "NOT_IMPLEMENTED" in str(error) or runtime.name == _REFERENCE:
            raise _LostError(str(error)) from None
        raise _DifferenceError(f"which runs the model, refuses the result: {error}") from None
    for (kind, feed), wanted in zip(given, expected, strict=True):
        try:
            found = _bits(new(feed))
        except Exception as error:  # noqa: BLE001  # the runtimes' exceptions have no common class
            raise _DifferenceError(f"{kind} input: the model runs, the result does not: {error}") from None
        if found != wanted:
            raise _DifferenceError(f"{kind} input: {_first(runtime, before, after, feed)}")
    return len(given)


def _ran(
    old: Run, before: ModelProto, sizes: Mapping[str, Sequence[int]]
) -> tuple[list[tuple[str, Feed]], list[list[bytes]]]:
    """The inputs on which the model that was read runs, and what it gives."""
    reason = "it gives no output"
    for size in SIZES if is_open(before, sizes) else SIZES[:1]:
        given: list[tuple[str, Feed]] = []
        expected: list[list[bytes]] = []
        for kind, feed in feeds(before, size, sizes):
            try:
                bits = _bits(old(feed))
            except Exception as error:  # noqa: BLE001  # the runtimes' exceptions have no common class
                reason = f"{kind} input, open sizes as {size}: {error}"
                continue
            if bits:
                given.append((kind, feed))
                expected.append(bits)
        if given:
            return given, expected
    raise _CannotRunError(reason)


def _bits(results: Sequence[Any]) -> list[bytes]:
    return [_one(result) for result in results]


def _one(result: Any) -> bytes:
    """A digest of everything that makes a result what it is, to the bit; sequences entry by entry.

    Results are as large as weights may be, so they are not kept.
    """
    if isinstance(result, list | tuple):
        return b"[" + b",".join(_one(one) for one in result) + b"]"
    if isinstance(result, dict):
        return b"{" + b",".join(_one([key, value]) for key, value in result.items()) + b"}"
    array = np.asarray(result)
    if array.dtype.hasobject:
        content: Any = repr(array.tolist()).encode()
    else:
        content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return f"{array.dtype}{array.shape}".encode() + hashlib.blake2b(content).digest()


def _first(runtime: _Runtime, before: ModelProto, after: ModelProto, feed: Feed) -> str:
    """The first node of the main graph whose result differs, in the order of the model that was read."""
    made = {name for node in after.graph.node for name in node.output if name}
    common = [name for node in before.graph.node for name in node.output if name in made]
    try:
        old, new = (runtime.open(model, common)(feed) for model in (before, after))
        pairs = dict(zip(common, zip(_bits(old), _bits(new), strict=True), strict=True))
    except Exception:  # noqa: BLE001  # not every value can be an output; then the outputs have to do
        pairs = {}
    for index, node in enumerate(before.graph.node):
        for name in node.output:
            if name in pairs and pairs[name][0] != pairs[name][1]:
                title = quoted(node.name) if node.name else "without a name"
                return (
                    f"node {index} {title} ({node.op_type}) is the first that differs, output {quoted(name)}"
                )
    return "the outputs differ, and no node by itself does"


class _Weights:
    """The data of large stored tensors: it stays in the file of the model, which a runtime maps."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # A runtime refuses data that lies behind a link which leads out of the folder.
        self.can_be_mapped = not path.is_symlink()

    def mapped(self, model: ModelProto) -> ModelProto:
        """A copy in which such tensors have their data in the file of the model, as external data."""
        result = deepcopy(model)
        for tensor in result.graph.initializer:
            found = spans(tensor)
            if len(found) != 1:
                continue
            # Its place in the file and nothing of the note that it was passed over.
            span = found[0][1]
            external = TensorProto(
                name=tensor.name,
                data_type=tensor.data_type,
                dims=tensor.dims,
                data_location=TensorProto.EXTERNAL,
            )
            values = {"location": self._path.name, "offset": span.start, "length": span.length}
            for key, value in values.items():
                external.external_data.add(key=key, value=str(value))
            tensor.CopyFrom(external)
        return self._restored(result)

    def whole(self, model: ModelProto) -> ModelProto:
        """A copy with all data."""
        return self._restored(deepcopy(model))

    def _restored(self, model: ModelProto) -> ModelProto:
        with self._path.open("rb") as file:
            restore(model, file)
        return model


def _with_outputs(model: ModelProto, further: Sequence[str]) -> ModelProto:
    if further:
        kept = {value.name: value for value in model.graph.output}
        del model.graph.output[:]
        model.graph.output.extend(kept.get(name) or ValueInfoProto(name=name) for name in further)
    return model


def _onnxruntime(weights: _Weights, path: Path) -> list[_Runtime]:
    try:
        import onnxruntime
    except ImportError:
        return []
    name = f"onnxruntime {onnxruntime.__version__}"
    return [
        _Runtime(f"{name} {said}", _session(onnxruntime, level, weights, path))
        for level, said in _LEVELS.items()
    ]


def _session(
    onnxruntime: Any, level: str, weights: _Weights, path: Path
) -> Callable[[ModelProto, Sequence[str]], Run]:
    def opened(model: ModelProto, further: Sequence[str]) -> Run:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(path.parent.resolve())
        )
        large = any(spans(tensor) for tensor in model.graph.initializer)
        if large:
            # A copy of each weight in another order would cost the memory that this way saves.
            options.add_session_config_entry("session.disable_prepacking", "1")
        ways = [weights.mapped, weights.whole] if large and weights.can_be_mapped else [weights.whole]
        reason = ""
        for placed in ways:
            data = _with_outputs(placed(model), further).SerializeToString()
            try:
                session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
            except Exception as error:  # noqa: BLE001  # the runtimes' exceptions have no common class
                reason = str(error)
                continue
            return lambda feed: list(session.run(list(further) or None, feed))
        raise _CannotRunError(reason)

    return opened


def _evaluator(path: Path, weights: _Weights) -> Callable[[ModelProto, Sequence[str]], Run]:
    def opened(model: ModelProto, further: Sequence[str]) -> Run:
        from onnx.external_data_helper import load_external_data_for_model
        from onnx.reference import ReferenceEvaluator

        whole = _with_outputs(weights.whole(model), further)
        load_external_data_for_model(whole, str(path.parent))
        try:
            evaluator = ReferenceEvaluator(whole)
        except Exception as error:
            raise _CannotRunError(str(error)) from error

        def run(feed: Feed) -> list[Any]:
            with np.errstate(all="ignore"):
                return list(evaluator.run(None, feed))

        return run

    return opened
