"""Renders spec/clip.yaml into Coq: the meaning and the readings of each family, and the float formats."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sonnx_clip.backends.coq_formats import render_formats
from sonnx_clip.backends.coq_printer import CoqPrinter
from sonnx_clip.backends.declared import definitions_of
from sonnx_clip.backends.templating import CoqStatement, template
from sonnx_clip.backends.theory import header
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.nodes import free_names, variables_of
from sonnx_clip.language import tree
from sonnx_clip.language.scope import kind_of
from sonnx_clip.language.tree import subtrees
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import FamilyId
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Constraint, Definition, Property, Reading

FOLDER = "generated/coq"
# The sections whose definitions stand beside the cases; the others stand beside the readings.
OF_MEANING = ("cases", "classes", "properties", "constraints", "latitude")
_TACTICS = {
    "float": "float_order prec emax prec_is_positive prec_is_less",
    "int": "integer_order least greatest not_empty",
    "real": "real_order",
}
# Words of Coq, and the names that a rendered file takes for itself.
_RESERVED = frozenset({
    "as", "at", "cofix", "else", "end", "exists", "exists2", "fix", "for", "forall", "fun", "if", "IF", "in",
    "let", "match", "mod", "return", "then", "using", "where", "with", "Prop", "SProp", "Set", "Type",
    "t", "x", "x2", "l", "m", "y", "i", "a", "b", "o", "index", "zero", "inf", "opposite", "key",
    "nan", "le", "lt", "eq", "element", "identical",
})  # fmt: skip


def render_coq(spec: Spec) -> dict[str, str]:
    """The Coq files by their path; UserError where an entry cannot be stated of every format at once."""
    files = {f"{FOLDER}/Formats.v": render_formats(spec)}
    for family in spec.families:
        of = _Family(spec, family.id)
        files[f"{FOLDER}/{family.id.capitalize()}.v"] = of.meaning()
        files[f"{FOLDER}/{family.id.capitalize()}Readings.v"] = of.readings()
    return files


# --- What is claimed in Coq -----------------------------------------------------------------------------


def claims_of_family(spec: Spec, family: FamilyId) -> Iterator[Claim]:
    """The claims stated of every element type of a family alike, in the order of the file.

    Those at a witness are stated of each float format (coq_formats.py).
    """
    id_ = spec.types_of(family)[0].id
    of_elements = claims_of(spec, id_, "cases", "classes", "properties")
    roles = ("written", "complete", "disjoint", "holds", "repaired")
    yield from sorted(
        (c for c in of_elements if c.role in roles), key=lambda c: c.role != "written"
    )
    entrywise = {c.id for c in spec.constraints if speaks_of_entries(c)}
    for claim in claims_of(spec, id_, "constraints"):
        if claim.role in ("holds", "repaired") and claim.shows[0] in entrywise:
            yield claim


def speaks_of_entries(constraint: Constraint) -> bool:
    """Whether a constraint is about entries only, not about shapes or element types."""
    outside = ("shape", "type")
    return not any(
        isinstance(n, tree.Call) and n.function in outside for n in subtrees(constraint.holds)
    )


def check_names(definitions: Iterable[str], theorems: Iterable[str]) -> None:
    """UserError if two things of a file have one name, or one has a name of Coq's."""
    seen: set[str] = set()
    for name in (*definitions, *theorems):
        if name in seen or name in _RESERVED:
            message = f"`{name}` is already used in the Coq theorems"
            raise UserError(message, "spec/clip.yaml", "choose another id for the entry")
        seen.add(name)


# --- The files of a family ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Family:
    """Renders the files of one family."""

    spec: Spec
    family: FamilyId

    def meaning(self) -> str:
        """The cases, definitions, classes and claims, with their theorems."""
        given = self.spec.signature.arguments
        stated = definitions_of(self.spec, *OF_MEANING)
        cases = [self._condition(c.id, given, c.when, c.title) for c in self.spec.cases]
        definitions = [self._defined(d) for d in stated]
        classes = [
            self._definition(
                c.id, given, f"{c.case} {given} && {self._printer(c.id).conjunct(c.when)}"
            )
            for c in self.spec.classes_of(self.family)
        ]
        claims = [*self._properties(), *self._constraints()]
        *first, last = self.spec.cases
        result = "".join(f"if {c.id} {given} then {c.result_text.lower()} else\n" for c in first)
        theorems = [
            CoqStatement(
                claim.title[0].upper() + claim.title[1:],
                "cases_are_clip" if claim.role == "written" else claim.name,
                self._statement(claim),
                claim.shows,
                self._proof(claim),
            )
            for claim in claims_of_family(self.spec, self.family)
        ]
        return self._rendered(
            "family.v.j2",
            [d.name for d in (*claims, *classes, *definitions[::-1])]
            + ["cases"]
            + [c.name for c in cases[::-1]],
            (),
            theorems,
            cases=cases,
            definitions=definitions,
            classes=classes,
            claims=claims,
            result=result + last.result_text.lower(),
            opaque=self._opaque(stated),
        )

    def readings(self) -> str:
        """What each reading allows, and exactly where it agrees with the cases."""
        used = definitions_of(self.spec, "readings")
        elsewhere = {d.id for d in definitions_of(self.spec, *OF_MEANING)}
        readings: list[CoqStatement] = []
        theorems: list[CoqStatement] = []
        for reading in self.spec.readings:
            readings += self._reading(reading)
            theorems += self._theorems(reading)

        names = [statement.name for statement in reversed(readings)]
        names += [definition.id for definition in reversed(used)]
        names.append("cases")
        return self._rendered(
            "family_readings.v.j2",
            names,
            [case.id for case in reversed(self.spec.cases)],
            theorems,
            definitions=[self._defined(d) for d in used if d.id not in elsewhere],
            readings=readings,
        )

    def _rendered(
        self,
        name: str,
        own: Sequence[str],
        others: Sequence[str],
        theorems: Sequence[CoqStatement],
        **parts: object,
    ) -> str:
        check_names(own, [t.name for t in theorems])
        return template(name).render(
            header=header(self.spec),
            family=self.family,
            operands=self.spec.signature.arguments,
            tactic=_TACTICS[self.family],
            names=[*own, *others],
            theorems=theorems,
            **parts,
        )

    def _opaque(self, definitions: Iterable[Definition]) -> list[tuple[str, str]]:
        """The conditions that rest on constants other than 0, with letters for their parameters.

        To part the classes they need not be opened.
        """
        letters: dict[str, str] = {}

        def has_constant(node: tree.Expr) -> bool:
            if isinstance(node, tree.Use) and node.id in letters:
                return True
            return bool(getattr(node, "constant", None))

        for definition in definitions:
            in_family = definition.families is None or self.family in definition.families
            is_condition = kind_of(definition.is_) is not tree.Kind.ELEMENT
            if in_family and is_condition and any(map(has_constant, subtrees(definition.is_))):
                count = len(definition.parameters or self.spec.signature.ids)
                letters[definition.id] = "abcdefgh"[:count]
        return list(letters.items())

    # Definitions

    def _printer(self, where: str) -> CoqPrinter:
        return CoqPrinter(self.family, where, self.spec.signature)

    def _definition(
        self, name: str, parameters: str, body: str, title: str = "", kind: str = "bool"
    ) -> CoqStatement:
        return CoqStatement(title, name, body, head=f"{name} ({parameters} : t) : {kind}")

    def _condition(self, id_: str, parameters: str, expr: Expr, title: str) -> CoqStatement:
        return self._definition(id_, parameters, self._printer(id_).show(expr), title)

    def _defined(self, definition: Definition) -> CoqStatement:
        """A definition of the YAML; false where the family has none."""
        id_ = definition.id
        title = definition.title
        parameters = " ".join(definition.parameters).lower() or self.spec.signature.arguments
        if definition.families is not None and self.family not in definition.families:
            return self._definition(id_, parameters, "false", f"{title}: none in this family")
        kind = "t" if kind_of(definition.is_) is tree.Kind.ELEMENT else "bool"
        body = self._printer(id_).show(definition.is_)
        return self._definition(id_, parameters, body, title, kind)

    def _of_result(self, expr: Expr, printed: str) -> str:
        """What is printed of an expression, after the name for the result where it uses that."""
        signature = self.spec.signature
        if signature.result.id not in free_names(expr):
            return printed
        return f"let {signature.result.id.lower()} := cases {signature.arguments} in\n  {printed}"

    def _properties(self) -> Iterator[CoqStatement]:
        for p in self.spec.properties:
            if self.family in p.families:
                variables = f"({self._variables(p)} : t)"
                body = self._of_result(p.claim, self._printer(p.id).proposition(p.claim))
                yield from self._claim(p, variables, body)

    def _constraints(self) -> Iterator[CoqStatement]:
        signature = self.spec.signature
        entries = []
        for name in signature.ids:
            variable = name.lower()
            entries.append(f"({variable} i)" if name in signature.tensors else variable)
        for constraint in self.spec.constraints:
            if self.family in constraint.families and speaks_of_entries(constraint):
                holds = self._printer(constraint.id).proposition(constraint.holds)
                body = f"let y := fun i => cases {' '.join(entries)} in\n  {holds}"
                yield from self._claim(constraint, self._tensors(), body)

    def _claim(
        self, entry: Property | Constraint, variables: str, body: str
    ) -> Iterator[CoqStatement]:
        name = f"claim_{entry.id}"
        yield CoqStatement(entry.title, name, body, head=f"{name} {variables} : Prop")
        if self.family in entry.repaired:
            name = f"condition_{entry.id}"
            body = self._printer(entry.id).proposition(entry.repaired[self.family])
            title = f"The condition of: {entry.title}"
            yield CoqStatement(title, name, body, head=f"{name} {variables} : Prop")

    def _variables(self, p: Property) -> str:
        return " ".join(variables_of(self.spec.signature, p.claim)).lower()

    def _tensors(self) -> str:
        """The binders of the operands: tensors as functions of an index, and scalars."""
        signature = self.spec.signature
        binders = ["(index : Type)"]
        binders += [f"({name.lower()} : index -> t)" for name in signature.tensors]
        if signature.scalars:
            binders.append(f"({' '.join(signature.scalars).lower()} : t)")
        return " ".join(binders)

    def _reading(self, r: Reading) -> Iterator[CoqStatement]:
        signature = self.spec.signature
        yield self._condition(
            r.predicate, signature.arguments_and_result, r.returns, f"{r.id}: {r.title}"
        )
        for regions, end, what in ((r.agrees, "", "value"), (r.agrees_bitwise, "_bitwise", "bits")):
            if self.family in regions:
                name, region = f"{r.word}_region{end}", regions[self.family]
                body = self._of_result(region, self._printer(name).show(region))
                yield self._definition(
                    name, signature.arguments, body, f"Where {r.id} has the {what} of the cases"
                )

    # Theorems

    def _statement(self, claim: Claim) -> str:
        given = self.spec.signature.arguments
        id_ = claim.shows[0]
        every = f"forall {given} : t"
        of_cases = claim.name in ("cases_complete", "cases_disjoint")
        ids = claim.shows if of_cases else claim.shows[1:]
        match claim.role:
            case "written":
                return f"{every}, cases {given} = Clip.clip {given}"
            case "complete":
                any_of = " \\/ ".join(f"{part} {given}" for part in ids)
                if of_cases:
                    return f"{every}, {any_of}"
                return f"{every}, {id_} {given} ->\n  {any_of}"
            case "disjoint":
                pairs = [f"~ ({a} {given} /\\ {b} {given})" for a, b in combinations(ids, 2)]
                return f"{every},\n  " + " /\\\n  ".join(pairs)

        if self._is_of_tensors(claim):
            every = f"forall {self._tensors()},\n  "
            variables = f"index {given}"
        else:
            variables = self._variables(self.spec.property(id_))
            every = f"forall {variables} : t, "
        premise = f"condition_{id_} {variables} -> " if claim.role == "repaired" else ""
        return f"{every}{premise}claim_{id_} {variables}"

    def _is_of_tensors(self, claim: Claim) -> bool:
        return any(c.id == claim.shows[0] for c in self.spec.constraints)

    def _proof(self, claim: Claim) -> str:
        if self._is_of_tensors(claim):
            given = self.spec.signature.arguments
            return f"intros index {given}; unfolded; by_entries {' '.join(given.split()[::-1])}; decided"
        if claim.role == "written":
            return "unfold Clip.clip; decided"
        of_classes = claim.name not in ("cases_complete", "cases_disjoint")
        return claim.role if claim.role in ("complete", "disjoint") and of_classes else "decided"

    def _theorems(self, r: Reading) -> Iterator[CoqStatement]:
        signature, shows = self.spec.signature, (r.id,)
        given, answered, y = (
            signature.arguments,
            signature.arguments_and_result,
            signature.result.id.lower(),
        )
        returns, result = f"{r.predicate} {answered}", f"cases {given}"
        yield CoqStatement(
            f"{r.id} allows an answer for every input",
            f"{r.word}_answers",
            f"forall {given} : t, exists {y}, {returns}",
            shows,
            "elsewhere",
        )
        for regions, end, what, other, same in (
            (r.agrees, "", "value", "another value", f"Clip.same {y} ({result})"),
            (r.agrees_bitwise, "_bitwise", "bits", "other bits", f"{y} = {result}"),
        ):
            somewhere, region = self.family in regions, f"{r.word}_region{end} {given}"
            where = "There" if somewhere else "Everywhere"
            yield CoqStatement(
                f"{where} every answer that {r.id} allows has the {what} of the cases",
                f"{r.word}_agrees{end}",
                f"forall {answered} : t, {f'{region} -> ' * somewhere}{returns} -> {same}",
                shows,
            )
            if somewhere:
                yield CoqStatement(
                    f"Elsewhere {r.id} allows an answer of {other}",
                    f"{r.word}_agrees{end}_nowhere_else",
                    f"forall {given} : t,\n  ~ {region} -> exists {y}, {returns} /\\ ~ ({same})",
                    shows,
                    "elsewhere",
                )
