"""One execution of a kernel on symbols: its steps, its branches, and the sample inputs that run along and
decide what is followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sonnx_clip.language.show import show_bits
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.types import FloatBits
from sonnx_clip.language.values import constant_pattern, encode, infinity, sign_bit
from sonnx_clip.trace.evaluate_table import evaluate, reading
from sonnx_clip.trace.numpy_meaning import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.trace.evaluate_table import Patterns, ReadingName, Values
    from sonnx_clip.trace.numpy_meaning import ValueKind


Clone: TypeAlias = "tuple[str, ReadingName | None]"
"""A module of why3/numpy.mlw, and the reading of the patterns, if it has one."""

# 2^64 by the golden ratio: its multiples are spread evenly.
_HASH = np.uint64(0x9E37_79B9_7F4A_7C15)


@dataclass(frozen=True)
class Samples:
    """Inputs, one a column.

    Args:
        index: the number of each, which decides how its choices fall.
        x: the entry and the other one, shape (2, n).
        lower: min, shape (n,).
        upper: max, shape (n,).
    """

    index: Patterns
    x: Patterns
    lower: Patterns
    upper: Patterns

    def choose(self, keep: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Samples:
        """Some of them."""
        return Samples(
            index=self.index[keep],
            x=self.x[:, keep],
            lower=self.lower[keep],
            upper=self.upper[keep],
        )

    def noise(self, number: int) -> Patterns:
        """Bits that look random, the same for a sample in every run, shape (n,)."""
        # Multiplied and shifted as hash functions do; modulo 2^64.
        mixed = (self.index + np.uint64(1)) * _HASH
        mixed *= np.uint64(2 * number + 1)
        folded = mixed ^ (mixed >> np.uint64(29))
        return folded * _HASH >> np.uint64(7)


@cache
def samples_of(etype: ElementType) -> Samples:
    """All pairs of bounds that matter, each with entries around them."""
    # A few thousand decide which branches are followed; an obligation proves that no input takes another.
    entries = _entries(etype)
    rows: list[tuple[int, ...]] = []  # the entry and the other one, min and max
    # In any order: bounds may be inverted.
    for bounds in product(_bounds(etype), repeat=2):
        around = (*entries, *bounds)
        rows += [(*pair, *bounds) for pair in product(around, repeat=2)]
    columns = np.array(rows, np.uint64).T.copy()
    columns.flags.writeable = False  # all runs share them
    index = np.arange(len(rows), dtype=np.uint64)
    return Samples(
        index,
        x=columns[:2],
        lower=columns[2],
        upper=columns[3],
    )


def _bounds(etype: ElementType) -> tuple[int, ...]:
    """Zeros, infinities, NaNs and numbers of both signs; of integers the least and those near zero."""
    if not isinstance(etype.bits, FloatBits):
        # The list begins with the least numbers and those near zero.
        return special_patterns(etype)[:8]
    top = infinity(etype.bits)
    minus = sign_bit(etype.bits)
    nan = constant_pattern("nan", etype.bits)
    one = int(encode("1", etype))
    two = int(encode("2", etype))
    return (
        0,
        minus,
        one,
        two,
        one | minus,
        two | minus,
        top,
        top | minus,
        nan,
        nan | minus | 1,
    )


def _entries(etype: ElementType) -> tuple[int, ...]:
    """Entries that are tried with all bounds, beside these bounds themselves."""
    if not isinstance(etype.bits, FloatBits):
        return special_patterns(etype)[2:4]
    minus = sign_bit(etype.bits)
    nan = constant_pattern("nan", etype.bits)
    above_bounds = int(encode("3", etype))
    # Two NaNs, of both signs and with another payload: a kernel must not take one for the other.
    return (0, minus, above_bounds, nan, nan | minus | 1)


# --- One execution of a kernel on symbols: its steps, its branches, and the samples that take them ----------


class UntraceableError(BaseException):
    """The kernel did what a run on symbols cannot see. Not an `Exception`, so that no kernel swallows it."""


@dataclass(frozen=True)
class SymbolicValue:
    """What one entry of an array, or a scalar, holds at some time.

    Args:
        text: a variable or a literal, in WhyML.
        kind: an element, or a truth value.
        samples: its values in the samples, shape (2, n): the entry, and the other one of the array.
    """

    text: str
    kind: ValueKind
    samples: Values


@dataclass(frozen=True)
class Bind:
    """A step: a variable is the result of an operation."""

    name: str
    text: str


@dataclass(frozen=True)
class Branch:
    """A step: the execution continued with a condition true, or false."""

    condition: str
    taken: bool


Step: TypeAlias = Bind | Branch


@dataclass(frozen=True)
class Fork:
    """A branch that is still to be followed.

    Args:
        decisions: those up to it.
        samples: the samples that take it.
    """

    decisions: tuple[bool, ...]
    samples: Samples


class SymbolicRun:
    """One execution. Its decisions are given as far as they are known; then it goes wherever a sample goes.

    Args:
        etype: the element type.
        fork: which way to go at the first branches, and the inputs that take them.
    """

    def __init__(self, etype: ElementType, fork: Fork) -> None:
        self.etype = etype
        self.table = table()
        self.fork = fork
        self.samples = fork.samples
        # The samples that have gone the way of this run so far.
        self.live = np.ones(fork.samples.index.shape, np.bool_)
        self.steps: list[Step] = []
        self.taken: list[bool] = []  # the decisions of `steps`
        self.forks: list[Fork] = []
        self.free: dict[str, SymbolicValue] = {}  # by their text
        self.clones: set[Clone] = set()
        self._counts: dict[str, int] = {}  # how many variables each kind of name has
        self._decided: dict[str, bool] = {}  # by the text of a condition

    def literal(self, pattern: int) -> SymbolicValue:
        """An element that is written down."""
        samples = np.broadcast_to(np.uint64(pattern), self.samples.x.shape)
        return SymbolicValue(f"({show_bits(pattern, self.etype)}: t)", "element", samples)

    def any(self, name: str, kind: ValueKind, samples: Values) -> SymbolicValue:
        """A variable about which nothing is known; `samples` is what it is in them."""
        value = SymbolicValue(self._name(name), kind, samples)
        self.free[value.text] = value
        return value

    def junk(self) -> SymbolicValue:
        """The content of unwritten memory."""
        mask = np.uint64((1 << (self.etype.width or 0)) - 1)
        # By the number of free variables: each junk has other bits, and the same in every run.
        bits = self.samples.noise(len(self.free)) & mask
        return self.any("any", "element", np.stack([bits, bits]))

    def apply(
        self,
        name: str,
        arguments: Sequence[SymbolicValue],
        how: ReadingName | None,
    ) -> SymbolicValue:
        """The result of an operation of the table, as a new step; its choices are free variables."""
        meaning = self.table[name]
        choices = [self._choice(choice, how) for choice in meaning.choices]
        operands = [*arguments, *choices]
        order = reading(how or "Unsigned", self.etype)  # any, where the operation has no order
        values = tuple(operand.samples for operand in operands)
        samples = evaluate(meaning, values, order, self.table)

        self.clones.add((meaning.module, how))
        function = f"{clone_name(meaning.module, how)}.{name}"
        texts = [operand.text for operand in operands]
        application = " ".join([function, *texts])
        bound = self._name("b" if meaning.kind == "mask" else "t")
        self.steps.append(Bind(bound, application))
        return SymbolicValue(bound, meaning.kind, samples)

    def branch(self, condition: SymbolicValue) -> bool:
        """Decide which way to go; what is left for later is noted as a fork."""
        # A value that is tested again is the same: a second branch on it decides nothing.
        if condition.text in self._decided:
            return self._decided[condition.text]
        if len(self.taken) < len(self.fork.decisions):
            # Up to the fork the run repeats the one that left it; its samples all go this way.
            decision = self.fork.decisions[len(self.taken)]
        else:
            # A condition is a scalar, and the same in both rows.
            holds = np.asarray(condition.samples[0], np.bool_)
            where_true = self.live & holds
            where_false = self.live & ~holds
            # True first, where a sample takes both ways.
            decision = bool(where_true.any())
            if decision and where_false.any():
                decisions = (*self.taken, False)
                self.forks.append(Fork(decisions, self.samples.choose(where_false)))
            self.live = where_true if decision else where_false
        self.taken.append(decision)
        self._decided[condition.text] = decision
        self.steps.append(Branch(condition.text, decision))
        return decision

    def _choice(self, name: str, how: ReadingName | None) -> SymbolicValue:
        """What NumPy leaves open, as a variable; a literal where it makes no difference."""
        if name == "free":
            # Of what NumPy leaves open for NaNs integers have nothing.
            return self.literal(0) if how in ("Signed", "Unsigned") else self.junk()
        if how != "Float":  # what is equal is identical, and nothing is a NaN: it does not matter
            return SymbolicValue("true", "mask", np.ones(self.samples.x.shape, np.bool_))
        # Numbers of their own, beyond those of `junk`: an entry and the other one choose independently.
        number = 1000 + 2 * len(self.free)
        of_entry = self.samples.noise(number)
        of_other = self.samples.noise(number + 1)
        lowest_bit = np.stack([of_entry, of_other]) & np.uint64(1)
        return self.any(name, "mask", lowest_bit == np.uint64(1))

    def input(self, name: str, samples: Values) -> SymbolicValue:
        """An entry or a bound, under its own name."""
        self.free[name] = SymbolicValue(name, "element", samples)
        return self.free[name]

    def _name(self, kind: str) -> str:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{kind}{self._counts[kind]}"


def clone_name(module: str, how: ReadingName | None) -> str:
    """What a module of why3/numpy.mlw is called where it is cloned for a reading of the patterns."""
    if how is None:
        return module
    return how if module == "Order" else f"{how}{module}"
