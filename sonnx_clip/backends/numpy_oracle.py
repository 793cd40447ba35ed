"""Renders generated/numpy/<operator>_oracle.py: the cases as plain NumPy, and the dialects as plain data.

The oracle is meant to be read beside the YAML: one function for each definition, case, class, latitude and
reading, in the same order, with the same id. It is slow and proves nothing about speed.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pprint import pformat
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from sonnx_clip.backends.declared import uses_opposite
from sonnx_clip.backends.templating import header_lines, template
from sonnx_clip.language import show_bits, tree
from sonnx_clip.language.printing import LOOSEST, NodeForm, Piece, Printing, infix, unparse
from sonnx_clip.language.values import encode, float_bits, quiet_bit
from sonnx_clip.spec.dialects import given_defaults
from sonnx_clip.spec.entries import OUTSIDE_DOMAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.entries import Case

FAMILIES = ("int", "uint", "float")  # `real` has no values that NumPy can hold
_WIDTH = 96  # of the code after `return`
_ROW_WIDTH = _COMMENT_WIDTH = 104
_BUILT_IN = ("identical", "is_nan", "is_signalling", "opposite")
# Binding strengths in Python, where comparisons bind less tightly than `|`.
_COMPARISON, _OR, _AND, _NOT, _PRIMARY = range(LOOSEST, LOOSEST + 5)
_SIGNS = {"and": "&", "or": "|"}


def oracle_path(spec: Spec) -> str:
    """Where the oracle of a specification is."""
    return f"generated/numpy/{spec.signature.function}_oracle.py"


@dataclass(frozen=True)
class FamilySection:
    """The part of the oracle that is about a family: its functions, and its cases with their results."""

    family: str
    functions: Sequence[OracleFunction]
    cases: Sequence[Case]
    results: Sequence[str]

    def constants(self) -> list[str]:
        """The constants of the YAML that the code of the section uses."""
        codes = [*self.results]
        codes += [function.code for function in self.functions]
        texts: set[str] = set()
        for code in codes:
            texts.update(re.findall(r'_constant\("(.*?)"', code))
        return sorted(texts)


def _section(spec: Spec, family: str) -> FamilySection:
    """The part about a family. A result does not name the family: it uses no entries."""
    cases = spec.giving_cases(family)
    anchor = spec.signature.ids[0]
    results = [expression(case.result, "", anchor) for case in cases]
    return FamilySection(family, [*_functions(spec, family)], cases, results)


def render_numpy(spec: Spec) -> dict[str, str]:
    """The text of the oracle, by its path in the repository."""
    families = [family for family in FAMILIES if any(spec.types_of(family))]
    operands = spec.signature.ids
    sections = [_section(spec, family) for family in families]
    types = []
    constants: dict[str, dict[str, str]] = {}  # bits by type and text
    for section in sections:
        texts = section.constants()
        for etype in spec.types_of(section.family):
            types.append(etype)
            values = [encode(text, etype) for text in texts]
            bits = [show_bits(value, etype) for value in values]
            constants[etype.id] = dict(zip(texts, bits, strict=True))
    floats = spec.types_of("float")
    quiet_bits = {etype.id: quiet_bit(float_bits(etype)) for etype in floats}
    *first_operands, last_operand = operands
    listed = last_operand
    if first_operands:
        listed = f"{', '.join(first_operands)} and {last_operand}"
    rows = {dialect.id: _row(spec, dialect) for dialect in spec.dialects}
    same_types = " == ".join(f"{name}.dtype" for name in operands)
    text = template("oracle.py.j2").render(
        spec=spec,
        operator=spec.signature.function,
        operands=", ".join(operands),
        first=operands[0],
        several=len(operands) > 1,
        dtypes=same_types,
        listed=listed,
        uses_opposite=uses_opposite(spec),
        header=header_lines(spec),
        quiet=quiet_bits,
        types=types,
        constants=constants,
        families=families,
        sections=sections,
        dialects=pformat(rows, width=_ROW_WIDTH, sort_dicts=False),
        python_name=python_name,
        domain=spec.domain,
        outside=OUTSIDE_DOMAIN,
    )
    return {oracle_path(spec): text}


_COLUMNS = (
    "title", "system", "version", "element_types", "ranks", "ranks_told", "bounds", "bound_type", "missing",
    "missing_of", "reading", "answers", "scale_bias", "in_place", "says", "unsaid",
)  # fmt: skip


def _row(spec: Spec, dialect: Dialect) -> dict[str, Any]:
    """A dialect as plain data, since the oracle reads no YAML; its keys are in the order of `_COLUMNS`."""
    missing = {}
    if dialect.missing:
        for type_id in dialect.element_types:
            bounds = given_defaults(spec, dialect, spec.element_type(type_id))
            assert bounds is not None  # None only of a dialect that requires bounds
            low, high = bounds
            missing[type_id] = (int(low), int(high))
    # Most columns are attributes of the dialect; the others replace what stands for them here.
    row = {column: getattr(dialect, column, None) for column in _COLUMNS}
    words = {aspect: source.words for aspect, source in dialect.says.items()}
    return row | {
        "ranks": (dialect.ranks.least, dialect.ranks.greatest),
        "ranks_told": str(dialect.ranks),
        "missing": missing or None,
        "missing_of": dialect.missing.of if dialect.missing else None,
        "says": words,
        "unsaid": dict(dialect.unsaid),
    }


# --- Functions ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OracleFunction:
    """A function of the oracle: its name, parameters, docstring, comment and code after `return`."""

    name: str
    parameters: str
    title: str
    comment: Sequence[str]
    code: str
    is_definition: bool = False


def _functions(spec: Spec, family: str) -> Iterator[OracleFunction]:
    """The functions of a family, in the order of the YAML."""
    operands = spec.signature.ids

    def function(
        id_: str,
        title: str,
        expr: Expr,
        parameters: Sequence[str] = operands,
        name: str = "",
        *,
        is_definition: bool = False,
    ) -> OracleFunction:
        # Constants take the element type of the first parameter: all have the same.
        anchor = parameters[0]
        return OracleFunction(
            name=f"{family}_{name or python_name(id_)}",
            parameters=", ".join(parameters),
            title=f"{id_}: {title}",
            comment=textwrap.wrap(unparse(expr), _COMMENT_WIDTH),
            code=_broken(expression(expr, family, anchor), expr, family, anchor),
            is_definition=is_definition,
        )

    for d in spec.definitions:
        parameters = d.parameters or operands
        if d.is_for(family):
            yield function(d.id, d.title, d.is_, parameters, is_definition=True)
        else:  # it is false, and callable like the others
            names = ", ".join(parameters)
            comment = f"families: {', '.join(d.families or ())}"
            yield OracleFunction(
                name=f"{family}_{d.id}",
                parameters=names,
                title=f"{d.id}: {d.title}",
                comment=[comment],
                code=f"_false({names})",
                is_definition=True,
            )
    for case in spec.cases:
        yield function(case.id, case.title, case.when)
    for klass in spec.classes_of(family):
        # A class is within its case, which its own condition does not repeat.
        of_case = tree.Use(klass.case, (), tree.Kind.BOOL, operands)
        condition = _both(of_case, klass.when)
        yield function(klass.id, f"a class of the case {klass.case}", condition)
    for latitude in spec.latitude:
        accepted = _both(latitude.when, latitude.accepts)
        title = "an answer A that is acceptable"
        yield function(latitude.id, title, accepted, (*operands, "Y", "A"))
    domain = spec.domain_of(family)
    if domain:
        title = "any answer is acceptable: the operator is not defined"
        parameters = (*operands, spec.signature.result.id, "A")
        yield function(OUTSIDE_DOMAIN, title, tree.Not(domain), parameters)
    for reading in spec.readings:
        title = "whether the reading allows the answer Y"
        name = f"{reading.word}_returns"
        yield function(reading.id, title, reading.returns, (*operands, "Y"), name)


def python_name(id_: str) -> str:
    """An id of the YAML as a part of a Python name."""
    return id_.replace("-", "_")


def _both(left: Expr, right: Expr) -> Expr:
    """`left and right`, joined from the left as the parser would."""
    for part in _operands(right, "and"):
        left = tree.Connective("and", left, part)
    return left


def _operands(expr: Expr, operator: str) -> Iterator[Expr]:
    """The operands of a chain of one connective, however it is nested; another expression is its own."""
    if isinstance(expr, tree.Connective) and expr.operator == operator:
        yield from _operands(expr.left, operator)
        yield from _operands(expr.right, operator)
    else:
        yield expr


def _broken(
    code: str,
    expr: Expr,
    family: str,
    anchor: str,
) -> str:
    """The code of an expression; if it is long, one operand a line, or one branch of an alternative."""
    if len(code) <= _WIDTH:
        return code
    if isinstance(expr, tree.If):
        return _branches(expr, family, anchor, " " * 4)
    if not isinstance(expr, tree.Connective) or expr.operator not in _SIGNS:
        return code
    printer = _NumPy(family, anchor)
    sign = _SIGNS[expr.operator]
    # The place of the right operand, which is the stricter one: each line is read on its own.
    _, right_place = _NumPy.forms[expr.operator].places
    lines = [printer.operand(part, right_place) for part in _operands(expr, expr.operator)]
    joined = f"\n        {sign} ".join(lines)
    return f"(\n        {joined}\n    )"


def _branches(
    expr: Expr,
    family: str,
    anchor: str,
    indent: str,
) -> str:
    """The code of an alternative; if it is long, condition and branches on lines of their own."""
    code = expression(expr, family, anchor)
    if not isinstance(expr, tree.If) or len(indent) + len(code) <= _WIDTH:
        return code
    inner = indent + " " * 4
    branches = (expr.condition, expr.then, expr.otherwise)
    parts = [_branches(part, family, anchor, inner) for part in branches]
    function, _, _ = code.partition("(")
    joined = f",\n{inner}".join(parts)
    return f"{function}(\n{inner}{joined}\n{indent})"


# --- Expressions ----------------------------------------------------------------------------------------


def expression(expr: Expr, family: str, anchor: str) -> str:
    """The NumPy text of an expression.

    Args:
        expr: a condition on elements or an element; tensors and declarations are not elements.
        family: names what is used: ``float_inverted(X, L, M)``.
        anchor: a variable in scope, whose element type constants take.

    Raises:
        ValueError: the expression contains tensors or declarations.
    """
    return _NumPy(family, anchor).show(expr)


@dataclass(frozen=True)
class _NumPy(Printing):
    """Expressions on arrays of one family; see `expression`."""

    family: str
    anchor: str

    forms: ClassVar[Mapping[str, NodeForm]] = {
        "iff": infix(_COMPARISON, "==", "alone"),
        "implies": NodeForm(_OR, "~{0} | {1}", (_NOT, _AND)),
        "or": infix(_OR, _SIGNS["or"], "left"),
        "and": infix(_AND, _SIGNS["and"], "left"),
        "not": NodeForm(_NOT, "~{0}", (_NOT,)),
        **{sign: infix(_COMPARISON, sign, "alone") for sign in ("<", "<=", ">", ">=", "==")},
    }

    def comparison(self, expr: tree.Compare) -> Piece:
        return super().comparison(expr) if expr.kind is tree.Kind.ELEMENT else self._refused(expr)

    def choice(self, expr: tree.If) -> Piece:
        # Elements are chosen by their bits, so that a NaN stays as it is.
        function = "_choose" if expr.kind is tree.Kind.ELEMENT else "np.where"
        return self._called(function, expr.condition, expr.then, expr.otherwise)

    def application(self, expr: tree.Call | tree.Use) -> Piece:
        # Functions of a family have its name before theirs: a definition differs between families.
        if isinstance(expr, tree.Use):
            # Without arguments it is a case or class, called with the operands it is about.
            return self._called(f"{self.family}_{expr.id}", *expr.arguments, of=expr.of)
        if isinstance(expr, tree.CasesResult):
            return self._called(f"{self.family}_{expr.function}", *expr.arguments)
        if expr.function not in _BUILT_IN:
            return self._refused(expr)
        return self._called(f"_{expr.function}", *expr.arguments)

    def leaf(self, expr: tree.Leaf) -> Piece:
        match expr:
            case tree.Name(id=name):
                return _PRIMARY, name
            case tree.Number():
                return _PRIMARY, f'_constant("{unparse(expr)}", {self.anchor})'
            case _:
                return self._refused(expr)

    def _called(self, function: str, *arguments: Expr, of: Sequence[str] = ()) -> Piece:
        listed = ", ".join([*map(self.show, arguments), *of])
        return _PRIMARY, f"{function}({listed})"

    def _refused(self, expr: Expr) -> NoReturn:
        raise ValueError(f"NumPy has no elements to compute `{unparse(expr)}` with")
