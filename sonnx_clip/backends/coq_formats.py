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
from sonnx_clip.root.terminal import capitalised
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.readings import answers, same_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec import Spec


def render_formats(spec: Spec) -> str:
    """The file of the float formats: each claim at a witness is proved by computing."""
    formats = []
    for etype in spec.types_of("float"):
        form = float_bits(etype)
        formats.append(
            {
                "id": etype.id,
                "width": etype.width,
                "fields": f"{form.significand - 1} {form.exponent}",
                "facts": list(_Format(spec, etype).facts()),
            }
        )
    return template("formats.v.j2").render(header=header(spec), formats=formats)


@dataclass(frozen=True)
class _Format:
    spec: Spec
    etype: ElementType

    def facts(self) -> Iterator[CoqStatement]:
        """The claims on single elements or constraints that hold at a witness."""
        # A role is shared by claims on several sections, which are told apart by their entries.
        properties = {entry.id for entry in self.spec.properties}
        constraints = {entry.id for entry in self.spec.constraints}
        examples = {entry.id for entry in self.spec.examples}
        inhabited = []
        of_properties = []
        of_constraints = []
        differences = []
        worked = []
        for claim in claims_of(self.spec, self.etype.id):
            entry = claim.shows[0]
            match claim.role:
                case "inhabited":
                    inhabited.append(self._inhabited(claim))
                case "refuted" | "repaired inhabited" if entry in properties:
                    of_properties.append(self._property(claim))
                case "refuted" if entry in constraints:
                    of_constraints.append(self._constraint(claim))
                case "differs":
                    differences.append(self._difference(claim))
                # Examples of dialects have this role too, and Coq has no dialects.
                case "example" if entry in examples:
                    worked.append(self._example(claim))
        # Sort by sort, as in the file: the claims themselves are in the order of the theories.
        yield from (*inhabited, *of_properties, *of_constraints, *differences, *worked)

    def _inhabited(self, claim: Claim) -> CoqStatement:
        numbers = self._numbers(claim, self.spec.signature.ids)
        return self._fact(claim, f"{claim.shows[0]} {numbers}")

    def _property(self, claim: Claim) -> CoqStatement:
        """A property is refuted at numbers, or its condition is met by some."""
        id_ = claim.shows[0]
        predicate = "~ claim" if claim.role == "refuted" else "condition"
        names = variables_of(self.spec.signature, self.spec.property(id_).claim)
        return self._fact(claim, f"{predicate}_{id_} {self._numbers(claim, names)}")

    def _constraint(self, claim: Claim) -> CoqStatement:
        signature = self.spec.signature
        operands = []
        for name in signature.ids:
            number = self._given(claim.witness[name])
            # A tensor of one entry: a function of an index that has one value.
            is_tensor = name in signature.tensors
            operands.append(f"(fun _ : unit => {number})" if is_tensor else number)
        arguments = " ".join(operands)
        return self._fact(claim, f"~ claim_{claim.shows[0]} unit {arguments}")

    def _example(self, claim: Claim) -> CoqStatement:
        """A worked example: the conjunction of its equations."""
        return self._fact(claim, " /\\\n  ".join(self._results(claim)))

    def _results(self, claim: Claim) -> Iterator[str]:
        """The equations of a worked example."""
        assert not isinstance(claim.conclusion, Written)
        for equation in conjuncts(claim.conclusion):
            if not isinstance(equation, tree.Call):
                continue
            result, y = equation.arguments
            assert isinstance(result, tree.Call)
            numbers = []
            for argument in result.arguments:
                # An entry of a tensor is a number in the claim; a scalar is in its witness.
                if isinstance(argument, tree.Name):
                    numbers.append(self._given(claim.witness[argument.id]))
                else:
                    numbers.append(self._given(argument))
            yield f"cases {' '.join(numbers)} = {self._given(y)}"

    def _difference(self, claim: Claim) -> CoqStatement:
        """Where a reading differs according to the file, it allows an answer other than the cases."""
        reading = self.spec.reading(claim.shows[0])
        bitwise = claim.name.endswith("_bitwise")
        witnesses = reading.differs_bitwise_at if bitwise else reading.differs_at
        texts = witnesses["float"].texts()
        operands = tuple(encode(texts[name], self.etype) for name in self.spec.signature.ids)
        # Coq needs a particular answer; the claim of Why3 leaves open which one it is.
        expected = evaluator(self.spec, self.etype).result(*operands)
        other = expected  # were there no other answer, Coq would not accept this one
        for answer in answers(self.spec, self.etype, reading, operands):
            has_same_bits = identical(answer, expected)
            has_same_value = same_value(answer, expected, self.etype)
            agrees_there = has_same_bits if bitwise else has_same_value
            if not agrees_there:
                other = answer
                break

        numbers = " ".join(map(self._pattern, operands))
        shown = self._pattern(other)
        if bitwise:
            kind = "_bitwise"
            difference = "other bits"
            agrees = f"{shown} = cases {numbers}"
        else:
            kind = ""
            difference = "another value"
            agrees = f"Clip.same {shown} (cases {numbers})"
        word = reading.word
        return CoqStatement(
            title=f"{reading.id.capitalize()} allows {difference} than the cases",
            name=f"{self.etype.id}_{word}_differs{kind}",
            body=f"~ {word}_region{kind} {numbers} /\\\n"
            f"  {word}_returns {numbers} {shown} /\\ ~ ({agrees})",
            shows=(reading.id,),
            proof="computed",
        )

    def _fact(self, claim: Claim, statement: str) -> CoqStatement:
        return CoqStatement(
            title=capitalised(claim.title),
            name=f"{self.etype.id}_{claim.name}",
            body=statement,
            shows=claim.shows,
            proof="computed",
        )

    def _numbers(self, claim: Claim, names: Iterable[str]) -> str:
        return " ".join(self._given(claim.witness[name]) for name in names)

    def _given(self, number: Expr) -> str:
        assert isinstance(number, tree.Number)
        return self._pattern(encode(number.text, self.etype))

    def _pattern(self, pattern: Value) -> str:
        return f"({self.etype.id} {show_bits(pattern, self.etype)})"
