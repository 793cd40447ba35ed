"""Renders readings by class: where each has the bits or the values of the cases, and where not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.goal import Goal
from sonnx_clip.backends.whyml_printer import Printer
from sonnx_clip.spec.reading_classes import reading_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Reading
    from sonnx_clip.spec.reading_classes import Difference


@dataclass(frozen=True)
class ClassGoals:
    """Builds the goals on readings by class of one element type."""

    spec: Spec
    etype: ElementType

    def all(self) -> Iterator[Goal]:
        """What each reading does in the classes, by value and then bit for bit."""
        for reading in self.spec.readings:
            for bitwise in (False, True):
                if self.etype.family in reading.regions(bitwise=bitwise):
                    yield from self._of(reading, bitwise=bitwise)

    def _of(self, reading: Reading, *, bitwise: bool) -> Iterator[Goal]:
        kind = "bits" if bitwise else "values"
        same, other = [], []
        for found in reading_classes(self.spec, self.etype.family):
            if found.reading == reading.id:
                difference = found.difference(bitwise=bitwise)
                if difference is None:
                    same.append(f"{found.klass} x l m")
                else:
                    other.append(self._differs(reading, found.klass, difference, bitwise=bitwise))
        agrees = _agrees("y", bitwise=bitwise)
        if same:
            lies = " \\/ ".join(same)
            yield Goal(
                f"{reading.word}_same_{kind}_in_classes", "theorem", (reading.id,),
                f"in {_classes(len(same))} {reading.id} has the {kind} of the cases",
                f"forall x l m y: t. ({lies}) -> {reading.word}_returns x l m y -> {agrees}",
            )  # fmt: skip
        if other:
            yield Goal(
                f"{reading.word}_other_{kind}_in_classes", "theorem", (reading.id,),
                f"in {_classes(len(other))} {reading.id} allows other {kind} somewhere",
                " /\\ ".join(f"({part})" for part in other),
            )  # fmt: skip

    def _differs(self, reading: Reading, klass: str, found: Difference, *, bitwise: bool) -> str:
        literal = Printer(self.etype, {}).literal
        numbers = dict(zip("xlm", map(literal, found.at), strict=True))
        answer = numbers.get(found.answer.lower()) or literal(found.answer)
        lets = " ".join(f"let {name} = {value} in" for name, value in {**numbers, "y": answer}.items())
        return (
            f"{lets} {klass} x l m /\\ {reading.word}_returns x l m y"
            f" /\\ not ({_agrees('y', bitwise=bitwise)})"
        )


def _agrees(y: str, *, bitwise: bool) -> str:
    return f"{y} = cases x l m" if bitwise else f"same_value {y} (cases x l m)"


def _classes(count: int) -> str:
    return "1 class" if count == 1 else f"{count} classes"
