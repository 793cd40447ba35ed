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

from sonnx_clip.claims.claim import Claim, Kind, Written
from sonnx_clip.claims.nodes import answers_of_cases, free_names, numbers, replaced, result_of
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
    calls_of,
    kind_of,
)
from sonnx_clip.language.tree import Expr, Name, Number, rewritten
from sonnx_clip.language.tree import Kind as Sort
from sonnx_clip.language.types import ElementType, Part
from sonnx_clip.spec.entries import Witness
from sonnx_clip.spec.wrong_operators import domain_of_names

if TYPE_CHECKING:
    from sonnx_clip.spec import Spec

SUBJECT = "restrictions"
"""The subject of claims on no element type."""
_B, _E, _T = ((sort,) for sort in (Sort.BOOL, Sort.ELEMENT, Sort.TENSOR))
_FUNCTIONS = {
    **ELEMENT_FUNCTIONS,
    **DECLARED_FUNCTIONS,
    **CONVERSION,
    "same_value": FunctionType((_E, _E)),
    "distinct": FunctionType((_E, _E)),
    "written_clip": FunctionType((_E, _E, _E), Sort.ELEMENT),
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
    kind: Kind = "theorem"
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
def templates() -> Mapping[str, tuple[Template, ...]]:
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

    def __init__(self, family: str, entries: tuple[object, ...], given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self._family, self._entries = family, entries

    def __missing__(self, name: str) -> Any:
        if (found := self.find(name)) is None:
            raise KeyError(f"claims.yaml: `{name}` has no value")
        return found

    def find(self, name: str) -> Any:
        """The value of a placeholder; None if it is not given."""
        if name not in self:
            found = next(
                (getattr(entry, name) for entry in self._entries if hasattr(entry, name)), None
            )
            if isinstance(found, Mapping):
                found = found.get(self._family)
            if isinstance(found, Witness):
                found = numbers(found.texts())
            self[name] = Listed(found) if isinstance(found, tuple) else found
        return self[name]

    def has(self, words: tuple[str, ...]) -> bool:
        """Whether each of the words is given; with `not` before it, whether it is not."""
        return all(bool(self.find(w.removeprefix("not "))) != w.startswith("not ") for w in words)


class _Printed(dict[str, Any]):
    """Placeholders of a title: conditions and witnesses are printed."""

    def __init__(self, given: Given) -> None:
        super().__init__()
        self._given = given

    def __missing__(self, name: str) -> Any:
        if name.startswith("not_"):
            condition = self._given[name.removeprefix("not_")]
            return unparse(
                condition.operand if isinstance(condition, tree.Not) else tree.Not(condition)
            )
        found = self._given[name]
        if isinstance(found, get_args(Expr)):
            return unparse(found)
        if isinstance(found, dict):
            return ", ".join(
                f"{variable} = {unparse(number)}" for variable, number in found.items()
            )
        return found


def expanded(
    spec: Spec, etype: ElementType | None, section: str, *entries: object, **given: Any
) -> Iterator[Claim]:
    """The claims of a section of claims.yaml; `etype` is None for claims on restrictions.

    Placeholders are attributes of the entries, of the first that has one; and what is given: texts,
    expressions, tuples of premises, witnesses by variable.
    """
    signature, subject = spec.signature, etype.id if etype else SUBJECT
    first, *others = signature.ids
    given |= {
        "operands": ", ".join(signature.ids),
        "variables": " ".join((first, signature.second, *others)),
    }
    given |= {"result": f"{signature.function}({given['operands']})", "type": subject}
    given |= {
        "cases_as_result": {signature.result.id: result_of(signature)},
        "first": first,
        "y": signature.result.id,
    }
    family = etype.family if etype else ""
    known = Given(family, entries, {**given, family: True})
    for template in templates()[section]:
        if known.has(template.when):
            in_domain = section in _IN_DOMAIN
            yield _claim(spec, etype, subject, template, known, in_domain=in_domain)


def _claim(
    spec: Spec,
    etype: ElementType | None,
    subject: str,
    template: Template,
    given: Given,
    *,
    in_domain: bool,
) -> Claim:
    def made(text: str) -> Expr:
        return condition(spec, etype, text.format_map(given), given, tensors=template.tensors)

    premises: list[Expr] = []
    for text in template.premises:
        named = [given.find(name) for name in re.findall(r"\b_(\w+)", text)]
        if all(of is not None for of in named):
            premises += named[0] if named and isinstance(named[0], tuple) else [made(text)]
    variables = template.every.format_map(given).split()
    sort = Sort.TENSOR if template.tensors else Sort.ELEMENT
    conclusion = _formula(template.written, given) if template.written else made(template.holds)
    if in_domain and variables and etype is not None and not isinstance(conclusion, Written):
        used = free_names(conclusion).union(*map(free_names, premises))
        premises = [*domain_of_names(spec, etype.family, used), *premises]
    return Claim(
        subject=subject,
        name=template.goal.format_map(given),
        role=template.role,
        kind=template.kind,
        shows=tuple(template.shows.format_map(given).split()),
        title=template.title.format_map(_Printed(given)),
        conclusion=conclusion,
        premises=tuple(premises),
        variables=tuple(Name(name, Sort.FLOAT if name == "F" else sort) for name in variables),
        witness=given[template.at] if template.at else {},
    )


def _formula(text: str, given: Given) -> Written:
    """A formula in WhyML; in braces what is given, or a number, or a number as a FLOAT."""
    parts: list[str | Expr] = [*re.split(r"\{(.*?)\}", text)]
    for index in range(1, len(parts), 2):
        name = str(parts[index])
        sort = Sort.FLOAT if name.startswith("FLOAT ") else Sort.ELEMENT
        parts[index] = given.find(name) or Number(name.removeprefix("FLOAT "), sort)
    return Written(tuple(parts))


def condition(
    spec: Spec,
    etype: ElementType | None,
    text: str,
    given: Given | None = None,
    *,
    tensors: bool = False,
) -> Expr:
    """A condition as claims.yaml has it, with the given expressions in the places of their names."""
    found = {name: given.find(name[1:]) if given else None for name in re.findall(r"\b_\w+", text)}
    expressions = {name: of for name, of in found.items() if isinstance(of, get_args(Expr))}
    kinds = {name: kind_of(of) for name, of in expressions.items()}
    family = etype.family if etype else ""
    parsed = spec.memo.setdefault(("templates", family), {})
    key = (text, tensors, tuple(kinds.items()))
    if key not in parsed:
        parsed[key] = parse(text, _scope(spec, family, kinds, tensors=tensors))
    return rewritten(parsed[key], partial(_meant, spec, family, expressions, tensors))


def _scope(spec: Spec, family: str, kinds: Mapping[str, Sort], *, tensors: bool) -> Scope:
    signature, families = spec.signature, frozenset({family})
    variables = dict.fromkeys(signature.all_ids, Sort.TENSOR if tensors else Sort.ELEMENT)
    if not tensors:
        variables |= dict.fromkeys((signature.second, *"YZA", "OF_CASES"), Sort.ELEMENT)
    ids = (*(case.id for case in spec.cases), *(klass.id for klass in spec.classes))
    uses = {id_: Usable(0, Sort.BOOL, families) for id_ in ids}
    uses |= {
        r.predicate: Usable(len(signature.all_ids), Sort.BOOL, families) for r in spec.readings
    }
    return Scope(
        "a claim",
        {**variables, **kinds},
        {**_FUNCTIONS, **calls_of(signature)},
        uses,
        families,
        signature,
    )


def _meant(
    spec: Spec, family: str, expressions: Mapping[str, Expr], tensors: bool, expr: Expr
) -> Expr | None:
    """The meaning of a node of a template, its parts already done; None for a node of the language."""
    signature = spec.signature
    match expr:
        case Name(id=name) if name in expressions:
            return expressions[name]
        case tree.Call(function="group", arguments=(inner,)):
            return tree.Parentheses(inner)
        case tree.Call(function="of_cases", arguments=(inner,)):
            return tree.Parentheses(replaced(inner, signature.result.id, result_of(signature)))
        case tree.Call(function="let", arguments=(Name(id=name), value, body)):
            return tree.Let(name, value, body)
        case tree.Call(function="with_result", arguments=(body,)):
            uses_result = tensors or signature.result.id in free_names(body)
            result = result_of(signature, tensors=tensors)
            return tree.Let(signature.result.id, result, body) if uses_result else body
        case tree.Call(
            function="some_operand" | "some_answer" | "different" as word, arguments=(*of, body)
        ):
            return _some(
                spec, family, word, [name.id for name in of if isinstance(name, Name)], body
            )
    return None


def _some(spec: Spec, family: str, word: str, variables: list[str], body: Expr) -> Expr:
    """A disjunction over the results that cases may give, over all answers but payloads of NaNs, or both."""
    given = answers_of_cases(spec, family)
    answers = (*given, *((Number("nan"), Number("-nan")) if family == "float" else ()))
    choices = {"some_operand": [given], "some_answer": [answers], "different": [given, answers]}[
        word
    ]
    parts = []
    for values in product(*choices):
        if len(set(values)) == len(values):
            chosen = zip(variables, values, strict=True)
            parts.append(reduce(lambda expr, of: replaced(expr, *of), chosen, body))
    return reduce(partial(tree.Connective, "or"), parts)
