"""The matrix of readings and classes: each reading's answers, and whether it agrees in the whole class."""

from __future__ import annotations

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
    from collections.abc import Sequence

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
        triple, texts = next(iter(samples[klass.id].items()))
        due = evaluator(spec, etype).result(*triple)
        cells = tuple(_cell(spec, etype, reading, samples[klass.id]) for reading in spec.readings)
        operands = dict(zip(keys, texts, strict=True))
        row = {"id": klass.id, "case": klass.case, "due": show(due, etype), "cells": cells}
        rows.append(ReadingsRow.model_validate({**row, **operands}))
    given = {
        r.id: interpreted(r.interpretation) for r in spec.readings if r.interpretation is not None
    }
    return Matrix(
        type=etype.id,
        operands=spec.signature.shown,
        titles={reading.id: reading.title for reading in spec.readings},
        interpretations=given if etype.family == "float" else {},
        rows=tuple(rows),
    )


def _samples(spec: Spec, etype: ElementType) -> dict[str, Samples]:
    """The triples tried in each class, with their texts: first that of the file."""
    families = spec.classes_of(etype.family)
    given = [tuple(klass.inhabited_by.texts().values()) for klass in families]
    found: dict[str, Samples] = {klass.id: {} for klass in families}
    for texts in (*given, *product(FEW[etype.family], repeat=len(spec.signature.operands))):
        triple = tuple(encode(text, etype) for text in texts)
        found[evaluator(spec, etype).class_of(*triple).id].setdefault(triple, texts)
    return found


def _cell(spec: Spec, etype: ElementType, reading: Reading, samples: Samples) -> ReadingCell:
    numbers, any_nan = answers_told(spec, etype, reading, next(iter(samples)))
    told = (*(show(y, etype) for y in numbers), *(["any nan"] if any_nan else []))
    other_value = _other(spec, etype, reading, samples, bitwise=False)
    other = other_value or _other(spec, etype, reading, samples, bitwise=True)
    agreement: Agreement = "differs" if other_value else "values" if other else "bits"
    return ReadingCell(reading=reading.id, agreement=agreement, answers=told, elsewhere=other)


def _other(
    spec: Spec, etype: ElementType, reading: Reading, samples: Samples, *, bitwise: bool
) -> str | None:
    """The first of the samples for which a reading allows another answer than that of the cases."""
    if etype.family not in reading.regions(bitwise=bitwise):
        return None
    for triple, texts in samples.items():
        if agrees(spec, etype, reading, triple, bitwise=bitwise):
            continue
        due = evaluator(spec, etype).result(*triple)
        for y in answers(spec, etype, reading, triple):
            if not (identical(y, due) if bitwise else same_value(y, due, etype)):
                answer, expected = show(y, etype), show(due, etype)
                numbers = named_numbers(spec.signature.shown, texts)
                return f"{numbers} gives {answer}, expected {expected}"
    return None


def named_numbers(names: Sequence[str], texts: Sequence[str]) -> str:
    """``X = 1, min = 0, max = 2``."""
    return ", ".join(f"{name} = {text}" for name, text in zip(names, texts, strict=True))


def matrix_text(found: Matrix, width: int | None = None) -> str:
    """A matrix as lines of text, wrapped at `width` columns or whole: readings with one answer together."""
    lines = [f"{found.type}: answers of the readings in each class, at {', '.join(found.operands)}"]
    lines += [f"  {SIGNS[agreement]} {words}" for agreement, words in MEANINGS.items()]
    for row in found.rows:
        lines.append(f"{row.id}: {', '.join(row.operands)}; expected {row.due}")
        together: dict[tuple[str, str], list[str]] = {}
        for cell in row.cells:
            together.setdefault((SIGNS[cell.agreement], " or ".join(cell.answers)), []).append(
                cell.reading
            )
        lines += [
            f"  {sign} {answer}: {', '.join(names)}" for (sign, answer), names in together.items()
        ]
        here = f"{named_numbers(found.operands, row.operands)} gives"
        elsewhere = [
            cell for cell in row.cells if cell.elsewhere and not cell.elsewhere.startswith(here)
        ]
        lines += [f"    {cell.reading}: {cell.elsewhere}" for cell in elsewhere]
    if found.interpretations:
        lines.append("NaN, which the words of these readings do not mention")
        lines += [f"  {reading}: {words}" for reading, words in found.interpretations.items()]
    return "\n".join(hanging(line, width, indent=4) for line in lines)


def shown_by(one: Interpretation) -> str:
    """What supports an interpretation of words that are silent on NaN."""
    runs = f"runs of {one.ran} in spec/measured/runtimes.json, whose answers it allows"
    return "no run" if one.ran is None else runs


def interpreted(one: Interpretation) -> str:
    """An interpretation in a line."""
    return f"chosen: {one.ours}. Alternative: {one.alternative}. Supported by: {shown_by(one)}"
