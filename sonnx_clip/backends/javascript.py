"""Prints the cases, classes, latitude and readings as JavaScript, for the explorer of the evidence.

A value is an object. Its `n`, a double or a BigInt, compares in JavaScript as the element type does; its
`bits` are a BigInt. Functions are named ``$id``, since an id may be a word of JavaScript.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NoReturn

from sonnx_clip.backends.declared import definitions_of
from sonnx_clip.backends.templating import template
from sonnx_clip.language import tree
from sonnx_clip.language.printing import LOOSEST, NodeForm, Piece, Printing, infix, unparse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.spec import Spec

SECTIONS = ("cases", "classes", "latitude", "readings")
# Binding strengths in JavaScript, tightest last.
_CHOICE, _OR, _AND, _EQUAL, _COMPARE, _NOT, _ATOM = range(LOOSEST, LOOSEST + 7)


@dataclass(frozen=True)
class JavaScriptPrinter(Printing):
    """Prints conditions on elements; ValueError for tensors and declarations."""

    forms: ClassVar[Mapping[str, NodeForm]] = {
        "if": NodeForm(_CHOICE, "{0} ? {1} : {2}", (_OR, _CHOICE, _CHOICE)),
        "iff": infix(_EQUAL, "===", "alone"),
        "implies": NodeForm(_OR, "!{0} || {1}", (_NOT, _OR)),
        "or": infix(_OR, "||", "left"),
        "and": infix(_AND, "&&", "left"),
        "not": NodeForm(_NOT, "!{0}", (_NOT,)),
        "==": NodeForm(_EQUAL, "{0}.n === {1}.n", (_ATOM, _ATOM)),
        **{
            sign: NodeForm(_COMPARE, f"{{0}}.n {sign} {{1}}.n", (_ATOM, _ATOM))
            for sign in ("<", "<=", ">", ">=")
        },
    }
    functions: ClassVar[Mapping[str, NodeForm]] = {
        "identical": NodeForm(_EQUAL, "{0}.bits === {1}.bits", (_ATOM, _ATOM)),
        "is_nan": NodeForm(_ATOM, "is_nan({0})", (LOOSEST,)),
        "is_signalling": NodeForm(_ATOM, "{0}.signalling", (_ATOM,)),
    }

    def comparison(self, expr: tree.Compare) -> Piece:
        """A comparison of elements."""
        return super().comparison(expr) if expr.kind is tree.Kind.ELEMENT else self._refused(expr)

    def application(self, expr: tree.Call | tree.Use) -> Piece:
        """A built-in function, the operator, or an entry of the YAML."""
        match expr:
            case tree.Use(id=name, of=of):
                pass
            case tree.CasesResult(function=name):
                of = ()
            case tree.Call(function=name) if name in self.functions:
                return self.filled(self.functions[name], *expr.arguments)
            case _:
                return self._refused(expr)
        return _ATOM, f"${name}({', '.join([*map(self.show, expr.arguments), *of])})"

    def leaf(self, expr: tree.Leaf) -> Piece:
        """A variable, or a number, which `k` has as a value of the element type."""
        match expr:
            case tree.Name(id=name):
                return _ATOM, name
            case tree.Number(text=text):
                return _ATOM, f'k["{text}"]'
            case _:
                return self._refused(expr)

    def _refused(self, expr: Expr) -> NoReturn:
        raise ValueError(f"JavaScript has no elements to compute `{unparse(expr)}` with")


@dataclass(frozen=True)
class Function:
    """A function of the script: the section and the id of its entry, its parameters, and its code."""

    section: str
    id: str
    parameters: Sequence[str]
    code: str


def render_javascript(spec: Spec) -> str:
    """The script: ``meaning[family](k)`` has the functions of a family, given the constants `k` of a type."""
    operands = spec.head.operands
    *first, last = [(case.id, JavaScriptPrinter().show(case.result)) for case in spec.cases]
    return template("meaning.js.j2").render(
        operator=spec.head.function,
        operands=operands,
        result="".join(f"${id_}({', '.join(operands)}) ? {of} : " for id_, of in first) + last[1],
        families={family.id: [*_functions(spec, family.id)] for family in spec.families},
        sections=SECTIONS,
    )


def constants_of(spec: Spec, family: str) -> list[str]:
    """The numbers that the functions of a family use, as texts."""
    expressions = [case.result for case in spec.giving_cases(family)]
    expressions += [expr for *_, expr in _conditions(spec, family) if expr is not None]
    nodes = [node for expr in expressions for node in tree.subtrees(expr)]
    return sorted({node.text for node in nodes if isinstance(node, tree.Number)})


def _functions(spec: Spec, family: str) -> Iterator[Function]:
    printer = JavaScriptPrinter()
    for section, id_, parameters, expr in _conditions(spec, family):
        yield Function(section, id_, parameters, "false" if expr is None else printer.show(expr))


def _conditions(spec: Spec, family: str) -> Iterator[tuple[str, str, Sequence[str], Expr | None]]:
    """Section, id, parameters and condition of each entry; no condition where the family has none."""
    operands, result = spec.head.operands, spec.head.result
    for case in spec.cases:
        yield "cases", case.id, operands, case.when
    for d in definitions_of(spec, *SECTIONS):
        has = d.families is None or family in d.families
        yield "definitions", d.id, d.parameters or operands, d.is_ if has else None
    for c in spec.classes_of(family):
        of_case = tree.Use(c.case, (), tree.Kind.BOOL, operands)
        yield "classes", c.id, operands, tree.Connective("and", of_case, c.when)
    for entry in spec.latitude:
        accepted = tree.Connective("and", entry.when, entry.accepts)
        yield "latitude", entry.id, (*operands, result, "A"), accepted
    for reading in spec.readings:
        yield "readings", reading.id, (*operands, result), reading.returns
