"""The matrix of readings and classes: each reading's answers, and whether it agrees in the whole class.

The answers are evaluated. Agreement in a whole class is what the obligations of a cell state; `sonnx-clip
prove` says whether they are proved.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.language.show import show
from sonnx_clip.language.special import FEW
from sonnx_clip.language.values import encode, identical, is_nan
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.terminal import hanging
from sonnx_clip.spec.evaluate import evaluator
from sonnx_clip.spec.readings import agrees, answers, answers_told, same_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.table import Table

    from sonnx_clip.explain.measured_record import Measured
    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import InterpretedReading, Reading
    from sonnx_clip.spec.readings import Triple

Agreement: TypeAlias = Literal["bits", "values", "differs"]
Samples: TypeAlias = "dict[Triple, tuple[str, ...]]"
"""Triples with their numbers as texts."""
SIGNS: dict[Agreement, str] = {"bits": "=", "values": "~", "differs": "X"}
MEANINGS: dict[Agreement, str] = {
    "bits": "the bits of the cases in the whole class",
    "values": "their values in the whole class, other bits somewhere",
    "differs": "another value somewhere in the class",
}
_STYLES = {"bits": "green", "values": "yellow", "differs": "bold red"}
_ANY_WIDTH = 1000


class OtherAnswer(Stored):
    """Numbers of a class for which a reading allows an answer that is not the expected one."""

    x: str
    min: str
    max: str
    answer: str
    due: str


class ReadingCell(Stored):
    """A reading in a class: `answers` at the numbers of the row, `other` where it does not agree bit for bit.

    `obligations` state the agreement by value, and then bit for bit.
    """

    reading: str
    agreement: Agreement
    answers: tuple[str, ...]
    other: OtherAnswer | None
    obligations: tuple[str, str]


class ReadingsRow(Stored):
    """A class, the numbers that the specification gives for it, and the expected result."""

    id: str
    case: str
    x: str
    min: str
    max: str
    due: str
    cells: tuple[ReadingCell, ...]


class Matrix(Stored):
    """All readings in all classes of an element type.

    `interpretations` say, for a float type, how readings treat NaN where their words are silent.
    """

    type: str
    titles: dict[str, str]
    interpretations: dict[str, str]
    rows: tuple[ReadingsRow, ...]


def matrix(spec: Spec, etype: ElementType) -> Matrix:
    """The matrix of an element type, ``real`` too."""
    samples = _samples(spec, etype)
    rows = []
    for klass in spec.classes_of(etype.family):
        triple, (x, l, m) = next(iter(samples[klass.id].items()))
        due = evaluator(spec, etype).result(*triple)
        cells = tuple(_cell(spec, etype, reading, samples[klass.id]) for reading in spec.readings)
        rows.append(
            ReadingsRow(id=klass.id, case=klass.case, x=x, min=l, max=m, due=show(due, etype), cells=cells)
        )
    given = {r.id: interpreted(r.interpretation) for r in spec.readings if r.interpretation is not None}
    return Matrix(
        type=etype.id,
        titles={reading.id: reading.title for reading in spec.readings},
        interpretations=given if etype.family == "float" else {},
        rows=tuple(rows),
    )


def _samples(spec: Spec, etype: ElementType) -> dict[str, Samples]:
    """The triples tried in each class, with their texts: first that of the file."""
    families = spec.classes_of(etype.family)
    given = [tuple(klass.inhabited_by.texts().values()) for klass in families]
    found: dict[str, Samples] = {klass.id: {} for klass in families}
    for texts in (*given, *product(FEW[etype.family], repeat=len(spec.operands))):
        triple = tuple(encode(text, etype) for text in texts)
        found[evaluator(spec, etype).class_of(*triple).id].setdefault(triple, texts)
    return found


def _cell(spec: Spec, etype: ElementType, reading: Reading, samples: Samples) -> ReadingCell:
    numbers, any_nan = answers_told(spec, etype, reading, next(iter(samples)))
    shown = tuple(show(y, etype) for y in numbers)
    agrees = f"{etype.id}.{reading.word}_agrees"
    other_value = _other(spec, etype, reading, samples, bitwise=False)
    other = other_value or _other(spec, etype, reading, samples, bitwise=True)
    return ReadingCell(
        reading=reading.id,
        agreement="differs" if other_value else "values" if other else "bits",
        answers=(*shown, "any nan") if any_nan else shown,
        other=other,
        obligations=(agrees, f"{agrees}_bitwise"),
    )


def _other(
    spec: Spec, etype: ElementType, reading: Reading, samples: Samples, *, bitwise: bool
) -> OtherAnswer | None:
    """The first of the samples for which a reading allows another answer than that of the cases."""
    for triple, (x, l, m) in samples.items() if etype.family in reading.regions(bitwise=bitwise) else ():
        if agrees(spec, etype, reading, triple, bitwise=bitwise):
            continue
        due = evaluator(spec, etype).result(*triple)
        for y in answers(spec, etype, reading, triple):
            if not (identical(y, due) if bitwise else same_value(y, due, etype)):
                return OtherAnswer(x=x, min=l, max=m, answer=show(y, etype), due=show(due, etype))
    return None


# --- Interpretations: how a reading treats NaN where its words are silent -----------------------------------


def shown_by(interpretation: InterpretedReading) -> str:
    """The support of an interpretation, in words."""
    if interpretation.ran is None:
        return "no run"
    return f"runs of {interpretation.ran} in spec/measured/runtimes.json, whose answers it allows"


def interpreted(interpretation: InterpretedReading) -> str:
    """An interpretation in a line: ours, the alternative, and what supports ours."""
    return (
        f"chosen: {interpretation.ours}. Alternative: {interpretation.alternative}. "
        f"Supported by: {shown_by(interpretation)}"
    )


def require_shown(spec: Spec, record: Measured) -> None:
    """UserError for the first interpretation that the runs it names do not support."""
    if (found := next(not_shown(spec, record), None)) is not None:
        raise UserError(found, "spec/clip.yaml", "correct `interpretation` of the reading, or its `ran`")


def not_shown(spec: Spec, record: Measured) -> Iterator[str]:
    """Readings whose interpretation no run with a NaN supports, or an answer of a run refutes."""
    for reading in spec.readings:
        if reading.interpretation is None or reading.interpretation.ran is None:
            continue
        has_nan = False
        for answer in record.answers:
            if answer.form != reading.interpretation.ran or not answer.bits:
                continue
            if answer.min is None or answer.max is None:
                yield f"`{reading.id}`: {answer.runtime} ran {answer.form} without a bound"
                continue
            etype = spec.element_type(answer.type)
            x, l, m = (encode(bits, etype) for bits in (answer.x, answer.min, answer.max))
            has_nan = has_nan or any(is_nan(value, etype) for value in (x, l, m))
            allowed = answers(spec, etype, reading, (x, l, m))
            any_nan = any(is_nan(y, etype) for y in allowed)
            for bits in answer.bits:
                y = encode(bits, etype)
                if y not in allowed and not (any_nan and is_nan(y, etype)):
                    yield (
                        f"`{reading.id}`: {answer.runtime} answers {bits} to {answer},"
                        " which the reading does not allow"
                    )
        if not has_nan:
            yield f"`{reading.id}`: no run of {reading.interpretation.ran} has a NaN operand"


# --- The matrix on a terminal -------------------------------------------------------------------------------


def print_matrix(found: Matrix, console: Console) -> None:
    """Print a matrix: one table with the answers if it fits, else tables of signs and the answers below."""
    from rich.console import Console as AnyConsole

    console.print(f"[bold]{found.type}[/]: whether each reading agrees with the cases, class by class")
    answers_table = _table(found, {id_: id_ for id_ in found.titles}, with_answers=True)
    if AnyConsole(width=_ANY_WIDTH).measure(answers_table).maximum <= console.width:
        console.print(answers_table)
        lines = [*_elsewhere(found)]
    else:
        for heads in _heads(found, console.width):
            console.print(_table(found, heads, with_answers=False))
        lines = [*_answer_lines(found), "", "elsewhere in the class", *_elsewhere(found)]
    for agreement, sign in SIGNS.items():
        console.print(f"[{_STYLES[agreement]}]{sign}[/] {MEANINGS[agreement]}", highlight=False)
    if found.interpretations:
        lines.append("NaN, which the words of these readings do not mention")
        lines += [f"  {reading}: {what}" for reading, what in found.interpretations.items()]
    for line in lines:
        console.print(hanging(line, console.width, indent=2), markup=False, highlight=False, soft_wrap=True)


def _table(found: Matrix, heads: dict[str, str], *, with_answers: bool) -> Table:
    """A table of some readings, with the head of each: their signs, or with the answers as well."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    style = box.SIMPLE_HEAD if with_answers else None
    table = Table(box=style, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("class", *(("X, min, max", "expected") if with_answers else ()), *heads.values()):
        table.add_column(name, no_wrap=True)
    for row in found.rows:
        numbers = (f"{row.x}, {row.min}, {row.max}", row.due) if with_answers else ()
        cells = [
            Text(
                f"{SIGNS[cell.agreement]} {' or '.join(cell.answers) * with_answers}".rstrip(),
                style=_STYLES[cell.agreement],
            )
            for cell in row.cells
            if cell.reading in heads
        ]  # fmt: skip
        table.add_row(row.id, *numbers, *cells)
    return table


def _heads(found: Matrix, width: int) -> Iterator[dict[str, str]]:
    """The readings of each table that fits; ``cases`` is left out, and long names take two lines."""
    first = max(len(row.id) for row in found.rows)
    chosen: dict[str, str] = {}
    taken = first
    for id_ in found.titles:
        if id_ == "cases":
            continue
        head = id_.replace("-", "\n-", 1)
        wide = 1 + max(map(len, head.splitlines()))
        if chosen and taken + wide > width:
            yield chosen
            chosen, taken = {}, first
        chosen[id_] = head
        taken += wide
    yield chosen


def _answer_lines(found: Matrix) -> Iterator[str]:
    """For the numbers of each class, the answers of the readings that do not agree bit for bit."""
    yield ""
    yield "for X, min, max in the class: answers of the readings that do not agree bit for bit"
    for row in found.rows:
        by_answer: dict[str, list[str]] = {}
        for cell in row.cells:
            if cell.agreement != "bits":
                by_answer.setdefault(" or ".join(cell.answers), []).append(cell.reading)
        if by_answer:
            given = "; ".join(f"{answer} from {', '.join(who)}" for answer, who in by_answer.items())
            yield f"  {row.id}: {row.x}, {row.min}, {row.max}: expected {row.due}; {given}"


def _elsewhere(found: Matrix) -> Iterator[str]:
    """The differences that the numbers of a row do not show."""
    for row in found.rows:
        for cell in row.cells:
            other = cell.other
            if other is not None and (other.x, other.min, other.max) != (row.x, row.min, row.max):
                yield (
                    f"  {cell.reading} in {row.id}: X = {other.x}, min = {other.min}, max = {other.max}"
                    f" gives {other.answer}, expected {other.due}"
                )
