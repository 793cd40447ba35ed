"""Renders spec/clip.yaml into Coq: the meaning and the readings of each family, and the float formats."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

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
from sonnx_clip.root.terminal import capitalised

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import FamilyId
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Constraint, Definition, Property, Reading

FOLDER = "generated/coq"
# The sections whose definitions stand beside the cases; the others stand beside the readings.
OF_MEANING = ("cases", "classes", "properties", "constraints", "latitude")
# The claims on the cases that share their roles with those on the classes of each case.
_OF_CASES = ("cases_complete", "cases_disjoint")
# The tactic that decides goals of a family, from coq/Order.v, with the parameters of its section.
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
        name = family.id.capitalize()
        rendered = _Family(spec, family.id)
        files[f"{FOLDER}/{name}.v"] = rendered.meaning()
        files[f"{FOLDER}/{name}Readings.v"] = rendered.readings()
    return files


# --- What is claimed in Coq -----------------------------------------------------------------------------


def claims_of_family(spec: Spec, family: FamilyId) -> Iterator[Claim]:
    """The claims stated of every element type of a family alike, in the order of the file.

    Those at a witness are stated of each float format (coq_formats.py).
    """
    id_ = spec.types_of(family)[0].id
    roles = ("written", "complete", "disjoint", "holds", "repaired")
    written = []
    others = []
    for claim in claims_of(spec, id_, "cases", "classes", "properties"):
        if claim.role == "written":
            written.append(claim)
        elif claim.role in roles:
            others.append(claim)
    # That the cases are the Clip of coq/ comes first: so its theorem can be found.
    yield from (*written, *others)
    # Coq models tensors as functions of an index: shapes and tags of types are left to Why3.
    entrywise = {c.id for c in spec.constraints if speaks_of_entries(c)}
    for claim in claims_of(spec, id_, "constraints"):
        if claim.role in ("holds", "repaired") and claim.shows[0] in entrywise:
            yield claim


def speaks_of_entries(constraint: Constraint) -> bool:
    """Whether a constraint is about entries only, not about shapes or element types."""
    for node in subtrees(constraint.holds):
        if isinstance(node, tree.Call) and node.function in ("shape", "type"):
            return False
    return True


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
        operands = self.spec.signature.arguments
        used = definitions_of(self.spec, *OF_MEANING)
        cases = []
        for case in self.spec.cases:
            predicate = self._condition(case.id, operands, case.when, case.title)
            cases.append(predicate)
        definitions = [self._defined(definition) for definition in used]
        classes = []
        for klass in self.spec.classes_of(self.family):
            condition = self._printer(klass.id).conjunct(klass.when)
            body = f"{klass.case} {operands} && {condition}"
            classes.append(self._definition(klass.id, operands, body))
        claims = [*self._properties(), *self._constraints()]
        theorems = [self._theorem(claim) for claim in claims_of_family(self.spec, self.family)]

        # The order in which the tactics unfold: what uses a name comes before the name.
        unfolded = (*claims, *classes, *reversed(definitions))
        names = [statement.name for statement in unfolded]
        names.append("cases")
        names += [case.name for case in reversed(cases)]
        return self._rendered(
            "family.v.j2",
            names,
            (),
            theorems,
            cases=cases,
            definitions=definitions,
            classes=classes,
            claims=claims,
            result=self._result(),
            opaque=self._opaque(used),
        )

    def _result(self) -> str:
        """The result of the first case that holds."""
        *first, last = self.spec.cases
        choices = ""
        for case in first:
            condition = f"{case.id} {self.spec.signature.arguments}"
            choices += f"if {condition} then {case.result_text.lower()} else\n"
        return choices + last.result_text.lower()

    def _theorem(self, claim: Claim) -> CoqStatement:
        return CoqStatement(
            title=capitalised(claim.title),
            name="cases_are_clip" if claim.role == "written" else claim.name,
            body=self._statement(claim),
            shows=claim.shows,
            proof=self._proof(claim),
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
        cases = [case.id for case in reversed(self.spec.cases)]  # defined in the other file
        own_definitions = [self._defined(d) for d in used if d.id not in elsewhere]
        return self._rendered(
            "family_readings.v.j2",
            names,
            cases,
            theorems,
            definitions=own_definitions,
            readings=readings,
        )

    def _rendered(
        self,
        file: str,
        own: Sequence[str],
        others: Sequence[str],
        theorems: Sequence[CoqStatement],
        **parts: object,
    ) -> str:
        # Names of another file are checked where that file is rendered.
        check_names(own, [t.name for t in theorems])
        return template(file).render(
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

        Proofs about the classes try first without unfolding them (`outlined` in the template).
        """
        letters: dict[str, str] = {}  # by the id of the definition

        # A definition that uses an opaque one is opaque too: definitions come after what they use.
        def has_constant(node: tree.Expr) -> bool:
            if isinstance(node, tree.Use) and node.id in letters:
                return True
            return bool(getattr(node, "constant", None))

        for definition in definitions:
            is_element = kind_of(definition.is_) is tree.Kind.ELEMENT
            if is_element or not definition.is_for(self.family):
                continue
            if any(map(has_constant, subtrees(definition.is_))):
                parameters = definition.parameters or self.spec.signature.ids
                letters[definition.id] = "abcdefgh"[: len(parameters)]
        return list(letters.items())

    # Definitions

    def _printer(self, where: str) -> CoqPrinter:
        return CoqPrinter(self.family, where, self.spec.signature)

    def _definition(
        self,
        name: str,
        parameters: str,
        body: str,
        title: str = "",
        kind: str = "bool",
    ) -> CoqStatement:
        return CoqStatement(title, name, body, head=f"{name} ({parameters} : t) : {kind}")

    def _condition(
        self,
        id_: str,
        parameters: str,
        expr: Expr,
        title: str,
    ) -> CoqStatement:
        return self._definition(id_, parameters, self._printer(id_).show(expr), title)

    def _defined(self, definition: Definition) -> CoqStatement:
        """A definition of the YAML; false where the family has none."""
        id_ = definition.id
        title = definition.title
        parameters = " ".join(definition.parameters).lower() or self.spec.signature.arguments
        if not definition.is_for(self.family):
            return self._definition(id_, parameters, "false", f"{title}: none in this family")
        kind = "t" if kind_of(definition.is_) is tree.Kind.ELEMENT else "bool"
        body = self._printer(id_).show(definition.is_)
        return self._definition(id_, parameters, body, title, kind)

    def _of_result(self, expr: Expr, printed: str) -> str:
        """What is printed of an expression, after the name for the result where it uses that."""
        signature = self.spec.signature
        y = signature.result.id
        if y not in free_names(expr):
            return printed
        return f"let {y.lower()} := cases {signature.arguments} in\n  {printed}"

    def _properties(self) -> Iterator[CoqStatement]:
        for p in self.spec.properties:
            if self.family not in p.families:
                continue
            proposition = self._printer(p.id).proposition(p.claim)
            body = self._of_result(p.claim, proposition)
            yield from self._claim(p, f"({self._variables(p)} : t)", body)

    def _constraints(self) -> Iterator[CoqStatement]:
        signature = self.spec.signature
        entries = []
        for name in signature.ids:
            variable = name.lower()
            # A tensor is a function of an index (`_tensors`).
            entries.append(f"({variable} i)" if name in signature.tensors else variable)
        for constraint in self.spec.constraints:
            if self.family not in constraint.families or not speaks_of_entries(constraint):
                continue
            holds = self._printer(constraint.id).proposition(constraint.holds)
            body = f"let y := fun i => cases {' '.join(entries)} in\n  {holds}"
            yield from self._claim(constraint, self._tensors(), body)

    def _claim(
        self, entry: Property | Constraint, variables: str, body: str
    ) -> Iterator[CoqStatement]:
        name = f"claim_{entry.id}"
        yield CoqStatement(entry.title, name, body, head=f"{name} {variables} : Prop")
        condition = entry.repaired.get(self.family)
        if condition is None:  # it holds as it is stated
            return
        name = f"condition_{entry.id}"
        body = self._printer(entry.id).proposition(condition)
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
        title = f"{r.id}: {r.title}"
        yield self._condition(r.predicate, signature.arguments_and_result, r.returns, title)
        for agreement in _agreements(r):
            region = agreement.regions.get(self.family)
            if region is None:  # it agrees everywhere
                continue
            name = f"{r.word}_region{agreement.suffix}"
            body = self._of_result(region, self._printer(name).show(region))
            title = f"Where {r.id} has the {agreement.equal} of the cases"
            yield self._definition(name, signature.arguments, body, title)

    # Theorems

    def _statement(self, claim: Claim) -> str:
        operands = self.spec.signature.arguments
        id_ = claim.shows[0]
        for_all = f"forall {operands} : t"
        of_cases = claim.name in _OF_CASES
        # A claim about the classes of a case shows the case first, then its classes.
        parts = claim.shows if of_cases else claim.shows[1:]
        match claim.role:
            case "written":
                return f"{for_all}, cases {operands} = Clip.clip {operands}"
            case "complete":
                any_of = " \\/ ".join(f"{part} {operands}" for part in parts)
                if of_cases:
                    return f"{for_all}, {any_of}"
                return f"{for_all}, {id_} {operands} ->\n  {any_of}"
            case "disjoint":
                exclusions = []
                for a, b in combinations(parts, 2):
                    exclusions.append(f"~ ({a} {operands} /\\ {b} {operands})")
                return f"{for_all},\n  " + " /\\\n  ".join(exclusions)

        if self._is_of_tensors(claim):
            for_all = f"forall {self._tensors()},\n  "
            variables = f"index {operands}"
        else:
            variables = self._variables(self.spec.property(id_))
            for_all = f"forall {variables} : t, "
        premise = f"condition_{id_} {variables} -> " if claim.role == "repaired" else ""
        return f"{for_all}{premise}claim_{id_} {variables}"

    def _is_of_tensors(self, claim: Claim) -> bool:
        """Whether a claim is about a constraint: properties are about elements."""
        return claim.shows[0] in {constraint.id for constraint in self.spec.constraints}

    def _proof(self, claim: Claim) -> str:
        if self._is_of_tensors(claim):
            # `by_entries m l x` of coq/Order.v takes them the other way round.
            operands = self.spec.signature.arguments
            from_last = " ".join(reversed(operands.split()))
            return f"intros index {operands}; unfolded; by_entries {from_last}; decided"
        if claim.role == "written":
            return "unfold Clip.clip; decided"
        # A partition into classes has a tactic of its own, which is called as the role is.
        is_partition = claim.role in ("complete", "disjoint")
        of_classes = claim.name not in _OF_CASES
        return claim.role if is_partition and of_classes else "decided"

    def _theorems(self, r: Reading) -> Iterator[CoqStatement]:
        """That a reading allows an answer everywhere, and agrees exactly where it is stated."""
        signature = self.spec.signature
        shows = (r.id,)
        operands = signature.arguments
        operands_and_y = signature.arguments_and_result
        y = signature.result.id.lower()
        returns = f"{r.predicate} {operands_and_y}"
        yield CoqStatement(
            title=f"{r.id} allows an answer for every input",
            name=f"{r.word}_answers",
            body=f"forall {operands} : t, exists {y}, {returns}",
            shows=shows,
            proof="elsewhere",
        )
        for agreement in _agreements(r):
            end = agreement.suffix
            same = agreement.statement.format(y=y, result=f"cases {operands}")
            if self.family in agreement.regions:
                region = f"{r.word}_region{end} {operands}"
                premise = f"{region} -> "
                where = "There"
            else:
                region = ""
                premise = ""
                where = "Everywhere"
            yield CoqStatement(
                title=f"{where} every answer that {r.id} allows has the {agreement.equal} of the cases",
                name=f"{r.word}_agrees{end}",
                body=f"forall {operands_and_y} : t, {premise}{returns} -> {same}",
                shows=shows,
            )
            if region:
                differs = f"exists {y}, {returns} /\\ ~ ({same})"
                yield CoqStatement(
                    title=f"Elsewhere {r.id} allows an answer of {agreement.different}",
                    name=f"{r.word}_agrees{end}_nowhere_else",
                    body=f"forall {operands} : t,\n  ~ {region} -> {differs}",
                    shows=shows,
                    proof="elsewhere",
                )


class _Agreement(NamedTuple):
    """A sense in which a reading can agree with the cases, and where it does, by family."""

    regions: Mapping[FamilyId, Expr]  # a family without a region: everywhere
    suffix: str  # of the names of its theorems
    equal: str
    different: str
    statement: str


def _agreements(reading: Reading) -> tuple[_Agreement, _Agreement]:
    """Where a reading agrees in value, and where in bits."""
    return (
        _Agreement(reading.agrees, "", "value", "another value", "Clip.same {y} ({result})"),
        _Agreement(reading.agrees_bitwise, "_bitwise", "bits", "other bits", "{y} = {result}"),
    )
