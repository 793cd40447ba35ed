"""Renders the float formats into Coq: the bits of each, and the numbers of the YAML as patterns of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import header
from sonnx_clip.language import tree
from sonnx_clip.language.values import encode, float_bits, identical
from sonnx_clip.language.walk import subtrees
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.readings import answers, same_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Case, Property, Reading, ValueClass


@dataclass(frozen=True)
class Fact:
    """A theorem about numbers of one format, proved by computing."""

    title: str
    name: str
    shows: tuple[str, ...]
    statement: str


def render_formats(spec: Spec) -> str:
    """The file of the float formats."""
    formats = []
    for etype in spec.types_of("float"):
        form = float_bits(etype)
        formats.append(
            {
                "id": etype.id,
                "width": etype.width,
                "fields": f"{form.significand - 1} {form.exponent}",
                "facts": [*_Format(spec, etype).facts()],
            }
        )
    return template("formats.v.j2").render(header=header(spec), formats=formats)


@dataclass(frozen=True)
class _Format:
    spec: Spec
    etype: ElementType

    def facts(self) -> Iterator[Fact]:
        entries: list[Case | ValueClass] = [*self.spec.cases, *self.spec.classes_of("float")]
        for entry in entries:
            given = self._numbers(entry.inhabited_by.texts())
            title, name = f"some input falls into {entry.id}", f"{entry.id}_inhabited"
            yield self._fact(title, name, (entry.id,), f"{entry.id} {given}")
        for p in self.spec.properties:
            if "float" in p.refuted_for:
                yield from self._refutation(p)
        for c in self.spec.constraints:
            if "float" in c.refuted_for:
                witness = c.refuted_for["float"]
                x = f"(fun _ : unit => {self._number(witness.X[0])})"
                given = f"unit {x} {self._number(witness.L)} {self._number(witness.M)}"
                yield self._fact(f"refuted: {c.title}", f"{c.id}_refuted", (c.id,), f"~ claim_{c.id} {given}")
        yield from self._differences()
        yield from self._examples()

    def _examples(self) -> Iterator[Fact]:
        for example in self.spec.examples:
            if example.family == "float" and self.etype.id not in example.not_representable_in:
                l, m = self._number(example.L), self._number(example.M)
                results = " /\\\n  ".join(
                    f"cases {self._number(x)} {l} {m} = {self._number(y)}"
                    for x, y in zip(example.X, example.Y, strict=True)
                )
                title, name = f"the worked example {example.id}", f"example_{example.id}"
                yield self._fact(title, name, (example.id,), results)

    def _differences(self) -> Iterator[Fact]:
        for reading in self.spec.readings:
            if "float" in reading.agrees:
                yield self._difference(reading, bitwise=False)
            if "float" in reading.agrees_bitwise:
                yield self._difference(reading, bitwise=True)

    def _refutation(self, p: Property) -> Iterator[Fact]:
        shows = (p.id, *p.shows)
        given = self._numbers(p.refuted_for["float"].texts())
        yield self._fact(f"refuted: {p.title}", f"{p.id}_refuted", shows, f"~ claim_{p.id} {given}")
        met = self._numbers(self._numbers_that_meet(p))
        title, name = f"some numbers meet the condition of: {p.title}", f"{p.id}_repaired_inhabited"
        yield self._fact(title, name, shows, f"condition_{p.id} {met}")

    def _difference(self, reading: Reading, *, bitwise: bool) -> Fact:
        """Where the file says that a reading differs, it allows an answer that is not what the cases say."""
        witness = (reading.differs_bitwise_at if bitwise else reading.differs_at)["float"]
        x, l, m = (encode(text, self.etype) for text in (witness.X, witness.L, witness.M))
        due = evaluator(self.spec, self.etype).clip(x, l, m)
        allowed = answers(self.spec, self.etype, reading, (x, l, m))
        found = (y for y in allowed if not (identical(y, due) if bitwise else same_value(y, due, self.etype)))
        other = next(found, due)  # were there no other answer, Coq would not accept this one
        kind, given = "_bitwise" * bitwise, " ".join(map(self._pattern, (x, l, m)))
        agrees = f"{self._pattern(other)} = cases {given}"
        if not bitwise:
            agrees = f"Clip.same {self._pattern(other)} (cases {given})"
        return self._fact(
            f"{reading.id} allows {'other bits' if bitwise else 'another value'} than the cases",
            f"{reading.word}_differs{kind}",
            (reading.id,),
            f"~ {reading.word}_region{kind} {given} /\\\n"
            f"  {reading.word}_returns {given} {self._pattern(other)} /\\ ~ ({agrees})",
        )

    def _fact(self, title: str, name: str, shows: tuple[str, ...], statement: str) -> Fact:
        return Fact(title[0].upper() + title[1:], f"{self.etype.id}_{name}", shows, statement)

    def _number(self, text: str) -> str:
        return self._pattern(encode(text, self.etype))

    def _pattern(self, pattern: Value) -> str:
        assert isinstance(pattern, int)
        return f"({self.etype.id} 0x{pattern:0{(self.etype.width or 0) // 4}x})"

    def _numbers(self, texts: Mapping[str, str]) -> str:
        names = [name for name in ("X", "X2", "L", "M") if name in texts]
        return " ".join(self._number(texts[name]) for name in names)

    def _numbers_that_meet(self, p: Property) -> dict[str, str]:
        """The first of the classes' witnesses that meets the condition under which a property holds."""
        second = any(isinstance(node, tree.Name) and node.id == "X2" for node in subtrees(p.claim))
        ask = evaluator(self.spec, self.etype)
        for c in self.spec.classes_of("float"):
            texts = {**c.inhabited_by.texts(), **({"X2": c.inhabited_by.X} if second else {})}
            if ask(p.repaired["float"], {name: encode(text, self.etype) for name, text in texts.items()}):
                return texts
        raise AssertionError("loading has found that some witness meets it")
