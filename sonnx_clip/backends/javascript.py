"""Prints the meaning of operators and of rewrites as JavaScript, for the explorer of the evidence.

A value is an object. Its `n`, a double or a BigInt, compares in JavaScript as the element type does; its
`bits` are a BigInt. Functions are named ``$id``, since an id may be a word of JavaScript.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, NoReturn

from sonnx_clip.backends.declared import definitions_of
from sonnx_clip.backends.templating import template
from sonnx_clip.language import tree
from sonnx_clip.language.printing import LOOSEST, NodeForm, Piece, Printing, infix, unparse
from sonnx_clip.rewrites.terms import ELEMENT, operators

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.rewrites.rewrite import Rewrite
    from sonnx_clip.spec import Spec

SECTIONS = ("cases", "classes", "latitude", "readings")
# Binding strengths in JavaScript, tightest last.
_CHOICE, _OR, _AND, _EQUAL, _COMPARE, _NOT, _ATOM = range(LOOSEST, LOOSEST + 7)
_ATOMS = (_ATOM, _ATOM)


def _compared(sign: str) -> NodeForm:
    """The form of a comparison of numbers."""
    return NodeForm(_COMPARE, f"{{0}}.n {sign} {{1}}.n", _ATOMS)


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
        # Without conversion of its operands, a double and a BigInt, as `==` would.
        "==": NodeForm(_EQUAL, "{0}.n === {1}.n", _ATOMS),
        "<": _compared("<"),
        "<=": _compared("<="),
        ">": _compared(">"),
        ">=": _compared(">="),
    }
    functions: ClassVar[Mapping[str, NodeForm]] = {
        "identical": NodeForm(_EQUAL, "{0}.bits === {1}.bits", _ATOMS),
        "is_nan": NodeForm(_ATOM, "is_nan({0})", (LOOSEST,)),
        "opposite": NodeForm(_ATOM, "k.opposite({0})", (LOOSEST,)),
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
        # An entry without parameters uses the operands, which its function is given as well.
        arguments = [*map(self.show, expr.arguments), *of]
        return _ATOM, f"${name}({', '.join(arguments)})"

    def leaf(self, expr: tree.Leaf) -> Piece:
        """A variable, or a number, which `k` has as a value of the element type."""
        match expr:
            case tree.Name(id=name):
                return _ATOM, name
            # The script is the same for all types of a family, and `k` is of one type.
            case tree.Number(text=text):
                return _ATOM, f'k["{text}"]'
            case _:
                return self._refused(expr)

    def _refused(self, expr: Expr) -> NoReturn:
        raise ValueError(f"JavaScript has no elements to compute `{unparse(expr)}` with")


@dataclass(frozen=True)
class ScriptFunction:
    """A function of the script: the section and the id of its entry, its parameters, and its code."""

    section: str
    id: str
    parameters: Sequence[str]
    code: str


@dataclass(frozen=True)
class RewritePrinter(JavaScriptPrinter):
    """Prints terms of rewrites and conditions on their constants; `f` has the results of the operators."""

    def application(self, expr: tree.Call | tree.Use) -> Piece:
        """A built-in function, or an operator."""
        if isinstance(expr, tree.Call) and expr.function in operators():
            arguments = ", ".join(map(self.show, expr.arguments))
            return _ATOM, f"f.{expr.function}({arguments})"
        return super().application(expr)


@dataclass(frozen=True)
class OperatorCode:
    """The functions of an operator: by family, whether it is defined, and the results of its cases."""

    name: str
    operands: Sequence[str]
    result: str
    domains: Mapping[str, str]
    results: Mapping[str, Sequence[str]]
    families: Mapping[str, Sequence[ScriptFunction]]


@dataclass(frozen=True)
class RewriteCode:
    """The terms of a rewrite, for which constants its conditions are exact, and when it is legal."""

    id: str
    variables: Sequence[str]
    before: str
    after: str
    given: str
    legal: Mapping[str, Mapping[str, str]]


def render_javascript(*specs: Spec) -> str:
    """The script: ``meanings[operator][family](k)`` has the functions of a family, for the constants `k`."""
    return template("meaning.js.j2").render(operators=map(_operator, specs), sections=SECTIONS)


def rewrites_script(known: Iterable[Rewrite]) -> str:
    """The script: ``rewrites[id](k, f)``, for constants `k` and the results `f` of operators in a type."""
    return template("rewrites.js.j2").render(rewrites=map(_rewrite, known))


def _operator(spec: Spec) -> OperatorCode:
    printer = JavaScriptPrinter()
    operands = spec.signature.ids
    # The last case needs no test: one of them holds for every input.
    *first, last = spec.cases
    choices = ""
    for case in first:
        condition = f"${case.id}({', '.join(operands)})"
        choices += f"{condition} ? {printer.show(case.result)} : "

    domains: dict[str, str] = {}
    results: dict[str, list[str]] = {}
    functions: dict[str, list[ScriptFunction]] = {}
    for family in spec.families:
        id_ = family.id
        domain = spec.domain_of(id_)
        domains[id_] = "true" if domain is None else printer.show(domain)
        # The answers that a reading may give are among the results of all cases.
        results[id_] = [printer.show(case.result) for case in spec.giving_cases(id_)]
        functions[id_] = list(_functions(spec, id_))
    return OperatorCode(
        name=spec.signature.function,
        operands=operands,
        result=choices + printer.show(last.result),
        domains=domains,
        results=results,
        families=functions,
    )


def _rewrite(rewrite: Rewrite) -> RewriteCode:
    printer = RewritePrinter()
    legal: dict[str, dict[str, str]] = {}
    for family, strength in rewrite.stated():
        condition = rewrite.condition(family, strength)
        assert condition is not None  # it is stated
        legal.setdefault(family, {})[strength] = _condition(condition, printer)
    return RewriteCode(
        id=rewrite.id,
        variables=(*rewrite.constants, ELEMENT),
        before=printer.show(rewrite.before),
        after=printer.show(rewrite.after),
        given="true" if rewrite.given is None else printer.show(rewrite.given),
        legal=legal,
    )


def _condition(condition: Expr | bool, printer: RewritePrinter) -> str:
    """The code of a condition; True stands for always, False for never."""
    if isinstance(condition, bool):
        return "true" if condition else "false"
    return printer.show(condition)


def numbers_used(spec: Spec, family: str) -> list[str]:
    """The numbers that the functions of a family use, as texts."""
    expressions = [case.result for case in spec.giving_cases(family)]
    for entry in _entries(spec, family):
        if entry.condition is not None:
            expressions.append(entry.condition)
    domain = spec.domain_of(family)
    if domain is not None:
        expressions.append(domain)

    texts: set[str] = set()
    for expr in expressions:
        for node in tree.subtrees(expr):
            if isinstance(node, tree.Number):
                texts.add(node.text)
    return sorted(texts)


def _functions(spec: Spec, family: str) -> Iterator[ScriptFunction]:
    """A function for each entry; one that the family does not have is false, and callable like the others."""
    printer = JavaScriptPrinter()
    for entry in _entries(spec, family):
        code = "false" if entry.condition is None else printer.show(entry.condition)
        yield ScriptFunction(entry.section, entry.id, entry.parameters, code)


class _Entry(NamedTuple):
    """An entry with its parameters and its condition; None where the family has none."""

    section: str
    id: str
    parameters: Sequence[str]
    condition: Expr | None


def _entries(spec: Spec, family: str) -> Iterator[_Entry]:
    """The entries of a specification that have a condition."""
    operands = spec.signature.ids
    with_result = (*operands, spec.signature.result.id)
    for case in spec.cases:
        yield _Entry("cases", case.id, operands, case.when)
    for definition in definitions_of(spec, *SECTIONS):
        # One without parameters is about the operands.
        parameters = definition.parameters or operands
        condition = definition.is_ if definition.is_for(family) else None
        yield _Entry("definitions", definition.id, parameters, condition)
    for klass in spec.classes_of(family):
        # The condition of a class is one within its case.
        case_holds = tree.Use(klass.case, (), tree.Kind.BOOL, operands)
        condition = tree.Connective("and", case_holds, klass.when)
        yield _Entry("classes", klass.id, operands, condition)
    for latitude in spec.latitude:
        accepted = tree.Connective("and", latitude.when, latitude.accepts)
        parameters = (*with_result, "A")
        yield _Entry("latitude", latitude.id, parameters, accepted)
    for reading in spec.readings:
        yield _Entry("readings", reading.id, with_result, reading.returns)
