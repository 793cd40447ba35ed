"""Renders spec/clip.yaml into Coq: a file for each family, and one for the bits of the float formats."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sonnx_clip.backends.coqformats import render_formats
from sonnx_clip.backends.coqparts import (
    ALL,
    FOLDER,
    TACTIC,
    TRIPLE,
    Statement,
    check_names,
    computed,
    defined,
    preamble,
)
from sonnx_clip.backends.coqreadings import render_readings
from sonnx_clip.backends.coqterm import CoqPrinter
from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import header
from sonnx_clip.backends.why3 import definitions_beyond_readings
from sonnx_clip.language import tree
from sonnx_clip.language.scope import kind_of
from sonnx_clip.language.walk import subtrees

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def variables_of(p: Property) -> str:
    """The variables of a property's claim, as Coq binds them."""
    second = any(isinstance(node, tree.Name) and node.id == "X2" for node in subtrees(p.claim))
    return "x x2 l m" if second else TRIPLE


@dataclass(frozen=True)
class FamilyFile:
    """Builds the file of one family."""

    spec: Spec
    family: FamilyId

    def text(self) -> str:
        """The whole file."""
        cases = [computed(self.family, c.id, TRIPLE, c.when, c.title) for c in self.spec.cases]
        definitions = [defined(self.family, d) for d in self._stated()]
        classes = [
            computed(self.family, c.id, TRIPLE, c.when, "", f"{c.case} x l m && ")
            for c in self.spec.classes_of(self.family)
        ]
        claims = [*self._claims(), *self._tensor_claims()]
        *first, last = self.spec.cases
        result = "".join(f"if {c.id} x l m then {c.result.lower()} else\n" for c in first)
        order = [*claims, *classes, *reversed(definitions)]
        names = [d.name for d in order] + ["cases"] + [d.name for d in reversed(cases)]
        theorems = [*self._cases(), *self._classes(), *self._properties(), *self._constraints()]
        check_names(names, [t.name for t in theorems])
        return template("family.v.j2").render(
            header=header(self.spec),
            family=self.family,
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

    def _stated(self) -> tuple[Definition, ...]:
        # What only readings use stands in the file of the readings.
        return definitions_beyond_readings(self.spec)

    def _opaque(self) -> list[Definition]:
        """The conditions that rest on constants other than 0: to part the classes they need not be opened."""
        found: set[str] = set()
        for d in self._stated():
            rests = any(
                isinstance(node, tree.Constant) or (isinstance(node, tree.Use) and node.id in found)
                for node in subtrees(d.is_)
            )
            in_family = d.families is None or self.family in d.families
            if rests and in_family and kind_of(d.is_) is not tree.Kind.ELEMENT:
                found.add(d.id)
        return [d for d in self._stated() if d.id in found]

    # --- Definitions ----------------------------------------------------------------------------------

    def _claims(self) -> Iterator[Statement]:
        for p in self._spoken_of():
            printer, variables = CoqPrinter(self.family, p.id), variables_of(p)
            uses_y = any(isinstance(node, tree.Name) and node.id == "Y" for node in subtrees(p.claim))
            body = ("let y := cases x l m in\n  " if uses_y else "") + printer.proposition(p.claim)
            yield Statement(p.title, f"claim_{p.id}", f"claim_{p.id} ({variables} : t) : Prop", body)
            if self.family in p.repaired:
                body = printer.proposition(p.repaired[self.family])
                title, name = f"The condition of: {p.title}", f"condition_{p.id}"
                yield Statement(title, name, f"{name} ({variables} : t) : Prop", body)

    def _tensor_claims(self) -> Iterator[Statement]:
        tensors = "(index : Type) (x : index -> t) (l m : t) : Prop"
        for c in self._entrywise():
            printer = CoqPrinter(self.family, c.id)
            body = "let y := fun i => cases (x i) l m in\n  " + printer.proposition(c.holds)
            yield Statement(c.title, f"claim_{c.id}", f"claim_{c.id} {tensors}", body)
            if self.family in c.repaired:
                body = printer.proposition(c.repaired[self.family])
                title, name = f"The condition of: {c.title}", f"condition_{c.id}"
                yield Statement(title, name, f"{name} {tensors}", body)

    def _spoken_of(self) -> list[Property]:
        return [p for p in self.spec.properties if self.family in p.families]

    def _entrywise(self) -> list[Constraint]:
        return [c for c in self.spec.constraints if self.family in c.families and speaks_of_entries(c)]

    # --- Theorems -------------------------------------------------------------------------------------

    def _cases(self) -> Iterator[Statement]:
        ids = tuple(c.id for c in self.spec.cases)
        yield Statement(
            "The cases of the YAML are the hand-written Clip",
            "cases_are_clip",
            statement=f"{ALL}, cases x l m = Clip.clip x l m",
            shows=ids,
            proof="unfold Clip.clip; decided",
        )
        yield Statement(
            "Every input falls into a case",
            "cases_complete",
            statement=f"{ALL}, {_one_of(ids)}",
            shows=ids,
        )
        yield Statement(
            "No input falls into two cases",
            "cases_disjoint",
            statement=f"{ALL},\n  {_no_two_of(ids)}",
            shows=ids,
        )

    def _classes(self) -> Iterator[Statement]:
        for case in self.spec.cases:
            ids = tuple(c.id for c in self.spec.classes_of(self.family, case.id))
            yield Statement(
                f"Every input of {case.id} falls into a class",
                f"classes_of_{case.id}_complete",
                statement=f"{ALL}, {case.id} x l m ->\n  {_one_of(ids)}",
                shows=(case.id, *ids),
                proof="complete",
            )
            if len(ids) > 1:
                yield Statement(
                    f"No input of {case.id} falls into two classes",
                    f"classes_of_{case.id}_disjoint",
                    statement=f"{ALL},\n  {_no_two_of(ids)}",
                    shows=(case.id, *ids),
                    proof="disjoint",
                )

    def _properties(self) -> Iterator[Statement]:
        for p in self._spoken_of():
            variables, shows = variables_of(p), (p.id, *p.shows)
            every = f"forall {variables} : t"
            if self.family in p.holds_for:
                yield Statement(p.title, p.id, statement=f"{every}, claim_{p.id} {variables}", shows=shows)
            else:
                yield Statement(
                    f"Under its condition: {p.title}",
                    f"{p.id}_repaired",
                    statement=f"{every}, condition_{p.id} {variables} -> claim_{p.id} {variables}",
                    shows=shows,
                )

    def _constraints(self) -> Iterator[Statement]:
        every = "forall (index : Type) (x : index -> t) (l m : t)"
        for c in self._entrywise():
            is_refuted = self.family in c.refuted_for
            condition = f"condition_{c.id} index x l m -> " if is_refuted else ""
            yield Statement(
                f"{'Under its condition: ' * is_refuted}{c.title}",
                f"{c.id}_repaired" if is_refuted else c.id,
                statement=f"{every},\n  {condition}claim_{c.id} index x l m",
                shows=(c.id,),
                proof="intros index x l m; unfolded; by_entries m l x; decided",
            )


def _one_of(ids: tuple[str, ...]) -> str:
    return " \\/ ".join(f"{id_} x l m" for id_ in ids)


def _no_two_of(ids: tuple[str, ...]) -> str:
    return " /\\\n  ".join(f"~ ({a} x l m /\\ {b} x l m)" for a, b in combinations(ids, 2))
