"""Judges a runtime on the windows of a user's model: whole against one node at a time, on the same inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.contexts.candidates import alike, exactly
from sonnx_clip.contexts.context_plan import Bounds, entries_of_x
from sonnx_clip.contexts.meaning import of_term
from sonnx_clip.contexts.weights_of_one import (
    has_single_numbers,
    single_numbers,
    takes_weights_of_one,
    with_weights_of_one,
)
from sonnx_clip.oracle import load_oracle
from sonnx_clip.rewrites.terms import operators, read_term, type_of_clip
from sonnx_clip.root.dtypes import Array, bits_type, hex_bits
from sonnx_clip.root.stored import Stored
from sonnx_clip.runtimes.calls import Failure
from sonnx_clip.runtimes.model_runs import OPTIMISED, PLAIN, Chain, ModelRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import onnx

    from sonnx_clip.contexts.windows import Window
    from sonnx_clip.runtimes.model_runs import ChainOutcome, ModelWorker

_FEEDS = ("special values", "ordinary numbers", "wide numbers")
WEIGHTS_OF_ONE = "special values, weights of one"
"""A feed of windows whose kernels are 1×1 or depthwise."""
_EVERY_FEED = (*_FEEDS, WEIGHTS_OF_ONE)
_SEED = 11
# Differences that are rounding: of a result, and of the largest of all where many entries are added up; fewer
# with weights of one and in 16 bits.
_UNITS = 8
_UNITS_OF_SUMS = 1000
_UNITS_OF_SHORT_SUMS = 32
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
        feeds: with what it was fed, and with which weights where these are not its own.
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


class OwnModelReport(Stored):
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
        deviates = [bool(window.deviations) for window in self.windows]
        compared = sum(window.compared for window in self.windows)
        return any(deviates) or compared == 0


@dataclass(frozen=True)
class _Answers:
    """What a window gave for one feed; the members are as in `WindowReport`."""

    compared: int = 0
    reached: frozenset[str] = frozenset()
    alone: int = 0
    deviations: tuple[WindowDeviation, ...] = ()
    words: str = ""


def judge_window(worker: ModelWorker, window: Window) -> WindowReport:
    """Run a window whole and one node at a time, and compare."""
    feeds = _EVERY_FEED if takes_weights_of_one(window) else _FEEDS
    answers = [_answers(worker, window, feed) for feed in feeds]
    reached = frozenset[str]().union(*(answer.reached for answer in answers))
    possible = set(_possible_classes(window))
    every_deviation = [deviation for answer in answers for deviation in answer.deviations]
    every_words = [answer.words for answer in answers if answer.words]
    return WindowReport(
        chain=window.chain,
        producer=window.nodes[window.clip - 1].op_type if window.clip else "",
        clips=window.clips,
        feeds=feeds,
        compared=sum(answer.compared for answer in answers),
        reached=tuple(sorted(reached)),
        not_reached=tuple(sorted(possible - reached)),
        alone=sum(answer.alone for answer in answers),
        deviations=tuple(every_deviation),
        words=next(iter(every_words), ""),
    )


def _answers(worker: ModelWorker, of_model: Window, feed: str) -> _Answers:
    """Run a window, whole and one node at a time, with one feed."""
    window = window_for(of_model, feed)
    inputs = feeds_of(window, feed)
    plain_how = PLAIN if worker.has_plain else OPTIMISED
    parts = [_run(window, model, read, output, plain_how) for model, read, output in window.parts()]
    chains = [Chain(tuple(parts), inputs)]
    for output in window.outputs:
        model = window.whole(output)
        for how in dict.fromkeys((OPTIMISED, plain_how)):
            run = _run(window, model, tuple(window.inputs), output, how)
            chains.append(Chain((run,), inputs))
    apart, *wholes = worker.run(chains)
    if apart.failure is not None:
        return _Answers(words=apart.failure.words)
    names = [run.output for run in parts]
    by_name = dict(zip(names, apart.results, strict=True))
    compared = 0
    deviations: list[WindowDeviation] = []
    words = ""
    for place, output in enumerate(window.outputs):
        whole, plain = _of_output(wholes, place, len(window.outputs))
        if isinstance(whole.last, Failure):
            words = words or whole.last.words
            continue
        one_by_one = by_name[output]
        assert not isinstance(one_by_one, Failure)
        compared += len(one_by_one)
        deviations += _deviations(window, output, feed, whole.last, one_by_one, plain)
    return _Answers(
        compared,
        frozenset(_classes(window, by_name, inputs)),
        _wrong_alone(window, by_name, inputs),
        tuple(deviations),
        words,
    )


def window_for(window: Window, feed: str) -> Window:
    """The window that is run with a feed: its own, or one with weights of one."""
    return with_weights_of_one(window) if feed == WEIGHTS_OF_ONE else window


def _run(
    window: Window, model: onnx.ModelProto, inputs: tuple[str, ...], output: str, how: str
) -> ModelRun:
    result = window.typed(output)
    serialised = model.SerializeToString()
    return ModelRun(serialised, inputs, output, result.etype, result.shape, how)


def _of_output(
    outcomes: Sequence[ChainOutcome], place: int, count: int
) -> tuple[ChainOutcome, ChainOutcome | None]:
    """The whole as by default, and without optimisation if the runtime offers that."""
    ways = len(outcomes) // count
    begin = ways * place
    whole = outcomes[begin]
    plain = outcomes[begin + 1] if ways > 1 else None
    return whole, plain


# --- Inputs -------------------------------------------------------------------------------------------------


def feeds_of(window: Window, feed: str) -> dict[str, Array]:
    """The inputs of a window, by name, for one of `WindowReport.feeds`."""
    feeds: dict[str, Array] = {}
    for name in window.inputs:
        feeds[name] = _feed(window, name, feed)
    return feeds


def _feed(window: Window, name: str, feed: str) -> Array:
    """One input of a window."""
    tensor = window.inputs[name]
    etype, shape = tensor.etype, tensor.shape
    if etype == "bool":
        both = np.array([True, False])
        return np.resize(both, shape)
    is_integer = np.dtype(etype).kind in "iu"
    type_of_clip = window.typed(window.x).etype
    if is_integer and etype != type_of_clip:
        return np.zeros(shape, etype)  # it may be an index
    if feed == WEIGHTS_OF_ONE and not is_integer and has_single_numbers(window, name):
        values = entries_of_x("special values", etype, _bounds(window, etype))
        return single_numbers(window, tensor, values)
    if is_integer or feed == "special values":
        values = _special_values(window, etype)
        return np.resize(values, shape)
    seed = [_SEED, _EVERY_FEED.index(feed)]
    spread = 300 if feed == "wide numbers" else 3
    numbers = np.random.default_rng(seed).normal(0, spread, shape)
    return numbers.astype(etype)


def _special_values(window: Window, etype: str) -> Array:
    """Values around the bounds and special ones, of which an operator that adds up gets moderate numbers."""
    values = entries_of_x("special values", etype, _bounds(window, etype))
    is_float = values.dtype.kind == "f"
    if is_float and window.spreads:
        # One NaN or infinity would be all that is left.
        is_moderate = np.abs(values) < _MODERATE
        return np.asarray(values[is_moderate])
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
    if x is None or isinstance(x, Failure):
        return None
    return _operands(window, x.reshape(-1))


def _operands(window: Window, x: Array) -> tuple[Array, Array, Array] | None:
    """X and both bounds of the Clip; None where a bound is no constant, or Clip has no such type."""
    low, high = window.bounds
    dtype = x.dtype
    if low is None or high is None or not _is_of_clip(dtype.name):
        return None
    return x, low.astype(dtype), high.astype(dtype)


def _is_of_clip(etype: str) -> bool:
    """Whether Clip has an element type."""
    known_types = [known.id for known in operators()["clip"].element_types]
    return etype in known_types


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
    if not _is_of_clip(etype):
        return
    x = entries_of_x("special values", etype, _bounds(window, etype))
    operands = _operands(window, x)
    if operands is not None:
        yield from _reached(operands)


def _reached(operands: tuple[Array, Array, Array]) -> Iterator[str]:
    x = operands[0]
    family = type_of_clip(x.dtype.name).family
    classes = load_oracle().CLASSES[family]
    with np.errstate(invalid="ignore"):
        for id_, holds in classes.items():
            members = holds(*operands)
            if np.any(members):
                yield id_
    if family == "float":
        is_minus_zero = (x == 0) & np.signbit(x)
        if np.any(is_minus_zero):
            yield MINUS_ZERO


def _wrong_alone(
    window: Window, results: Mapping[str, Array | Failure], inputs: Mapping[str, Array]
) -> int:
    """Results of the Clip, run alone, that neither the cases nor a latitude give."""
    operands = _clip_operands(window, results, inputs)
    got = results[window.y]
    if operands is None or isinstance(got, Failure):
        return 0
    x, low, high = operands
    constants = {"A": low, "B": high}
    right = of_term(_CLIP, exactly(x), constants, x.dtype.name)
    is_wrong = ~right.allow(got)
    return int(is_wrong.sum())


def _deviations(
    window: Window,
    output: str,
    feed: str,
    got: Array,
    one_by_one: Array,
    plain: ChainOutcome | None,
) -> Iterator[WindowDeviation]:
    differs = ~alike(got, one_by_one)
    if got.dtype.kind == "f":
        differs &= ~_is_rounding(window, feed, got, one_by_one)
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


def _is_rounding(window: Window, feed: str, got: Array, other: Array) -> Array:
    """Which differences of floats the neighbours' rounding explains."""
    both_zero = (got == 0) & (other == 0)
    may_be_near = np.isfinite(got) & np.isfinite(other) & ~both_zero
    is_near = _units_apart(got, other) <= _UNITS
    if window.adds_up:
        is_near |= _is_near_of_sums(feed, got, other)
    return np.asarray(may_be_near & is_near)


def _is_near_of_sums(feed: str, got: Array, other: Array) -> Array:
    """Which results differ by so few units of the largest one that the order of additions explains it."""
    limits = np.finfo(other.dtype)
    # A 16-bit sum has few digits: a thousand units of it would be all of it.
    units = _UNITS_OF_SUMS if limits.bits > 16 and feed != WEIGHTS_OF_ONE else _UNITS_OF_SHORT_SUMS
    largest = np.max(np.abs(other), where=np.isfinite(other), initial=0.0)
    tolerance = units * float(limits.eps) * float(largest)
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(got.astype(np.float64) - other.astype(np.float64))
    return np.asarray(difference <= tolerance)


def _units_apart(one: Array, other: Array) -> Array:
    """How many floats two results are apart; of NaNs it says nothing."""
    bits = bits_type(one.dtype.name)
    sign = np.uint64(1 << (8 * one.dtype.itemsize - 1))
    patterns = [np.ascontiguousarray(array).view(bits).astype(np.uint64) for array in (one, other)]
    first, second = (pattern & ~sign for pattern in patterns)
    have_one_sign = (patterns[0] ^ patterns[1]) & sign == 0
    on_one_side = np.maximum(first, second) - np.minimum(first, second)
    return np.where(have_one_sign, on_one_side, first + second)


def _shown(array: Array, entry: int) -> str:
    name = array.dtype.name
    value = array[entry]
    if array.dtype.kind == "b":
        return str(bool(value))
    patterns = np.ascontiguousarray(array).view(bits_type(name))
    pattern = int(patterns[entry])
    return f"{value:.9g} ({hex_bits(pattern, name)})"
