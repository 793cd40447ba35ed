"""Renders contracts in ACSL, the language of Frama-C: a second statement of what the C kernels compute.

They come from the expression trees of the YAML alone, by a printer of their own: nothing of the Why3 theories
is in them. `sonnx-clip prove --road frama-c` joins them with the generated C, which carries no
annotation itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.templating import template
from sonnx_clip.language import tree
from sonnx_clip.language.printing import unparse
from sonnx_clip.language.tree import subtrees
from sonnx_clip.language.values import Value, decode, encode, float_bits, infinity, sign_bit
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.header import header_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Definition

FOLDER = "generated/c/acsl"
LOOP = f"{FOLDER}/loop.acsl"

# How tightly a form binds; an operand that binds less tightly is put in parentheses.
_CHOICE, _IFF, _IMPLIES, _OR, _AND, _NOT, _COMPARE, _ATOM = range(8)
_CONNECTIVES = {"iff": ("<==>", _IFF), "implies": ("==>", _IMPLIES), "or": ("||", _OR), "and": ("&&", _AND)}
_OF_FLOATS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq"}
_OF_BITS = {
    "<": "less({a}, {b})",
    "<=": "less_or_equal({a}, {b})",
    ">": "less({b}, {a})",
    ">=": "less_or_equal({b}, {a})",
    "==": "less_or_equal({a}, {b}) && less_or_equal({b}, {a})",
}


def contract_path(etype: ElementType) -> str:
    """Where the contracts of an element type stand in the repository."""
    return f"{FOLDER}/{etype.id}.h"


def is_bits(etype: ElementType) -> bool:
    """Whether C has no type for this float format, and keeps its bits in an unsigned integer."""
    return etype.family == "float" and etype.c == f"uint{etype.width}_t"


def render_acsl(spec: Spec) -> dict[str, str]:
    """The contracts of each element type that C has, and the annotation of the loop, by their paths.

    Raises:
        UserError: a case uses what ACSL cannot say.
    """
    about = header_lines(spec)
    files = {LOOP: template("acsl_loop.j2").render()}
    for etype in spec.element_types:
        if etype.c is not None:
            files[contract_path(etype)] = _contract(spec, etype, about)
    return files


def _contract(spec: Spec, etype: ElementType, about: Iterable[str]) -> str:
    printer = AcslPrinter(etype, spec.head.operands)
    return template("acsl_type.h.j2").render(
        header=about,
        etype=etype,
        format=_format(etype) if is_bits(etype) else None,
        definitions=[_Logic.of(d, printer) for d in _used(spec, etype)],
        operands=spec.head.operands,
        result=spec.head.result,
        cases=[(case.id, case.result, printer.show(case.when), unparse(case.when)) for case in spec.cases],
    )


@dataclass(frozen=True)
class _Logic:
    """A definition of the YAML as a predicate or a function of ACSL."""

    head: str
    body: str
    title: str

    @classmethod
    def of(cls, entry: Definition, printer: AcslPrinter) -> _Logic:
        c = printer.etype.c
        kind = f"logic {c}" if _is_element(entry.is_) else "predicate"
        parameters = ", ".join(f"{c} {name}" for name in entry.parameters or printer.operands)
        elsewhere = entry.families is not None and printer.etype.family not in entry.families
        body = r"\false" if elsewhere else printer.show(entry.is_)
        return cls(f"{kind} {entry.id}({parameters})", body, entry.title)


def _is_element(expr: Expr) -> bool:
    return isinstance(expr, (tree.Name, tree.Number)) or (
        isinstance(expr, (tree.If, tree.Use, tree.Call)) and expr.kind is tree.Kind.ELEMENT
    )


def _used(spec: Spec, etype: ElementType) -> tuple[Definition, ...]:
    """The definitions that the cases use, in the order of the YAML, in which each stands before its use."""
    known = {d.id: d for d in spec.definitions}
    wanted: set[str] = set()
    ahead = [case.when for case in spec.cases]
    while ahead:
        for node in subtrees(ahead.pop()):
            if isinstance(node, tree.Use) and node.id in known and node.id not in wanted:
                wanted.add(node.id)
                definition = known[node.id]
                if definition.families is None or etype.family in definition.families:
                    ahead.append(definition.is_)
    return tuple(d for d in spec.definitions if d.id in wanted)


def _format(etype: ElementType) -> Mapping[str, str]:
    """The numbers by which the bits of a format are read as integers."""
    form, digits = float_bits(etype), (etype.width or 0) // 4
    sign, top = sign_bit(form), infinity(form)
    numbers = {"sign": sign, "mask": sign - 1, "infinity": top, "all": 2 * sign - 1}
    return {name: f"0x{value:0{digits}X}" for name, value in numbers.items()}


@dataclass(frozen=True)
class AcslPrinter:
    """Prints the trees of conditions on elements as ACSL; UserError for what ACSL cannot say."""

    etype: ElementType
    operands: tuple[str, ...]

    def show(self, expr: Expr) -> str:
        """The predicate or term, without parentheses around it."""
        return self._form(expr)[1]

    def _at(self, place: int, expr: Expr) -> str:
        level, text = self._form(expr)
        return text if level >= place else f"({text})"

    def _form(self, expr: Expr) -> tuple[int, str]:
        match expr:
            case tree.Name(id=name):
                return _ATOM, name
            case tree.Number():
                return _ATOM, self._literal(expr)
            case tree.Compare(operator=operator, left=left, right=right, kind=tree.Kind.ELEMENT):
                return self._compare(operator, left, right)
            case tree.Not(operand=operand):
                return _NOT, f"!{self._at(_ATOM, operand)}"
            case tree.Connective(operator=operator, left=left, right=right):
                sign, level = _CONNECTIVES[operator]
                # `and` and `or` chain to the left; the others stand alone.
                first = level if operator in ("and", "or") else level + 1
                return level, f"{self._at(first, left)} {sign} {self._at(level + 1, right)}"
            case tree.If(condition=condition, then=then, otherwise=otherwise):
                parts = (self._at(_IFF, part) for part in (condition, then, otherwise))
                return _CHOICE, "{} ? {} : {}".format(*parts)
            case tree.Use(id=name, arguments=arguments):
                return _ATOM, f"{name}({', '.join(map(self.show, arguments)) or ', '.join(self.operands)})"
            case tree.Call(function="identical", arguments=arguments):
                return _ATOM, f"identical({', '.join(map(self.show, arguments))})"
            case tree.Call(function="is_nan", arguments=(argument,)):
                return _ATOM, self._is_nan(self.show(argument))
        raise UserError(
            f"ACSL has no expression for `{unparse(expr)}`", "spec/clip.yaml", "say the case without it"
        )

    def _compare(self, operator: str, left: Expr, right: Expr) -> tuple[int, str]:
        if self.etype.family == "int":
            return _COMPARE, f"{self._at(_ATOM, left)} {operator} {self._at(_ATOM, right)}"
        a, b = self.show(left), self.show(right)
        if not is_bits(self.etype):
            return _ATOM, f"\\{_OF_FLOATS[operator]}_{self.etype.c}({a}, {b})"
        return _AND if operator == "==" else _ATOM, _OF_BITS[operator].format(a=a, b=b)

    def _is_nan(self, argument: str) -> str:
        if self.etype.family == "int":
            return r"\false"
        return f"is_nan({argument})" if is_bits(self.etype) else f"\\is_NaN({argument})"

    def _literal(self, expr: tree.Number) -> str:
        """A number: of an integer type its value, of a format without C type its bits."""
        text = unparse(expr)
        value: Value = encode(text, self.etype)
        if self.etype.family == "int":
            return f"({self.etype.c})({decode(value, self.etype)})"
        if is_bits(self.etype):
            return f"({self.etype.c})0x{int(value):0{(self.etype.width or 0) // 4}X}"
        # ACSL reads a literal as a real number: it has no -0, and no NaN.
        what = f"the contracts have no literals of {self.etype.id}, and a case uses `{text}`"
        raise UserError(what, "spec/clip.yaml", "say the case without a number")


def functions(etype: ElementType) -> tuple[str, ...]:
    """The functions of the C of an element type, each of which has a contract."""
    of_bits = ("rank", "limit", "less_than", "less_equal", "at_least") if is_bits(etype) else ()
    return (*of_bits, "clip_element", "clip_elements", f"sonnx_clip_{etype.id}")


def due(etype: ElementType) -> tuple[str, ...]:
    """What has to be proved of an element type at least, by the names that Frama-C gives to it.

    Accesses to memory and overflows are called ``rte``: Frama-C finds them in the C itself.
    """
    return tuple(_due(etype))


def _due(etype: ElementType) -> Iterator[str]:
    ensured = {
        "rank": ("number", "nan"), "limit": ("number", "nan"), "less_than": ("meaning",),
        "less_equal": ("meaning",), "at_least": ("meaning",), "clip_element": ("meaning",),
    }  # fmt: skip
    for function in functions(etype):
        yield f"{function}_assigns"
        for name in ensured.get(function, ("every_element",)):
            yield f"{function}_ensures_{name}"
    for name in ("i_in_range", "done", "to_do"):
        yield f"clip_elements_loop_invariant_{name}"
    yield "clip_elements_loop_assigns"
    yield "clip_elements_loop_variant"
    for name in ("mem_access", "mem_access_2", "unsigned_overflow"):
        yield f"clip_elements_assert_rte_{name}"
    for name in ("x_readable", "y_writable", "same_or_separate"):
        yield f"clip_elements_requires_{name}"
