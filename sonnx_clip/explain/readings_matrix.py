"""The matrix of readings and classes: what each reading answers, what it takes silence to mean, and whether
it agrees in the whole class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.language.show import show
from sonnx_clip.language.values import encode, is_nan
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.stored import Stored
from sonnx_clip.spec.evaluate import evaluator
from sonnx_clip.spec.readings import answer_at, answers, answers_told, inhabitant, reading_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.explain.measured_record import Measured, MeasuredAnswer
    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import InterpretedReading, Reading, ValueClass
    from sonnx_clip.spec.readings import ReadingInClass


def shown_by(interpretation: InterpretedReading) -> str:
    """What shows an interpretation, in words."""
    if interpretation.ran is None:
        return "no run"
    return f"runs of {interpretation.ran} in spec/measured/runtimes.json, whose answers it allows"


def interpreted(interpretation: InterpretedReading) -> str:
    """An interpretation in a line: ours, what else the words could mean, and what shows ours."""
    return (
        f"chosen: {interpretation.ours}. Alternative: {interpretation.alternative}. "
        f"Supported by: {shown_by(interpretation)}"
    )


def require_shown(spec: Spec, record: Measured) -> None:
    """UserError for the first reading whose interpretation the runs that it names do not show."""
    if (found := next(not_shown(spec, record), None)) is not None:
        raise UserError(found, "spec/clip.yaml", "correct `interpretation` of the reading, or its `ran`")


def not_shown(spec: Spec, record: Measured) -> Iterator[str]:
    """The readings whose interpretation no run shows, or an answer of a run refutes."""
    for reading in spec.readings:
        if reading.interpretation is None or reading.interpretation.ran is None:
            continue
        of_form = [a for a in record.answers if a.form == reading.interpretation.ran and a.bits]
        if not any(_has_nan(spec, answer) for answer in of_form):
            yield f"`{reading.id}`: no run of {reading.interpretation.ran} has a NaN operand"
        for answer in of_form:
            etype = spec.element_type(answer.type)
            low, high = answer.min, answer.max
            if low is None or high is None:
                yield f"`{reading.id}`: {answer.runtime} ran {answer.form} without a bound"
                continue
            x, l, m = (encode(bits, etype) for bits in (answer.x, low, high))
            allowed = answers(spec, etype, reading, (x, l, m))
            any_nan = any(is_nan(y, etype) for y in allowed)
            for bits in answer.bits:
                y = encode(bits, etype)
                if y not in allowed and not (any_nan and is_nan(y, etype)):
                    yield (
                        f"`{reading.id}`: {answer.runtime} answers {bits} to {answer.form} {answer.type}"
                        f" X={answer.x} min={low} max={high}, which the reading does not allow"
                    )


def _has_nan(spec: Spec, answer: MeasuredAnswer) -> bool:
    etype = spec.element_type(answer.type)
    given = (answer.x, answer.min, answer.max)
    return any(bits is not None and is_nan(encode(bits, etype), etype) for bits in given)


# ------------------------------------------------------------------------------------------------------------
# The matrix of readings and classes: what each reading answers, and whether it agrees in the whole class
#
# The answers are evaluated. Whether a reading agrees in a whole class is what the obligations of the cell
# state; `sonnx-clip prove` says whether they are proved.


Agreement: TypeAlias = Literal["bits", "values", "differs"]
SIGNS: dict[Agreement, str] = {"bits": "=", "values": "~", "differs": "X"}
MEANINGS: dict[Agreement, str] = {
    "bits": "the bits of the cases in the whole class",
    "values": "their values in the whole class, other bits somewhere",
    "differs": "another value somewhere in the class",
}


class OtherAnswer(Stored):
    """Numbers of a class for which a reading allows an answer that is not what is expected."""

    x: str
    min: str
    max: str
    answer: str
    due: str


class ReadingCell(Stored):
    """A reading in a class: `answers` at the numbers of the row, `other` where it does not agree bit for bit.

    `obligations` show the agreement by value, and then bit for bit.
    """

    reading: str
    agreement: Agreement
    answers: tuple[str, ...]
    other: OtherAnswer | None
    obligations: tuple[str, str]


class ReadingsRow(Stored):
    """A class, the numbers that the specification gives for it, and what is expected for them."""

    id: str
    case: str
    x: str
    min: str
    max: str
    due: str
    cells: tuple[ReadingCell, ...]


class Matrix(Stored):
    """All readings in all classes of an element type; `titles` are those of the readings.

    `interpretations` say, in a float type, what readings take the silence of their words on NaN to mean.
    """

    type: str
    titles: dict[str, str]
    interpretations: dict[str, str]
    rows: tuple[ReadingsRow, ...]


def matrix(spec: Spec, etype: ElementType) -> Matrix:
    """The matrix of an element type, ``real`` too."""
    found = {(one.reading, one.klass): one for one in reading_classes(spec, etype.family)}
    rows = []
    for klass in spec.classes_of(etype.family):
        x, l, m = inhabitant(klass)
        due = evaluator(spec, etype).result(*(encode(text, etype) for text in (x, l, m)))
        cells = tuple(_cell(spec, etype, r, klass, found[r.id, klass.id]) for r in spec.readings)
        shown = show(due, etype)
        rows.append(ReadingsRow(id=klass.id, case=klass.case, x=x, min=l, max=m, due=shown, cells=cells))
    titles = {reading.id: reading.title for reading in spec.readings}
    given = {r.id: interpreted(r.interpretation) for r in spec.readings if r.interpretation is not None}
    return Matrix(
        type=etype.id,
        titles=titles,
        interpretations=given if etype.family == "float" else {},
        rows=tuple(rows),
    )


def _cell(
    spec: Spec, etype: ElementType, reading: Reading, klass: ValueClass, found: ReadingInClass
) -> ReadingCell:
    x, l, m = (encode(text, etype) for text in inhabitant(klass))
    numbers, any_nan = answers_told(spec, etype, reading, (x, l, m))
    told = tuple(show(y, etype) for y in numbers)
    return ReadingCell(
        reading=reading.id,
        agreement=found.agreement,
        answers=(*told, "any nan") if any_nan else told,
        other=_other(spec, etype, found),
        obligations=(
            f"{etype.id}.{reading.word}_agrees",
            f"{etype.id}.{reading.word}_agrees_bitwise",
        ),
    )


def _other(spec: Spec, etype: ElementType, found: ReadingInClass) -> OtherAnswer | None:
    difference = found.other_value or found.other_bits
    if difference is None:
        return None
    triple, answer = answer_at(spec, difference, etype)
    due = evaluator(spec, etype).result(*triple)
    x, l, m = difference.at
    return OtherAnswer(x=x, min=l, max=m, answer=show(answer, etype), due=show(due, etype))
