"""Renders contracts in ACSL, the language of Frama-C: a second statement of what the C kernels compute.

They come from the expression trees of the YAML alone: nothing of the Why3 theories is in them.
`sonnx-clip prove --road frama-c` joins them with the generated C, which carries no annotation itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NoReturn

from sonnx_clip.backends.templating import header_lines, template
from sonnx_clip.language import tree
from sonnx_clip.language.printing import LOOSEST, NodeForm, Piece, Printing, infix, unparse
from sonnx_clip.language.values import float_bits, infinity, sign_bit
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec

FOLDER = "generated/c/acsl"
LOOP = f"{FOLDER}/loop.acsl"

# Binding strengths, tightest last.
_CHOICE, _IFF, _IMPLIES, _OR, _AND, _NOT, _COMPARE, _ATOM = range(LOOSEST, LOOSEST + 8)
_SIGNS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq"}
_FREE = (LOOSEST, LOOSEST)  # the places of the arguments of a call

# Names that Frama-C gives to goals: of what a contract ensures, and of the loop.
_MEANING = ("meaning",)
_ENSURED: Mapping[str, tuple[str, ...]] = {
    "rank": ("number", "nan"),
    "limit": ("number", "nan"),
    "less_than": _MEANING,
    "less_equal": _MEANING,
    "at_least": _MEANING,
    "clip_element": _MEANING,
}
_OF_LOOP = (
    "loop_invariant_i_in_range",
    "loop_invariant_done",
    "loop_invariant_to_do",
    "loop_assigns",
    "loop_variant",
    "assert_rte_mem_access",
    "assert_rte_mem_access_2",
    "assert_rte_unsigned_overflow",
    "requires_x_readable",
    "requires_y_writable",
    "requires_same_or_separate",
)


def contract_path(etype: ElementType) -> str:
    """Path of the contracts of an element type in the repository."""
    return f"{FOLDER}/{etype.id}.h"


def is_bits(etype: ElementType) -> bool:
    """Whether C has no type for this float format, and keeps its bits in an unsigned integer."""
    return etype.family == "float" and etype.c == f"uint{etype.width}_t"


def render_acsl(spec: Spec) -> dict[str, str]:
    """The contracts of each element type that C has, and the annotation of the loop, by their paths.

    Raises:
        UserError: a case uses what ACSL cannot express.
    """
    files = {LOOP: template("acsl_loop.j2").render()}
    for etype in spec.element_types:
        if etype.c is None:  # reals
            continue
        printer = AcslPrinter(etype, spec.signature.ids)
        cases = []
        for case in spec.cases:
            condition = printer.show(case.when)
            cases.append((case.id, case.result_text, condition, unparse(case.when)))
        files[contract_path(etype)] = template("acsl_type.h.j2").render(
            header=header_lines(spec),
            etype=etype,
            format=_format(etype) if is_bits(etype) else None,
            operands=spec.signature.ids,
            result=spec.signature.result.id,
            cases=cases,
        )
    return files


def _format(etype: ElementType) -> Mapping[str, str]:
    """The numbers by which the bits of a format are read as integers."""
    form = float_bits(etype)
    sign = sign_bit(form)
    numbers = {
        "sign": sign,
        "mask": sign - 1,
        "infinity": infinity(form),
        "all": 2 * sign - 1,
    }
    digits = (etype.width or 0) // 4
    return {name: f"0x{value:0{digits}X}" for name, value in numbers.items()}


@dataclass(frozen=True)
class AcslPrinter(Printing):
    """Prints conditions on elements; UserError for what ACSL cannot express."""

    etype: ElementType
    operands: tuple[str, ...]

    forms: ClassVar[Mapping[str, NodeForm]] = {
        "if": NodeForm(_CHOICE, "{0} ? {1} : {2}", (_IFF, _IFF, _IFF)),
        "iff": infix(_IFF, "<==>", "alone"),
        "implies": infix(_IMPLIES, "==>", "alone"),
        "or": infix(_OR, "||", "left"),
        "and": infix(_AND, "&&", "left"),
        "not": NodeForm(_NOT, "!{0}", (_ATOM,)),
    }
    of_bits: ClassVar[Mapping[str, NodeForm]] = {
        "<": NodeForm(_ATOM, "less({0}, {1})", _FREE),
        "<=": NodeForm(_ATOM, "less_or_equal({0}, {1})", _FREE),
        ">": NodeForm(_ATOM, "less({1}, {0})", _FREE),
        ">=": NodeForm(_ATOM, "less_or_equal({1}, {0})", _FREE),
        "==": NodeForm(_AND, "less_or_equal({0}, {1}) && less_or_equal({1}, {0})", _FREE),
    }

    def comparison(self, expr: tree.Compare) -> Piece:
        """A comparison of elements."""
        if expr.kind is not tree.Kind.ELEMENT:
            return self._refused(expr)
        if self.etype.family == "int":
            form = NodeForm(_COMPARE, f"{{0}} {expr.operator} {{1}}", (_ATOM, _ATOM))
        elif is_bits(self.etype):
            form = self.of_bits[expr.operator]
        else:
            # The operators of ACSL compare real numbers, in which a NaN has no place; these
            # predicates, such as \lt_float, compare floats.
            predicate = f"\\{_SIGNS[expr.operator]}_{self.etype.c}"
            form = NodeForm(_ATOM, f"{predicate}({{0}}, {{1}})", _FREE)
        return self.filled(form, expr.left, expr.right)

    def application(self, expr: tree.Call | tree.Use) -> Piece:
        """A case; the cases of Clip use no function."""
        if isinstance(expr, tree.Use) and not expr.arguments:
            return _ATOM, f"{expr.id}({', '.join(self.operands)})"
        return self._refused(expr)

    def leaf(self, expr: tree.Leaf) -> Piece:
        """An operand; the cases of Clip use no number."""
        return (_ATOM, expr.id) if isinstance(expr, tree.Name) else self._refused(expr)

    def _refused(self, expr: Expr) -> NoReturn:
        message = f"ACSL has no expression for `{unparse(expr)}`"
        raise UserError(message, "spec/clip.yaml", "state the case without it")


# --- What Frama-C has to prove --------------------------------------------------------------------------


def c_functions(etype: ElementType) -> tuple[str, ...]:
    """The functions of the C of an element type, each of which has a contract."""
    functions = ("clip_element", "clip_elements", f"sonnx_clip_{etype.id}")
    if is_bits(etype):
        # What C has operators for in other types.
        return ("rank", "limit", "less_than", "less_equal", "at_least", *functions)
    return functions


def required_goals(etype: ElementType) -> tuple[str, ...]:
    """The least that has to be proved of an element type, by the names that Frama-C gives to it.

    Accesses to memory and overflows are called ``rte``: Frama-C finds them in the C itself.
    """
    names_of_goals = []
    for function in c_functions(etype):
        names_of_goals.append(f"{function}_assigns")
        # The two functions on arrays ensure the same of every element.
        names = _ENSURED.get(function, ("every_element",))
        names_of_goals += [f"{function}_ensures_{name}" for name in names]
    names_of_goals += [f"clip_elements_{name}" for name in _OF_LOOP]
    return tuple(names_of_goals)
