"""A specification -> generated/numpy/<operator>_oracle.py: the cases as plain NumPy, and what each dialect
fixes as plain data.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from pprint import pformat
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from sonnx_clip.backends.templating import template
from sonnx_clip.claims.nodes import named_result
from sonnx_clip.language import tree
from sonnx_clip.language.printing import LOOSEST, NodeForm, Piece, Printing, infix, unparse
from sonnx_clip.language.tree import subtrees
from sonnx_clip.language.values import encode, float_bits, quiet_bit
from sonnx_clip.spec.dialects import given_defaults
from sonnx_clip.spec.entries import is_number
from sonnx_clip.spec.header import header_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.entries import Case


_ROW_WIDTH = 104


def dialect_rows(spec: Spec) -> str:
    """The dialects as a Python expression: a dict by id."""
    return pformat({d.id: _row(spec, d) for d in spec.dialects}, width=_ROW_WIDTH, sort_dicts=False)


def _row(spec: Spec, d: Dialect) -> dict[str, Any]:
    missing = {}
    for id_ in d.element_types if d.missing else ():
        found = given_defaults(spec, d, spec.element_type(id_))
        assert found is not None
        missing[id_] = (int(found[0]), int(found[1]))
    return {
        "title": d.title,
        "system": d.system,
        "version": d.version,
        "element_types": d.element_types,
        "ranks": (d.ranks.least, d.ranks.greatest),
        "ranks_told": str(d.ranks),
        "bounds": d.bounds,
        "bound_type": d.bound_type,
        "missing": missing or None,
        "missing_of": d.missing.of if d.missing else None,
        "reading": d.reading,
        "answers": d.answers,
        "scale_bias": d.scale_bias,
        "in_place": d.in_place,
        "says": {aspect: source.quote for aspect, source in d.says.items()},
        "unsaid": dict(d.unsaid),
    }


# --- A specification -> generated/numpy/<operator>_oracle.py: the cases as plain NumPy ----------------------
#
# The oracle is meant to be read beside the YAML: one function for each definition, case, class, latitude and
# reading, in the same order, with the same id. It is slow and proves nothing about speed.


FAMILIES = ("int", "float")  # `real` has no values that NumPy can hold
_WIDTH = 96  # of the code after `return`
_BUILT_IN = {
    "identical": "_identical",
    "is_nan": "_is_nan",
    "is_signalling": "_is_signalling",
}


def oracle_path(spec: Spec) -> str:
    """Where the oracle of a specification is."""
    return f"generated/numpy/{spec.head.function}_oracle.py"


def render_numpy(spec: Spec) -> dict[str, str]:
    """The text of each file of the target, by its path in the repository."""
    families = [family for family in FAMILIES if any(spec.types_of(family))]
    operands = ", ".join(spec.head.operands)
    text = template("oracle.py.j2").render(
        spec=spec,
        operator=spec.head.function,
        operands=operands,
        first=spec.head.operands[0],
        several=len(spec.head.operands) > 1,
        dtypes=" == ".join(f"{name}.dtype" for name in spec.head.operands),
        listed=" and ".join(filter(None, (", ".join(spec.head.operands[:-1]), spec.head.operands[-1]))),
        results=[_named_result(case, spec.head.operands[0]) for case in spec.cases],
        header=header_lines(spec),
        quiet={t.id: quiet_bit(float_bits(t)) for t in spec.types_of("float")},
        types=[etype for family in families for etype in spec.types_of(family)],
        constants=_constants(spec),
        sections=[(family, [*_functions(spec, family)]) for family in families],
        dialects=dialect_rows(spec),
        python_name=python_name,
    )
    return {oracle_path(spec): text}


def _named_result(case: Case, anchor: str) -> str:
    """What a case gives: an operand, or a constant."""
    return f'_constant("{case.result}", {anchor})' if is_number(case.result) else case.result


@dataclass(frozen=True)
class Function:
    """A function of the oracle: what it is called, what it says of itself, and what it returns."""

    name: str
    parameters: str
    title: str
    comment: tuple[str, ...]
    code: str


def _functions(spec: Spec, family: str) -> Iterator[Function]:
    """The functions of a family, in the order of the YAML."""
    operands = spec.head.operands
    for d in spec.definitions:
        if d.families is None or family in d.families:
            yield _function(family, d.id, d.title, d.is_, d.parameters or operands)
        else:
            # It is false elsewhere, and callable like the others.
            parameters = ", ".join(d.parameters or operands)
            comment = (f"families: {', '.join(d.families)}",)
            yield Function(
                f"{family}_{d.id}", parameters, f"{d.id}: {d.title}", comment, f"_false({parameters})"
            )
    for case in spec.cases:
        yield _function(family, case.id, case.title, case.when, operands)
    for c in spec.classes_of(family):
        of_case = tree.Use(c.case, (), tree.Kind.BOOL, operands)
        yield _function(family, c.id, f"a class of the case {c.case}", _both(of_case, c.when), operands)
    for latitude in spec.latitude:
        accepted = _both(latitude.when, latitude.accepts)
        yield _function(
            family, latitude.id, "an answer A that is acceptable", accepted, (*operands, "Y", "A")
        )
    for reading in spec.readings:
        what = "whether the reading allows the answer Y"
        told = _function(family, reading.id, what, reading.returns, (*operands, "Y"))
        yield replace(told, name=f"{family}_{reading.word}_returns")


def _function(family: str, id_: str, title: str, expr: Expr, parameters: Sequence[str]) -> Function:
    return Function(
        name=f"{family}_{python_name(id_)}",
        parameters=", ".join(parameters),
        title=f"{id_}: {title}",
        comment=tuple(textwrap.wrap(unparse(expr), 104)),
        code=_broken(expression(expr, family, parameters[0]), expr, family, parameters[0]),
    )


def _both(left: Expr, right: Expr) -> Expr:
    """`left and right`, joined from the left as the parser would."""
    for part in _operands(right, "and"):
        left = tree.Connective("and", left, part)
    return left


def _broken(code: str, expr: Expr, family: str, anchor: str) -> str:
    """The code of an expression; if it is long, one operand a line, or one branch of an alternative."""
    if len(code) > _WIDTH and isinstance(expr, tree.If):
        return _branches(expr, family, anchor, " " * 4)
    if len(code) <= _WIDTH or not isinstance(expr, tree.Connective) or expr.operator not in _SIGN:
        return code
    sign, place = _SIGN[expr.operator], _NumPy.forms[expr.operator].places[1]
    lines = [_NumPy(family, anchor).operand(part, place) for part in _operands(expr, expr.operator)]
    return "(\n        " + f"\n        {sign} ".join(lines) + "\n    )"


def _branches(expr: Expr, family: str, anchor: str, indent: str) -> str:
    code = expression(expr, family, anchor)
    if not isinstance(expr, tree.If) or len(indent) + len(code) <= _WIDTH:
        return code
    inner = indent + " " * 4
    parts = [_branches(part, family, anchor, inner) for part in (expr.condition, expr.then, expr.otherwise)]
    return f"{code.partition('(')[0]}(\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent})"


def _operands(expr: Expr, operator: str) -> Iterator[Expr]:
    if isinstance(expr, tree.Connective) and expr.operator == operator:
        yield from _operands(expr.left, operator)
        yield from _operands(expr.right, operator)
    else:
        yield expr


def python_name(id_: str) -> str:
    """An id of the YAML as a part of a Python name."""
    return id_.replace("-", "_")


def expression(expr: Expr, family: str, anchor: str) -> str:
    """The NumPy text of an expression.

    Args:
        expr: a condition on elements or an element; tensors and declarations are not elements.
        family: names what is used: ``float_inverted(X, L, M)``.
        anchor: a variable in scope, whose element type constants take.

    Raises:
        ValueError: the expression speaks of tensors or declarations.
    """
    return _NumPy(family, anchor).show(expr)


# How tightly each form binds in Python, where comparisons bind less than `|`.
_COMPARISON, _OR, _AND, _NOT, _PRIMARY = range(LOOSEST, LOOSEST + 5)
_SIGN = {"and": "&", "or": "|"}


@dataclass(frozen=True)
class _NumPy(Printing):
    """Expressions on arrays of one family; see `expression`."""

    family: str
    anchor: str

    forms: ClassVar[Mapping[str, NodeForm]] = {
        "iff": infix(_COMPARISON, "==", "alone"),
        "implies": NodeForm(_OR, "~{0} | {1}", (_NOT, _AND)),
        "or": infix(_OR, _SIGN["or"], "left"),
        "and": infix(_AND, _SIGN["and"], "left"),
        "not": NodeForm(_NOT, "~{0}", (_NOT,)),
        **{sign: infix(_COMPARISON, sign, "alone") for sign in ("<", "<=", ">", ">=", "==")},
    }

    def comparison(self, expr: tree.Compare) -> Piece:
        return super().comparison(expr) if expr.kind is tree.Kind.ELEMENT else self._refused(expr)

    def choice(self, expr: tree.If) -> Piece:
        function = "_choose" if expr.kind is tree.Kind.ELEMENT else "np.where"
        return self._called(function, expr.condition, expr.then, expr.otherwise)

    def application(self, expr: tree.Call | tree.Use) -> Piece:
        if isinstance(expr, tree.Use):
            return self._called(f"{self.family}_{expr.id}", *expr.arguments, of=expr.of)
        if isinstance(expr, tree.CasesResult):
            return self._called(f"{self.family}_{expr.function}", *expr.arguments)
        if expr.function not in _BUILT_IN:
            return self._refused(expr)
        return self._called(_BUILT_IN[expr.function], *expr.arguments)

    def leaf(self, expr: tree.Leaf) -> Piece:
        match expr:
            case tree.Name(id=name):
                return _PRIMARY, name
            case tree.Number():
                return _PRIMARY, f'_constant("{unparse(expr)}", {self.anchor})'
            case _:
                return self._refused(expr)

    def _called(self, function: str, *arguments: Expr, of: Sequence[str] = ()) -> Piece:
        return _PRIMARY, f"{function}({', '.join([*map(self.show, arguments), *of])})"

    def _refused(self, expr: Expr) -> NoReturn:
        raise ValueError(f"NumPy has no elements to compute `{unparse(expr)}` with")


def _constants(spec: Spec) -> dict[str, dict[str, str]]:
    """The bit patterns of the constants that the oracle uses, by element type and text."""
    return {
        etype.id: {text: _hex(text, etype) for text in sorted(_texts(spec, etype.family))}
        for family in FAMILIES
        for etype in spec.types_of(family)
    }


def _hex(text: str, etype: ElementType) -> str:
    assert etype.width is not None
    return f"0x{int(encode(text, etype)):0{etype.width // 4}x}"


def _texts(spec: Spec, family: str) -> set[str]:
    """The numbers and constants in all that the oracle renders of a family."""
    shown = [d.is_ for d in spec.definitions if d.families is None or family in d.families]
    shown += [case.when for case in spec.cases]
    shown += [named_result(case) for case in spec.cases]
    shown += [c.when for c in spec.classes_of(family)]
    shown += [part for latitude in spec.latitude for part in (latitude.when, latitude.accepts)]
    shown += [reading.returns for reading in spec.readings]
    nodes = (node for expr in shown for node in subtrees(expr))
    return {unparse(node) for node in nodes if isinstance(node, tree.Number)}
