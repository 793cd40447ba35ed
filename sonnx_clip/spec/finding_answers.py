"""What the specification answers for the numbers of a finding: nothing of it is typed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.language.convert import convert
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.dialects import bound_type, defaults
from sonnx_clip.spec.evaluate import TensorValue, evaluator, result_value
from sonnx_clip.spec.readings import answers_told, same_value

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.findings import Contrast, Refutation, Side
    from sonnx_clip.spec.model import Spec


@dataclass(frozen=True)
class Answers:
    """What one side allows.

    Args:
        bounds: the bounds with which it answers, as numbers of the element type.
        values: the answers listed one by one.
        any_nan: whether any NaN is allowed besides.
    """

    bounds: tuple[Value, Value]
    values: tuple[Value, ...]
    any_nan: bool


def answers_of(spec: Spec, witness: Contrast, side: Side) -> Answers:
    """What a side of a contrast allows for its numbers.

    Raises:
        UserError: a number is not one of the type, a bound is missing where that is refused or means
            nothing, or a FLOAT bound has no such number.
    """
    etype = spec.element_type(witness.type)
    x = encode(witness.X, etype)
    texts = side.L or witness.L, side.M or witness.M
    dialect = next((d for d in spec.whole_dialects if d.id == side.by), None)
    if dialect is None:
        bounds = _bounds_of_a_reading(side.by, texts, etype)
        reading = spec.reading(side.by)
    else:
        bounds = _bounds_of_a_dialect(spec, dialect, texts, etype)
        reading = spec.reading(dialect.reading)
    values, any_nan = answers_told(spec, etype, reading, (x, *bounds))
    return Answers(bounds, values, any_nan)


def _bounds_of_a_reading(
    name: str, texts: tuple[str | None, str | None], etype: ElementType
) -> tuple[Value, Value]:
    low, high = texts
    if low is None or high is None:
        todo = "give `L` and `M`, at the witness or at this side; or name a dialect"
        raise UserError(f"the reading `{name}` does not say what a missing bound is", todo=todo)
    return encode(low, etype), encode(high, etype)


def _bounds_of_a_dialect(
    spec: Spec, dialect: Dialect, texts: tuple[str | None, str | None], etype: ElementType
) -> tuple[Value, Value]:
    if etype.id not in dialect.element_types:
        known = ", ".join(dialect.element_types)
        raise UserError(f"`{dialect.id}` does not take {etype.id}", todo=f"it takes {known}")
    of, missing = bound_type(spec, dialect, etype), defaults(spec, dialect, etype)
    found: list[Value] = []
    for position, text in enumerate(texts):
        if text is None and missing is None:
            raise UserError(f"`{dialect.id}` refuses a missing bound", todo="give `L` and `M`")
        if text is None:
            assert missing is not None
            found.append(missing[position])
            continue
        given = encode(text, of)
        value = given if of.id == etype.id else convert(given, of, etype)
        if value is None:
            raise UserError(f"{text} becomes no number of {etype.id}", todo="give a number that does")
        found.append(value)
    return found[0], found[1]


def differ(one: Answers, other: Answers, etype: ElementType, *, bitwise: bool) -> bool:
    """Whether two sides do not allow the same answers: the same bits, or the same values."""
    if bitwise:
        return set(one.values) != set(other.values) or one.any_nan != other.any_nan
    return not (_covers(one, other, etype) and _covers(other, one, etype))


def _covers(one: Answers, other: Answers, etype: ElementType) -> bool:
    """Whether each value that `other` allows is one that `one` allows."""
    nan = [encode("nan", etype)] if etype.family == "float" else []
    mine = [*one.values, *(nan if one.any_nan else [])]
    theirs = [*other.values, *(nan if other.any_nan else [])]
    return all(any(same_value(a, b, etype) for a in mine) for b in theirs)


def refuted_result(spec: Spec, witness: Refutation) -> tuple[Value, bool]:
    """The result of the cases for a witness, and whether the entry is false of it.

    Raises:
        UserError: a number is not one of the type, or the entry does not exist.
    """
    etype = spec.element_type(witness.type)
    x, l, m = (encode(text, etype) for text in (witness.X, witness.L, witness.M))
    y, evaluate = result_value(spec, etype, x, l, m), evaluator(spec, etype)
    constraint = next((c for c in spec.constraints if c.id == witness.refutes), None)
    if constraint is not None:
        tensors = {
            "X": TensorValue(etype.id, (1,), (x,)),
            "L": TensorValue(etype.id, (), (l,)),
            "M": TensorValue(etype.id, (), (m,)),
            "Y": TensorValue(etype.id, (1,), (y,)),
        }
        return y, not evaluate(constraint.holds, tensors)
    claim = spec.property(witness.refutes).claim
    try:
        return y, not evaluate(claim, {"X": x, "L": l, "M": m, "Y": y})
    except KeyError as error:
        raise UserError(f"`{witness.refutes}` speaks of {error.args[0]} too, a witness does not") from error
