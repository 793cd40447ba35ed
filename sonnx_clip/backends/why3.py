"""Renders spec/clip.yaml into Why3 theories: one file an element type, and one for the restrictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.goal import Goal
from sonnx_clip.backends.restrictions_theory import restrictions_theory
from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import declare, header, obligations_of, smoke
from sonnx_clip.backends.why3_claim import goals
from sonnx_clip.backends.whyml_printer import AND, WhymlPrinter, element_printer, tensor_printer
from sonnx_clip.claims.all_claims import meaning_claims
from sonnx_clip.claims.nodes import named_result
from sonnx_clip.claims.tensor_claims import constraint_claims, refutation_claims
from sonnx_clip.claims.written_claims import WRITTEN
from sonnx_clip.language.scope import kind_of
from sonnx_clip.language.tree import Expr, Use
from sonnx_clip.language.tree import Kind as Sort
from sonnx_clip.language.values import float_bits, infinity, sign_bit
from sonnx_clip.language.walk import subtrees
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.paths import repo_file
from sonnx_clip.whyml.declarations import parse_modules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.claims.obligation import Obligation
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Definition, Reading

FOLDER = "generated/why3"
_ORDERED = "why3/ordered.mlw"


def render_why3(spec: Spec) -> tuple[Mapping[str, str], tuple[Obligation, ...]]:
    """The theories of the element types and of the restrictions by their path, and their obligations."""
    files: dict[str, str] = {}
    obligations: list[Obligation] = []
    for etype in spec.element_types:
        path = f"{FOLDER}/{etype.id}.mlw"
        files[path], found = _type_theory(spec, etype, path)
        obligations += found
    if spec.restrictions:
        path = f"{FOLDER}/restrictions.mlw"
        files[path], found = restrictions_theory(spec, path)
        obligations += found
    return files, tuple(obligations)


def ordered_axioms() -> tuple[str, ...]:
    """The axioms of why3/ordered.mlw, by name: what each element type has to meet."""
    text = repo_file(_ORDERED).read_text(encoding="utf-8")
    declared = (d for module in parse_modules(text, _ORDERED) for d in module.declarations)
    found = tuple(d.name for d in declared if d.kind == "axiom")
    if not found:
        raise UserError("there is no axiom of an ordered element type", _ORDERED, "restore the file")
    return found


def _type_theory(spec: Spec, etype: ElementType, path: str) -> tuple[str, list[Obligation]]:
    axioms = ordered_axioms()
    element_goals = list(goals(meaning_claims(spec, etype), element_printer(spec, etype)))
    of_tensors = tensor_printer(spec, etype)
    tensor_goals = list(goals(constraint_claims(spec, etype), of_tensors))
    refutations = list(refutation_claims(spec, etype))
    refutation_goals = list(goals(refutations, of_tensors))
    text = template("type.mlw.j2").render(
        header=header(spec),
        spec=spec,
        by_hand=spec.operator in WRITTEN,
        operands=element_printer(spec, etype).implicit,
        etype=etype,
        axioms=axioms,
        element_goals=element_goals,
        tensor_goals=tensor_goals,
        refutation_goals=refutation_goals,
        refuting=_refuting_tensors(spec, etype, refutations),
        **_declarations(spec, etype),
    )
    instances = [
        Goal(name, "instance", (etype.id,), f"{etype.id} is ordered: {name.replace('_', ' ')}", "")
        for name in axioms
    ]
    if spec.constraints:
        tensor_goals.append(smoke("smoke_constraints"))
    if refutation_goals:
        refutation_goals.append(smoke("smoke_refutation"))
    found = [
        *obligations_of(etype.id, path, "Instance", instances),
        *obligations_of(etype.id, path, "Meaning", [*element_goals, smoke("smoke_meaning")]),
        *obligations_of(etype.id, path, "Constraints", tensor_goals),
        *obligations_of(etype.id, path, "Refutation", refutation_goals),
    ]
    return text, found


def _refuting_tensors(spec: Spec, etype: ElementType, refutations: Iterable[Claim]) -> dict[str, str]:
    """The tensors that refute a constraint, as WhyML records; empty where nothing is refuted."""
    witnesses = [claim.witness for claim in refutations if claim.role == "refuted"]
    if not witnesses:
        return {}
    (witness,) = witnesses
    printer = element_printer(spec, etype)
    shapes = {name: "Dim 1 Scalar" if name in spec.head.tensors else "Scalar" for name in spec.head.operands}
    entries = {name: f"entry = fun _ -> {printer.atom(number)}" for name, number in witness.items()}
    return {
        name.lower(): f"{{ element = {etype.why3}; shape = {shapes[name]}; {entry} }}"
        for name, entry in entries.items()
    }


def _declarations(spec: Spec, etype: ElementType) -> dict[str, object]:
    """What the template declares before the goals."""
    printer = element_printer(spec, etype)
    cases = declared_cases(spec, printer)
    classes = declared_classes(spec, etype)
    result = result_of_cases(spec, printer)
    of_tensors = tensor_printer(spec, etype)
    parameters = WhymlPrinter(etype, spec.head, of_result=True).implicit
    constraints = [
        {
            **declare(f"stated_{c.id}", parameters, "tensor", of_tensors.show(c.holds), c.title),
            "is_refuted": etype.family in c.refuted_for,
        }
        for c in spec.constraints
        if etype.family in c.families
    ]
    of_readings = definitions_used(spec, reading_trees(spec))
    of_others = definitions_used(spec, _other_trees(spec))
    definitions = [
        definition(spec, d, etype) for d in spec.definitions if d in of_others or d not in of_readings
    ]
    general = [definition(spec, d, etype) for d in _used_by_constraints(spec)]
    bits = None
    if etype.family == "float":
        form, digits = float_bits(etype), (etype.width or 0) // 4
        pattern = {"mask": sign_bit(form) - 1, "infinity": infinity(form), "zero": 0}
        bits = {name: f"(0x{value:0{digits}x}: t)" for name, value in pattern.items()}
    return {
        "cases": cases,
        "classes": classes,
        "result": result,
        "constraints": constraints,
        "definitions": definitions,
        "general": general,
        "float": bits,
    }


def declared_cases(spec: Spec, printer: WhymlPrinter) -> list[dict[str, str]]:
    """The cases as predicates."""
    return [declare(c.id, printer.implicit, "t", printer.show(c.when), c.title) for c in spec.cases]


def declared_classes(spec: Spec, etype: ElementType) -> list[dict[str, str]]:
    """The classes of an element type as predicates, each with its case."""
    printer = element_printer(spec, etype)
    operands = printer.implicit
    return [
        declare(c.id, operands, "t", f"{c.case} {operands} /\\ {printer.operand(c.when, AND)}")
        for c in spec.classes_of(etype.family)
    ]


def declared_reading(spec: Spec, reading: Reading, printer: WhymlPrinter) -> dict[str, str]:
    """What a reading allows, as a predicate of the operands and of an answer."""
    body, title = printer.show(reading.returns), f"{reading.id}: {reading.title}"
    return declare(reading.predicate, spec.head.arguments_and_result, "t", body, title)


def result_of_cases(spec: Spec, printer: WhymlPrinter) -> str:
    """The result of the first case that holds, line by line."""
    *first, last = [(case.id, printer.show(named_result(case))) for case in spec.cases]
    return "".join(f"if {id_} {printer.implicit} then {of} else\n" for id_, of in first) + last[1]


def definition(spec: Spec, d: Definition, etype: ElementType) -> dict[str, str]:
    """A definition as the templates declare it; false where the family has none."""
    parameters = d.parameters or spec.head.operands
    names = " ".join(name.lower() for name in parameters)
    if d.families is not None and etype.family not in d.families:
        return declare(d.id, names, "t", "false", f"{d.title}: none in {etype.id}")
    body = element_printer(spec, etype).show(d.is_)
    return declare(d.id, names, "t", body, d.title, is_function=kind_of(d.is_) is Sort.ELEMENT)


def _used_by_constraints(spec: Spec) -> list[Definition]:
    """The definitions that a constraint uses, and what these use, in the order of the file."""
    return definitions_used(
        spec, [tree for c in spec.constraints for tree in (c.holds, *c.repaired.values())]
    )


def reading_trees(spec: Spec) -> list[Expr]:
    """Every condition of the readings."""
    return [
        tree for r in spec.readings for tree in (r.returns, *r.agrees.values(), *r.agrees_bitwise.values())
    ]


def _other_trees(spec: Spec) -> list[Expr]:
    """Every condition on elements but those of the readings."""
    trees = [case.when for case in spec.cases] + [klass.when for klass in spec.classes]
    trees += [tree for p in spec.properties for tree in (p.claim, *p.repaired.values())]
    return trees + [tree for entry in spec.latitude for tree in (entry.when, entry.accepts)]


def definitions_beyond_readings(spec: Spec) -> tuple[Definition, ...]:
    """The definitions that more than readings use, and what these use, in the order of the file."""
    constraints = [tree for c in spec.constraints for tree in (c.holds, *c.repaired.values())]
    return tuple(definitions_used(spec, [*_other_trees(spec), *constraints]))


def definitions_used(spec: Spec, trees: Iterable[Expr]) -> list[Definition]:
    """The definitions that trees use, and what these use, in the order of the file."""
    known = {d.id: d for d in spec.definitions}
    wanted: set[str] = set()
    pending = list(trees)
    while pending:
        for id_ in _ids_used(spec, pending.pop()):
            if id_ in known and id_ not in wanted:
                wanted.add(id_)
                pending.append(known[id_].is_)
    return [d for d in spec.definitions if d.id in wanted]


def _ids_used(spec: Spec, expr: Expr) -> tuple[str, ...]:
    """The ids that a tree uses; looked for once: each element type asks for all trees again."""
    memo = spec.memo.setdefault(("ids used", ""), {})
    if id(expr) not in memo:  # the tree is kept beside them, so that its number stays its own
        found = dict.fromkeys(node.id for node in subtrees(expr) if isinstance(node, Use))
        memo[id(expr)] = expr, tuple(found)
    ids: tuple[str, ...] = memo[id(expr)][1]
    return ids
