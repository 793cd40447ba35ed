"""Parse the conditions of a specification: each in its scope, its tree in place of its text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

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


class _OnElements(NamedTuple):
    """Conditions on elements: one for an entry, or one for each family."""

    section: str
    keys: tuple[str, ...]
    title: str  # what messages call them
    variables: tuple[str, ...]  # beside the operands
    result: bool = False  # whether they may call the operator


_ON_ELEMENTS = (
    _OnElements("properties", ("claim",), "a property", ("Y", _SECOND), result=True),
    _OnElements("properties", ("repaired",), "the condition of a repaired property", (_SECOND,)),
    _OnElements("latitude", ("when",), "a latitude", ("Y",)),
    _OnElements("latitude", ("accepts",), "what a latitude accepts", ("Y", "A")),
    _OnElements("readings", ("returns",), "a reading", ("Y",), result=True),
    _OnElements("readings", ("agrees",), "where a reading agrees", ("Y",)),
    _OnElements("readings", ("agrees_bitwise",), "where a reading agrees", ("Y",)),
    _OnElements("dialects", ("widens",), "where a dialect differs", ("Y",)),
    _OnElements("dialects", ("equivalence", "where"), "where a dialect differs", ("Y",)),
)


class ConditionParser:
    """Parses the conditions of a file, which are still texts in the model just built from it.

    An entry sees only the cases, definitions and classes before it.
    """

    def __init__(self, document: Document, spec: Spec) -> None:
        self.document = document
        self.spec = spec
        self.signature = spec.signature
        self.every = frozenset[str](family.id for family in spec.families)
        self.uses: dict[str, Usable] = {}  # the entries parsed so far, by id

    def parse_all(self) -> None:
        """Put trees in place of all texts; UserError for the first wrong condition."""
        # First the entries that all later conditions may use.
        self._named_entries()
        self._on_tensors()
        self._on_elements()
        scope = self._scope("a wrong operator", self.every, result=True)
        for index, wrong in enumerate(self.spec.wrong_operators):
            kind = Kind.BOOL if wrong.of else Kind.ELEMENT  # a definition, or the whole operator
            self._parse(("wrong_operators", index, "is"), scope, kind)
        self._mechanisms()
        self._conditions_on_bounds()
        self._theorems()

    def _on_elements(self) -> None:
        """The conditions of the table above."""
        for kind in _ON_ELEMENTS:
            # The name of the other entry depends on the operator: X2, where the first tensor is X.
            second = self.signature.second
            variables = [second if id_ == _SECOND else id_ for id_ in kind.variables]
            for index, entry in enumerate(getattr(self.spec, kind.section)):
                families = getattr(entry, "families", self.every)
                scope = self._scope(kind.title, families, variables, result=kind.result)
                way: tuple[str | int, ...] = (kind.section, index, *kind.keys)
                conditions = entry
                for key in kind.keys:
                    # A dialect may have no `equivalence`.
                    conditions = getattr(conditions, key, None)
                # In a condition by family, entries that this family lacks must not be used.
                if isinstance(conditions, dict):
                    for family in conditions:
                        self._parse((*way, family), _in_family(scope, family))
                elif conditions is not None:
                    self._parse(way, scope)

    def _mechanisms(self) -> None:
        """What mechanisms return: one gives the answer, another says which answers Y it may give."""
        for index, mechanism in enumerate(self.spec.mechanisms):
            families = mechanism.families or self.every
            if mechanism.is_ is not None:
                scope = self._scope("a mechanism", families, result=True)
                self._parse(("mechanisms", index, "is"), scope, Kind.ELEMENT)
            if mechanism.returns is not None:
                scope = self._scope("a mechanism", families, ("Y",), result=True)
                self._parse(("mechanisms", index, "returns"), scope)

    def _conditions_on_bounds(self) -> None:
        scalars = dict.fromkeys(self.signature.scalars, Kind.ELEMENT)
        for index, condition in enumerate(self.spec.conditions_on_bounds):
            scope = self._scope("a condition on bounds", condition.families or self.every)
            # Without X there are no cases and classes either, which are about all operands.
            bounds_only = replace(scope, variables=scalars, uses=self._general())
            self._parse(("conditions_on_bounds", index, "is"), bounds_only)

    def _named_entries(self) -> None:
        """Domain, cases, definitions and classes; later conditions may use these three by their ids."""
        for family in self.spec.domain:
            scope = element_scope("the domain", self.signature.ids, {}, frozenset({family}))
            self._parse(("domain", family, "holds"), scope)
        for index, case in enumerate(self.spec.cases):
            scope = self._scope("a case", self.every)
            self._parse(("cases", index, "when"), scope)
            self._parse_result(index)
            # Only now: a condition may use the cases before its own.
            self._name("cases", index, case.id, Usable(0, Kind.BOOL, self.every))

        for index, definition in enumerate(self.spec.definitions):
            families = frozenset[str](definition.families or self.every)
            scope = self._scope("a definition", families)
            parameters = definition.parameters
            if parameters:
                # What it means depends on its arguments alone, wherever it is used.
                self._check_parameters(index, parameters)
                scope = replace(
                    scope,
                    name="a definition with parameters",
                    variables=dict.fromkeys(parameters, Kind.ELEMENT),
                    uses=self._general(),
                )
            tree = self._parse(("definitions", index, "is"), scope, None)
            # A definition may be an element or a condition: that is known from its tree alone.
            usable = Usable(len(parameters), kind_of(tree), families)
            self._name("definitions", index, definition.id, usable)

        for index, klass in enumerate(self.spec.classes):
            families = frozenset[str](klass.families)
            scope = self._scope("a class", families)
            self._parse(("classes", index, "when"), scope)
            self._name("classes", index, klass.id, Usable(0, Kind.BOOL, families))

    def _parse_result(self, index: int) -> None:
        """The result of a case. A choice in it would be another case."""
        way: Way = ("cases", index, "result")
        scope = element_scope("the result of a case", self.signature.ids, {}, self.every)
        # No operands of the other families fall into the case: their types may lack its number.
        case = self.spec.cases[index]
        types = self._types_of(self.every.difference(case.not_for))
        result = self._parse(way, scope, Kind.ELEMENT, types)
        # Of the functions of this scope `opposite` alone gives an element.
        inner = result.arguments[0] if isinstance(result, Call) else result
        if not isinstance(inner, Name | Number):
            message = "the result of a case is an operand, a number, or the opposite of one"
            raise self.document.error(way, message, "give each result a case of its own")

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
                if not isinstance(part, Theorem):
                    continue
                types = types_of_claim(self.spec, part)
                scope = self._scope_of_theorem(part, types)
                way = ("findings", index, "claim", position, "holds")
                self._parse(way, scope, types=types)

    def _scope_of_theorem(self, part: Theorem, types: Sequence[ElementType]) -> Scope:
        """The scope on elements or tensors, with dialects, readings, and properties or constraints."""
        name = "the claim of a finding"
        families = frozenset[str](etype.family for etype in types)
        uses: dict[str, Usable] = {}
        stated = self.spec.constraints if part.tensors else self.spec.properties
        for entry in stated:
            if families.issubset(entry.families):
                uses[entry.id] = Usable(0, Kind.BOOL, families)
        if part.tensors:
            # Of tensors: entries without parameters are about elements.
            return tensor_scope(name, {**self._general(), **uses}, families, self.signature)

        # A theorem has one statement for all of its types, so each dialect in it takes all of them.
        type_ids = {etype.id for etype in types}
        usable_dialects: set[str | None] = {None}  # the readings of no dialect
        converted: set[str] = set()
        for dialect in self.spec.dialects:
            if type_ids.issubset(dialect.element_types):
                usable_dialects.add(dialect.id)
            converted.update(filter(dialect.converts_to, dialect.element_types))
        for predicate, allowed in allowed_answers(self.spec).items():
            if allowed.dialect in usable_dialects:
                uses[predicate] = Usable(len(allowed.parameters), Kind.BOOL, families)

        scope = self._scope(name, families, ("Y", "Z"), result=True)
        functions = dict(scope.functions)
        if type_ids <= converted:
            functions |= CONVERSION
        return replace(
            scope,
            variables={**scope.variables, "F": Kind.FLOAT},
            functions=functions,
            uses={**self.uses, **uses},
        )

    def _types_of(self, families: frozenset[str]) -> list[ElementType]:
        return [etype for etype in self.spec.element_types if etype.family in families]

    def _general(self) -> dict[str, Usable]:
        """The definitions with parameters, which use no operand."""
        return {id_: use for id_, use in self.uses.items() if use.parameters}

    def _scope(
        self,
        name: str,
        families: Iterable[str],
        more: Iterable[str] = (),
        *,
        result: bool = False,
    ) -> Scope:
        """A scope on elements: the operands and more variables."""
        return element_scope(
            name,
            variables=(*self.signature.ids, *more),
            uses=self.uses,
            families=frozenset(families),
            signature=self.signature,
            result=result,
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
            is_model = isinstance(holder, Part)
            holder = getattr(holder, str(part)) if is_model else holder[part]
        # The models are frozen: a tree takes the place of its text in the dictionary behind them.
        values = holder if isinstance(holder, dict) else vars(holder)
        key = "is_" if way[-1] == "is" else way[-1]
        text = values[key]
        if types is None:
            types = self._types_of(scope.families)

        offset_of_number = 0
        try:
            tree = parse(text, scope, kind)
            values[key] = tree
            for node in subtrees(tree):
                # A FLOAT is held by float32, whatever the element type.
                if isinstance(node, Number) and node.kind is Kind.ELEMENT:
                    offset_of_number = text.find(node.text)
                    for etype in types:
                        encode(node.text, etype)
        except (LanguageError, UserError) as error:
            # Only the parser knows the place of its error; else it is that of the number.
            offset = getattr(error, "offset", offset_of_number)
            at = self.document.position_in(way, offset)
            raise self.document.error(way, error.what, error.todo, at) from error
        return tree

    def _name(
        self,
        section: str,
        index: int,
        id_: str,
        usable: Usable,
    ) -> None:
        """Make an entry usable by its id."""
        self._check_free((section, index, "id"), id_)
        self.uses[id_] = usable

    def _check_free(self, way: Way, name: str) -> None:
        reserved = RESERVED | {self.signature.function: "built in of the language"}
        if name in reserved:
            raise self.document.error(way, f"`{name}` is {reserved[name]}", "choose another name")

    def _check_parameters(self, index: int, parameters: tuple[str, ...]) -> None:
        ids: set[str] = set()
        for section in ("cases", "definitions", "classes"):
            ids.update(entry.id for entry in getattr(self.spec, section))
        for position, name in enumerate(parameters):
            way = ("definitions", index, "parameters", position)
            self._check_free(way, name)
            if name in ids:
                message = f"the parameter `{name}` is the id of an entry"
                raise self.document.error(way, message, "choose another name")
            if name in parameters[:position]:
                message = f"the parameter `{name}` is there twice"
                raise self.document.error(way, message, "choose another name")


def _in_family(scope: Scope, family: str) -> Scope:
    return replace(scope, families=frozenset({family}))
