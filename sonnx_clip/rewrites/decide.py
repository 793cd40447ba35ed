"""Decides a rewrite for given constants, and finds constants for which it is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Literal

from sonnx_clip.language import encode, show, show_bits, unparse
from sonnx_clip.language.tree import Number, subtrees
from sonnx_clip.rewrites.critical_points import STRENGTHS, Strength, critical_points, difference
from sonnx_clip.rewrites.terms import constants_in, functions_in, meaning, operators
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.rewrites.critical_points import TermDifference
    from sonnx_clip.rewrites.rewrite import Rewrite
    from sonnx_clip.rewrites.terms import TermMeaning

# Constants that are tried for a witness, ordinary ones first. An integer reads -0 as 0. No `uint`:
# families are those of Clip, in which integers of both kinds are one.
_TRIED: Mapping[str, tuple[str, ...]] = {
    "real": ("0", "1", "2", "3", "-1", "-2"),
    "int": ("0", "1", "2", "3", "-1", "-2", "lowest", "highest"),
    "float": ("0", "1", "2", "3", "-1", "-2", "-0", "nan", "inf", "-inf"),
}
_MOST = 20_000  # choices of constants: four constants of ten numbers have 10,000


class Shown(Stored):
    """A value: as a decimal, and by its bits where the type has them."""

    decimal: str
    bits: str | None

    def __str__(self) -> str:
        return self.decimal if self.bits is None else f"{self.decimal} ({self.bits})"


class Differs(Stored):
    """An X for which both terms differ, and what each is; `after` is None where it is not defined."""

    x: Shown
    before: Shown
    after: Shown | None

    def __str__(self) -> str:
        after = "is not defined" if self.after is None else f"gives {self.after}"
        return f"X = {self.x}: before gives {self.before}, after {after}"


class Decision(Stored):
    """Whether a rewrite is legal for constants of an element type.

    `differs` has an X for each strength in which it is illegal: by bits, by value (zeros are equal, NaNs
    alike), and by value where X is a number. `points` is how many X were tried. That they suffice is proved,
    proved by one prover only, stated by obligations that were not proved in this build folder, or argued.
    `provers` proved it for these terms and all constants, and `reason` is why others did not.
    """

    before: str
    after: str
    type: str
    constants: dict[str, Shown]
    differs: dict[Strength, Differs]
    points: int
    suffice: Literal["proved", "proved by one", "stated", "argued"] = "argued"
    provers: tuple[str, ...] = ()
    reason: str = ""

    @property
    def is_legal(self) -> bool:
        """Whether both terms have the same value for every X."""
        # As of the exit status: the sign of a zero and the payload of a NaN are no values.
        return "value" not in self.differs


def decide(
    before: Expr,
    after: Expr,
    type_id: str,
    texts: Mapping[str, str],
) -> Decision:
    """Decide whether one term may take the place of another.

    Args:
        before: the term that is replaced.
        after: the term that replaces it.
        type_id: an element type.
        texts: the constants by their names: decimals, hex floats, bits or names such as ``inf``.

    Raises:
        UserError: a constant is missing, unknown or no number of the type, or an operator lacks the type.
    """
    in_type = meaning_of(type_id, before, after)
    etype = in_type.etype
    names = constants_in(before, after)
    _require_same(names, texts)
    values = {name: encode(texts[name], etype) for name in names}
    differs: dict[Strength, Differs] = {}
    for strength in STRENGTHS:
        # The first for each: one in bits may be no difference of values.
        first = difference(in_type, before, after, values, strength)
        if first is not None:
            differs[strength] = shown_difference(first, in_type)
    return Decision(
        before=unparse(before),
        after=unparse(after),
        type=type_id,
        constants={name: shown_number(value, etype) for name, value in values.items()},
        differs=differs,
        # The same for every strength.
        points=len(critical_points(etype, (before, after), values)),
    )


def meaning_of(type_id: str, *terms: Expr) -> TermMeaning:
    """The meaning of terms in an element type; UserError if an operator or a number is none of it."""
    in_type = meaning(type_id)
    # In the order of the alphabet, so that the message does not depend on that of a set.
    for name in sorted(functions_in(*terms) & operators().keys()):
        type_ids = [etype.id for etype in operators()[name].element_types]
        if type_id not in type_ids:
            listed = ", ".join(type_ids)
            raise UserError(f"{name} has no element type {type_id}", todo=f"it has {listed}")
    for term in terms:
        for part in subtrees(term):
            if isinstance(part, Number):
                encode(part.text, in_type.etype)  # raises where the type does not have it
    return in_type


def _require_same(names: Sequence[str], texts: Mapping[str, str]) -> None:
    """UserError where a constant is given that the terms do not have, or one is missing."""
    # In words of the command line, where constants are options.
    options = ", ".join(f"--{name}" for name in names) or "none"
    for name in texts:
        if name not in names:
            raise UserError(f"there is no constant {name}", todo=f"the constants are {options}")
    for name in names:
        if name not in texts:
            raise UserError(f"the constant --{name} is missing", todo=f"give {options}")


@dataclass(frozen=True)
class RewriteWitness:
    """Constants for which a rewrite is wrong, and an X that shows it."""

    type: str
    constants: Mapping[str, Shown]
    differs: Differs

    def __str__(self) -> str:
        constants = [f"{name} = {number.decimal}" for name, number in self.constants.items()]
        return ", ".join([self.type, *constants, str(self.differs)])


def witness(
    rewrite: Rewrite,
    family: str,
    strength: Strength,
    tested: Expr | None = None,
) -> RewriteWitness | None:
    """The simplest constants among a few for which a rewrite is wrong; None if there are none.

    Where conditions are stated for some constants only, the witness has such constants; and constants for
    which `tested` holds, if that is given.
    """
    types = rewrite.element_types(family)
    if not types or not rewrite.fits(family):  # the rewrite is not about this family
        return None
    # The types that most models have.
    usual = [etype for etype in types if etype.id in ("float32", "int32", "real")]
    etype = usual[0] if usual else types[0]
    in_type = meaning(etype.id)
    required = [condition for condition in (rewrite.given, tested) if condition is not None]
    # The simplest first, so that the first that is wrong is the best example.
    for values in islice(_choices(rewrite, in_type), _MOST):
        is_required = all(in_type.holds(condition, values) for condition in required)
        if not is_required:
            continue
        first = difference(in_type, rewrite.before, rewrite.after, values, strength)
        if first is None:
            continue
        constants = {name: shown_number(value, etype) for name, value in values.items()}
        return RewriteWitness(etype.id, constants, shown_difference(first, in_type))
    return None


def _choices(rewrite: Rewrite, in_type: TermMeaning) -> Iterator[dict[str, Value]]:
    """Constants to try; those with few and ordinary numbers first."""
    etype = in_type.etype
    if not rewrite.constants:
        yield {}  # the only choice
        return
    numbers = [encode(text, etype) for text in _TRIED[etype.family]]
    for place, newest in enumerate(numbers):
        for choice in product(numbers[: place + 1], repeat=len(rewrite.constants)):
            # Choices without the newest number have been made.
            if newest in choice:
                yield dict(zip(rewrite.constants, choice, strict=True))


def shown_difference(first: TermDifference, in_type: TermMeaning) -> Differs:
    """A difference with its numbers as text."""
    after = None if first.after is None else shown_number(first.after, in_type.etype)
    return Differs(
        x=shown_number(first.x, in_type.etype),
        before=shown_number(first.before, in_type.etype),
        after=after,
    )


def shown_number(value: Value, etype: ElementType) -> Shown:
    """A value as text."""
    # The bits too: a NaN or a rounded number has more than its decimal says.
    bits = None if etype.family == "real" else show_bits(value, etype)
    return Shown(decimal=show(value, etype), bits=bits)
