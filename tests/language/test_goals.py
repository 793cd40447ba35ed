"""Each goal in WhyML reads back as its claim: binders, witnesses, premises and conclusion."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from sonnx_clip.backends import whyml_printer
from sonnx_clip.backends.whyml_printer import element_printer, statement
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.claim import Written
from sonnx_clip.language import tree
from sonnx_clip.language.values import encode
from sonnx_clip.spec import load_spec
from sonnx_clip.whyml.formulas import parse_formula

if TYPE_CHECKING:
    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.whyml.node import Node

SPEC = load_spec()
OPERANDS = tuple(name.lower() for name in SPEC.head.operands)
TYPES = ("real", "int8", "float16")
_SIGNS = {"lt": "<", "le": "<=", "eq": "==", "nan": "is_nan"}
_WORDS = {"->": "implies", "<->": "iff", "\\/": "or", "/\\": "and", "=": "identical", "<>": "distinct"}
# Printed in full, or under a name of a theory written by hand: compared by other means.
_OTHER_FORMS = frozenset(("is_signalling", "written_clip", "becomes", "converts"))


def chained(word: str, left: Any, right: Any) -> Any:
    """A chain of one connective as one; grouping of "and" and "or" has no meaning."""
    if word not in ("and", "or"):
        return (word, left, right)
    parts = [part[1:] if isinstance(part, tuple) and part[0] == word else (part,) for part in (left, right)]
    return (word, *parts[0], *parts[1])


# --- The claim as nested tuples ---------------------------------------------------------------------------


def leaf(expr: Expr, etype: ElementType) -> Any:
    """A variable or a literal; None for anything else."""
    match expr:
        case tree.Name(id=name):
            return name.lower()
        case tree.Number(text=text):
            return ("literal", encode(text, etype))
        case tree.Constant(id=name, negative=negative):
            return ("literal", encode(f"-{name}" if negative else name, etype))
        case tree.Value(value=value):
            return ("literal", value)
    return None


def form(expr: Expr, etype: ElementType) -> Any:
    """An expression as nested tuples; AssertionError if it speaks of something else than elements."""

    def of(part: Expr) -> Any:
        return form(part, etype)

    if (found := leaf(expr, etype)) is not None:
        return found
    if isinstance(expr, tree.Use | tree.Call):
        return applied(expr, etype)
    match expr:
        case tree.Compare(operator=sign, left=left, right=right):
            sides = (of(left), of(right))
            return (sign.replace(">", "<"), *(sides[::-1] if ">" in sign else sides))
        case tree.Not(operand=operand):
            return ("not", of(operand))
        case tree.Connective(operator=word, left=left, right=right):
            return chained(word, of(left), of(right))
        case tree.If(condition=condition, then=then, otherwise=otherwise):
            return ("if", of(condition), of(then), of(otherwise))
        case tree.Let(name=name, value=value, body=body):
            return ("let", name.lower(), of(value), of(body))
        case tree.Parentheses(inner=inner):
            return of(inner)
    raise AssertionError(expr)


def applied(expr: tree.Use | tree.Call, etype: ElementType) -> Any:
    """A function with its arguments; an entry without parameters speaks of the operands."""
    arguments = [form(argument, etype) for argument in expr.arguments]
    if isinstance(expr, tree.Use):
        return (expr.id, *(arguments or (operand.lower() for operand in expr.of)))
    return ("cases" if isinstance(expr, tree.CasesResult) else expr.function, *arguments)


def names_in(made: Any) -> set[str]:
    """The variables in a form; heads of tuples are no variables."""
    if isinstance(made, str):
        return {made}
    if made[0] == "literal":
        return set()
    if made[0] == "let":
        return names_in(made[2]) | names_in(made[3]) - {made[1]}
    return set().union(*map(names_in, made[1:])) if len(made) > 1 else set()


def of_claim(claim: Claim, etype: ElementType) -> Any:
    """Binders with their sorts, witnesses, premises and conclusion, of what the claim speaks of."""
    assert not isinstance(claim.conclusion, Written)
    body = form(claim.conclusion, etype)
    for premise in reversed(claim.premises):
        body = ("implies", form(premise, etype), body)
    if claim.of_result:
        body = ("let", "y", ("cases", *OPERANDS), body)
    used = names_in(body)
    for name, value in reversed(claim.witness.items()):
        if name.lower() in used:
            body = ("let", name.lower(), form(value, etype), body)
    bound = {n.lower() for binder in claim.binders for n in binder.names if n.lower() in used}
    return bound, body


# --- The goal as nested tuples ----------------------------------------------------------------------------


def of_goal(text: str) -> Any:
    node = parse_formula(text)
    bound: set[str] = set()
    if node.kind == "forall":
        bound = {name for name, sort in node.binders if sort == "t"}
        assert len(bound) == len(node.binders), text
        (node,) = node.parts
    return bound, of_node(node)


def of_node(node: Node) -> Any:
    if node.kind == "typed":
        return ("literal", int(node.parts[0].text, 0))
    parts = [of_node(part) for part in node.parts]
    match node.kind:
        case "name":
            return node.text
        case "apply":
            return (_SIGNS.get(node.text, node.text), *parts)
        case "number":
            return ("literal", Fraction(node.text))
        case "negative":
            return ("literal", -parts[0][1])
        case "binary" if node.text == "/.":
            return ("literal", parts[0][1] / parts[1][1])
        case "binary":
            return chained(_WORDS[node.text], *parts)
        case "let":
            return ("let", node.text, *parts)
        case kind:
            return (kind, *parts)


def speaks_otherwise(made: Any) -> bool:
    """Whether a form has a function that the printer writes in another way."""
    return isinstance(made, tuple) and (made[0] in _OTHER_FORMS or any(map(speaks_otherwise, made[1:])))


def differing(type_id: str) -> tuple[int, list[str]]:
    """How many goals were compared, and the names of those that are not their claims."""
    etype = SPEC.element_type(type_id)
    printer, compared, wrong = element_printer(SPEC, etype), 0, []
    for claim in claims_of(SPEC, type_id):
        if isinstance(claim.conclusion, Written) or any(b.sort.name != "ELEMENT" for b in claim.binders):
            continue
        try:
            expected = of_claim(claim, etype)
        except (AssertionError, TypeError):  # it speaks of tensors or of FLOAT
            continue
        if speaks_otherwise(expected[1]):
            continue
        compared += 1
        try:
            found = of_goal(statement(claim, printer))
        except AssertionError:
            found = None
        if found != expected:
            wrong.append(claim.name)
    return compared, wrong


@pytest.mark.parametrize("type_id", TYPES)
def test_each_goal_is_its_claim(type_id: str) -> None:
    compared, wrong = differing(type_id)
    assert not wrong
    assert compared > 50


def test_a_weakened_goal_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A goal with one premise more is still true, so that no prover notices it."""
    right = whyml_printer.statement

    def weakened(claim: Claim, printer: whyml_printer.WhymlPrinter) -> str:
        text = right(claim, printer)
        head, dot, body = text.partition(". ")
        return f"{head}{dot}le l m -> {body}" if claim.name == "monotone" else text

    monkeypatch.setitem(globals(), "statement", weakened)
    assert differing("int8")[1] == ["monotone"]
