"""Prints expression trees as WhyML formulas and terms."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sonnx_clip.spec import tree
from sonnx_clip.spec.tree import Expr, Kind
from sonnx_clip.spec.values import Value, encode, float_bits, quiet_bit
from sonnx_clip.spec.walk import subtrees

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.spec.types import ElementType

# How tightly a formula binds; an operand that binds less tightly is put in parentheses.
_IMPLIES, _OR, AND, _NOT, _COMPARE, _APPLY, _ATOM = range(7)
_CONNECTIVES = {
    "iff": ("<->", _IMPLIES),
    "implies": ("->", _IMPLIES),
    "or": ("\\/", _OR),
    "and": ("/\\", AND),
}
_COMPARISONS = {
    "<": "lt {a} {b}",
    "<=": "le {a} {b}",
    ">": "lt {b} {a}",
    ">=": "le {b} {a}",
    "==": "eq {a} {b}",
}


@dataclass(frozen=True)
class Printer:
    """Prints the trees of one scope.

    Args:
        etype: the element type, whose literals the numbers become; None where none can stand.
        variables: what each variable is called in WhyML.
        implicit: the arguments of a case, class or definition without parameters.
        prefix: what stands before the name of one without parameters.
        float_type: the type of a FLOAT; None where none can stand.
    """

    etype: ElementType | None
    variables: Mapping[str, str]
    implicit: str = "x l m"
    prefix: str = ""
    float_type: ElementType | None = None

    def show(self, expr: Expr) -> str:
        """The formula or term, without parentheses around it."""
        return self._print(expr)[0]

    def operand(self, expr: Expr, tightness: int) -> str:
        """The formula or term, in parentheses if it binds less tightly."""
        text, tight = self._print(expr)
        return text if tight >= tightness else f"({text})"

    def _print(self, expr: Expr) -> tuple[str, int]:
        match expr:
            case tree.Compare():
                return self._compare(expr)
            case tree.Not(operand=operand):
                return f"not {self.operand(operand, _COMPARE)}", _NOT
            case tree.Connective(operator=operator, left=left, right=right):
                symbol, tight = _CONNECTIVES[operator]
                # "and" and "or" chain to the left; the others stand alone.
                left_tight = tight if operator in ("and", "or") else tight + 1
                return f"{self.operand(left, left_tight)} {symbol} {self.operand(right, tight + 1)}", tight
            case tree.If(condition=condition, then=then, otherwise=otherwise):
                return (
                    f"if {self.show(condition)} then {self.show(then)} else {self.show(otherwise)}",
                    _IMPLIES - 1,
                )
            case tree.Call():
                return self._call(expr)
            case tree.Use(id=name, arguments=arguments):
                if not arguments:
                    return f"{self.prefix}{name} {self.implicit}", _APPLY
                return f"{name} {' '.join(self.operand(a, _ATOM) for a in arguments)}", _APPLY
            case tree.Every(body=body):
                return (
                    f"forall i: index. {_validity(body, self.variables)} -> {self.show(body)}",
                    _IMPLIES - 1,
                )
            case _:
                return self._leaf(expr)

    def _leaf(self, expr: tree.Name | tree.Number | tree.Constant | tree.Entry) -> tuple[str, int]:
        match expr:
            case tree.Name(id=name):
                text = self.variables[name]
                return text, _APPLY if " " in text else _ATOM
            case tree.Entry(tensor=tensor):
                return f"{self.variables[tensor.id]}.entry i", _APPLY
            case tree.Number(text=text, kind=kind):
                return self._number(text, kind), _ATOM
            case tree.Constant(id=name, negative=negative, kind=kind):
                return self._number(f"-{name}" if negative else name, kind), _ATOM

    def _number(self, text: str, kind: Kind) -> str:
        if kind is not Kind.FLOAT:
            return self.literal(text)
        assert self.float_type is not None
        return float_literal(int(encode(text, self.float_type)), text)

    def _compare(self, expr: tree.Compare) -> tuple[str, int]:
        if expr.kind in (Kind.SHAPE, Kind.ELEMENT_TYPE):
            return f"{self.operand(expr.left, _APPLY)} = {self.operand(expr.right, _APPLY)}", _COMPARE
        form = _COMPARISONS[expr.operator]
        return form.format(a=self.operand(expr.left, _ATOM), b=self.operand(expr.right, _ATOM)), _APPLY

    def _call(self, expr: tree.Call) -> tuple[str, int]:
        if expr.function == "identical":
            a, b = (self.operand(argument, _APPLY) for argument in expr.arguments)
            return f"{a} = {b}", _COMPARE
        if expr.function in ("shape", "type"):
            (argument,) = expr.arguments
            assert isinstance(argument, tree.Name)
            field = "shape" if expr.function == "shape" else "element"
            return f"{argument.id.lower()}.{field}", _ATOM
        if expr.function == "is_signalling":
            return self._signalling(self.operand(expr.arguments[0], _ATOM))
        name = {"is_nan": "nan", "clip": "cases", "becomes": "converts"}.get(expr.function, expr.function)
        return f"{name} {' '.join(self.operand(a, _ATOM) for a in expr.arguments)}", _APPLY

    def _signalling(self, a: str) -> tuple[str, int]:
        """A NaN whose first bit of the fraction is 0; no other type has one."""
        if self.etype is None or self.etype.family != "float":
            return "false", _ATOM
        quiet = self.value(quiet_bit(float_bits(self.etype)))
        return f"nan {a} /\\ bw_and {a} {quiet} = {self.value(0)}", AND

    def literal(self, text: str) -> str:
        """The literal of a number: a bit pattern with the number beside it, or a real."""
        assert self.etype is not None
        return self.value(encode(text, self.etype), text)

    def value(self, value: Value, comment: str = "") -> str:
        """The literal of a value of the element type."""
        if isinstance(value, Fraction):
            return real_literal(value)
        assert self.etype is not None
        assert self.etype.width is not None
        beside = f" (* {comment} *)" if comment else ""
        return f"(0x{value:0{self.etype.width // 4}x}: t{beside})"


def float_literal(pattern: int, comment: str = "") -> str:
    """A FLOAT by its bits, in a theory of another element type."""
    beside = f" (* {comment} *)" if comment else ""
    return f"(0x{pattern:08x}: FLOAT.t{beside})"


def real_literal(value: Fraction) -> str:
    """A rational number as a WhyML real: exact, a quotient where it has no finite decimal expansion."""
    sign, value = ("-", -value) if value < 0 else ("", value)
    scale = next((n for n in range(64) if 10**n % value.denominator == 0), None)
    if scale is None:
        text = f"({value.numerator}.0 /. {value.denominator}.0)"
        return f"({sign}{text})" if sign else text
    digits = f"{value * 10**scale}".rjust(scale + 1, "0")
    text = f"{digits[: len(digits) - scale]}.{digits[len(digits) - scale :] or '0'}"
    return f"({sign}{text})" if sign else text


def _validity(body: Expr, variables: Mapping[str, str]) -> str:
    tensors = sorted({variables[name] for name in entries(body)})
    return " /\\ ".join(f"valid i {tensor}.shape" for tensor in tensors)


def entries(expr: Expr) -> set[str]:
    """The tensors of which an expression reads an entry."""
    return {node.tensor.id for node in subtrees(expr) if isinstance(node, tree.Entry)}


def names(expr: Expr) -> set[str]:
    """The variables that stand in an expression."""
    found = {node.id for node in subtrees(expr) if isinstance(node, tree.Name)}
    return found | entries(expr)
