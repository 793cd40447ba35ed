"""Renders the float formats into Coq: the bits of each, and the numbers of the YAML as patterns of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.templating import CoqStatement, template
from sonnx_clip.backends.theory import header
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.claim import Written
from sonnx_clip.claims.nodes import variables_of
from sonnx_clip.language import show_bits, tree
from sonnx_clip.language.tree import conjuncts
from sonnx_clip.language.values import encode, float_bits, identical
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.readings import answers, same_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Reading


def render_formats(spec: Spec) -> str:
    """The file of the float formats: each claim at a witness is proved by computing."""
    formats = []
    for etype in spec.types_of("float"):
        form = float_bits(etype)
        fields = f"{form.significand - 1} {form.exponent}"
        facts = [*_Format(spec, etype).facts()]
        formats.append({"id": etype.id, "width": etype.width, "fields": fields, "facts": facts})
    return template("formats.v.j2").render(header=header(spec), formats=formats)


@dataclass(frozen=True)
class _Format:
    spec: Spec
    etype: ElementType

    def facts(self) -> Iterator[CoqStatement]:
        """The claims on single elements or constraints that hold at a witness."""
        spec, claims = self.spec, claims_of(self.spec, self.etype.id)
        properties, constraints, examples = (
            {e.id for e in section}
            for section in (spec.properties, spec.constraints, spec.examples)
        )
        yield from (self._inhabited(c) for c in claims if c.role == "inhabited")
        met = [c for c in claims if c.role in ("refuted", "repaired inhabited")]
        yield from (self._property(c) for c in met if c.shows[0] in properties)
        yield from (
            self._constraint(c) for c in met if c.role == "refuted" and c.shows[0] in constraints
        )
        for c in claims:
            if c.role == "differs":
                yield self._difference(
                    spec.reading(c.shows[0]), bitwise=c.name.endswith("_bitwise")
                )
        for c in claims:
            if c.role == "example" and c.shows[0] in examples:
                yield self._fact(c, " /\\\n  ".join(self._results(c)))

    def _inhabited(self, claim: Claim) -> CoqStatement:
        return self._fact(
            claim, f"{claim.shows[0]} {self._numbers(claim, self.spec.signature.ids)}"
        )

    def _property(self, claim: Claim) -> CoqStatement:
        """A property is refuted at numbers, or its condition is met by some."""
        id_, said = claim.shows[0], "~ claim" if claim.role == "refuted" else "condition"
        names = variables_of(self.spec.signature, self.spec.property(id_).claim)
        return self._fact(claim, f"{said}_{id_} {self._numbers(claim, names)}")

    def _constraint(self, claim: Claim) -> CoqStatement:
        signature = self.spec.signature
        numbers = ((name, self._given(claim.witness[name])) for name in signature.ids)
        operands = (
            f"(fun _ : unit => {n})" if name in signature.tensors else n for name, n in numbers
        )
        return self._fact(claim, f"~ claim_{claim.shows[0]} unit {' '.join(operands)}")

    def _results(self, claim: Claim) -> Iterator[str]:
        """The equations of a worked example."""
        assert not isinstance(claim.conclusion, Written)
        for part in conjuncts(claim.conclusion):
            if isinstance(part, tree.Call):
                result, y = part.arguments
                assert isinstance(result, tree.Call)
                operands = (
                    claim.witness[of.id] if isinstance(of, tree.Name) else of
                    for of in result.arguments
                )
                yield f"cases {' '.join(map(self._given, operands))} = {self._given(y)}"

    def _difference(self, reading: Reading, *, bitwise: bool) -> CoqStatement:
        """Where a reading differs according to the file, it allows an answer other than the cases."""
        texts = (reading.differs_bitwise_at if bitwise else reading.differs_at)["float"].texts()
        operands = tuple(encode(texts[name], self.etype) for name in self.spec.signature.ids)
        due = evaluator(self.spec, self.etype).result(*operands)
        allowed = answers(self.spec, self.etype, reading, operands)
        found = (
            y
            for y in allowed
            if not (identical(y, due) if bitwise else same_value(y, due, self.etype))
        )
        # Were there no other answer, Coq would not accept this one.
        other, given = self._pattern(next(found, due)), " ".join(map(self._pattern, operands))
        kind, what = ("_bitwise", "other bits") if bitwise else ("", "another value")
        agrees = f"{other} = cases {given}" if bitwise else f"Clip.same {other} (cases {given})"
        return CoqStatement(
            f"{reading.id.capitalize()} allows {what} than the cases",
            f"{self.etype.id}_{reading.word}_differs{kind}",
            f"~ {reading.word}_region{kind} {given} /\\\n"
            f"  {reading.word}_returns {given} {other} /\\ ~ ({agrees})",
            (reading.id,),
            "computed",
        )

    def _fact(self, claim: Claim, statement: str) -> CoqStatement:
        title = claim.title[0].upper() + claim.title[1:]
        return CoqStatement(
            title, f"{self.etype.id}_{claim.name}", statement, claim.shows, "computed"
        )

    def _numbers(self, claim: Claim, names: Iterable[str]) -> str:
        return " ".join(self._given(claim.witness[name]) for name in names)

    def _given(self, number: Expr) -> str:
        assert isinstance(number, tree.Number)
        return self._pattern(encode(number.text, self.etype))

    def _pattern(self, pattern: Value) -> str:
        return f"({self.etype.id} {show_bits(pattern, self.etype)})"
