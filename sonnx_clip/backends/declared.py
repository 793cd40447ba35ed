"""What theories declare of a specification: its cases, classes, definitions and readings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sonnx_clip.backends.theory import Declared, comment, declare
from sonnx_clip.backends.whyml_printer import AND, WhymlPrinter, element_printer
from sonnx_clip.claims.nodes import named_result
from sonnx_clip.language.scope import kind_of
from sonnx_clip.language.tree import Expr, Kind, Use, subtrees
from sonnx_clip.spec.entries import Restriction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Constraint, Definition, Reading


def cases_and_result(spec: Spec, printer: WhymlPrinter, name: str = "cases") -> list[str]:
    """The cases, and the function of this name that gives the result of the first that holds."""
    given = spec.head.arguments
    *first, last = [(case.id, printer.show(named_result(case))) for case in spec.cases]
    result = "".join(f"if {id_} {given} then {of} else\n    " for id_, of in first) + last[1]
    return [
        comment("Cases."),
        *(declare(c.id, given, "t", printer.show(c.when), c.title).text for c in spec.cases),
        f"  (** The result of each case. *)\n  function {name} ({given}: t) : t =\n    {result}",
    ]


def declared_classes(spec: Spec, etype: ElementType) -> list[str]:
    """The classes of an element type as predicates, each with its case."""
    printer = element_printer(spec, etype)
    operands = printer.implicit
    return [
        declare(c.id, operands, "t", f"{c.case} {operands} /\\ {printer.operand(c.when, AND)}").text
        for c in spec.classes_of(etype.family)
    ]


def declared_readings(spec: Spec, readings: Iterable[Reading], printer: WhymlPrinter) -> list[str]:
    """What readings allow, as predicates of the operands and of an answer."""
    return [
        declare(
            r.predicate, spec.head.arguments_and_result, "t", printer.show(r.returns), f"{r.id}: {r.title}"
        ).text
        for r in readings
    ]


def stated(entry: Constraint | Restriction, parameters: str, of: str, printer: WhymlPrinter) -> str:
    """A constraint or a restriction as a predicate."""
    title = entry.statement if isinstance(entry, Restriction) else entry.title
    declared = declare(f"stated_{entry.id}", parameters, of, printer.show(entry.holds), title)
    return replace(declared, apart=True).text


def definition(spec: Spec, d: Definition, etype: ElementType) -> Declared:
    """A definition; false where the family has none."""
    parameters = d.parameters or spec.head.operands
    names = " ".join(name.lower() for name in parameters)
    if d.families is not None and etype.family not in d.families:
        return declare(d.id, names, "t", "false", f"{d.title}: none in {etype.id}")
    body = element_printer(spec, etype).show(d.is_)
    return declare(d.id, names, "t", body, d.title, is_function=kind_of(d.is_) is Kind.ELEMENT)


def definitions(spec: Spec, etype: ElementType, wanted: Iterable[Definition]) -> list[str]:
    """Definitions as they are printed."""
    return [definition(spec, d, etype).text for d in wanted]


def reading_trees(spec: Spec) -> list[Expr]:
    """Every condition of the readings."""
    return [
        tree for r in spec.readings for tree in (r.returns, *r.agrees.values(), *r.agrees_bitwise.values())
    ]


def other_trees(spec: Spec) -> list[Expr]:
    """Every condition on elements but those of the readings."""
    trees = [case.when for case in spec.cases] + [klass.when for klass in spec.classes]
    trees += [tree for p in spec.properties for tree in (p.claim, *p.repaired.values())]
    return trees + [tree for entry in spec.latitude for tree in (entry.when, entry.accepts)]


def constraint_trees(spec: Spec) -> list[Expr]:
    """Every condition of the constraints."""
    return [tree for c in spec.constraints for tree in (c.holds, *c.repaired.values())]


def definitions_beyond_readings(spec: Spec) -> tuple[Definition, ...]:
    """The definitions that more than readings use, and what these use, in the order of the file."""
    return tuple(definitions_used(spec, [*other_trees(spec), *constraint_trees(spec)]))


def definitions_used(spec: Spec, trees: Iterable[Expr]) -> list[Definition]:
    """The definitions that trees use, and what these use, in the order of the file."""
    known = {d.id: d for d in spec.definitions}
    wanted: set[str] = set()
    pending = list(trees)
    while pending:
        for id_ in {node.id for node in subtrees(pending.pop()) if isinstance(node, Use)}:
            if id_ in known and id_ not in wanted:
                wanted.add(id_)
                pending.append(known[id_].is_)
    return [d for d in spec.definitions if d.id in wanted]
