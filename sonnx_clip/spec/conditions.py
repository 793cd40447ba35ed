"""Parse the conditions of a specification: each in its scope, its tree in place of its text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sonnx_clip.language.parse import RESERVED, LanguageError, parse
from sonnx_clip.language.scope import (
    CONVERSION,
    Scope,
    Usable,
    declared_scope,
    element_scope,
    kind_of,
    tensor_scope,
)
from sonnx_clip.language.tree import Expr, Kind, Number, subtrees
from sonnx_clip.language.types import Part
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.claims import claim_names, types_of_claim
from sonnx_clip.spec.findings import Theorem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.document import Document, Way
    from sonnx_clip.spec.model import Spec


def parse_conditions(document: Document, spec: Spec) -> None:
    """Put trees in place of texts, in the order of the file; UserError for the first wrong condition."""
    parser = _ConditionParser(document, spec)
    parser.named_entries()
    parser.claims()
    parser.readings()
    parser.theorems()


class _ConditionParser:
    """Parses the conditions of a file; an entry sees only the cases, definitions and classes before it.

    Args:
        document: the file, for places.
        spec: the model just built from it, whose conditions are still texts.
    """

    def __init__(self, document: Document, spec: Spec) -> None:
        self.document = document
        self.spec = spec
        self.head = spec.head
        self.every = frozenset[str](family.id for family in spec.families)
        self.uses: dict[str, Usable] = {}

    def named_entries(self) -> None:
        """Cases, definitions and classes, which later conditions may use by their ids."""
        for index, case in enumerate(self.spec.cases):
            self._of_elements(("cases", index, "when"), "a case")
            self._name("cases", index, case.id, Usable(0, Kind.BOOL, self.every))
        for index, definition in enumerate(self.spec.definitions):
            families = frozenset[str](definition.families or self.every)
            scope = self._scope("a definition", families)
            if definition.parameters:
                self._check_parameters(index, definition.parameters)
                name = "a definition with parameters"
                scope = element_scope(name, definition.parameters, self._general(), families, self.head)
            tree = self._parse(("definitions", index, "is"), scope, None)
            usable = Usable(len(definition.parameters), kind_of(tree), families)
            self._name("definitions", index, definition.id, usable)
        for index, klass in enumerate(self.spec.classes):
            families = frozenset[str](klass.families)
            self._of_elements(("classes", index, "when"), "a class", families)
            self._name("classes", index, klass.id, Usable(0, Kind.BOOL, families))

    def claims(self) -> None:
        """Restrictions, constraints, properties, wrong operators and latitude."""
        for index, restriction in enumerate(self.spec.restrictions):
            scope = declared_scope(frozenset(restriction.families), self.head)
            self._parse(("restrictions", index, "holds"), scope)
        for index, constraint in enumerate(self.spec.constraints):
            families = frozenset[str](constraint.families)
            scope = tensor_scope("a constraint", self._general(), families, self.head)
            self._parse(("constraints", index, "holds"), scope)
            for family in constraint.repaired:
                way = ("constraints", index, "repaired", family)
                self._parse(way, replace(scope, families=frozenset({family})))
        second = self.head.second
        for index, entry in enumerate(self.spec.properties):
            families = frozenset[str](entry.families)
            self._of_elements(
                ("properties", index, "claim"), "a property", families, "Y", second, result=True
            )
            name = "the condition of a repaired property"
            self._of_families(("properties", index, "repaired"), name, entry.repaired, second)
        for index, wrong in enumerate(self.spec.wrong_clips):
            kind = Kind.BOOL if wrong.of else Kind.ELEMENT
            self._parse(("wrong_clips", index, "is"), self._scope("a wrong Clip", result=True), kind)
        for index in range(len(self.spec.latitude)):
            self._of_elements(("latitude", index, "when"), "a latitude", None, "Y")
            self._of_elements(("latitude", index, "accepts"), "what a latitude accepts", None, "Y", "A")

    def readings(self) -> None:
        """Readings and dialects, with the regions in which they agree or differ."""
        for index, reading in enumerate(self.spec.readings):
            self._of_elements(("readings", index, "returns"), "a reading", None, "Y", result=True)
            for key in ("agrees", "agrees_bitwise"):
                name = "where a reading agrees"
                self._of_families(("readings", index, key), name, getattr(reading, key), "Y")
        for index, dialect in enumerate(self.spec.dialects):
            way, name = ("dialects", index), "where a dialect differs"
            self._of_families((*way, "widens"), name, dialect.widens, "Y")
            if dialect.equivalence is not None:
                self._of_families((*way, "equivalence", "where"), name, dialect.equivalence.where, "Y")

    def theorems(self) -> None:
        """The theorems of findings, which may use readings, dialects and properties, or constraints."""
        known = claim_names(self.spec)
        of_elements = {name: Usable(len(of.parameters), Kind.BOOL, self.every) for name, of in known.items()}
        of_elements |= {p.id: Usable(0, Kind.BOOL, frozenset(p.families)) for p in self.spec.properties}
        of_tensors = {c.id: Usable(0, Kind.BOOL, frozenset(c.families)) for c in self.spec.constraints}
        for index, finding in enumerate(self.spec.findings):
            for position, part in enumerate(finding.claim):
                if not isinstance(part, Theorem):
                    continue
                types = types_of_claim(self.spec, part)
                families = frozenset[str](etype.family for etype in types)
                name = "the claim of a finding"
                if part.tensors:
                    scope = tensor_scope(name, {**self._general(), **of_tensors}, families, self.head)
                else:
                    scope = self._scope(name, families, "Y", "Z", result=True)
                    scope = replace(
                        scope,
                        variables={**scope.variables, "F": Kind.FLOAT},
                        functions={**scope.functions, **CONVERSION},
                        uses={**self.uses, **of_elements},
                    )
                self._parse(("findings", index, "claim", position, "holds"), scope, types=types)

    def _general(self) -> dict[str, Usable]:
        """The definitions with parameters, which speak of no operand."""
        return {id_: use for id_, use in self.uses.items() if use.parameters}

    def _scope(
        self, name: str, families: frozenset[str] | None = None, *more: str, result: bool = False
    ) -> Scope:
        """A scope on elements: the operands and more variables, in some families or all."""
        variables, families = (*self.head.operands, *more), self.every if families is None else families
        return element_scope(name, variables, self.uses, families, self.head, result=result)

    def _of_elements(
        self, way: Way, name: str, families: frozenset[str] | None = None, *more: str, result: bool = False
    ) -> None:
        self._parse(way, self._scope(name, families, *more, result=result))

    def _of_families(self, way: Way, name: str, families: Iterable[str], *more: str) -> None:
        """A mapping from families to conditions."""
        for family in families:
            self._parse((*way, family), self._scope(name, frozenset({family}), *more))

    def _parse(
        self,
        way: Way,
        scope: Scope,
        kind: Kind | None = Kind.BOOL,
        types: Iterable[ElementType] | None = None,
    ) -> Expr:
        """Parse the text at the end of a path, and put the tree in its place.

        Args:
            way: the path to the text.
            scope: what names mean.
            kind: the expected kind; None for any.
            types: the element types for which it is read; those of the scope by default.
        """
        holder: Any = self.spec
        for part in way[:-1]:
            holder = getattr(holder, str(part)) if isinstance(holder, Part) else holder[part]
        values = holder if isinstance(holder, dict) else vars(holder)
        key = "is_" if way[-1] == "is" else way[-1]
        try:
            tree = parse(values[key], scope, kind)
        except LanguageError as error:
            at = self.document.position_in(way, error.offset)
            raise self.document.error(way, error.what, error.todo, at) from error
        if types is None:
            types = [etype for family in scope.families for etype in self.spec.types_of(family)]
        numbers = [node for node in subtrees(tree) if isinstance(node, Number) and node.kind is Kind.ELEMENT]
        for node, etype in ((node, etype) for etype in types for node in numbers):
            try:
                encode(node.text, etype)
            except UserError as error:
                at = self.document.position_in(way, node.at.column - 1)
                raise self.document.error(way, error.what, error.todo, at) from error
        values[key] = tree
        return tree

    def _name(self, section: str, index: int, id_: str, usable: Usable) -> None:
        """Make an entry usable by its id."""
        self._check_free((section, index, "id"), id_)
        self.uses[id_] = usable

    def _check_free(self, way: Way, name: str) -> None:
        reserved = RESERVED | {self.head.function: "built in of the language"}
        if name in reserved:
            raise self.document.error(way, f"`{name}` is {reserved[name]}", "choose another name")

    def _check_parameters(self, index: int, parameters: tuple[str, ...]) -> None:
        taken = {entry.id for s in ("cases", "definitions", "classes") for entry in getattr(self.spec, s)}
        for position, name in enumerate(parameters):
            way = ("definitions", index, "parameters", position)
            self._check_free(way, name)
            if name in parameters[:position]:
                raise self.document.error(way, f"the parameter `{name}` is there twice")
            if name in taken:
                what = f"the parameter `{name}` is the id of an entry"
                raise self.document.error(way, what, "choose another name")
