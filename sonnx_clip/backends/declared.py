"""Which named entries the goals of a theory use, and the declarations of these."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from sonnx_clip.backends.theory import Declared, comment, declare
from sonnx_clip.backends.whyml_printer import AND, WhymlPrinter, element_printer, tensor_printer
from sonnx_clip.claims.nodes import STATED
from sonnx_clip.language.scope import kind_of
from sonnx_clip.language.tree import Call, Expr, Kind, Use, subtrees
from sonnx_clip.language.values import float_bits, infinity, sign_bit
from sonnx_clip.spec.dialects import defaults
from sonnx_clip.spec.findings import allowed_answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Constraint, Definition, Property, Restriction
    from sonnx_clip.spec.findings import Allowed

_WORD = re.compile(r"[A-Za-z_]\w*")


def declarations_used(spec: Spec, etype: ElementType, statements: Iterable[str]) -> list[str]:
    """The declarations that statements use, and those that these use, under a heading for each sort."""
    key = ("declarations", etype.id)
    if key not in spec.memo:
        spec.memo[key] = _declarations(spec, etype)
    # Each theory of a type, and each question on a mutant, selects among the same declarations.
    sorts: dict[str, list[Declared]] = spec.memo[key]
    by_name: dict[str, Declared] = {}
    for group in sorts.values():
        for declared in group:
            by_name[declared.name] = declared

    # The closure of what the words of the statements name: a word that names nothing is a variable,
    # or is declared in a module that the theory uses.
    wanted: set[str] = set()
    pending: set[str] = set()
    for statement in statements:
        pending.update(_WORD.findall(statement))
    while pending:
        name = pending.pop()
        if name in by_name and name not in wanted:
            wanted.add(name)
            pending |= set(_WORD.findall(by_name[name].body))

    lines: list[str] = []
    for title, group in sorts.items():
        texts = [declared.text for declared in group if declared.name in wanted]
        if texts:
            lines += [*_heading(title), *texts]
    return lines


def _heading(title: str) -> list[str]:
    """The comment above declarations; those whose title is a key alone stand without one."""
    return [comment(title)] if title.endswith(".") else []


def _declarations(spec: Spec, etype: ElementType) -> Mapping[str, Sequence[Declared]]:
    """All that has a name in the theories of an element type, by its sort."""
    printer = element_printer(spec, etype)
    tensors = tensor_printer(spec, etype)
    operands = spec.signature.arguments
    with_result = spec.signature.arguments_and_result
    definitions = [definition(spec, d, etype) for d in spec.definitions]
    classes = []
    for klass in spec.classes_of(etype.family):
        # A class is a part of its case: `when` distinguishes it within the case alone.
        condition = f"{klass.case} {operands} /\\ {printer.operand(klass.when, AND)}"
        classes.append(declare(klass.id, operands, "t", condition))
    answers = []
    for name, allowed in allowed_answers(spec).items():
        if _has(spec, etype, allowed):
            answers.append(_allowed(spec, etype, printer, name, allowed))
    properties = []
    for entry in spec.properties:
        if etype.family in entry.families:
            properties.append(_property(spec, printer, entry))
    constraints = [stated_predicate(c, with_result, "tensor", tensors) for c in spec.constraints]
    # Why3 reads a file from top to bottom: each group uses those above it only.
    return {
        "tensors": [
            Declared(
                "predicate typed (x: tensor)",
                f"x.element = {etype.why3}",
                "The tag of a tensor is that of its entries.",
            )
        ],
        "The other sign.": [opposite_function(etype, printer)],
        "Cases.": cases_and_result(spec, etype, printer),
        "Definitions.": definitions,
        "Classes.": classes,
        "The bits of a float: sign and magnitude.": _float_bits(etype, printer),
        "values": [
            Declared(
                "predicate same_value (a b: t)",
                "eq a b \\/ nan a /\\ nan b",
                "The same value, zeros of both signs and all NaNs taken together.",
            )
        ],
        "Whether y is an answer that a reading or a dialect allows.": answers,
        "What is claimed of the cases.": properties,
        "constraints": constraints,
    }


def cases_and_result(
    spec: Spec,
    etype: ElementType,
    printer: WhymlPrinter,
    name: str = "cases",
) -> list[Declared]:
    """The cases, and the function of this name: the result of the first case that holds."""
    operands = spec.signature.arguments
    declared = []
    for case in spec.cases:
        condition = printer.show(case.when)
        declared.append(declare(case.id, operands, "t", condition, case.title))
    # The last case needs no test: that one of them holds for every input is an obligation.
    *first, last = spec.giving_cases(etype.family)
    body = ""
    for case in first:
        result = printer.show(case.result)
        body += f"if {case.id} {operands} then {result} else\n    "
    body += printer.show(last.result)
    head = f"function {name} ({operands}: t) : t"
    declared.append(Declared(head, body, "The result of each case.", apart=True))
    return declared


def opposite_function(etype: ElementType, printer: WhymlPrinter) -> Declared:
    """The function `opposite` of the language."""
    match etype.family:
        case "float":
            body = f"bw_xor a {printer.value(sign_bit(float_bits(etype)))}"
            title = "The sign bit is changed, that of a NaN too."
        case "real":
            body = "0.0 -. a"
            title = "The number of the other sign."
        case _:
            body = f"bw_sub {printer.value(0)} a"
            title = "Modulo 2^width: the least number is its own opposite."
    return Declared("function opposite (a: t) : t", body, title)


def uses_of(spec: Spec, etype: ElementType) -> list[str]:
    """The theories that a module of an element type uses for its values."""
    uses = [f"use elements.{etype.why3}"]
    if etype.family == "real" and uses_opposite(spec):
        uses.append("use real.RealInfix")  # its subtraction
    return uses


def uses_opposite(spec: Spec) -> bool:
    """Whether something that is rendered of a specification has the function `opposite`."""
    known: dict[tuple[str, str], bool] = spec.memo
    key = ("uses", "opposite")
    if key not in known:
        known[key] = any(map(_calls_opposite, _expressions_of(spec)))
    return known[key]


def _expressions_of(spec: Spec) -> Iterator[Expr]:
    """All expressions of a specification that are rendered."""
    for case in spec.cases:
        yield case.result
    for domain in spec.domain.values():
        yield domain.holds
    for _, condition in conditions_of(spec):
        yield condition
    for wrong in spec.wrong_operators:
        yield wrong.is_
    for finding in spec.findings:
        for theorem in finding.theorems:
            yield theorem.holds


def _calls_opposite(expr: Expr) -> bool:
    return any(isinstance(node, Call) and node.function == "opposite" for node in subtrees(expr))


def definition(spec: Spec, d: Definition, etype: ElementType) -> Declared:
    """A definition; false where the family has none."""
    parameters = d.parameters or spec.signature.ids
    names = " ".join(name.lower() for name in parameters)
    if not d.is_for(etype.family):
        # Conditions that all families share may use it: no real is a NaN, say.
        return declare(d.id, names, "t", "false", f"{d.title}: none in {etype.id}")
    body = element_printer(spec, etype).show(d.is_)
    is_function = kind_of(d.is_) is Kind.ELEMENT  # a condition is a predicate
    return declare(d.id, names, "t", body, d.title, is_function=is_function)


def stated_predicate(
    entry: Constraint | Restriction,
    parameters: str,
    kind: str,
    printer: WhymlPrinter,
) -> Declared:
    """A constraint or a restriction as a predicate."""
    return declare(
        f"{STATED}{entry.id}",
        parameters,
        kind,
        printer.show(entry.holds),
        entry.title,
        apart=True,
    )


def _float_bits(etype: ElementType, printer: WhymlPrinter) -> list[Declared]:
    """What the bits of a float are, as sign and magnitude, and how they compare; nothing for other types."""
    if etype.family != "float":
        return []
    form = float_bits(etype)
    mask = printer.value(sign_bit(form) - 1)  # all bits but that of the sign
    greatest = printer.value(infinity(form))  # greater magnitudes are NaNs
    zero = printer.value(0)
    return [
        Declared("function magnitude (a: t) : t", f"bw_and a {mask}"),
        Declared("predicate negative (a: t)", f"ult {mask} a"),
        Declared("predicate nan_bits (a: t)", f"ult {greatest} (magnitude a)"),
        Declared(
            "predicate le_bits (a b: t)",
            f"""not nan_bits a /\\ not nan_bits b /\\
    if negative a
    then if negative b then ule (magnitude b) (magnitude a) else true
    else if negative b then magnitude a = {zero} /\\ magnitude b = {zero}
    else ule (magnitude a) (magnitude b)""",
            apart=True,
        ),
    ]


def _has(spec: Spec, etype: ElementType, allowed: Allowed) -> bool:
    """Whether a dialect has an element type, and default bounds of it where they are left out."""
    if allowed.dialect is None:
        return True
    dialect = spec.dialect(allowed.dialect)
    if etype.id not in dialect.element_types:
        return False
    has_all_bounds = len(allowed.parameters) == len(spec.signature.all_ids)
    return has_all_bounds or defaults(spec, dialect, etype) is not None


def _allowed(
    spec: Spec,
    etype: ElementType,
    printer: WhymlPrinter,
    name: str,
    allowed: Allowed,
) -> Declared:
    """What a reading or a dialect allows, with the default bounds where bounds are left out."""
    signature = spec.signature
    # A relation, no function: minNum, maxNum and np.maximum leave the sign of zero open, and IEEE 754
    # the NaN.
    reading = spec.reading(allowed.reading)
    if allowed.dialect is None:
        title = f"{reading.id}: {reading.title}"
        body = printer.show(reading.returns)
        return declare(name, signature.arguments_and_result, "t", body, title)

    arguments = {}
    title = f"{allowed.dialect} allows the answer y"
    if len(allowed.parameters) < len(signature.all_ids):
        bounds = defaults(spec, spec.dialect(allowed.dialect), etype)
        assert bounds is not None  # `_has` requires them
        arguments = dict(zip(signature.scalars, map(printer.value, bounds), strict=True))
        # `allowed_answers` ends the name with what is left out.
        _, _, missing = name.rpartition("_")
        title += f", without {missing}"
    # Given bounds after the defaults, which they replace.
    for variable in allowed.parameters:
        arguments[variable] = variable.lower()
    in_order = [arguments[id_] for id_ in signature.all_ids]
    body = " ".join([reading.predicate, *in_order])
    return declare(name, " ".join(allowed.parameters).lower(), "t", body, title)


def _property(spec: Spec, printer: WhymlPrinter, entry: Property) -> Declared:
    claim = printer.show(entry.claim)
    operands = spec.signature.arguments
    result = spec.signature.result.id.lower()
    # Only where the claim mentions it: Why3 would warn of a name that is not used.
    if result in _WORD.findall(claim):
        claim = f"let {result} = cases {operands} in {claim}"
    return declare(entry.id, operands, "t", claim, entry.title)


# --- The conditions of a specification --------------------------------------------------------------------

CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "cases": ("when",),
    "definitions": ("is_",),
    "classes": ("when",),
    "properties": ("claim", "repaired"),
    "constraints": ("holds", "repaired"),
    "latitude": ("when", "accepts"),
    "readings": ("returns", "agrees", "agrees_bitwise"),
}
"""The fields that are conditions, by section; those of `repaired` and `agrees` are by family."""


class ConditionField(NamedTuple):
    """A field of an entry; `family` is empty where all families share the condition."""

    section: str
    entry: Any
    field: str
    family: str


def conditions_of(
    spec: Spec, sections: Iterable[str] = CONDITIONS
) -> Iterator[tuple[ConditionField, Expr]]:
    """Every condition of some sections, in the order of the sections."""
    for section in sections:
        for entry in getattr(spec, section):
            for field in CONDITIONS[section]:
                stated = getattr(entry, field)
                by_family = stated if isinstance(stated, dict) else {"": stated}
                for family, condition in by_family.items():
                    yield ConditionField(section, entry, field, family), condition


def definitions_used(spec: Spec, trees: Iterable[Expr]) -> list[Definition]:
    """The definitions that trees use, and what these use, in the order of the file."""
    known = {definition.id: definition for definition in spec.definitions}
    wanted: set[str] = set()
    pending = list(trees)
    while pending:
        for node in subtrees(pending.pop()):
            # Cases and classes are used by name too.
            if isinstance(node, Use) and node.id in known and node.id not in wanted:
                wanted.add(node.id)
                pending.append(known[node.id].is_)
    return [definition for definition in spec.definitions if definition.id in wanted]


def definitions_of(spec: Spec, *sections: str) -> list[Definition]:
    """The definitions that the conditions of some sections use, and what these use."""
    conditions = [condition for _, condition in conditions_of(spec, sections)]
    return definitions_used(spec, conditions)
