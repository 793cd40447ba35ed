"""The matrix of readings and classes: each reading's answers, and whether it agrees in the whole class."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import Field

from sonnx_clip.language.show import show
from sonnx_clip.language.special import FEW
from sonnx_clip.language.values import encode, identical
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.terminal import hanging
from sonnx_clip.spec.evaluate import evaluator
from sonnx_clip.spec.readings import agrees, answers, answers_told, same_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Interpretation, Reading
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


class ReadingCell(Stored):
    """A reading in a class: its `answers` at the numbers of the row.

    `elsewhere` has numbers of the class for which it allows a wrong answer, if it does not agree bit for bit.
    """

    reading: str
    agreement: Agreement
    answers: tuple[str, ...]
    elsewhere: str | None


class ReadingsRow(Stored, extra="allow"):
    """A class, the expected result, and as further keys the operands that the specification gives for it."""

    __pydantic_extra__: dict[str, str] = Field(init=False)

    id: str
    case: str
    due: str
    cells: tuple[ReadingCell, ...]

    @property
    def operands(self) -> tuple[str, ...]:
        """The operands, in their order."""
        return tuple((self.__pydantic_extra__ or {}).values())


class Matrix(Stored):
    """All readings in all classes of an element type.

    `interpretations` say, for a float type, how readings treat NaN where their words are silent.
    """

    type: str
    operands: tuple[str, ...]
    titles: dict[str, str]
    interpretations: dict[str, str]
    rows: tuple[ReadingsRow, ...]


def matrix(spec: Spec, etype: ElementType) -> Matrix:
    """The matrix of an element type, ``real`` too."""
    samples = _samples(spec, etype)
    keys = spec.signature.keys
    rows = []
    for klass in spec.classes_of(etype.family):
        samples_of_class = samples[klass.id]
        # The witness of the file comes first: the row shows the answers there.
        triple, texts = next(iter(samples_of_class.items()))
        cells = [_cell(spec, etype, reading, samples_of_class) for reading in spec.readings]
        expected = evaluator(spec, etype).result(*triple)
        operands = dict(zip(keys, texts, strict=True))
        # Operands first, by names that only the specification knows: validation takes them as
        # further keys.
        row = {
            **operands,
            "id": klass.id,
            "case": klass.case,
            "due": show(expected, etype),
            "cells": tuple(cells),
        }
        rows.append(ReadingsRow.model_validate(row))

    interpretations = {}
    if etype.family == "float":  # only there is a NaN to interpret
        for reading in spec.readings:
            if reading.interpretation is not None:
                interpretations[reading.id] = interpreted(reading.interpretation)
    return Matrix(
        type=etype.id,
        operands=spec.signature.shown,
        titles={reading.id: reading.title for reading in spec.readings},
        interpretations=interpretations,
        rows=tuple(rows),
    )


def _samples(spec: Spec, etype: ElementType) -> dict[str, Samples]:
    """The triples tried in each class, with their texts: first that of the file."""
    classes = spec.classes_of(etype.family)
    tried = []
    for klass in classes:
        witness = klass.inhabited_by.texts()
        tried.append(tuple(witness.values()))
    few = FEW[etype.family]
    # Few numbers, since every triple of them is evaluated in each of the readings.
    tried += product(few, repeat=len(spec.signature.operands))

    samples: dict[str, Samples] = {klass.id: {} for klass in classes}
    for texts in tried:
        triple = tuple(encode(text, etype) for text in texts)
        klass = evaluator(spec, etype).class_of(*triple)
        # The first text of a triple stays: that of a witness is as the file writes it.
        samples[klass.id].setdefault(triple, texts)
    return samples


def _cell(spec: Spec, etype: ElementType, reading: Reading, samples: Samples) -> ReadingCell:
    """A reading in a class, judged by the regions of agreement that the file states."""
    first_triple = next(iter(samples))
    numbers, any_nan = answers_told(spec, etype, reading, first_triple)
    shown = [show(number, etype) for number in numbers]
    if any_nan:
        shown.append("any nan")

    # Values first: where they differ, so do the bits.
    agreement: Agreement = "differs"
    elsewhere = _other(spec, etype, reading, samples, bitwise=False)
    if elsewhere is None:
        elsewhere = _other(spec, etype, reading, samples, bitwise=True)
        agreement = "bits" if elsewhere is None else "values"
    return ReadingCell(
        reading=reading.id,
        agreement=agreement,
        answers=tuple(shown),
        elsewhere=elsewhere,
    )


def _other(
    spec: Spec, etype: ElementType, reading: Reading, samples: Samples, *, bitwise: bool
) -> str | None:
    """The first of the samples for which a reading allows another answer than that of the cases."""
    # A family without a region agrees everywhere, which is proved.
    if etype.family not in reading.regions(bitwise=bitwise):
        return None
    for triple, texts in samples.items():
        if agrees(spec, etype, reading, triple, bitwise=bitwise):
            continue
        # Of several answers that a reading allows, some may be right.
        expected = evaluator(spec, etype).result(*triple)
        for answer in answers(spec, etype, reading, triple):
            is_right = same_value(answer, expected, etype)
            if bitwise:
                is_right = identical(answer, expected)
            if not is_right:
                numbers = named_numbers(spec.signature.shown, texts)
                difference = f"{show(answer, etype)}, expected {show(expected, etype)}"
                return f"{numbers} gives {difference}"
    return None


def named_numbers(names: Sequence[str], texts: Sequence[str]) -> str:
    """``X = 1, min = 0, max = 2``."""
    pairs = zip(names, texts, strict=True)
    return ", ".join(f"{name} = {text}" for name, text in pairs)


def matrix_text(table: Matrix, width: int | None = None) -> str:
    """A matrix as lines of text, wrapped at `width` columns or whole: readings with one answer together."""
    names = ", ".join(table.operands)
    lines = [f"{table.type}: answers of the readings in each class, at {names}"]
    for agreement, meaning in MEANINGS.items():
        lines.append(f"  {SIGNS[agreement]} {meaning}")
    for row in table.rows:
        lines += _row_lines(table, row)
    if table.interpretations:
        lines.append("NaN, which the words of these readings do not mention")
    for reading, interpretation in table.interpretations.items():
        lines.append(f"  {reading}: {interpretation}")
    return "\n".join(hanging(line, width, indent=4) for line in lines)


def _row_lines(table: Matrix, row: ReadingsRow) -> Iterator[str]:
    """The lines of a class: readings with one answer and one sign share a line."""
    operands = ", ".join(row.operands)
    yield f"{row.id}: {operands}; expected {row.due}"
    readings: defaultdict[str, list[str]] = defaultdict(list)
    for cell in row.cells:
        sign = SIGNS[cell.agreement]
        answers = " or ".join(cell.answers)
        readings[f"{sign} {answers}"].append(cell.reading)
    for answer, names in readings.items():
        yield f"  {answer}: {', '.join(names)}"

    # A wrong answer at the numbers of the row is already in the lines above.
    numbers_of_row = named_numbers(table.operands, row.operands)
    at_row = f"{numbers_of_row} gives"
    for cell in row.cells:
        if cell.elsewhere and not cell.elsewhere.startswith(at_row):
            yield f"    {cell.reading}: {cell.elsewhere}"


def shown_by(interpretation: Interpretation) -> str:
    """What supports an interpretation of words that are silent on NaN."""
    if interpretation.ran is None:
        return "no run"
    return f"runs of {interpretation.ran} in spec/measured/runtimes.json, whose answers it allows"


def interpreted(interpretation: Interpretation) -> str:
    """An interpretation in a line."""
    support = shown_by(interpretation)
    return (
        f"chosen: {interpretation.ours}. Alternative: {interpretation.alternative}. "
        f"Supported by: {support}"
    )
