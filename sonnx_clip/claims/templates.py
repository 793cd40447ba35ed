"""Claims from templates: claims.yaml has their statements as text, which is expanded here for one entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial, reduce
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import yaml
from pydantic import TypeAdapter

from sonnx_clip.claims.claim import Claim, ClaimKind, Written
from sonnx_clip.claims.nodes import answers_of_cases, free_names, number_nodes, result_of
from sonnx_clip.language import tree
from sonnx_clip.language.parse import parse
from sonnx_clip.language.printing import unparse
from sonnx_clip.language.scope import (
    CONVERSION,
    DECLARED_FUNCTIONS,
    ELEMENT_FUNCTIONS,
    FunctionType,
    Scope,
    Usable,
    kind_of,
    operator_function,
)
from sonnx_clip.language.tree import Expr, Kind, Name, Number, rewritten, substituted
from sonnx_clip.language.types import ElementType, Part
from sonnx_clip.spec.entries import Witness
from sonnx_clip.spec.wrong_operators import domain_of_names

if TYPE_CHECKING:
    from sonnx_clip.spec import Spec

SUBJECT = "restrictions"
"""The subject of claims on no element type."""
# Each argument of a function has the sorts that it may have: here one.
_B = (Kind.BOOL,)
_E = (Kind.ELEMENT,)
_T = (Kind.TENSOR,)
_FUNCTIONS = {
    **ELEMENT_FUNCTIONS,
    **DECLARED_FUNCTIONS,
    **CONVERSION,
    "same_value": FunctionType((_E, _E)),
    "distinct": FunctionType((_E, _E)),
    "written_clip": FunctionType((_E, _E, _E), Kind.ELEMENT),
    "typed": FunctionType((_T,)),
    "some_operand": FunctionType((_E, _B)),
    "some_answer": FunctionType((_E, _B)),
    "different": FunctionType((_E, _E, _B)),
    "let": FunctionType((_E, _E, _B)),
    "with_result": FunctionType((_B,)),
    "of_cases": FunctionType((_B,)),
    "group": FunctionType((_B,)),
}
"""The functions of templates; claims.yaml explains those beside the language."""


_IN_DOMAIN = frozenset(
    {
        "properties",
        "latitude",
        "latitude and readings",
        "readings and latitude",
        "readings",
    }
)
"""Sections whose claims are about operands in the domain of the operator; others are about all operands."""


class Template(Part):
    """A claim with placeholders; claims.yaml explains each key."""

    goal: str
    role: str
    kind: ClaimKind = "theorem"
    title: str
    shows: str = "{id}"
    when: tuple[str, ...] = ()
    every: str = ""
    tensors: bool = False
    at: str = ""
    premises: tuple[str, ...] = ()
    holds: str = ""
    written: str = ""


@cache
def claim_templates() -> Mapping[str, tuple[Template, ...]]:
    """The templates of claims.yaml, by section."""
    text = (Path(__file__).parent / "claims.yaml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, tuple[Template, ...]]).validate_python(yaml.safe_load(text))


class Listed(tuple[str, ...]):
    """Texts in a template: ``{ids: or }`` puts what follows the colon between them."""

    __slots__ = ()

    def __format__(self, between: str) -> str:
        return between.join(self)


class Given(dict[str, Any]):
    """The values of placeholders: given ones, and attributes of entries, the first that has one."""

    def __init__(
        self,
        family: str,
        entries: tuple[object, ...],
        given: Mapping[str, Any],
    ) -> None:
        super().__init__(given)
        self._family, self._entries = family, entries
        # Apart from what is given: a None in this dict itself would hide `__missing__` from format_map.
        self._attributes: dict[str, Any] = {}

    def __missing__(self, name: str) -> Any:
        value = self.find(name)
        if value is None:
            raise KeyError(f"claims.yaml: `{name}` has no value")
        return value

    def find(self, name: str) -> Any:
        """The value of a placeholder; None if it is not given."""
        if name in self:
            return self[name]
        # Kept, as each template of a section looks up the same names again.
        if name not in self._attributes:
            self._attributes[name] = self._attribute(name)
        return self._attributes[name]

    def _attribute(self, name: str) -> Any:
        """The attribute of the first entry that has one, in the family, as templates use it."""
        value = None
        for entry in self._entries:
            if hasattr(entry, name):
                value = getattr(entry, name)
                break
        # What differs from family to family, such as `refuted_for`, has its value by family.
        if isinstance(value, Mapping):
            value = value.get(self._family)
        if isinstance(value, Witness):
            return number_nodes(value.texts())
        return Listed(value) if isinstance(value, tuple) else value

    def has(self, conditions: tuple[str, ...]) -> bool:
        """Whether each name has a value; with `not` before it, whether it has none."""
        for condition in conditions:
            name = condition.removeprefix("not ")
            is_wanted = name == condition
            if bool(self.find(name)) != is_wanted:
                return False
        return True


class _Printed(dict[str, Any]):
    """Placeholders of a title: conditions and witnesses are printed."""

    def __init__(self, given: Given) -> None:
        super().__init__()
        self._given = given

    def __missing__(self, name: str) -> Any:
        if name.startswith("not_"):
            condition = self._given[name.removeprefix("not_")]
            # A title is for people: no double negation.
            if isinstance(condition, tree.Not):
                return unparse(condition.operand)
            return unparse(tree.Not(condition))
        value = self._given[name]
        if isinstance(value, get_args(Expr)):
            return unparse(value)
        if isinstance(value, dict):
            numbers_at = [f"{variable} = {unparse(number)}" for variable, number in value.items()]
            return ", ".join(numbers_at)
        return value


def expanded(
    spec: Spec, etype: ElementType | None, section: str, *entries: object, **given: Any
) -> Iterator[Claim]:
    """The claims of a section of claims.yaml; `etype` is None for claims on restrictions.

    Placeholders are attributes of the entries, of the first that has one; and what is given: texts,
    expressions, tuples of premises, witnesses by variable.
    """
    signature = spec.signature
    subject = etype.id if etype else SUBJECT
    family = etype.family if etype else ""
    first, *others = signature.ids
    operands = ", ".join(signature.ids)
    # `variables` has the second entry of the first tensor too, as a property may compare two entries;
    # the printers quantify only over the variables that a claim uses (`names_used`).
    shared = {
        "operands": operands,
        "variables": " ".join((first, signature.second, *others)),
        "result": f"{signature.function}({operands})",
        "type": subject,
        "cases_as_result": {signature.result.id: result_of(signature)},
        "first": first,
        "y": signature.result.id,
        family: True,
    }
    # What is shared wins: an entry or a caller must not give these names another meaning.
    placeholders = Given(family, entries, {**given, **shared})
    in_domain = section in _IN_DOMAIN
    for template in claim_templates()[section]:
        if placeholders.has(template.when):
            yield _claim(spec, etype, subject, template, placeholders, in_domain=in_domain)


def _claim(
    spec: Spec,
    etype: ElementType | None,
    subject: str,
    template: Template,
    placeholders: Given,
    *,
    in_domain: bool,
) -> Claim:
    def made(text: str) -> Expr:
        return condition(
            spec, etype, text.format_map(placeholders), placeholders, tensors=template.tensors
        )

    premises: list[Expr] = []
    for text in template.premises:
        named = [placeholders.find(name) for name in re.findall(r"\b_(\w+)", text)]
        if any(value is None for value in named):
            continue  # a premise that the entry does not have
        if named and isinstance(named[0], tuple):
            premises += named[0]  # the name of several premises, alone in its text
        else:
            premises.append(made(text))

    kind = Kind.TENSOR if template.tensors else Kind.ELEMENT
    variables = []
    for name in template.every.format_map(placeholders).split():
        # F is a bound before it is converted to the element type.
        kind_of_variable = Kind.FLOAT if name == "F" else kind
        variables.append(Name(name, kind_of_variable))
    written = template.written
    conclusion = _formula(written, placeholders) if written else made(template.holds)
    # Without variables a claim is about numbers of a witness, which are in the domain or are not.
    if in_domain and variables and etype is not None and not isinstance(conclusion, Written):
        used = free_names(conclusion).union(*map(free_names, premises))
        premises = [*domain_of_names(spec, etype.family, used), *premises]

    return Claim(
        subject=subject,
        name=template.goal.format_map(placeholders),
        role=template.role,
        kind=template.kind,
        shows=tuple(template.shows.format_map(placeholders).split()),
        title=template.title.format_map(_Printed(placeholders)),
        conclusion=conclusion,
        premises=tuple(premises),
        variables=tuple(variables),
        witness=placeholders[template.at] if template.at else {},
    )


def _formula(text: str, placeholders: Given) -> Written:
    """A formula in WhyML; in braces what is given, or a number, or a number as a FLOAT."""
    # A split at a group returns the groups too: each second part is what was in braces.
    parts: list[str | Expr] = [*re.split(r"\{(.*?)\}", text)]
    for index in range(1, len(parts), 2):
        name = str(parts[index])
        kind = Kind.FLOAT if name.startswith("FLOAT ") else Kind.ELEMENT
        parts[index] = placeholders.find(name) or Number(name.removeprefix("FLOAT "), kind)
    return Written(tuple(parts))


def condition(
    spec: Spec,
    etype: ElementType | None,
    text: str,
    placeholders: Given | None = None,
    *,
    tensors: bool = False,
) -> Expr:
    """A condition as claims.yaml has it, with the given expressions in the places of their names."""
    expressions: dict[str, Expr] = {}
    for name in re.findall(r"\b_\w+", text):
        value = placeholders.find(name.removeprefix("_")) if placeholders else None
        if isinstance(value, get_args(Expr)):
            expressions[name] = value
    # Only an expression is put in; a text is in its place already, by `format_map`. The kinds decide
    # how the text is parsed, and so belong to the key below; the expressions themselves do not.
    kinds = {name: kind_of(expression) for name, expression in expressions.items()}

    # The text is parsed once for all types of a family; expressions are put in afterwards.
    family = etype.family if etype else ""
    parsed = spec.memo.setdefault(("templates", family), {})
    key = (text, tensors, tuple(kinds.items()))
    if key not in parsed:
        parsed[key] = parse(text, _scope(spec, family, kinds, tensors=tensors))
    return rewritten(parsed[key], partial(_meant, spec, family, expressions, tensors))


def _scope(
    spec: Spec,
    family: str,
    kinds: Mapping[str, Kind],
    *,
    tensors: bool,
) -> Scope:
    """What a template may use: the variables of claims, `kinds` of expressions, functions and entries."""
    signature = spec.signature
    families = frozenset({family})
    variables = dict.fromkeys(signature.all_ids, Kind.TENSOR if tensors else Kind.ELEMENT)
    if not tensors:
        # Y and Z are answers of readings, A is one that a latitude accepts; `let` binds OF_CASES.
        variables |= dict.fromkeys((signature.second, *"YZA", "OF_CASES"), Kind.ELEMENT)

    of_no_arguments = Usable(0, Kind.BOOL, families)
    of_all = Usable(len(signature.all_ids), Kind.BOOL, families)
    uses = {case.id: of_no_arguments for case in spec.cases}
    uses |= {klass.id: of_no_arguments for klass in spec.classes}
    uses |= {reading.predicate: of_all for reading in spec.readings}
    return Scope(
        "a claim",
        {**variables, **kinds},
        {**_FUNCTIONS, **operator_function(signature)},
        uses,
        families,
        signature,
    )


def _meant(
    spec: Spec,
    family: str,
    expressions: Mapping[str, Expr],
    tensors: bool,
    expr: Expr,
) -> Expr | None:
    """The meaning of a node of a template, its parts already done; None for a node of the language."""
    signature = spec.signature
    match expr:
        case Name(id=name) if name in expressions:
            return expressions[name]
        case tree.Call(function="group", arguments=(inner,)):
            return tree.Parentheses(inner)
        case tree.Call(function="of_cases", arguments=(inner,)):
            of_result = {signature.result.id: result_of(signature)}
            return tree.Parentheses(substituted(inner, of_result))
        case tree.Call(function="let", arguments=(Name(id=name), value, body)):
            return tree.Let(name, value, body)
        # A let that binds a variable for nothing would be a warning of Why3.
        case tree.Call(function="with_result", arguments=(body,)):
            uses_result = tensors or signature.result.id in free_names(body)
            result = result_of(signature, tensors=tensors)
            return tree.Let(signature.result.id, result, body) if uses_result else body
        case tree.Call(
            function="some_operand" | "some_answer" | "different" as quantifier,
            arguments=(*bound, body),
        ):
            variables = [name.id for name in bound if isinstance(name, Name)]
            return _some(spec, family, quantifier, variables, body)
    return None


def _some(
    spec: Spec,
    family: str,
    quantifier: str,
    variables: list[str],
    body: Expr,
) -> Expr:
    """A disjunction over the results that cases may give, over all answers but payloads of NaNs, or both."""
    results = answers_of_cases(spec, family)
    nans = (Number("nan"), Number("-nan")) if family == "float" else ()
    answers = (*results, *nans)
    choices = {
        "some_operand": [results],
        "some_answer": [answers],
        "different": [results, answers],
    }
    parts = []
    for values in product(*choices[quantifier]):
        if len(set(values)) < len(values):  # `different` is about two answers
            continue
        bindings = dict(zip(variables, values, strict=True))
        parts.append(substituted(body, bindings))
    return reduce(partial(tree.Connective, "or"), parts)
