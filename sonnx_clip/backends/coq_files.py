"""Renders spec/clip.yaml into Coq: a file for each family, and one for the bits of the float formats."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sonnx_clip.backends.coqformats import render_formats
from sonnx_clip.backends.coqreadings import render_readings
from sonnx_clip.backends.coqterm import (
    FOLDER,
    TACTIC,
    CoqPrinter,
    CoqStatement,
    check_names,
    computed,
    defined,
    of_result,
    preamble,
)
from sonnx_clip.backends.declared import definitions_beyond_readings
from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import header
from sonnx_clip.claims.meaning_claims import (
    case_claims,
    class_claims,
    property_claims,
)
from sonnx_clip.claims.nodes import variables_of
from sonnx_clip.claims.tensor_claims import constraint_claims
from sonnx_clip.language import tree
from sonnx_clip.language.scope import kind_of
from sonnx_clip.language.tree import subtrees

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.claims.claim import Claim, Role
    from sonnx_clip.language.scope import Head
    from sonnx_clip.language.types import FamilyId
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Constraint, Definition, Property


def render_coq(spec: Spec) -> dict[str, str]:
    """The Coq files by their path; UserError where an entry cannot be said of every format at once."""
    files = {
        f"{FOLDER}/{family.id.capitalize()}.v": FamilyFile(spec, family.id).text() for family in spec.families
    }
    return {**files, **render_readings(spec), f"{FOLDER}/Formats.v": render_formats(spec)}


def speaks_of_entries(constraint: Constraint) -> bool:
    """Whether a constraint speaks of entries alone, and not of shapes or element types."""
    outside = ("shape", "type")
    return not any(isinstance(n, tree.Call) and n.function in outside for n in subtrees(constraint.holds))


def _small(names: Iterable[str]) -> str:
    return " ".join(names).lower()


def _binders_of_tensors(head: Head) -> str:
    """The operands as functions of an index, and the scalars among them."""
    tensors = [f"({name.lower()} : index -> t)" for name in head.operands if name in head.tensors]
    scalars = [f"({_small(head.scalars)} : t)"] if head.scalars else []
    return " ".join(["(index : Type)", *tensors, *scalars])


@dataclass(frozen=True)
class FamilyFile:
    """Builds the file of one family."""

    spec: Spec
    family: FamilyId

    def text(self) -> str:
        """The whole file."""
        given = self.spec.head.arguments
        cases = [computed(self._printer(c.id), given, c.when, c.title) for c in self.spec.cases]
        definitions = [defined(self._printer(d.id), d) for d in self._stated()]
        classes = [
            computed(self._printer(c.id), given, c.when, "", f"{c.case} {given} && ")
            for c in self.spec.classes_of(self.family)
        ]
        claims = [*self._claims(), *self._tensor_claims()]
        *first, last = self.spec.cases
        result = "".join(f"if {c.id} {given} then {c.result.lower()} else\n" for c in first)
        order = [*claims, *classes, *reversed(definitions)]
        names = [d.name for d in order] + ["cases"] + [d.name for d in reversed(cases)]
        theorems = list(self._theorems())
        check_names(names, [t.name for t in theorems])
        return template("family.v.j2").render(
            header=header(self.spec),
            family=self.family,
            operands=given,
            preamble=preamble(self.family, self.family.capitalize()),
            tactic=TACTIC[self.family],
            cases=cases,
            definitions=definitions,
            classes=classes,
            claims=claims,
            result=result + last.result.lower(),
            names=names,
            opaque=self._opaque(),
            theorems=theorems,
        )

    def _printer(self, where: str) -> CoqPrinter:
        return CoqPrinter(self.family, where, self.spec.head)

    def _stated(self) -> tuple[Definition, ...]:
        # What only readings use stands in the file of the readings.
        return definitions_beyond_readings(self.spec)

    def _opaque(self) -> list[Definition]:
        """The conditions that rest on constants other than 0: to part the classes they need not be opened."""
        found: set[str] = set()
        for d in self._stated():
            rests = any(
                getattr(node, "constant", None) or (isinstance(node, tree.Use) and node.id in found)
                for node in subtrees(d.is_)
            )
            in_family = d.families is None or self.family in d.families
            if rests and in_family and kind_of(d.is_) is not tree.Kind.ELEMENT:
                found.add(d.id)
        return [d for d in self._stated() if d.id in found]

    # --- Definitions ----------------------------------------------------------------------------------

    def _claims(self) -> Iterator[CoqStatement]:
        for p in self._spoken_of():
            printer, variables = self._printer(p.id), _small(variables_of(self.spec.head, p.claim))
            body = of_result(self.spec.head, p.claim, printer.proposition(p.claim))
            yield CoqStatement(p.title, f"claim_{p.id}", f"claim_{p.id} ({variables} : t) : Prop", body)
            if self.family in p.repaired:
                body = printer.proposition(p.repaired[self.family])
                title, name = f"The condition of: {p.title}", f"condition_{p.id}"
                yield CoqStatement(title, name, f"{name} ({variables} : t) : Prop", body)

    def _tensor_claims(self) -> Iterator[CoqStatement]:
        head = self.spec.head
        tensors = f"{_binders_of_tensors(head)} : Prop"
        entries = _small(f"({name} i)" if name in head.tensors else name for name in head.operands)
        for c in self._entrywise():
            printer = self._printer(c.id)
            body = f"let y := fun i => cases {entries} in\n  " + printer.proposition(c.holds)
            yield CoqStatement(c.title, f"claim_{c.id}", f"claim_{c.id} {tensors}", body)
            if self.family in c.repaired:
                body = printer.proposition(c.repaired[self.family])
                title, name = f"The condition of: {c.title}", f"condition_{c.id}"
                yield CoqStatement(title, name, f"{name} {tensors}", body)

    def _spoken_of(self) -> list[Property]:
        return [p for p in self.spec.properties if self.family in p.families]

    def _entrywise(self) -> list[Constraint]:
        return [c for c in self.spec.constraints if self.family in c.families and speaks_of_entries(c)]

    # --- Theorems -------------------------------------------------------------------------------------

    def _theorems(self) -> Iterator[CoqStatement]:
        """What is claimed of every type of the family alike, in the words of its first one."""
        for claim in claims_of_family(self.spec, self.family):
            yield CoqStatement(
                claim.title[0].upper() + claim.title[1:],
                theorem_name(claim),
                statement=self._statement(claim),
                shows=claim.shows,
                proof=self._proof(claim),
            )

    def _statement(self, claim: Claim) -> str:
        head, id_ = self.spec.head, claim.shows[0]
        given, every = head.arguments, f"forall {head.arguments} : t"
        match claim.role:
            case "written":
                return f"{every}, cases {given} = Clip.clip {given}"
            case "complete" if claim.name == "cases_complete":
                return f"{every}, {_one_of(claim.shows, given)}"
            case "disjoint" if claim.name == "cases_disjoint":
                return f"{every},\n  {_no_two_of(claim.shows, given)}"
            case "complete":
                return f"{every}, {id_} {given} ->\n  {_one_of(claim.shows[1:], given)}"
            case "disjoint":
                return f"{every},\n  {_no_two_of(claim.shows[1:], given)}"
        condition = f"condition_{id_}" if claim.role == "repaired" else ""
        if self._is_of_tensors(claim):
            every, variables, end = f"forall {_binders_of_tensors(head)}", f"index {given}", ",\n  "
        else:
            variables = _small(variables_of(head, self.spec.property(id_).claim))
            every, end = f"forall {variables} : t", ", "
        premise = f"{condition} {variables} -> " if condition else ""
        return f"{every}{end}{premise}claim_{id_} {variables}"

    def _is_of_tensors(self, claim: Claim) -> bool:
        return any(c.id == claim.shows[0] for c in self.spec.constraints)

    def _proof(self, claim: Claim) -> str:
        if self._is_of_tensors(claim):
            given = self.spec.head.arguments
            return f"intros index {given}; unfolded; by_entries {' '.join(given.split()[::-1])}; decided"
        if claim.role == "written":
            return "unfold Clip.clip; decided"
        of_classes = claim.name not in ("cases_complete", "cases_disjoint")
        return claim.role if claim.role in ("complete", "disjoint") and of_classes else "decided"


def claims_of_family(spec: Spec, family: FamilyId) -> Iterator[Claim]:
    """The claims that are stated of every element type of a family alike, in the order of the file.

    Those at a witness are stated of each float format (coqformats.py), and those on readings elsewhere
    (coqreadings.py).
    """
    etype = spec.types_of(family)[0]
    order: tuple[Role, ...] = ("written", "complete", "disjoint")
    of_cases = [c for c in case_claims(spec, etype) if c.role in order]
    yield from sorted(of_cases, key=lambda c: order.index(c.role))
    yield from (c for c in class_claims(spec, etype) if c.role in order)
    yield from (c for c in property_claims(spec, etype) if c.role in ("holds", "repaired"))
    entrywise = {c.id for c in spec.constraints if speaks_of_entries(c)}
    for claim in constraint_claims(spec, etype):
        if claim.role in ("holds", "repaired") and claim.shows[0] in entrywise:
            yield claim


def theorem_name(claim: Claim) -> str:
    """What the theorem of a claim is called: as its goal, but where that speaks of WhyML's order."""
    return "cases_are_clip" if claim.role == "written" else claim.name


def _one_of(ids: tuple[str, ...], given: str) -> str:
    return " \\/ ".join(f"{id_} {given}" for id_ in ids)


def _no_two_of(ids: tuple[str, ...], given: str) -> str:
    return " /\\\n  ".join(f"~ ({a} {given} /\\ {b} {given})" for a, b in combinations(ids, 2))
