"""Renders the float formats into Coq: the bits of each, and the numbers of the YAML as patterns of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import header
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.claim import Written
from sonnx_clip.claims.nodes import variables_of
from sonnx_clip.language import tree
from sonnx_clip.language.tree import conjuncts
from sonnx_clip.language.values import encode, float_bits, identical
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.readings import answers, same_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Reading


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
        """What has numbers: each claim on single elements or constraints that is said at a witness."""
        claims = claims_of(self.spec, self.etype.id)
        yield from (self._inhabited(c) for c in claims if c.role == "inhabited")
        stated = {p.id for p in self.spec.properties}
        yield from (
            self._at(c)
            for c in claims
            if c.role in ("refuted", "repaired inhabited") and c.shows[0] in stated
        )
        constraints = {c.id for c in self.spec.constraints}
        yield from (self._refuted(c) for c in claims if c.role == "refuted" and c.shows[0] in constraints)
        readings = {r.id: r for r in self.spec.readings}
        for c in claims:
            if c.role == "differs":
                yield self._difference(readings[c.shows[0]], bitwise=c.aspect == "bits")
        examples = {e.id for e in self.spec.examples}
        yield from (self._example(c) for c in claims if c.role == "example" and c.shows[0] in examples)

    def _inhabited(self, claim: Claim) -> Fact:
        return self._fact(claim, f"{claim.shows[0]} {self._numbers(claim, self.spec.head.operands)}")

    def _at(self, claim: Claim) -> Fact:
        """A property is refuted at numbers, or its condition is met by some."""
        id_ = claim.shows[0]
        names = variables_of(self.spec.head, self.spec.property(id_).claim)
        said = f"~ claim_{id_}" if claim.role == "refuted" else f"condition_{id_}"
        return self._fact(claim, f"{said} {self._numbers(claim, names)}")

    def _refuted(self, claim: Claim) -> Fact:
        head = self.spec.head
        operands = (
            f"(fun _ : unit => {number})" if name in head.tensors else number
            for name in head.operands
            for number in [self._given(claim.witness[name])]
        )
        return self._fact(claim, f"~ claim_{claim.shows[0]} unit {' '.join(operands)}")

    def _example(self, claim: Claim) -> Fact:
        assert not isinstance(claim.conclusion, Written)
        pairs = [
            (
                " ".join(
                    self._given(claim.witness[of.id] if isinstance(of, tree.Name) else of)
                    for of in result.arguments
                ),
                y,
            )
            for part in conjuncts(claim.conclusion)
            if isinstance(part, tree.Call)
            for result, y in [part.arguments]
            if isinstance(result, tree.Call)
        ]
        results = (f"cases {operands} = {self._given(y)}" for operands, y in pairs)
        return self._fact(claim, " /\\\n  ".join(results))

    def _difference(self, reading: Reading, *, bitwise: bool) -> Fact:
        """Where the file says that a reading differs, it allows an answer that is not what the cases say."""
        witness = (reading.differs_bitwise_at if bitwise else reading.differs_at)["float"]
        texts = witness.texts()
        operands = tuple(encode(texts[name], self.etype) for name in self.spec.head.operands)
        due = evaluator(self.spec, self.etype).result(*operands)
        allowed = answers(self.spec, self.etype, reading, operands)
        found = (y for y in allowed if not (identical(y, due) if bitwise else same_value(y, due, self.etype)))
        other = next(found, due)  # were there no other answer, Coq would not accept this one
        kind, given = "_bitwise" * bitwise, " ".join(map(self._pattern, operands))
        agrees = f"{self._pattern(other)} = cases {given}"
        if not bitwise:
            agrees = f"Clip.same {self._pattern(other)} (cases {given})"
        return self._named(
            f"{reading.id} allows {'other bits' if bitwise else 'another value'} than the cases",
            f"{reading.word}_differs{kind}",
            (reading.id,),
            f"~ {reading.word}_region{kind} {given} /\\\n"
            f"  {reading.word}_returns {given} {self._pattern(other)} /\\ ~ ({agrees})",
        )

    def _fact(self, claim: Claim, statement: str) -> Fact:
        return self._named(claim.title, claim.name, claim.shows, statement)

    def _named(self, title: str, name: str, shows: tuple[str, ...], statement: str) -> Fact:
        return Fact(title[0].upper() + title[1:], f"{self.etype.id}_{name}", shows, statement)

    def _given(self, number: Expr) -> str:
        assert isinstance(number, tree.Number)
        return self._pattern(encode(number.text, self.etype))

    def _pattern(self, pattern: Value) -> str:
        assert isinstance(pattern, int)
        return f"({self.etype.id} 0x{pattern:0{(self.etype.width or 0) // 4}x})"

    def _numbers(self, claim: Claim, names: tuple[str, ...]) -> str:
        return " ".join(self._given(claim.witness[name]) for name in names)
