"""Judges a runtime on the windows of a user's model: whole against one node at a time, on the same inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from sonnx_clip.contexts.candidates import alike, exactly
from sonnx_clip.contexts.context import clip_has_type
from sonnx_clip.contexts.context_plan import Bounds, entries_of_x
from sonnx_clip.contexts.meaning import of_term
from sonnx_clip.contexts.weights_of_one import (
    has_single_numbers,
    single_numbers,
    takes_weights_of_one,
    with_weights_of_one,
)
from sonnx_clip.oracle import load_oracle
from sonnx_clip.rewrites.terms import read_term, type_of_clip
from sonnx_clip.root.dtypes import Array, bits_of, hex_bits
from sonnx_clip.root.stored import Stored
from sonnx_clip.runtimes.calls import Failure
from sonnx_clip.runtimes.model_runs import OPTIMISED, PLAIN, Chain, ModelRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
        deviates = any(window.deviations for window in self.windows)
        compared = any(window.compared for window in self.windows)
        # A run that compared nothing must not look like one that found nothing.
        return deviates or not compared


@dataclass(frozen=True)
class _Answers:
    """What a window gave for one feed; the members are as in `WindowReport`."""

    compared: int = 0
    reached: frozenset[str] = frozenset()
    alone: int = 0
    deviations: tuple[WindowDeviation, ...] = ()
    words: str = ""


class _ClipOperands(NamedTuple):
    """X, shape (entries,), and both bounds of a Clip, of one element type."""

    x: Array
    low: Array
    high: Array


def judge_window(worker: ModelWorker, window: Window) -> WindowReport:
    """Run a window whole and one node at a time, and compare."""
    feeds = _EVERY_FEED if takes_weights_of_one(window) else _FEEDS
    compared = 0
    alone = 0
    reached: set[str] = set()
    deviations: list[WindowDeviation] = []
    words = ""
    for feed in feeds:
        answers = _answers(worker, window, feed)
        compared += answers.compared
        alone += answers.alone
        reached |= answers.reached
        deviations += answers.deviations
        words = words or answers.words
    possible = set(_possible_classes(window))
    # Nodes are in the model's order, and a window has one producer: it is right before the Clip.
    producer = window.nodes[window.clip - 1].op_type if window.clip else ""
    return WindowReport(
        chain=window.chain,
        producer=producer,
        clips=window.clips,
        feeds=feeds,
        compared=compared,
        reached=tuple(sorted(reached)),
        not_reached=tuple(sorted(possible - reached)),
        alone=alone,
        deviations=tuple(deviations),
        words=words,
    )


def _answers(worker: ModelWorker, of_model: Window, feed: str) -> _Answers:
    """Run a window, whole and one node at a time, with one feed."""
    window = window_for(of_model, feed)
    inputs = feeds_of(window, feed)
    # Once if the runtime cannot do without optimisation.
    plain_how = PLAIN if worker.has_plain else OPTIMISED
    ways = dict.fromkeys((OPTIMISED, plain_how))

    # The nodes are one chain: each reads what the runtime gave for those before it.
    parts: list[ModelRun] = []
    for model, read, output in window.parts():
        parts.append(_run(window, model, read, output, plain_how))
    chains = [Chain(tuple(parts), inputs)]
    for output in window.outputs:
        model = window.whole(output)
        for how in ways:
            run = _run(window, model, tuple(window.inputs), output, how)
            chains.append(Chain((run,), inputs))

    apart, *wholes = worker.run(chains)
    if apart.failure is not None:
        return _Answers(words=apart.failure.words)
    names = [run.output for run in parts]
    by_name = dict(zip(names, apart.results, strict=True))

    outcomes = iter(wholes)
    compared = 0
    deviations: list[WindowDeviation] = []
    words = ""
    for output in window.outputs:
        whole = next(outcomes)
        plain = next(outcomes) if len(ways) > 1 else None
        if isinstance(whole.last, Failure):
            words = words or whole.last.words
            continue
        one_by_one = by_name[output]
        assert not isinstance(one_by_one, Failure)
        compared += len(one_by_one)
        deviations += _deviations(window, output, feed, whole.last, one_by_one, plain)

    reached: frozenset[str] = frozenset()
    wrong_alone = 0
    operands = _clip_operands(window, by_name, inputs)
    if operands is not None:
        reached = frozenset(_reached(operands))
        wrong_alone = _count_wrong_alone(operands, by_name[window.y])
    return _Answers(compared, reached, wrong_alone, tuple(deviations), words)


def window_for(window: Window, feed: str) -> Window:
    """The window that is run with a feed: its own, or one with weights of one."""
    if feed == WEIGHTS_OF_ONE:
        return with_weights_of_one(window)
    return window


def _run(
    window: Window,
    model: onnx.ModelProto,
    inputs: tuple[str, ...],
    output: str,
    how: str,
) -> ModelRun:
    result = window.typed(output)
    serialised = model.SerializeToString()
    return ModelRun(serialised, inputs, output, result.etype, result.shape, how)


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
    etype = tensor.etype
    shape = tensor.shape
    if etype == "bool":
        both = np.array([True, False])
        return np.resize(both, shape)
    is_integer = np.dtype(etype).kind in "iu"
    type_of_x = window.typed(window.x).etype
    if is_integer and etype != type_of_x:
        return np.zeros(shape, etype)  # it may be an index
    if feed == WEIGHTS_OF_ONE and not is_integer and has_single_numbers(window, name):
        values = _special_values(window, etype)
        return single_numbers(window, tensor, values)
    if is_integer or feed == "special values":
        values = _special_values(window, etype)
        if window.spreads and not is_integer:
            # One NaN or infinity would be all that is left.
            is_moderate = np.abs(values) < _MODERATE
            values = values[is_moderate]
        return np.resize(values, shape)
    # Wide numbers are mostly beyond usual bounds such as 6, ordinary ones on both sides of them.
    spread = 300 if feed == "wide numbers" else 3
    # The same in every run, so that a deviation can be run again.
    seed = [_SEED, _EVERY_FEED.index(feed)]
    generator = np.random.default_rng(seed)
    numbers = generator.normal(0, spread, shape)
    return numbers.astype(etype)


def _special_values(window: Window, etype: str) -> Array:
    """Values at and around the bounds of the Clip, and special ones."""
    return entries_of_x("special values", etype, _bounds(window, etype))


def _bounds(window: Window, etype: str) -> Bounds:
    """The constant bounds of the Clip in an element type; 0 and 6 for one that is no constant."""
    low, high = window.bounds
    if low is None:
        low = np.array(0)
    if high is None:
        high = np.array(6)
    target = np.dtype(etype)
    values = {"A": low.astype(target), "B": high.astype(target)}
    return Bounds(values, etype)


# --- Judging ------------------------------------------------------------------------------------------------


def _clip_operands(
    window: Window, results: Mapping[str, Array | Failure], inputs: Mapping[str, Array]
) -> _ClipOperands | None:
    """The operands of the Clip, run alone; None where a bound is no constant of Clip's element types."""
    # X is an input where the Clip has no producer in the window.
    x = results.get(window.x, inputs.get(window.x))
    if x is None or isinstance(x, Failure):
        return None
    return _operands(window, x.reshape(-1))


def _operands(window: Window, x: Array) -> _ClipOperands | None:
    """X and both bounds of the Clip; None where a bound is no constant, or Clip has no such type."""
    low, high = window.bounds
    dtype = x.dtype
    if low is None or high is None or not clip_has_type(dtype.name):
        return None
    return _ClipOperands(x, low.astype(dtype), high.astype(dtype))


def _possible_classes(window: Window) -> Iterator[str]:
    """The classes that special values reach under the bounds of the Clip."""
    etype = window.typed(window.x).etype
    if not clip_has_type(etype):
        return
    operands = _operands(window, _special_values(window, etype))
    if operands is not None:
        yield from _reached(operands)


def _reached(operands: _ClipOperands) -> Iterator[str]:
    """The classes that a Clip's operands are in."""
    x = operands.x
    family = type_of_clip(x.dtype.name).family
    classes = load_oracle().CLASSES[family]
    with np.errstate(invalid="ignore"):
        for id_, holds in classes.items():
            members = holds(*operands)
            if np.any(members):
                yield id_
    # Classes have zeros of both signs together, and an operator in front may give one alone.
    if family == "float":
        is_minus_zero = (x == 0) & np.signbit(x)
        if np.any(is_minus_zero):
            yield MINUS_ZERO


def _count_wrong_alone(operands: _ClipOperands, got: Array | Failure) -> int:
    """How many results of a Clip, run alone, neither the cases nor a latitude give."""
    if isinstance(got, Failure):
        return 0
    x = operands.x
    constants = {"A": operands.low, "B": operands.high}
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
    """The differences of one output, one for each kind."""
    is_float = got.dtype.kind == "f"
    differs = ~alike(got, one_by_one)
    if is_float:
        differs &= ~_is_rounding(window, feed, got, one_by_one)
    if not differs.any():
        return
    kinds: dict[Difference, Array] = {"value": differs}
    if is_float:
        nan = differs & (np.isnan(got) != np.isnan(one_by_one))
        zero = differs & (got == one_by_one)
        other = differs & ~nan & ~zero
        kinds = {"value": other, "NaN or number": nan, "sign of a zero": zero}
    for kind, entries in kinds.items():
        if not entries.any():
            continue
        places = np.flatnonzero(entries)
        entry = int(places[0])
        shown_plain = None
        if plain is not None and not isinstance(plain.last, Failure):
            shown_plain = _shown(plain.last, entry)
        yield WindowDeviation(
            output=output,
            feed=feed,
            kind=kind,
            results=len(places),
            entry=entry,
            got=_shown(got, entry),
            one_by_one=_shown(one_by_one, entry),
            plain=shown_plain,
        )


def _is_rounding(window: Window, feed: str, got: Array, other: Array) -> Array:
    """Which differences of floats the neighbours' rounding explains."""
    # Neither a NaN nor a zero of the other sign is rounding: both are reported.
    both_zero = (got == 0) & (other == 0)
    may_be_near = np.isfinite(got) & np.isfinite(other) & ~both_zero
    is_near = _units_apart(got, other) <= _UNITS
    if window.adds_up:
        is_near |= _is_near_of_sums(feed, got, other)
    return np.asarray(may_be_near & is_near)


def _is_near_of_sums(feed: str, got: Array, other: Array) -> Array:
    """Which results differ by so few units of the largest one that the order of additions explains it."""
    limits = np.finfo(other.dtype)
    units = _UNITS_OF_SUMS
    # A 16-bit sum has few digits: a thousand units of it would be all of it. With weights of one a
    # kernel adds one number to zeros.
    if limits.bits <= 16 or feed == WEIGHTS_OF_ONE:
        units = _UNITS_OF_SHORT_SUMS
    # Of all results, not of this one: large summands that cancel leave a small sum with their error.
    magnitudes = np.abs(other)
    largest = np.max(magnitudes, where=np.isfinite(other), initial=0.0)
    tolerance = units * float(limits.eps) * float(largest)
    # As float64: the difference of two 16-bit floats may be too large for one.
    left = got.astype(np.float64)
    right = other.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(left - right)
    return np.asarray(difference <= tolerance)


def _units_apart(left: Array, right: Array) -> Array:
    """How many floats two results are apart; of NaNs it says nothing."""
    width = 8 * left.dtype.itemsize
    sign = np.uint64(1 << (width - 1))
    left_bits = bits_of(left).astype(np.uint64)
    right_bits = bits_of(right).astype(np.uint64)
    # Without its sign, the pattern of a float counts the floats between it and zero.
    left_rank = left_bits & ~sign
    right_rank = right_bits & ~sign
    have_one_sign = (left_bits ^ right_bits) & sign == 0
    on_one_side = np.maximum(left_rank, right_rank) - np.minimum(left_rank, right_rank)
    across_zero = left_rank + right_rank
    return np.where(have_one_sign, on_one_side, across_zero)


def _shown(array: Array, entry: int) -> str:
    value = array[entry]
    if array.dtype.kind == "b":
        return str(bool(value))
    pattern = int(bits_of(array)[entry])
    return f"{value:.9g} ({hex_bits(pattern, array.dtype.name)})"
