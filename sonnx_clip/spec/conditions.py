"""Parse the conditions of a specification: each in its scope, its tree in place of its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.language import scope as scopes
from sonnx_clip.language.parse import RESERVED, LanguageError, parse
from sonnx_clip.language.scope import Scope, Usable, kind_of
from sonnx_clip.language.tree import Expr, Kind, Number, subtrees
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.claims import claim_names, types_of_claim
from sonnx_clip.spec.findings import Theorem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.document import Document, Way
    from sonnx_clip.spec.model import Spec


class ConditionParser:
    """Parses the conditions in the order of the file, so that an entry sees only those before it.

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

    def parse_all(self) -> None:
        """Put trees in place of texts; UserError for the first wrong condition."""
        self._cases()
        self._definitions()
        self._classes()
        self._claims()
        self._latitude()
        self._readings()
        self._dialects()
        self._findings()

    def _parse(
        self,
        way: Way,
        holder: Any,
        scope: Scope,
        kind: Kind | None = Kind.BOOL,
        types: Iterable[ElementType] | None = None,
    ) -> Expr:
        """Parse the text at the end of a path, and put the tree into the model or dict that holds it.

        Args:
            way: the path to the text.
            holder: the model or dict whose field or key is the last part of the path.
            scope: what names mean.
            kind: the expected kind; None for any.
            types: the element types for which it is read; those of the scope by default.
        """
        values = holder if isinstance(holder, dict) else vars(holder)
        key = "is_" if way[-1] == "is" else way[-1]
        try:
            tree = parse(values[key], scope, kind)
        except LanguageError as error:
            at = self.document.position_in(way, error.offset)
            raise self.document.error(way, error.what, error.todo, at) from error
        if types is None:
            types = [etype for family in scope.families for etype in self.spec.types_of(family)]
        self._check_numbers(way, tree, types)
        values[key] = tree
        return tree

    def _check_numbers(self, way: Way, tree: Expr, types: Iterable[ElementType]) -> None:
        """Every number of a condition must exist in every type for which it is read."""
        numbers = [node for node in subtrees(tree) if isinstance(node, Number)]
        for etype in types if numbers else ():
            for node in numbers:
                if node.kind is Kind.ELEMENT:
                    try:
                        encode(node.text, etype)
                    except UserError as error:
                        at = self.document.position_in(way, node.at.column - 1)
                        raise self.document.error(way, error.what, error.todo, at) from error

    def _element(self, name: str, families: frozenset[str], *more: str, result: bool = False) -> Scope:
        variables = (*self.head.operands, *more)
        return scopes.element_scope(name, variables, self.uses, families, self.head, result=result)

    def _name(self, section: str, index: int, id_: str, usable: Usable) -> None:
        """Make an entry usable by its id."""
        self._free((section, index, "id"), id_)
        self.uses[id_] = usable

    def _free(self, way: Way, name: str) -> None:
        reserved = RESERVED | {self.head.function: "built in of the language"}
        if name in reserved:
            raise self.document.error(way, f"`{name}` is {reserved[name]}", "choose another name")

    def _cases(self) -> None:
        for index, case in enumerate(self.spec.cases):
            self._parse(("cases", index, "when"), case, self._element("a case", self.every))
            self._name("cases", index, case.id, Usable(0, Kind.BOOL, self.every))

    def _definitions(self) -> None:
        for index, definition in enumerate(self.spec.definitions):
            families = frozenset[str](definition.families or self.every)
            scope = self._element("a definition", families)
            if definition.parameters:
                self._check_parameters(index, definition.parameters)
                general = {id_: use for id_, use in self.uses.items() if use.parameters}
                scope = scopes.element_scope(
                    "a definition with parameters", definition.parameters, general, families, self.head
                )
            tree = self._parse(("definitions", index, "is"), definition, scope, None)
            usable = Usable(len(definition.parameters), kind_of(tree), families)
            self._name("definitions", index, definition.id, usable)

    def _check_parameters(self, index: int, parameters: tuple[str, ...]) -> None:
        taken = {entry.id for s in ("cases", "definitions", "classes") for entry in getattr(self.spec, s)}
        for position, name in enumerate(parameters):
            way = ("definitions", index, "parameters", position)
            self._free(way, name)
            if name in parameters[:position]:
                raise self.document.error(way, f"the parameter `{name}` is there twice")
            if name in taken:
                raise self.document.error(
                    way, f"the parameter `{name}` is the id of an entry", "choose another name"
                )

    def _classes(self) -> None:
        for index, klass in enumerate(self.spec.classes):
            families = frozenset[str](klass.families)
            self._parse(("classes", index, "when"), klass, self._element("a class", families))
            self._name("classes", index, klass.id, Usable(0, Kind.BOOL, families))

    def _claims(self) -> None:
        """Restrictions, constraints, properties and wrong operators."""
        for index, restriction in enumerate(self.spec.restrictions):
            scope = scopes.declared_scope(frozenset(restriction.families), self.head)
            self._parse(("restrictions", index, "holds"), restriction, scope)
        for index, constraint in enumerate(self.spec.constraints):
            scope = scopes.values_scope(self.uses, frozenset(constraint.families), self.head)
            self._parse(("constraints", index, "holds"), constraint, scope)
            for family in constraint.repaired:
                scope = scopes.values_scope(self.uses, frozenset({family}), self.head)
                self._parse(("constraints", index, "repaired", family), constraint.repaired, scope)
        for index, entry in enumerate(self.spec.properties):
            families = frozenset[str](entry.families)
            scope = self._element("a property", families, "Y", self.head.second, result=True)
            self._parse(("properties", index, "claim"), entry, scope)
            for family in entry.repaired:
                name = "the condition of a repaired property"
                scope = self._element(name, frozenset({family}), self.head.second)
                self._parse(("properties", index, "repaired", family), entry.repaired, scope)
        for index, wrong in enumerate(self.spec.wrong_clips):
            scope = self._element("a wrong Clip", self.every, result=True)
            kind = Kind.BOOL if wrong.of else Kind.ELEMENT
            self._parse(("wrong_clips", index, "is"), wrong, scope, kind)

    def _latitude(self) -> None:
        for index, entry in enumerate(self.spec.latitude):
            when = self._element("a latitude", self.every, "Y")
            accepts = self._element("what a latitude accepts", self.every, "Y", "A")
            self._parse(("latitude", index, "when"), entry, when)
            self._parse(("latitude", index, "accepts"), entry, accepts)

    def _readings(self) -> None:
        for index, reading in enumerate(self.spec.readings):
            scope = self._element("a reading", self.every, "Y", result=True)
            self._parse(("readings", index, "returns"), reading, scope)
            for key in ("agrees", "agrees_bitwise"):
                regions = getattr(reading, key)
                for family in regions:
                    scope = self._element("where a reading agrees", frozenset({family}), "Y")
                    self._parse(("readings", index, key, family), regions, scope)

    def _dialects(self) -> None:
        for index, row in enumerate(self.spec.dialects):
            regions: list[tuple[tuple[str, ...], Any]] = [(("widens",), row.widens)]
            if row.equivalence is not None:
                regions.append((("equivalence", "where"), row.equivalence.where))
            for keys, conditions in regions:
                for family in conditions:
                    scope = self._element("where a dialect differs", frozenset({family}), "Y")
                    self._parse(("dialects", index, *keys, family), conditions, scope)

    def _findings(self) -> None:
        """The theorems of findings, which may use readings, dialects and properties, or constraints."""
        known = claim_names(self.spec)
        of_elements = {name: Usable(len(of.parameters), Kind.BOOL, self.every) for name, of in known.items()}
        of_elements |= {p.id: Usable(0, Kind.BOOL, frozenset(p.families)) for p in self.spec.properties}
        of_tensors = {c.id: Usable(0, Kind.BOOL, frozenset(c.families)) for c in self.spec.constraints}
        for index, finding in enumerate(self.spec.findings):
            for position, part in enumerate(finding.claim):
                if isinstance(part, Theorem):
                    way = ("findings", index, "claim", position, "holds")
                    self._theorem(way, part, of_tensors if part.tensors else of_elements)

    def _theorem(self, way: Way, part: Theorem, entries: dict[str, Usable]) -> None:
        types = types_of_claim(self.spec, part)
        families = frozenset[str](etype.family for etype in types)
        if part.tensors:
            scope = scopes.tensor_claim_scope(self.uses, entries, families, self.head)
        else:
            scope = scopes.claim_scope({**self.uses, **entries}, families, self.head)
        self._parse(way, part, scope, types=types)
