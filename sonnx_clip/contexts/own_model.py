"""Judges a runtime on the windows of a user's model: whole against one node at a time, on the same inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.contexts.candidates import alike, exactly
from sonnx_clip.contexts.meaning import of_term
from sonnx_clip.contexts.plan import Bounds, inputs_of
from sonnx_clip.oracle import load_oracle
from sonnx_clip.rewrites.terms import operators, read_term
from sonnx_clip.root.dtypes import Array, bits_type, hex_bits
from sonnx_clip.root.stored import Stored
from sonnx_clip.runtimes.calls import Failure
from sonnx_clip.runtimes.model_runs import OPTIMISED, PLAIN, Chain, Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import onnx

    from sonnx_clip.contexts.model import Tensor
    from sonnx_clip.contexts.windows import Window
    from sonnx_clip.runtimes.model_runs import ModelWorker, Outcome

_FEEDS = ("special values", "ordinary numbers", "wide numbers")
_SEED = 11
# Operators that add up many entries: one NaN spoils all, and the order of additions changes the rounding.
_SUMS = frozenset({
    "Conv", "ConvTranspose", "Gemm", "MatMul", "AveragePool", "GlobalAveragePool", "BatchNormalization",
    "InstanceNormalization", "LayerNormalization", "Softmax", "ReduceMean", "ReduceSum", "Einsum", "LRN",
    "LpNormalization", "ReduceL2", "GroupNormalization",
})  # fmt: skip
_ULPS = 8
_CLIP = read_term("clip(X, A, B)", __name__)
MINUS_ZERO = "X = -0"
"""What is counted beside the classes: a zero that many neighbours cannot give."""
_MODERATE = 1e4

Difference: TypeAlias = Literal["value", "NaN or number", "sign of a zero"]


class WindowDeviation(Stored):
    """Results of an output that differ between the whole window and its nodes; and the first."""

    output: str
    feed: str
    kind: Difference
    results: int
    entry: int
    got: str
    one_by_one: str
    plain: str | None


class WindowReport(Stored):
    """A window.

    Args:
        chain: its operators, with the bounds of the Clip.
        producer: the operator that gives the input of the Clip; empty if it is an input of the model.
        clips: the names of the Clips that have it.
        feeds: with what it was fed.
        compared: results that were compared.
        reached: the classes of Clip that its inputs reached.
        not_reached: those that these bounds have, too.
        alone: results of the Clip, run alone, that are wrong.
        deviations: between the whole and its nodes.
        words: why it gave no result, if so.
    """

    chain: str
    producer: str
    clips: tuple[str, ...]
    feeds: tuple[str, ...]
    compared: int = 0
    reached: tuple[str, ...] = ()
    not_reached: tuple[str, ...] = ()
    alone: int = 0
    deviations: tuple[WindowDeviation, ...] = ()
    words: str = ""


class ModelReport(Stored):
    """A runtime on the windows of a model; `left_out` are Clips without a window, each with the reason."""

    format: Literal[1] = 1
    model: str
    runtime_version: str
    windows: tuple[WindowReport, ...]
    left_out: dict[str, str]
    runs: int

    @property
    def failed(self) -> bool:
        """Whether a window deviates, or nothing was compared."""
        wrong = any(window.deviations for window in self.windows)
        return wrong or not any(window.compared for window in self.windows)


def judge_window(worker: ModelWorker, window: Window) -> WindowReport:
    """Run a window whole and one node at a time, and compare."""
    plain_how = PLAIN if worker.has_plain else OPTIMISED
    parts = [
        _run(window, model, inputs, output, plain_how) for model, inputs, output in window.parts()
    ]
    names = [run.output for run in parts]
    compared = alone = 0
    reached: set[str] = set()
    deviations: list[WindowDeviation] = []
    words = ""
    for feed in _FEEDS:
        inputs = feeds_of(window, feed)
        chains = [Chain(tuple(parts), inputs)]
        for output in window.outputs:
            model = window.whole(output)
            for how in dict.fromkeys((OPTIMISED, plain_how)):
                run = _run(window, model, tuple(window.inputs), output, how)
                chains.append(Chain((run,), inputs))
        outcomes = list(worker.run(chains))
        apart = outcomes[0]
        if apart.failure is not None:
            words = words or apart.failure.words
            continue
        by_name = dict(zip(names, apart.results, strict=True))
        reached |= set(_classes(window, by_name, inputs))
        alone += _wrong_alone(window, by_name, inputs)
        for place, output in enumerate(window.outputs):
            whole, plain = _of_output(outcomes[1:], place, len(window.outputs))
            if isinstance(whole.last, Failure):
                words = words or whole.last.words
                continue
            one_by_one = by_name[output]
            assert not isinstance(one_by_one, Failure)
            compared += len(one_by_one)
            deviations += _deviations(window, output, feed, whole.last, one_by_one, plain)
    possible = set(_possible_classes(window))
    return WindowReport(
        chain=window.chain,
        producer=window.nodes[window.clip - 1].op_type if window.clip else "",
        clips=window.clips,
        feeds=_FEEDS,
        compared=compared,
        reached=tuple(sorted(reached)),
        not_reached=tuple(sorted(possible - reached)),
        alone=alone,
        deviations=tuple(deviations),
        words=words,
    )


def _run(
    window: Window, model: onnx.ModelProto, inputs: tuple[str, ...], output: str, how: str
) -> Run:
    typed = window.typed(output)
    return Run(model.SerializeToString(), inputs, output, typed.etype, typed.shape, how)


def _of_output(
    outcomes: Sequence[Outcome], place: int, count: int
) -> tuple[Outcome, Outcome | None]:
    """The whole as by default, and without optimisation if the runtime offers that."""
    each = len(outcomes) // count
    mine = outcomes[each * place : each * (place + 1)]
    return mine[0], mine[1] if each > 1 else None


# --- Inputs -------------------------------------------------------------------------------------------------


def feeds_of(window: Window, feed: str) -> dict[str, Array]:
    """The inputs of a window, by name: one of `WindowReport.feeds`."""
    return {name: _feed(window, typed, feed) for name, typed in window.inputs.items()}


def _feed(window: Window, typed: Tensor, feed: str) -> Array:
    """One input of a window."""
    is_integer = np.dtype(typed.etype).kind in "iu"
    is_of_clip = typed.etype == window.typed(window.x).etype
    if typed.etype == "bool":
        return np.resize(np.array([True, False]), typed.shape)
    if is_integer and not is_of_clip:
        return np.zeros(typed.shape, typed.etype)  # it may be an index
    if is_integer or feed == "special values":
        return np.resize(_special_values(window, typed.etype), typed.shape)
    generator = np.random.default_rng([_SEED, _FEEDS.index(feed)])
    spread = 3 if feed == "ordinary numbers" else 300
    return generator.normal(0, spread, typed.shape).astype(typed.etype)


def _special_values(window: Window, etype: str) -> Array:
    """Values around the bounds and special ones, of which an operator that adds up gets moderate numbers."""
    values = inputs_of("special values", etype, _bounds(window, etype))
    adds_up = any(node.op_type in _SUMS for node in window.nodes)
    if values.dtype.kind == "f" and adds_up:
        # One NaN or infinity would be all that is left.
        return np.asarray(values[np.abs(values) < _MODERATE])
    return values


def _bounds(window: Window, etype: str) -> Bounds:
    """The constant bounds of the Clip in an element type; 0 and 6 for one that is no constant."""
    low, high = window.bounds
    target = np.dtype(etype)
    values = {
        "A": np.asarray(0 if low is None else low, target),
        "B": np.asarray(6 if high is None else high, target),
    }
    return Bounds(values, etype)


# --- Judging ------------------------------------------------------------------------------------------------


def _clip_operands(
    window: Window, results: Mapping[str, Array | Failure], inputs: Mapping[str, Array]
) -> tuple[Array, Array, Array] | None:
    """X and both bounds of the Clip, run alone; None where a bound is no constant of Clip's element types."""
    x = results.get(window.x, inputs.get(window.x))
    low, high = window.bounds
    if x is None or isinstance(x, Failure) or low is None or high is None:
        return None
    if not _is_of_clip(x.dtype.name):
        return None
    return x.reshape(-1), low.astype(x.dtype), high.astype(x.dtype)


def _is_of_clip(etype: str) -> bool:
    """Whether Clip has an element type."""
    return etype in [known.id for known in operators()["clip"].element_types]


def _classes(
    window: Window, results: Mapping[str, Array | Failure], inputs: Mapping[str, Array]
) -> Iterator[str]:
    """The classes that the inputs of the Clip reach."""
    operands = _clip_operands(window, results, inputs)
    if operands is not None:
        yield from _reached(operands)


def _possible_classes(window: Window) -> Iterator[str]:
    """The classes that special values reach under the bounds of the Clip."""
    etype = window.typed(window.x).etype
    low, high = window.bounds
    if low is not None and high is not None and _is_of_clip(etype):
        x = inputs_of("special values", etype, _bounds(window, etype))
        yield from _reached((x, low.astype(x.dtype), high.astype(x.dtype)))


def _reached(operands: tuple[Array, Array, Array]) -> Iterator[str]:
    family = operators()["clip"].element_type(operands[0].dtype.name).family
    with np.errstate(invalid="ignore"):
        for id_, holds in load_oracle().CLASSES[family].items():
            if np.any(holds(*operands)):
                yield id_
    if family == "float" and np.any((operands[0] == 0) & np.signbit(operands[0])):
        yield MINUS_ZERO


def _wrong_alone(
    window: Window, results: Mapping[str, Array | Failure], inputs: Mapping[str, Array]
) -> int:
    """Results of the Clip, run alone, that neither the cases nor a latitude give."""
    operands = _clip_operands(window, results, inputs)
    found = results[window.y]
    if operands is None or isinstance(found, Failure):
        return 0
    x, low, high = operands
    right = of_term(_CLIP, exactly(x), {"A": low, "B": high}, x.dtype.name)
    return int((~right.allow(found)).sum())


def _deviations(
    window: Window, output: str, feed: str, got: Array, one_by_one: Array, plain: Outcome | None
) -> Iterator[WindowDeviation]:
    differs = ~alike(got, one_by_one)
    if got.dtype.kind == "f":
        differs &= ~_is_rounding(window, got, one_by_one)
    if not differs.any():
        return
    kinds: dict[Difference, Array] = {"value": differs}
    if got.dtype.kind == "f":
        nan = differs & (np.isnan(got) != np.isnan(one_by_one))
        zero = differs & (got == one_by_one)
        kinds = {"value": differs & ~nan & ~zero, "NaN or number": nan, "sign of a zero": zero}
    for kind, entries in kinds.items():
        if entries.any():
            entry = int(np.flatnonzero(entries)[0])
            yield WindowDeviation(
                output=output,
                feed=feed,
                kind=kind,
                results=int(entries.sum()),
                entry=entry,
                got=_shown(got, entry),
                one_by_one=_shown(one_by_one, entry),
                plain=None
                if plain is None or isinstance(plain.last, Failure)
                else _shown(plain.last, entry),
            )


def _is_rounding(window: Window, got: Array, other: Array) -> Array:
    """Which differences the neighbours' rounding explains: a few units in the last place, more of sums."""
    epsilon = float(np.finfo(got.dtype).eps)
    both = np.isfinite(got) & np.isfinite(other) & ~((got == 0) & (other == 0))
    relative, absolute = _ULPS * epsilon, 0.0
    if any(node.op_type in _SUMS for node in window.nodes):
        largest = float(np.max(np.abs(other), where=np.isfinite(other), initial=0.0))
        relative, absolute = 1e3 * epsilon, 1e3 * epsilon * largest
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.isclose(got.astype(np.float64), other.astype(np.float64), relative, absolute)
    return np.asarray(both & near)


def _shown(array: Array, entry: int) -> str:
    name = array.dtype.name
    value = array[entry]
    if array.dtype.kind == "b":
        return str(bool(value))
    pattern = int(np.ascontiguousarray(array).view(bits_type(name))[entry])
    return f"{value:.9g} ({hex_bits(pattern, name)})"
