"""Parse the conditions of a specification: each in its scope, its tree in place of its text."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
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
from sonnx_clip.language.tree import Call, Expr, Kind, Name, Number, subtrees
from sonnx_clip.language.types import ElementType, Part
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.findings import Theorem, allowed_answers, types_of_claim

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sonnx_clip.spec.document import Document, Way
    from sonnx_clip.spec.model import Spec

_SECOND = "second"  # stands for X2, say: another entry of the first tensor
_ON_ELEMENTS: tuple[tuple[str, tuple[str, ...], str, tuple[str, ...], bool], ...] = (
    ("properties", ("claim",), "a property", ("Y", _SECOND), True),
    ("properties", ("repaired",), "the condition of a repaired property", (_SECOND,), False),
    ("latitude", ("when",), "a latitude", ("Y",), False),
    ("latitude", ("accepts",), "what a latitude accepts", ("Y", "A"), False),
    ("readings", ("returns",), "a reading", ("Y",), True),
    ("readings", ("agrees",), "where a reading agrees", ("Y",), False),
    ("readings", ("agrees_bitwise",), "where a reading agrees", ("Y",), False),
    ("dialects", ("widens",), "where a dialect differs", ("Y",), False),
    ("dialects", ("equivalence", "where"), "where a dialect differs", ("Y",), False),
)
"""Conditions on elements, one or one for each family: section, key, what messages call it, variables beside
the operands, and whether it may call the operator."""


class ConditionParser:
    """Parses the conditions of a file, which are still texts in the model just built from it.

    An entry sees only the cases, definitions and classes before it.
    """

    def __init__(self, document: Document, spec: Spec) -> None:
        self.document = document
        self.spec = spec
        self.signature = spec.signature
        self.every = frozenset[str](family.id for family in spec.families)
        self.uses: dict[str, Usable] = {}

    def parse_all(self) -> None:
        """Put trees in place of all texts; UserError for the first wrong condition."""
        self._named_entries()
        self._on_tensors()
        for section, keys, name, variables, result in _ON_ELEMENTS:
            for index, entry in enumerate(getattr(self.spec, section)):
                more = [
                    self.signature.second if variable == _SECOND else variable
                    for variable in variables
                ]
                scope = self._scope(
                    name, getattr(entry, "families", self.every), more, result=result
                )
                found = reduce(lambda of, key: getattr(of, key, None), keys, entry)
                if isinstance(found, dict):
                    for family in found:
                        self._parse((section, index, *keys, family), _in_family(scope, family))
                elif found is not None:
                    self._parse((section, index, *keys), scope)
        for index, wrong in enumerate(self.spec.wrong_operators):
            scope = self._scope("a wrong operator", self.every, result=True)
            self._parse(
                ("wrong_operators", index, "is"), scope, Kind.BOOL if wrong.of else Kind.ELEMENT
            )
        self._causes()
        self._theorems()

    def _causes(self) -> None:
        """What mechanisms return, and the conditions on bounds."""
        for index, mechanism in enumerate(self.spec.mechanisms):
            if mechanism.is_ is not None:
                scope = self._scope("a mechanism", mechanism.families or self.every, result=True)
                self._parse(("mechanisms", index, "is"), scope, Kind.ELEMENT)
            if mechanism.returns is not None:
                scope = self._scope(
                    "a mechanism", mechanism.families or self.every, ("Y",), result=True
                )
                self._parse(("mechanisms", index, "returns"), scope)
        for index, condition in enumerate(self.spec.conditions_on_bounds):
            scope = self._scope("a condition on bounds", condition.families or self.every)
            scalars = dict.fromkeys(self.signature.scalars, Kind.ELEMENT)
            bounds_only = replace(scope, variables=scalars, uses=self._general())
            self._parse(("conditions_on_bounds", index, "is"), bounds_only)

    def _named_entries(self) -> None:
        """Domain, cases, definitions and classes; later conditions may use these three by their ids."""
        for family in self.spec.domain:
            scope = element_scope("the domain", self.signature.ids, {}, frozenset({family}))
            self._parse(("domain", family, "holds"), scope)
        for index, case in enumerate(self.spec.cases):
            self._parse(("cases", index, "when"), self._scope("a case", self.every))
            self._parse_result(index)
            self._name("cases", index, case.id, Usable(0, Kind.BOOL, self.every))
        for index, definition in enumerate(self.spec.definitions):
            families = frozenset[str](definition.families or self.every)
            scope = self._scope("a definition", families)
            if definition.parameters:
                self._check_parameters(index, definition.parameters)
                general = dict.fromkeys(definition.parameters, Kind.ELEMENT)
                scope = replace(
                    scope,
                    name="a definition with parameters",
                    variables=general,
                    uses=self._general(),
                )
            tree = self._parse(("definitions", index, "is"), scope, None)
            usable = Usable(len(definition.parameters), kind_of(tree), families)
            self._name("definitions", index, definition.id, usable)
        for index, klass in enumerate(self.spec.classes):
            families = frozenset[str](klass.families)
            self._parse(("classes", index, "when"), self._scope("a class", families))
            self._name("classes", index, klass.id, Usable(0, Kind.BOOL, families))

    def _parse_result(self, index: int) -> None:
        """The result of a case. A choice in it would be another case."""
        way: Way = ("cases", index, "result")
        scope = element_scope("the result of a case", self.signature.ids, {}, self.every)
        # No operands of the other families fall into the case: their types may lack its number.
        families = self.every - set(self.spec.cases[index].not_for)
        types = [etype for etype in self.spec.element_types if etype.family in families]
        result = self._parse(way, scope, Kind.ELEMENT, types)
        inner = result.arguments[0] if isinstance(result, Call) else result
        if not isinstance(inner, Name | Number):
            what = "the result of a case is an operand, a number, or the opposite of one"
            raise self.document.error(way, what, "give each result a case of its own")

    def _on_tensors(self) -> None:
        """Restrictions on tensors as declared, and constraints on their values."""
        for index, restriction in enumerate(self.spec.restrictions):
            declared = declared_scope(frozenset(restriction.families), self.signature)
            self._parse(("restrictions", index, "holds"), declared)
        for index, constraint in enumerate(self.spec.constraints):
            families = frozenset[str](constraint.families)
            scope = tensor_scope("a constraint", self._general(), families, self.signature)
            self._parse(("constraints", index, "holds"), scope)
            for family in constraint.repaired:
                self._parse(("constraints", index, "repaired", family), _in_family(scope, family))

    def _theorems(self) -> None:
        """The theorems of findings: they may use what exists in each of their element types."""
        for index, finding in enumerate(self.spec.findings):
            for position, part in enumerate(finding.claim):
                if isinstance(part, Theorem):
                    types = types_of_claim(self.spec, part)
                    way = ("findings", index, "claim", position, "holds")
                    self._parse(way, self._scope_of_theorem(part, types), types=types)

    def _scope_of_theorem(self, part: Theorem, types: Sequence[ElementType]) -> Scope:
        """The scope on elements or tensors, with dialects, readings, and properties or constraints."""
        name, families = "the claim of a finding", frozenset[str](etype.family for etype in types)
        stated = self.spec.constraints if part.tensors else self.spec.properties
        ids = [entry.id for entry in stated if families <= set(entry.families)]
        uses = {id_: Usable(0, Kind.BOOL, families) for id_ in ids}
        if part.tensors:
            return tensor_scope(name, {**self._general(), **uses}, families, self.signature)
        taking = [
            d for d in self.spec.dialects if {etype.id for etype in types} <= set(d.element_types)
        ]
        known = {None, *(dialect.id for dialect in taking)}
        for predicate, allowed in allowed_answers(self.spec).items():
            if allowed.dialect in known:
                uses[predicate] = Usable(len(allowed.parameters), Kind.BOOL, families)
        converted = all(
            any(etype.id in d.element_types and d.converts_to(etype.id) for d in self.spec.dialects)
            for etype in types
        )
        scope = self._scope(name, families, ("Y", "Z"), result=True)
        return replace(
            scope,
            variables={**scope.variables, "F": Kind.FLOAT},
            functions={**scope.functions, **(CONVERSION if converted else {})},
            uses={**self.uses, **uses},
        )

    def _general(self) -> dict[str, Usable]:
        """The definitions with parameters, which use no operand."""
        return {id_: use for id_, use in self.uses.items() if use.parameters}

    def _scope(
        self, name: str, families: Iterable[str], more: Iterable[str] = (), *, result: bool = False
    ) -> Scope:
        """A scope on elements: the operands and more variables."""
        variables = (*self.signature.ids, *more)
        return element_scope(
            name, variables, self.uses, frozenset(families), self.signature, result=result
        )

    def _parse(
        self,
        way: Way,
        scope: Scope,
        kind: Kind | None = Kind.BOOL,
        types: Iterable[ElementType] | None = None,
    ) -> Expr:
        """Parse the text at the end of a path, and put the tree in its place.

        It is of a kind, or of any if that is None; it is read for these element types, or those of the scope.
        """
        holder: Any = self.spec
        for part in way[:-1]:
            holder = getattr(holder, str(part)) if isinstance(holder, Part) else holder[part]
        values = holder if isinstance(holder, dict) else vars(holder)
        key = "is_" if way[-1] == "is" else way[-1]
        text, offset = values[key], 0
        if types is None:
            types = [etype for etype in self.spec.element_types if etype.family in scope.families]
        try:
            tree = values[key] = parse(text, scope, kind)
            for node in subtrees(tree):
                if isinstance(node, Number) and node.kind is Kind.ELEMENT:
                    offset = text.find(node.text)
                    for etype in types:
                        encode(node.text, etype)
        except (LanguageError, UserError) as error:
            at = self.document.position_in(way, getattr(error, "offset", offset))
            raise self.document.error(way, error.what, error.todo, at) from error
        return tree

    def _name(self, section: str, index: int, id_: str, usable: Usable) -> None:
        """Make an entry usable by its id."""
        self._check_free((section, index, "id"), id_)
        self.uses[id_] = usable

    def _check_free(self, way: Way, name: str) -> None:
        reserved = RESERVED | {self.signature.function: "built in of the language"}
        if name in reserved:
            raise self.document.error(way, f"`{name}` is {reserved[name]}", "choose another name")

    def _check_parameters(self, index: int, parameters: tuple[str, ...]) -> None:
        taken = {
            entry.id for s in ("cases", "definitions", "classes") for entry in getattr(self.spec, s)
        }
        for position, name in enumerate(parameters):
            way = ("definitions", index, "parameters", position)
            self._check_free(way, name)
            if name in taken or name in parameters[:position]:
                what = "is the id of an entry" if name in taken else "is there twice"
                raise self.document.error(
                    way, f"the parameter `{name}` {what}", "choose another name"
                )


def _in_family(scope: Scope, family: str) -> Scope:
    return replace(scope, families=frozenset({family}))
