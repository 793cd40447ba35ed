"""The bounds and the inputs with which a context is asked."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sonnx_clip.contexts.context import BOUNDS, ENTRIES, LOWER_BOUNDS, Context, scalar_of
from sonnx_clip.contexts.graphs import ATTRIBUTES_OPSET
from sonnx_clip.language import encode, show, tree
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import opposite
from sonnx_clip.rewrites.terms import operators, type_of_clip
from sonnx_clip.root.dtypes import Array, bits_type, from_bits, numpy_type
from sonnx_clip.spec.bounds_in_use import bounds_in_use, holds, values_at
from sonnx_clip.spec.entries import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.contexts.context import ContextStep, Pair
    from sonnx_clip.contexts.graphs import BoundsAs
    from sonnx_clip.language.types import ElementType

    Sides: TypeAlias = tuple[Array | None, ...]  # of a pair of bounds; None for one that is absent

# The first pairs of the list have a NaN, infinities, subnormals and zeros of both signs among them.
_PAIRS_OF_OTHER_FORMS = 24
_PAIRS_IN_NODES = 12
# For few calls, of a runtime that may start a program for each. The one pair of inputs is not
# symmetric, so that a rewrite that only exchanges the bounds shows.
_FEW_INPUTS = 1
_FEW_NODES = 1
_FEW_SECOND = 2
_SEED = 7
# Numbers that people read easily; those that a type does not hold are left out.
_ORDINARY = (
    "0",
    "1",
    "-1",
    "2",
    "-2",
    "5",
    "-5",
    "3",
    "-3",
    "0.5",
    "-0.5",
    "1.5",
    "-1.5",
    "4",
    "7",
    "100",
    "-100",
)


@dataclass(frozen=True, eq=False)
class Bounds:
    """The bounds of the Clips of a context, of shape (): A and B, and C and D of a second one.

    An absent bound has no value. ONNX's text sets the least or the greatest finite number in its place; for
    floats an infinity is what many runtimes take. Both are right.

    Two of them are equal only if they are one object.
    """

    values: Mapping[str, Array]
    etype: str
    absent: tuple[str, ...] = ()

    def readings(self) -> tuple[Mapping[str, Array], ...]:
        """What each bound may stand for, the text of ONNX first: one reading if none is absent."""
        if not self.absent:
            return (self.values,)
        ends = [("lowest", "highest")]
        if type_of_clip(self.etype).family == "float":
            ends.append(("-inf", "inf"))
        readings: list[Mapping[str, Array]] = []
        for low, high in ends:
            values = dict(self.values)
            for name in self.absent:
                end = low if name in LOWER_BOUNDS else high
                values[name] = scalar_of(end, self.etype)
            readings.append(values)
        return tuple(readings)

    def shown(self, context: Context) -> str:
        """The chain of a context with these bounds: ``Relu → Clip(nan, 1)``."""
        element_type = type_of_clip(self.etype)
        texts: dict[str, str] = {}
        for name, value in self.values.items():
            bits = value.view(bits_type(self.etype))
            texts[name] = show(int(bits), element_type)
        texts |= dict.fromkeys(self.absent, ABSENT)
        steps = [_with_bounds(step, texts) for step in context.steps]
        return " → ".join(steps)


def _with_bounds(step: ContextStep, texts: Mapping[str, str]) -> str:
    """The operator of a step, with its bounds and the numbers of its term."""
    constants = [texts[name] for name in step.bounds]
    if step.term:
        for part in step.call.arguments:
            if isinstance(part, tree.Number):
                constants.append(part.text)
    if not constants:
        return step.op_type
    return f"{step.op_type}({', '.join(constants)})"


@dataclass(frozen=True)
class AskedGraph:
    """A context with bounds, in an operator set."""

    bounds: Bounds
    opset: int
    bounds_as: BoundsAs


def asked(
    context: Context,
    etype: str,
    opsets: Sequence[int],
    *,
    few: bool,
) -> tuple[AskedGraph, ...]:
    """The bounds and operator sets with which a context is asked.

    All bounds are initializers in the first operator set. Fewer are asked in the others, in Constant nodes,
    as attributes, which are no NaN, and as inputs and results of nodes, which no optimiser sees.
    """
    pairs = pairs_of(context, etype, few=few)
    chosen = pairs
    if few:
        clip_type = context.clip_type(etype)
        listed = _held(context.few_forms, type_of_clip(clip_type))
        chosen = _with_second(context, clip_type, listed, few=few)
    in_other_forms = chosen[:_PAIRS_OF_OTHER_FORMS]
    # The text of a model has no NaN, so an attribute cannot be one.
    numbers = [bounds for bounds in chosen if not _has_nan(bounds)]
    graphs: list[AskedGraph] = []

    def ask(asked_bounds: Sequence[Bounds], opset: int, bounds_as: BoundsAs) -> None:
        graphs.extend(AskedGraph(bounds, opset, bounds_as) for bounds in asked_bounds)

    for place, opset in enumerate(opsets):
        if opset == ATTRIBUTES_OPSET:
            ask(numbers[:_PAIRS_OF_OTHER_FORMS], opset, "attributes")
        elif place == 0:
            ask(pairs, opset, "initializers")
            if few:
                ask(in_other_forms[:_FEW_INPUTS], opset, "inputs")
                ask(in_other_forms[:_FEW_NODES], opset, "Constant nodes")
            else:
                ask(in_other_forms, opset, "inputs")
                ask(in_other_forms[:_PAIRS_IN_NODES], opset, "Constant nodes")
                ask(in_other_forms[:_PAIRS_IN_NODES], opset, "results of nodes")
        elif not few:
            ask(in_other_forms, opset, "initializers")
    return tuple(graphs)


def pairs_of(context: Context, etype: str, *, few: bool) -> tuple[Bounds, ...]:
    """The bounds of a context that are initializers: those of its list, and then those in use."""
    clip_type = context.clip_type(etype)
    element_type = type_of_clip(clip_type)
    if few:
        pairs = _held(context.few, element_type)
        return _with_second(context, clip_type, pairs, few=True)
    pairs = _held(context.pairs, element_type)
    # Two Clips have every pair seven times already, beside each pair of the second one.
    if not context.second and context.entry.bounds == "usual":
        pairs += _in_use(element_type)
    return _with_second(context, clip_type, pairs, few=False)


def _in_use(element_type: ElementType) -> Iterator[Sides]:
    """The pairs of bounds in use of spec/clip.yaml that an element type holds as they are."""
    for bounds in bounds_in_use(operators()["clip"], element_type):
        sides: list[Array | None] = []
        for pattern in bounds.sides:
            side = None if pattern is None else from_bits(pattern, element_type.id)
            sides.append(side)
        yield tuple(sides)


def _with_second(
    context: Context,
    clip_type: str,
    pairs: Sequence[Sides],
    *,
    few: bool,
) -> tuple[Bounds, ...]:
    """Pairs of bounds, each once; each with every pair of a second Clip if there is one."""
    if not context.may_lack_bounds:
        # By identity: an array compares its entries.
        pairs = [(low, high) for low, high in pairs if low is not None and high is not None]
    second: Sequence[Sides] = [()]
    if context.second:
        second = _held(context.second, type_of_clip(clip_type))
        second = second[:_FEW_SECOND] if few else second
    distinct: dict[tuple[bytes | None, ...], Bounds] = {}
    for first, behind in product(pairs, second):
        values: dict[str, Array] = {}
        absent: list[str] = []
        key: list[bytes | None] = []  # the bits, since zeros of both signs are equal as numbers
        for name, side in zip(BOUNDS, (*first, *behind), strict=False):
            if side is None:
                absent.append(name)
                key.append(None)
            else:
                values[name] = side
                key.append(side.tobytes())
        distinct.setdefault(tuple(key), Bounds(values, clip_type, tuple(absent)))
    return tuple(distinct.values())


def _held(pairs: Sequence[Pair], etype: ElementType) -> list[Sides]:
    """The pairs of which the element type holds both bounds, as far as they are not absent."""
    held: list[Sides] = []
    for pair in pairs:
        stated = [text for text in pair if text != ABSENT]
        if not all(holds(text, etype) for text in stated):
            continue
        sides: list[Array | None] = []
        for text in pair:
            side = None if text == ABSENT else scalar_of(text, etype.id)
            sides.append(side)
        held.append(tuple(sides))
    return held


def _has_nan(bounds: Bounds) -> bool:
    return any(np.isnan(value) for value in bounds.values.values())


def entries_of_x(name: str, etype: str, bounds: Bounds) -> Array:
    """The entries of X, shape (128,), for a graph of a name: the ones that show most are first.

    Values at and around the bounds and their opposites, ordinary numbers, special values, and random ones.
    """
    sides: list[int] = []
    if etype == bounds.etype:  # behind a conversion the bounds are of another type than X
        for value in bounds.values.values():
            sides.append(int(value.view(bits_type(etype))))
    patterns = _chosen_patterns(etype, tuple(sides))
    chosen = from_bits(patterns, etype)
    # Other numbers in each context, and the same ones in each run.
    seed = [_SEED, zlib.crc32(name.encode())]
    others = _random(etype, bounds, ENTRIES - len(patterns), np.random.default_rng(seed))
    return np.concatenate([chosen, others])


@lru_cache(maxsize=4096)
def _chosen_patterns(etype: str, sides: tuple[int, ...]) -> tuple[int, ...]:
    """The entries that are not random, for bounds in the element type of X: every context has the same."""
    element_type = type_of_clip(etype)
    chosen = dict.fromkeys(_near(element_type, sides))
    chosen |= dict.fromkeys(_encoded(_ORDINARY, element_type))
    chosen |= dict.fromkeys(special_patterns(element_type))
    # Where there are more than X has entries, the last special values are left out.
    return tuple(chosen)[:ENTRIES]


def _encoded(texts: Sequence[str], etype: ElementType) -> Iterator[int]:
    for text in texts:
        if holds(text, etype):
            yield int(encode(text, etype))


def _near(etype: ElementType, sides: Sequence[int]) -> Iterator[int]:
    """Values at and around some bounds, and then around their opposites."""
    yield from values_at(sides, etype)
    if etype.family == "uint":
        return
    # Behind Neg and Abs, the Clip reads these.
    opposites = [int(opposite(side, etype)) for side in sides]
    yield from values_at(opposites, etype)


def _random(etype: str, bounds: Bounds, count: int, generator: np.random.Generator) -> Array:
    """Numbers around the interval of the bounds, and others."""
    target = numpy_type(etype)
    if target.kind in "iu":
        limits = np.iinfo(target)
        return generator.integers(limits.min, limits.max, count, dtype=target, endpoint=True)
    magnitudes: list[float] = []
    for side in bounds.values.values():
        if np.isfinite(side):
            magnitudes.append(abs(float(side)))
    # Some numbers are outside the interval, so that both bounds apply. For zeros, any width does.
    half_width = 1.5 * max(magnitudes, default=1.0) or 1.0
    with np.errstate(over="ignore"):
        around = half_width * generator.uniform(-1, 1, count)
        # Others, too: around bounds of 1e-40 no number would be an ordinary one.
        elsewhere = generator.normal(0, 3, count)
        is_around = np.arange(count) % 2 == 0
        numbers = np.where(is_around, around, elsewhere)
        return numbers.astype(target)
