"""Each goal in WhyML reads back as its claim: binders, witnesses, premises and conclusion."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from sonnx_clip.backends import whyml_printer
from sonnx_clip.backends.type_theories import restrictions_module
from sonnx_clip.backends.whyml_printer import element_printer, statement, tensor_printer
from sonnx_clip.claims.all_claims import claims_of
from sonnx_clip.claims.claim import Written
from sonnx_clip.language import tree
from sonnx_clip.language.tree import Kind
from sonnx_clip.language.values import encode, float_bits, quiet_bit
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.evaluate import DeclaredTensor
from tests.language.whyml_reader import joined, read_formula

if TYPE_CHECKING:
    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType

SPEC = load_spec()
OPERANDS = tuple(name.lower() for name in SPEC.head.operands)
FLOAT = SPEC.element_type("float32")
TYPES = ("real", "int8", "float16", "float32")
_SORTS = {Kind.ELEMENT: "t", Kind.TENSOR: "tensor", Kind.FLOAT: "FLOAT.t"}
_NAMES = {"written_clip": "clip", "becomes": "converts", "shape": ".shape", "type": ".element"}


@dataclass(frozen=True)
class Former:
    """Makes claims nested tuples, from what the classes of the tree mean.

    Args:
        etype: the element type.
        of_tensors: whether a scalar stands for its only entry.
    """

    etype: ElementType
    of_tensors: bool

    def literal(self, text: str, kind: Kind) -> Any:
        return ("FLOAT", encode(text, FLOAT)) if kind is Kind.FLOAT else ("literal", encode(text, self.etype))

    def leaf(self, expr: Expr) -> Any:
        """A variable, a literal, or what stands for every index; None for anything else."""
        match expr:
            case tree.Name(id=name, kind=Kind.ELEMENT) if self.of_tensors:
                return ("value", name.lower())
            case tree.Name(id=name):
                return name.lower()
            case tree.Number(text=text, kind=kind):
                return self.literal(text, kind)
            case tree.Value(value=value, kind=kind):
                return ("FLOAT" if kind is Kind.FLOAT else "literal", value)
            case tree.Subscript(tensor=tensor):
                return (".entry", tensor.id.lower(), "i")
            case tree.Every(body=body):
                return self.every(body)
        return None

    def every(self, body: Expr) -> Any:
        entries = [part for part in tree.subtrees(body) if isinstance(part, tree.Subscript)]
        valid = [("valid", "i", (".shape", n)) for n in sorted({part.tensor.id.lower() for part in entries})]
        premise = valid[0] if len(valid) == 1 else ("and", *valid)
        return ("forall", (("i", "index"),), ("implies", premise, self.form(body)))

    def form(self, expr: Expr) -> Any:
        """An expression as nested tuples."""
        if (found := self.leaf(expr)) is not None:
            return found
        match expr:
            case tree.Use() | tree.Call():
                return self.applied(expr)
            case tree.Compare(operator=sign, left=left, right=right, kind=kind):
                sides = (self.form(left), self.form(right))
                word = sign.replace(">", "<") if kind is Kind.ELEMENT else "identical"
                return (word, *(sides[::-1] if ">" in sign else sides))
            case tree.Not(operand=operand):
                return ("not", self.form(operand))
            case tree.Connective(operator=word, left=left, right=right):
                return joined(word, self.form(left), self.form(right))
            case tree.If(condition=condition, then=then, otherwise=otherwise):
                return ("if", *map(self.form, (condition, then, otherwise)))
            case tree.Let(name=name, value=value, body=body):
                return ("let", name.lower(), self.form(value), self.form(body))
            case tree.Parentheses(inner=inner):
                return self.form(inner)
        raise AssertionError(expr)

    def applied(self, expr: tree.Use | tree.Call) -> Any:
        """A function with its arguments; an entry without parameters speaks of the operands."""
        if isinstance(expr, tree.Call) and expr.function in ("shape", "type"):  # of the tensor, not its entry
            (tensor,) = expr.arguments
            assert isinstance(tensor, tree.Name)
            return (_NAMES[expr.function], tensor.id.lower())
        arguments = [self.form(argument) for argument in expr.arguments]
        if isinstance(expr, tree.Use):
            return (expr.id, *(arguments or (operand.lower() for operand in expr.of)))
        if isinstance(expr, tree.CasesResult):
            return ("cases", *arguments)
        if expr.function == "is_signalling":
            if self.etype.family != "float":
                return "false"
            first_of_fraction = ("bw_and", *arguments, ("literal", quiet_bit(float_bits(self.etype))))
            return ("and", ("is_nan", *arguments), ("identical", first_of_fraction, ("literal", 0)))
        return (_NAMES.get(expr.function, expr.function), *arguments)

    def claim(self, claim: Claim) -> Any:
        """Binders with their sorts, witnesses, premises and conclusion, of what the claim speaks of."""
        if isinstance(claim.conclusion, Written):
            parts = list(enumerate(claim.conclusion.parts))
            made = read_formula("".join(p if isinstance(p, str) else f"literal_{n}" for n, p in parts))
            for n, part in parts:
                made = made if isinstance(part, str) else replaced(made, f"literal_{n}", self.form(part))
            return made
        body = self.form(claim.conclusion)
        for premise in reversed(claim.premises):
            body = ("implies", self.form(premise), body)
        if claim.of_result:
            body = ("let", "y", ("cases", *OPERANDS), body)
        used = names_in(body)
        for name, value in reversed(claim.witness.items()):
            if name.lower() in used:
                body = ("let", name.lower(), self.form(value), body)
        bound = [(v.id.lower(), _SORTS[v.kind]) for v in claim.variables if v.id.lower() in used]
        return ("forall", tuple(sorted(bound)), body) if bound else body


def replaced(made: Any, name: str, by: Any) -> Any:
    """A form with another in the place of a variable."""
    if isinstance(made, tuple):
        return tuple(replaced(part, name, by) for part in made)
    return by if made == name else made


def names_in(made: Any) -> set[str]:
    """The variables in a form; heads of tuples are no variables."""
    if isinstance(made, str):
        return {made}
    if made[0] in ("literal", "FLOAT"):
        return set()
    if made[0] == "let":
        return names_in(made[2]) | names_in(made[3]) - {made[1]}
    if made[0] == "forall":
        return names_in(made[2]) - {name for name, _ in made[1]}
    return set().union(*map(names_in, made[1:]))


def differing(type_id: str) -> tuple[int, list[str]]:
    """How many goals were compared, and the names of those that are not their claims."""
    etype = SPEC.element_type(type_id)
    wrong = []
    for claim in claims_of(SPEC, type_id):
        of_tensors = claim.of_tensors
        printer = tensor_printer(SPEC, etype) if of_tensors else element_printer(SPEC, etype)
        try:
            found = read_formula(statement(claim, printer))
        except AssertionError:
            found = None
        if found != Former(etype, of_tensors).claim(claim):
            wrong.append(claim.name)
    return len(claims_of(SPEC, type_id)), wrong


@pytest.mark.parametrize("type_id", TYPES)
def test_each_goal_is_its_claim(type_id: str) -> None:
    compared, wrong = differing(type_id)
    assert not wrong
    assert compared > 80


@pytest.mark.parametrize(
    ("name", "premise"),
    [("monotone", "le l m"), ("C1", "x.shape = y.shape"), ("cast_unique", "FLOAT.lt b b")],
)
def test_a_weakened_goal_is_noticed(name: str, premise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A goal with one premise more is still true, so that no prover notices it."""
    right = whyml_printer.statement

    def weakened(claim: Claim, printer: whyml_printer.WhymlPrinter) -> str:
        text = right(claim, printer)
        head, dot, body = text.partition(". ")
        return f"{head}{dot}{premise} -> {body}" if claim.name == name else text

    monkeypatch.setitem(globals(), "statement", weakened)
    assert differing("int8")[1] == [name]


# --- The restrictions, on what a model declares -----------------------------------------------------------


class DeclaredTensors:
    """Names for declared tensors, the same for a tensor of a claim and for its record in WhyML."""

    RECORD = re.compile(r"Present \{ element = (\w+); sparse = (\w+); dims = (.*?) \}|\bAbsent\b")

    def __init__(self) -> None:
        self.names: dict[object, str] = {}

    def name(self, key: object) -> str:
        return self.names.setdefault(key, f"declared_{len(self.names)}")

    def of_record(self, found: re.Match[str]) -> str:
        if found[0] == "Absent":
            return self.name(None)
        dims = (
            None if found[3] == "Undeclared" else tuple(re.findall(r"(Known|Symbolic) \(?(-?\w+)", found[3]))
        )
        return self.name((found[1].lower(), found[2], dims))

    def of_tensor(self, tensor: DeclaredTensor | None) -> str:
        if tensor is None:
            return self.name(None)
        dims = tensor.dims and tuple(
            ("Known", str(dim)) if isinstance(dim, int) else ("Symbolic", "0") for dim in tensor.dims
        )
        return self.name((tensor.type, str(tensor.sparse), dims))


@pytest.mark.parametrize("claim", claims_of(SPEC, "restrictions"), ids=lambda claim: claim.name)
def test_each_goal_on_restrictions_is_its_claim(claim: Claim) -> None:
    (text,) = (goal.statement for goal in restrictions_module(SPEC).goals if goal.name == claim.name)
    declared = DeclaredTensors()
    former = Former(FLOAT, of_tensors=False)
    node = ""
    if claim.witness:
        node, _, text = text.partition(" in ")
        changed = [
            f"{name.lower()} = {declared.of_tensor(value.value)}"
            for name, value in claim.witness.items()
            if isinstance(value, tree.Value)
        ]
        of = "example" if claim.role == "consistent" else f"{{ example with {'; '.join(changed)} }}"
        assert " ".join(declared.RECORD.sub(declared.of_record, node).split()) == f"let n = {of}"
    expected = former.claim(replace(claim, witness={}))
    for name in (*OPERANDS, SPEC.head.result.lower()):
        expected = replaced(expected, name, (f".{name}", "n"))
    expected = with_names(expected, declared)
    assert read_formula(declared.RECORD.sub(declared.of_record, text)) == expected


def with_names(made: Any, declared: DeclaredTensors) -> Any:
    """A form with names in place of declared tensors."""
    if (
        isinstance(made, tuple)
        and made[0] == "literal"
        and (made[1] is None or isinstance(made[1], DeclaredTensor))
    ):
        return declared.of_tensor(made[1])
    return tuple(with_names(part, declared) for part in made) if isinstance(made, tuple) else made
