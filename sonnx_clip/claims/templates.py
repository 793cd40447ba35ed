"""Claims from templates: claims.yaml has their statements as text, which is expanded here for one entry."""

from __future__ import annotations

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
    number,
    replaced,
    result_of,
    rewritten,
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
    elements,
    kind_of,
)
from sonnx_clip.language.tree import Expr
from sonnx_clip.language.tree import Kind as Sort
from sonnx_clip.language.types import Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec

_B, _E, _T = (frozenset({sort}) for sort in (Sort.BOOL, Sort.ELEMENT, Sort.TENSOR))
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
    "group": Signature((_B,), Sort.BOOL),
}
"""What templates have beside the language; claims.yaml says what each means."""


class Template(Part):
    """A claim with placeholders; claims.yaml says what each key means."""

    goal: str
    role: Role
    kind: str = "theorem"
    title: str
    shows: str = "{id}"
    when: tuple[str, ...] = ()
    every: str = ""
    tensors: bool = False
    at: str = ""
    premises: tuple[str, ...] = ()
    of_result: bool = False
    aspect: str = ""
    holds: str = ""
    written: str = ""

    def applies(self, given: Mapping[str, object]) -> bool:
        """Whether everything in `when` is given, or not."""
        return all(
            bool(given.get(word.removeprefix("not "))) != word.startswith("not ") for word in self.when
        )


@cache
def templates() -> Mapping[str, tuple[Template, ...]]:
    """The templates of claims.yaml, by section."""
    text = (Path(__file__).parent / "claims.yaml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, tuple[Template, ...]]).validate_python(yaml.safe_load(text))


class _WithLiterals(dict[str, str]):
    """Texts of a formula in WhyML, whose literals stay for its printer."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def expanded(spec: Spec, etype: ElementType, section: str, **given: Any) -> Iterator[Claim]:
    """The claims of a section of claims.yaml on one entry.

    Args:
        spec: the specification.
        etype: the element type.
        section: the key in claims.yaml.
        given: what placeholders stand for: texts; expressions; tuples of expressions, for premises; numbers
            by variable, for a witness; `literals` of a formula in WhyML. What is None or empty is not given.
    """
    head = spec.head
    given |= {"operands": ", ".join(head.operands), "variables": " ".join(head.operands), "type": etype.id}
    given["result"] = f"{head.function}({given['operands']})"
    texts = {name: of for name, of in given.items() if isinstance(of, str)}
    for template in templates()[section]:
        if template.applies(given):
            yield _claim(spec, etype, template, texts, given)


def _claim(
    spec: Spec, etype: ElementType, template: Template, texts: Mapping[str, str], given: Mapping[str, Any]
) -> Claim:
    def filled(text: str) -> str:
        return text.format_map(texts)

    def made(text: str) -> Expr:
        return condition(spec, etype, filled(text), given, tensors=template.tensors)

    premises: list[Expr] = []
    for text in template.premises:
        several = given.get(text.removeprefix("_"))
        premises += several if isinstance(several, tuple) else [made(text)]
    names = tuple(filled(template.every).split())
    return Claim(
        subject=etype.id,
        name=filled(template.goal),
        role=template.role,
        kind=_KIND.validate_python(filled(template.kind)),
        shows=tuple(filled(template.shows).split()),
        title=filled(template.title),
        conclusion=(
            Written(template.written.format_map(_WithLiterals(texts)), given.get("literals", {}))
            if template.written
            else made(template.holds)
        ),
        premises=tuple(premises),
        binders=(Binder(names, Sort.TENSOR if template.tensors else Sort.ELEMENT),) if names else (),
        witness=given[template.at] if template.at else {},
        of_result=template.of_result,
        aspect=_ASPECT.validate_python(filled(template.aspect)),
    )


_KIND: TypeAdapter[Kind] = TypeAdapter(Kind)
_ASPECT: TypeAdapter[Aspect] = TypeAdapter(Aspect)


def condition(
    spec: Spec,
    etype: ElementType,
    text: str,
    given: Mapping[str, Any] | None = None,
    *,
    tensors: bool = False,
) -> Expr:
    """A condition as claims.yaml has it, with the given expressions in the places of their names."""
    expressions = {f"_{name}": of for name, of in (given or {}).items() if isinstance(of, _NODES)}
    kinds = {name: kind_of(of) for name, of in expressions.items() if name in text}
    parsed = spec.memo.setdefault(("templates", etype.family), {})
    key = (text, tensors, tuple(kinds.items()))
    if key not in parsed:
        parsed[key] = parse(text, _scope(spec, etype, kinds, tensors=tensors))
    return rewritten(parsed[key], partial(_meant, spec, etype, expressions, tensors))


_NODES = get_args(Expr)


def _scope(spec: Spec, etype: ElementType, kinds: Mapping[str, Sort], *, tensors: bool) -> Scope:
    head, families = spec.head, frozenset({etype.family})
    variables = {**elements(*head.all, head.second, *"YZAC"), **kinds}
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
            return tree.Parentheses(inner)
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
    """A disjunction over operands, or over all answers of readings but for payloads of NaNs."""
    operands = tuple(map(element, spec.head.operands))
    answers = (*operands, *((number("nan"), number("-nan")) if etype.family == "float" else ()))
    if word != "different":
        return any_of(
            *(replaced(body, names[0], y) for y in (operands if word == "some_operand" else answers))
        )
    one, other = names
    return any_of(*(replaced(replaced(body, one, y), other, z) for y in operands for z in answers if y != z))
