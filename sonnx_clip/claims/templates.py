"""Claims from templates: claims.yaml has their statements as text, which is expanded here for one entry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import yaml
from pydantic import TypeAdapter

from sonnx_clip.claims.claim import Aspect, Binder, Claim, Kind, Role, Written
from sonnx_clip.claims.nodes import (
    any_of,
    element,
    free_names,
    group,
    number,
    numbers,
    numbers_of_cases,
    replaced,
    result_of,
    tensor_result_of,
)
from sonnx_clip.language import tree
from sonnx_clip.language.parse import parse
from sonnx_clip.language.scope import (
    CONVERSION,
    ELEMENT_FUNCTIONS,
    Scope,
    Signature,
    Usable,
    kind_of,
)
from sonnx_clip.language.tree import Expr, rewritten
from sonnx_clip.language.tree import Kind as Sort
from sonnx_clip.language.types import Part
from sonnx_clip.spec.entries import Witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec

_B, _E, _T = ((sort,) for sort in (Sort.BOOL, Sort.ELEMENT, Sort.TENSOR))
_FUNCTIONS = {
    "same_value": Signature((_E, _E), Sort.BOOL),
    "distinct": Signature((_E, _E), Sort.BOOL),
    "written_clip": Signature((_E, _E, _E), Sort.ELEMENT),
    "typed": Signature((_T,), Sort.BOOL),
    "some_operand": Signature((_E, _B), Sort.BOOL),
    "some_answer": Signature((_E, _B), Sort.BOOL),
    "different": Signature((_E, _E, _B), Sort.BOOL),
    "let": Signature((_E, _E, _B), Sort.BOOL),
    "with_result": Signature((_B,), Sort.BOOL),
    "of_cases": Signature((_B,), Sort.BOOL),
    "group": Signature((_B,), Sort.BOOL),
}
"""What templates have beside the language; claims.yaml says what each means."""
_NODES = get_args(Expr)


class Template(Part):
    """A claim with placeholders; claims.yaml says what each key means."""

    goal: str
    role: Role
    kind: Kind = "theorem"
    title: str
    shows: str = "{id}"
    when: tuple[str, ...] = ()
    every: str = ""
    tensors: bool = False
    at: str = ""
    premises: tuple[str, ...] = ()
    of_result: bool = False
    aspect: Aspect = ""
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
    """What placeholders stand for: what is given by name, and else what one of the entries has.

    What an entry has by family is that of the element type; a witness is its numbers, by variable. What is
    None, false or empty is not given.
    """

    def __init__(self, etype: ElementType, entries: tuple[object, ...], given: dict[str, Any]) -> None:
        super().__init__(given)
        self._family, self._entries = etype.family, entries

    def __missing__(self, name: str) -> Any:
        if (found := self.find(name)) is None:
            raise KeyError(f"claims.yaml: nothing is given for `{name}`")
        return found

    def find(self, name: str) -> Any:
        """What a placeholder stands for; None if it is not given."""
        if name not in self:
            found = next((getattr(entry, name) for entry in self._entries if hasattr(entry, name)), None)
            if isinstance(found, Mapping):
                found = found.get(self._family)
            if isinstance(found, Witness):
                found = numbers(found.texts())
            self[name] = Listed(found) if isinstance(found, tuple) else found
        return self[name]

    def has(self, words: tuple[str, ...]) -> bool:
        """Whether each of the words is given; with `not` before it, whether it is not."""
        return all(bool(self.find(w.removeprefix("not "))) != w.startswith("not ") for w in words)


def expanded(spec: Spec, etype: ElementType, section: str, *entries: object, **given: Any) -> Iterator[Claim]:
    """The claims of a section of claims.yaml on one entry.

    Args:
        spec: the specification.
        etype: the element type.
        section: the key in claims.yaml.
        entries: whose attributes placeholders may stand for; the first that has one counts.
        given: what other placeholders stand for: texts; expressions; tuples of expressions, for premises;
            numbers by variable, for a witness.
    """
    head = spec.head
    given |= {"operands": ", ".join(head.operands), "variables": " ".join(head.operands)}
    given |= {"result": f"{head.function}({given['operands']})", "type": etype.id, etype.family: True}
    known = Given(etype, entries, given)
    for template in templates()[section]:
        if known.has(template.when):
            yield _claim(spec, etype, template, known)


def _claim(spec: Spec, etype: ElementType, template: Template, given: Given) -> Claim:
    def made(text: str) -> Expr:
        return condition(spec, etype, text.format_map(given), given, tensors=template.tensors)

    premises: list[Expr] = []
    for text in template.premises:
        named = [given.find(name) for name in re.findall(r"\b_(\w+)", text)]
        if all(of is not None for of in named):
            premises += named[0] if named and isinstance(named[0], tuple) else [made(text)]
    names = tuple(template.every.format_map(given).split())
    return Claim(
        subject=etype.id,
        name=template.goal.format_map(given),
        role=template.role,
        kind=template.kind,
        shows=tuple(template.shows.format_map(given).split()),
        title=template.title.format_map(given),
        conclusion=_formula(template.written, given) if template.written else made(template.holds),
        premises=tuple(premises),
        binders=(Binder(names, Sort.TENSOR if template.tensors else Sort.ELEMENT),) if names else (),
        witness=given[template.at] if template.at else {},
        of_result=template.of_result,
        aspect=template.aspect,
    )


def _formula(text: str, given: Given) -> Written:
    """A formula in WhyML; in braces what is given, or a number, or a number as a FLOAT."""
    parts: list[str | Expr] = [*re.split(r"\{(.*?)\}", text)]
    for index in range(1, len(parts), 2):
        name = str(parts[index])
        kind = Sort.FLOAT if name.startswith("FLOAT ") else Sort.ELEMENT
        parts[index] = given.find(name) or number(name.removeprefix("FLOAT "), kind)
    return Written(tuple(parts))


def condition(
    spec: Spec, etype: ElementType, text: str, given: Given | None = None, *, tensors: bool = False
) -> Expr:
    """A condition as claims.yaml has it, with the given expressions in the places of their names."""
    found = {name: given.find(name[1:]) if given else None for name in re.findall(r"\b_\w+", text)}
    expressions = {name: of for name, of in found.items() if isinstance(of, _NODES)}
    kinds = {name: kind_of(of) for name, of in expressions.items()}
    parsed = spec.memo.setdefault(("templates", etype.family), {})
    key = (text, tensors, tuple(kinds.items()))
    if key not in parsed:
        parsed[key] = parse(text, _scope(spec, etype, kinds, tensors=tensors))
    return rewritten(parsed[key], partial(_meant, spec, etype, expressions, tensors))


def _scope(spec: Spec, etype: ElementType, kinds: Mapping[str, Sort], *, tensors: bool) -> Scope:
    head, families = spec.head, frozenset({etype.family})
    variables = {**dict.fromkeys((*head.all, head.second, *"YZAC"), Sort.ELEMENT), **kinds}
    if tensors:
        variables = {**dict.fromkeys(head.all, Sort.TENSOR), **kinds}
    ids = (*(case.id for case in spec.cases), *(klass.id for klass in spec.classes))
    uses = {id_: Usable(0, Sort.BOOL, families) for id_ in ids}
    uses |= {r.predicate: Usable(len(head.all), Sort.BOOL, families) for r in spec.readings}
    functions = {**ELEMENT_FUNCTIONS, **CONVERSION, **_FUNCTIONS}
    return Scope("a claim", variables, functions, uses, families, head=head, gives_result=True)


def _meant(
    spec: Spec, etype: ElementType, expressions: Mapping[str, Expr], tensors: bool, expr: Expr
) -> Expr | None:
    """What a node of a template stands for, its parts already done; None for a node of the language."""
    head = spec.head
    match expr:
        case tree.Name(id=name) if name in expressions:
            return expressions[name]
        case tree.Call(function="group", arguments=(inner,)):
            return group(inner)
        case tree.Call(function="of_cases", arguments=(inner,)):
            return group(replaced(inner, head.result, result_of(head)))
        case tree.Call(function="let", arguments=(tree.Name(id=name), value, body)):
            return tree.Let(name, value, body)
        case tree.Call(function="with_result", arguments=(body,)):
            result = tensor_result_of(head) if tensors else result_of(head)
            return tree.Let(head.result, result, body) if head.result in free_names(body) else body
        case tree.Call(
            function="some_operand" | "some_answer" | "different" as word, arguments=(*names, body)
        ):
            return _some(spec, etype, word, [name.id for name in names if isinstance(name, tree.Name)], body)
    return None


def _some(spec: Spec, etype: ElementType, word: str, names: list[str], body: Expr) -> Expr:
    """A disjunction over what cases give, or over all answers of readings but for payloads of NaNs."""
    operands = (*map(element, spec.head.operands), *numbers_of_cases(spec))
    answers = (*operands, *((number("nan"), number("-nan")) if etype.family == "float" else ()))
    if word != "different":
        return any_of(
            *(replaced(body, names[0], y) for y in (operands if word == "some_operand" else answers))
        )
    one, other = names
    return any_of(*(replaced(replaced(body, one, y), other, z) for y in operands for z in answers if y != z))
