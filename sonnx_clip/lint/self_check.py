"""Run a model before and after normalise in onnxruntime and compare every bit of the outputs.

Both runs get the same inputs, without and with all optimisation. The model before has the same input shapes
declared as the result: declaring them alone lets onnxruntime fuse nodes differently.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import ModelProto, TensorProto, ValueInfoProto, helper

from sonnx_clip.lint.tensors import quoted, shown
from sonnx_clip.root.isolated import run_isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Array = np.ndarray[Any, Any]
    Feed = dict[str, Array]
    Run = Callable[[Feed], list[Any]]

SECONDS = 120.0
NOT_KNOWN = "whether a runtime gives equal results before and after was not tried"

_LEVELS = {"ORT_DISABLE_ALL": "without optimisation", "ORT_ENABLE_ALL": "with all optimisation"}
# How onnxruntime reports that it has no kernel for a model that onnx's checker accepts.
_NO_KERNEL = ("NOT_IMPLEMENTED", "Type Error: Type 'tensor(")
# What an open dimension is tried with, in this order, until the model runs.
_SIZES = (2, 1, 3, 4, 8, 16, 32, 48, 64, 224)
_MOST_ENTRIES = 1 << 25
_MOST_FEEDS = 32
_MIXED = 11  # the distance between special values in a mixed input


class SelfCheckOutcome(StrEnum):
    """How the comparison ended."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NOT_RUN = "not run"
    SWITCHED_OFF = "switched off"
    UNCHANGED = "nothing changed"


@dataclass(frozen=True)
class SelfCheck:
    """What the comparison found.

    Attributes:
        outcome: how it ended.
        runs: the runtime, the level of optimisation and the number of inputs of each comparison, for people.
        what: the first difference, or why nothing was run.
        lost: why onnxruntime runs the model and not the result; None where it runs both.
    """

    outcome: SelfCheckOutcome
    runs: tuple[str, ...] = ()
    what: str = ""
    lost: str | None = None

    @property
    def decided(self) -> bool:
        """The models were compared, or the user switched that off; and the runtime runs the result."""
        return self.outcome is not SelfCheckOutcome.NOT_RUN and self.lost is None

    def lines(self) -> list[str]:
        """For people."""
        match self.outcome:
            case SelfCheckOutcome.EQUAL:
                found = [f"self-check: equal bits by {'; '.join(self.runs)}"]
            case SelfCheckOutcome.DIFFERENT:
                found = [f"self-check: the result differs: {self.what}"]
            case SelfCheckOutcome.UNCHANGED:
                found = []
            case _:
                reason = f": {self.what}" if self.what else " (--no-self-check)"
                found = [f"self-check: {self.outcome}{reason}; not known: {NOT_KNOWN}"]
        return found + ([f"self-check: {self.lost}"] if self.lost else [])


OFF = SelfCheck(SelfCheckOutcome.SWITCHED_OFF)
UNCHANGED = SelfCheck(SelfCheckOutcome.UNCHANGED)


def self_check(
    before: ModelProto, after: ModelProto, folder: Path, *, finite: bool = False, seconds: float = SECONDS
) -> SelfCheck:
    """Run two models on the same inputs, in a process of its own, and compare every bit of their outputs.

    Args:
        before: the model that was read, with the input shapes of the result.
        after: the result.
        folder: where external data lies.
        finite: feed no infinity, because the user excludes it (``--assume finite``).
        seconds: how long this may take.
    """
    done = run_isolated(_compare, before, after, folder, finite, seconds=seconds)
    if done.failure is not None:
        return SelfCheck(SelfCheckOutcome.NOT_RUN, what=shown(done.failure))
    found = json.loads(done.result)
    return SelfCheck(
        SelfCheckOutcome(found["outcome"]),
        tuple(map(shown, found["runs"])),
        shown(found["what"]),
        None if found["lost"] is None else shown(found["lost"]),
    )


# --- In the process of its own ------------------------------------------------------------------------------


class _NotRunError(Exception):
    """The model cannot be run or fed; the message says why."""


class _LostError(Exception):
    """onnxruntime opens the model and has no kernel for the result."""


class _DifferenceError(Exception):
    """The two models differ; the message says where."""


def _compare(before: ModelProto, after: ModelProto, folder: Path, finite: bool) -> bytes:
    outcome, runs, what, lost = SelfCheckOutcome.EQUAL, [], "", None
    try:
        for level, title in _LEVELS.items():
            runs.append(_compare_at(level, title, before, after, folder, finite=finite))
    except _NotRunError as error:
        outcome, what = SelfCheckOutcome.NOT_RUN, str(error)
    except _LostError as error:
        lost = f"onnxruntime runs the model, but not the result: {error}"
        if not runs:
            outcome, what = SelfCheckOutcome.NOT_RUN, "the result does not run"
    except _DifferenceError as error:
        outcome, what = SelfCheckOutcome.DIFFERENT, str(error)
    return json.dumps({"outcome": outcome, "runs": runs, "what": what, "lost": lost}).encode("ascii")


def _compare_at(
    level: str, title: str, before: ModelProto, after: ModelProto, folder: Path, *, finite: bool
) -> str:
    """Compare at one level of optimisation; returns what was run, for people."""
    import onnxruntime  # heavy, and only this process needs it

    old = _open(onnxruntime, level, before, folder)
    if isinstance(old, str):
        raise _NotRunError(f"onnxruntime does not take the model: {old}")
    new = _open(onnxruntime, level, after, folder)
    name = f"onnxruntime {onnxruntime.__version__} {title}"
    if isinstance(new, str):
        if any(words in new for words in _NO_KERNEL):
            raise _LostError(new)
        raise _DifferenceError(f"{name} takes the model and refuses the result: {new}")
    given = _answered(old, before, finite=finite)
    if _digests(old(given[0][1])) != given[0][2]:
        raise _NotRunError("the model gives other results each time, so nothing can be compared")
    outputs = [value.name for value in before.graph.output]
    for kind, feed, expected in given:
        try:
            found = _digests(new(feed))
        except Exception as error:  # noqa: BLE001  # the exceptions of onnxruntime have no common class
            raise _DifferenceError(f"{name}, {kind} input: the result does not run: {error}") from None
        if found != expected:
            index = next(n for n, pair in enumerate(zip(expected, found, strict=True)) if pair[0] != pair[1])
            raise _DifferenceError(f"{name}, {kind} input: output {quoted(outputs[index])} differs")
    return f"{name} on {len(given)} inputs"


def _open(onnxruntime: Any, level: str, model: ModelProto, folder: Path) -> Run | str:
    """A way to run a model, or why there is none."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(folder.resolve())
    )
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # noqa: BLE001  # the exceptions of onnxruntime have no common class
        return str(error)
    return lambda feed: list(session.run(None, feed))


def _answered(run: Run, model: ModelProto, *, finite: bool) -> list[tuple[str, Feed, list[bytes]]]:
    """The inputs on which the model before runs, each with its kind and what comes out."""
    reason = "it gives no output"
    inputs = _inputs(model)
    shapes = [dim.dim_value for value in inputs for dim in value.type.tensor_type.shape.dim]
    for size in _SIZES if any(number <= 0 for number in shapes) else _SIZES[:1]:
        found = []
        for kind, feed in feeds(inputs, size, finite=finite):
            try:
                answer = _digests(run(feed))
            except Exception as error:  # noqa: BLE001  # the exceptions of onnxruntime have no common class
                reason = f"{kind} input, open sizes as {size}: {error}"
                continue
            if answer:
                found.append((kind, feed, answer))
        if found:
            return found
    raise _NotRunError(f"onnxruntime does not run the model: {reason}")


def _inputs(model: ModelProto) -> list[ValueInfoProto]:
    """The inputs that a caller must give."""
    stored = {tensor.name for tensor in model.graph.initializer}
    stored |= {sparse.values.name for sparse in model.graph.sparse_initializer}
    return [value for value in model.graph.input if value.name not in stored]


def _digests(results: Sequence[Any]) -> list[bytes]:
    """A digest of each result: type, shape and every bit."""
    return [_digest(result) for result in results]


def _digest(result: Any) -> bytes:
    if isinstance(result, list | tuple):
        return b"[" + b",".join(map(_digest, result)) + b"]"
    if isinstance(result, dict):
        return b"{" + b",".join(_digest([key, value]) for key, value in result.items()) + b"}"
    array = np.asarray(result)
    content = (
        repr(array.tolist()).encode() if array.dtype.hasobject else np.ascontiguousarray(array).tobytes()
    )
    return f"{array.dtype}{array.shape}".encode() + hashlib.blake2b(content).digest()


# --- Inputs: every special value is placed, in as many feeds as the smallest input needs --------------------


def special_values(dtype: np.dtype[Any], *, finite: bool) -> Array:
    """The values that every input of this type is fed: each at a fixed place."""
    if dtype == np.bool_:
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        numbers = [0, 1, 2, 3, limits.max, limits.max - 1, limits.min, limits.min + 1]
        return np.array(numbers if limits.min == 0 else [*numbers, -1, -2], dtype)
    limit = np.finfo(dtype) if dtype.kind == "f" else None
    edges = [limit.max, limit.smallest_subnormal, limit.smallest_normal] if limit else [3.0e38, 1e-40, 1e-38]
    positive = np.array([0.0, 0.5, 1.0, 3.0, 6.0, 127.0, 255.0, *map(float, edges)]).astype(dtype)
    beyond = [np.nan] if finite else [np.nan, np.inf]
    return np.concatenate(
        [positive, -positive, np.array(beyond).astype(dtype), -np.array(beyond).astype(dtype)]
    )


def feeds(inputs: Sequence[ValueInfoProto], size: int, *, finite: bool) -> list[tuple[str, Feed]]:
    """The inputs to try, with this size for open dimensions.

    Raises:
        _NotRunError: an input is no tensor, has no shape, or is too large.
    """
    makers = {value.name: _Maker(value, size, finite=finite) for value in inputs}
    count = max((maker.feeds for maker in makers.values()), default=1)
    turns = [("special", turn) for turn in range(count)]
    kinds: list[tuple[str, int]] = [("ordinary", 0), ("small", 0), ("mixed", 0), *turns]
    return [(kind, {name: maker.make(kind, turn) for name, maker in makers.items()}) for kind, turn in kinds]


class _Maker:
    """Makes the values of one input."""

    def __init__(self, value: ValueInfoProto, size: int, *, finite: bool) -> None:
        name = f"input {quoted(value.name)}"
        if value.type.WhichOneof("value") != "tensor_type":
            raise _NotRunError(f"{name} is no tensor")
        tensor = value.type.tensor_type
        if not tensor.HasField("shape"):
            raise _NotRunError(f"{name} has no shape; --input-shape gives it one")
        self.shape = tuple(dim.dim_value if dim.dim_value > 0 else size for dim in tensor.shape.dim)
        self.count = math.prod(self.shape)
        if self.count > _MOST_ENTRIES:
            raise _NotRunError(f"{name} has {self.count} entries, too many to be tried")
        self.random = np.random.default_rng(1)
        try:
            self.dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        except KeyError:
            raise _NotRunError(f"{name} has no element type") from None
        if tensor.elem_type == TensorProto.STRING:
            self.special: Array = np.array(["", "a", "text"], object)
        else:
            self.special = special_values(self.dtype, finite=finite)

    @property
    def feeds(self) -> int:
        """How many feeds it takes to place every special value."""
        return min(_MOST_FEEDS, -(-len(self.special) // max(self.count, 1)))

    def make(self, kind: str, turn: int) -> Array:
        """The values of one feed."""
        if kind == "special" or self.special.dtype.hasobject or self.dtype == np.bool_:
            places = np.arange(turn * self.count, (turn + 1) * self.count) % len(self.special)
            return self.special[places].reshape(self.shape)
        if self.dtype.kind in "iu":  # an index or a size may have to be small
            most = 2 if kind == "small" else 100
            return self.random.integers(0, most, self.shape).astype(self.dtype)
        drawn = np.asarray(self.random.standard_normal(self.count) * (0.1 if kind == "small" else 4))
        values = drawn.astype(self.dtype)
        if kind == "mixed":
            places = np.arange(0, self.count, _MIXED)
            values[places] = self.special[np.arange(len(places)) % len(self.special)]
        return values.reshape(self.shape)
