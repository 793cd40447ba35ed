"""Prints expression trees as WhyML formulas and terms, and claims as goals."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from sonnx_clip.backends.theory import Goal
from sonnx_clip.claims.claim import Written
from sonnx_clip.claims.nodes import names_used
from sonnx_clip.language import show_bits, tree
from sonnx_clip.language.printing import LOOSEST, NodeForm, Piece, Printing, infix
from sonnx_clip.language.tree import Expr, Kind, subtrees
from sonnx_clip.language.values import Value, encode, float_bits, quiet_bit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.root.signature import Signature
    from sonnx_clip.spec import Spec


# How tightly a formula binds, in WhyML.
_IF, _IMPLIES, _OR, AND, _NOT, _COMPARE, APPLY, ATOM = range(LOOSEST, LOOSEST + 8)


def _applied(text: str) -> NodeForm:
    return NodeForm(APPLY, text, (ATOM, ATOM))


# Logical equality: of bits, so that zeros differ and a NaN is itself. `eq` is that of IEEE 754.
_SAME = NodeForm(_COMPARE, "{0} = {1}", (APPLY, APPLY))
_OTHER = NodeForm(_COMPARE, "{0} <> {1}", (APPLY, APPLY))
# What the theories call the functions of the language.
_FUNCTIONS = {"is_nan": "nan", "written_clip": "clip", "becomes": "converts"}


@dataclass(frozen=True)
class WhymlPrinter(Printing):
    """Prints the trees of one scope.

    Args:
        etype: the element type, whose literals the numbers become; None where none can stand.
        signature: of the operator, whose operands are the arguments of an entry without parameters.
        variables: what variables are called in WhyML, where it is not their name in small letters.
        of_result: whether such an entry mentions the result too.
        prefix: what stands before the name of one without parameters.
        float_type: the type of a FLOAT; None where none can stand.
    """

    etype: ElementType | None
    signature: Signature
    variables: Mapping[str, str] = field(default_factory=dict)
    of_result: bool = False
    prefix: str = ""
    float_type: ElementType | None = None

    forms: ClassVar[Mapping[str, NodeForm]] = {
        "if": NodeForm(_IF, "if {0} then {1} else {2}", (_IF, _IF, _IF)),
        "iff": infix(_IMPLIES, "<->", "alone"),
        "implies": infix(_IMPLIES, "->", "alone"),
        "or": infix(_OR, "\\/", "left"),
        "and": infix(AND, "/\\", "left"),
        "not": NodeForm(_NOT, "not {0}", (_COMPARE,)),
        "<": _applied("lt {0} {1}"),
        "<=": _applied("le {0} {1}"),
        ">": _applied("lt {1} {0}"),
        ">=": _applied("le {1} {0}"),
        "==": _applied("eq {0} {1}"),
    }

    @property
    def implicit(self) -> str:
        """The arguments of a case, class or definition without parameters."""
        return self.signature.arguments_and_result if self.of_result else self.signature.arguments

    def variable(self, name: str) -> str:
        """What a variable is called."""
        return self.variables.get(name, name.lower())

    def leaf(self, expr: tree.Leaf) -> Piece:
        """A name, a literal, an entry, a formula on every index, or what claims alone have."""
        match expr:
            case tree.Value() | tree.Let() | tree.Parentheses():
                return self._of_claim(expr)
            case tree.Name(id=name, kind=Kind.TENSOR):
                return ATOM, name.lower()
            case tree.Name(id=name):
                text = self.variable(name)
                # The variable of a scalar tensor may be its entry: ``value l``.
                return APPLY if " " in text else ATOM, text
            case tree.Subscript(tensor=tensor):
                return APPLY, f"{self.variable(tensor.id)}.entry i"
            case tree.Number(text=text, kind=kind):
                return ATOM, self._number(text, kind)
            case tree.Every(body=body):
                return _IF, f"forall i: index. {self._validity(body)} -> {self.show(body)}"

    def _of_claim(self, expr: tree.Value | tree.Let | tree.Parentheses) -> Piece:
        match expr:
            case tree.Value(value=value, kind=Kind.FLOAT):
                return ATOM, float_literal(value)
            case tree.Value(value=value):
                return ATOM, self.value(value)
            case tree.Let(name=name, value=value, body=body):
                return _IF, f"let {name.lower()} = {self.show(value)} in {self.show(body)}"
            case tree.Parentheses(inner=inner):
                return ATOM, f"({self.show(inner)})"

    def atom(self, expr: Expr) -> str:
        """An expression as the argument of a function."""
        return self.operand(expr, ATOM)

    # Arrows bind loosely: a disjunction or an implication left of one needs parentheses.

    def premise(self, expr: Expr) -> str:
        """A condition as the premise of an arrow."""
        return self.operand(expr, AND)

    def conclusion(self, expr: Expr) -> str:
        """A condition as the conclusion of an arrow, where a choice or a let needs no parentheses."""
        level, text = self.written(expr)
        # They extend to the end of the formula, which a conclusion is at anyway.
        return text if level == _IF else self.operand(expr, _OR)

    def _number(self, text: str, kind: Kind) -> str:
        if kind is not Kind.FLOAT:
            return self.literal(text)
        assert self.float_type is not None
        return float_literal(int(encode(text, self.float_type)), text)

    def comparison(self, expr: tree.Compare) -> Piece:
        """A comparison: of elements by a predicate, of shapes and element types by identity."""
        is_identity = expr.kind in (Kind.SHAPE, Kind.ELEMENT_TYPE)
        form = _SAME if is_identity else self.forms[expr.operator]
        return self.filled(form, expr.left, expr.right)

    def application(self, expr: tree.Call | tree.Use) -> Piece:
        """A function or predicate with its arguments."""
        match expr:
            case tree.Use(id=name, arguments=()):
                # An entry without parameters is about the operands, which the tree does not repeat.
                return APPLY, f"{self.prefix}{name} {self.implicit}"
            case tree.Use(id=name):
                pass
            case tree.CasesResult():
                name = "cases"
            case tree.Call(function="identical"):
                return self.filled(_SAME, *expr.arguments)
            case tree.Call(function="distinct"):
                return self.filled(_OTHER, *expr.arguments)
            case tree.Call(function="shape", arguments=(tree.Name(id=name),)):
                return ATOM, f"{name.lower()}.shape"
            case tree.Call(function="type", arguments=(tree.Name(id=name),)):
                return ATOM, f"{name.lower()}.element"
            case tree.Call(function="is_signalling", arguments=(argument,)):
                return self._signalling(self.operand(argument, ATOM))
            case tree.Call(function=name):
                name = _FUNCTIONS.get(name, name)
        arguments = " ".join(self.atom(argument) for argument in expr.arguments)
        return APPLY, f"{name} {arguments}"

    def _signalling(self, a: str) -> Piece:
        """A NaN whose first bit of the fraction is 0; no other type has one."""
        if self.etype is None or self.etype.family != "float":
            return ATOM, "false"
        quiet = self.value(quiet_bit(float_bits(self.etype)))
        return AND, f"nan {a} /\\ bw_and {a} {quiet} = {self.value(0)}"

    def literal(self, text: str) -> str:
        """The literal of a number: a bit pattern with the number beside it, or a real."""
        assert self.etype is not None
        return self.value(encode(text, self.etype), text)

    def value(self, value: Value, comment: str = "") -> str:
        """The literal of a value of the element type."""
        if isinstance(value, Fraction):
            return real_literal(value)
        assert self.etype is not None
        # Bit patterns, and no floats of Why3: the axioms of those make both provers time out on goals
        # that are false, so that nothing could be refuted.
        bits = show_bits(value, self.etype)
        return f"({bits}: t{_remark(comment)})"

    def _validity(self, body: Expr) -> str:
        """That `i` is an index of every tensor of which a formula reads the entry."""
        tensors = {self.variable(name) for name in entries(body)}
        validities = [f"valid i {tensor}.shape" for tensor in sorted(tensors)]
        return " /\\ ".join(validities)


def element_printer(spec: Spec, etype: ElementType) -> WhymlPrinter:
    """A printer for conditions on elements, and on FLOATs where float32 is an element type."""
    float_type = next((other for other in spec.element_types if other.id == "float32"), None)
    return WhymlPrinter(etype, spec.signature, float_type=float_type)


def tensor_printer(spec: Spec, etype: ElementType) -> WhymlPrinter:
    """A printer for conditions on tensor values: a scalar is its only entry."""
    entries_of_scalars = {name: f"value {name.lower()}" for name in spec.signature.scalars}
    return WhymlPrinter(etype, spec.signature, entries_of_scalars)


def float_literal(pattern: int, comment: str = "") -> str:
    """A FLOAT by its bits, in a theory of another element type."""
    return f"(0x{pattern:08x}: FLOAT.t{_remark(comment)})"


def _remark(comment: str) -> str:
    """A comment behind a literal: bits alone would tell a reader nothing."""
    return f" (* {comment} *)" if comment else ""


def real_literal(value: Fraction) -> str:
    """A rational number with a finite decimal expansion, as every number of the YAML has one, as a real."""
    decimals = 0
    while 10**decimals % value.denominator != 0:
        decimals += 1
    # All digits as one whole number; WhyML wants some on both sides of the point.
    digits = str(abs(value) * 10**decimals).rjust(decimals + 1, "0")
    point = len(digits) - decimals
    whole = digits[:point]
    fraction = digits[point:] or "0"
    text = f"{whole}.{fraction}"
    return f"(-{text})" if value < 0 else text


def entries(expr: Expr) -> set[str]:
    """The tensors of which an expression reads an entry."""
    return {node.tensor.id for node in subtrees(expr) if isinstance(node, tree.Subscript)}


# --- Prints claims in WhyML: a goal for each ----------------------------------------------------------------


_SORTS: Mapping[Kind, str] = {Kind.ELEMENT: "t", Kind.TENSOR: "tensor", Kind.FLOAT: "FLOAT.t"}


def goal(claim: Claim, printer: WhymlPrinter) -> Goal:
    """A claim as a goal."""
    return Goal(
        name=claim.name,
        kind=claim.kind,
        shows=claim.shows,
        title=claim.title,
        statement=statement(claim, printer),
        is_step=claim.role == "step",
    )


def statement(claim: Claim, printer: WhymlPrinter) -> str:
    """The formula of a claim: ``forall …. let … in premise -> … -> conclusion``.

    Variables that it does not mention are neither bound nor given: Why3 would warn.
    """
    conclusion = claim.conclusion
    if isinstance(conclusion, Written):
        formula = ""
        for part in conclusion.parts:
            formula += part if isinstance(part, str) else printer.atom(part)
        return formula

    premises = [printer.premise(premise) for premise in claim.premises]
    # Without a premise there is no arrow, next to which a conclusion would need parentheses.
    shown = printer.conclusion(conclusion) if premises else printer.show(conclusion)
    body = " -> ".join([*premises, shown])

    used = names_used(claim)
    binders = _quantifier(claim.variables, used)
    for name, expr in claim.witness.items():
        if name in used:
            binders.append(f"let {name.lower()} = {printer.show(expr)} in")
    return " ".join([*binders, body])


def _quantifier(variables: tuple[tree.Name, ...], used: set[str]) -> list[str]:
    """``forall x l m: t, n: FLOAT.t.``, neighbours of one sort together; nothing without variables."""
    bound = [variable for variable in variables if variable.id in used]
    if not bound:
        return []
    groups = []
    for kind, group in groupby(bound, lambda variable: variable.kind):
        names = " ".join(variable.id.lower() for variable in group)
        groups.append(f"{names}: {_SORTS[kind]}")
    return [f"forall {', '.join(groups)}."]
