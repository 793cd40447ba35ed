"""Renders spec/clip.yaml into Why3 theories: one file an element type, and one for the restrictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import Goal, declare, header, obligations_of, smoke
from sonnx_clip.backends.whyml_printer import (
    AND,
    APPLY,
    ATOM,
    WhymlPrinter,
    element_printer,
    goal,
    goals,
    tensor_printer,
)
from sonnx_clip.claims.all_claims import meaning_claims
from sonnx_clip.claims.nodes import named_result
from sonnx_clip.claims.tensor_claims import SUBJECT, constraint_claims, refutation_claims, restriction_claims
from sonnx_clip.claims.written_claims import WRITTEN
from sonnx_clip.language.scope import kind_of
from sonnx_clip.language.tree import Expr, Kind, Use, Value, subtrees
from sonnx_clip.language.tree import Kind as Sort
from sonnx_clip.language.values import float_bits, infinity, sign_bit
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.evaluate import declared_example
from sonnx_clip.whyml.declarations import declarations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sonnx_clip.claims.claim import Claim, Obligation
    from sonnx_clip.language.printing import Piece
    from sonnx_clip.language.tree import Leaf
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Definition, Reading
    from sonnx_clip.spec.evaluate import DeclaredTensor


def restrictions_theory(spec: Spec, path: str) -> tuple[str, list[Obligation]]:
    """The theory of the restrictions and the obligations that it holds."""
    printer = WhymlPrinter(None, spec.head, of_result=True)
    restrictions = [
        declare(f"stated_{r.id}", printer.implicit, "declared", printer.show(r.holds), r.statement)
        for r in spec.restrictions
    ]
    goals = [_goal(spec, claim) for claim in restriction_claims(spec)]
    text = template("restrictions.mlw.j2").render(
        header=header(spec),
        restrictions=restrictions,
        goals=goals,
        example=_example(spec),
    )
    return text, obligations_of(SUBJECT, path, "Profile", [*goals, smoke("smoke_restrictions")])


def _goal(spec: Spec, claim: Claim) -> Goal:
    """A claim as a goal; its witness is a node: the `example` of the theory, or one that differs from it."""
    of_node = {name: f"n.{name.lower()}" for name in spec.head.all}
    printer = _DeclaredPrinter(None, spec.head, of_node, spec=spec)
    printed = goal(replace(claim, witness={}), printer)
    if not claim.witness:
        return printed
    changes = "; ".join(f"{name.lower()} = {printer.show(of)}" for name, of in claim.witness.items())
    node = "example" if claim.role == "consistent" else f"{{ example with {changes} }}"
    return replace(printed, statement=f"let n = {node} in {printed.statement}")


@dataclass(frozen=True)
class _DeclaredPrinter(WhymlPrinter):
    """Prints conditions on tensors as a model declares them."""

    spec: Spec | None = None

    def leaf(self, expr: Leaf) -> Piece:
        match expr:
            case Value(value=tensor, kind=Kind.DECLARED):
                assert self.spec is not None
                text = _declared(self.spec, tensor)
                return (APPLY if " " in text else ATOM), text
            case _:
                return super().leaf(expr)


def _example(spec: Spec) -> str:
    """The node that meets every restriction, as a WhyML record with a line a tensor."""
    example = declared_example(spec)
    fields = [f"{name.lower()} = {_declared(spec, example[name])}" for name in spec.head.all]
    return "{ " + ";\n    ".join(fields) + " }"


def _declared(spec: Spec, tensor: DeclaredTensor | None) -> str:
    if tensor is None:
        return "Absent"
    tag = spec.element_type(tensor.type).why3
    return f"Present {{ element = {tag}; sparse = {tensor.sparse}; dims = {_dims(tensor.dims)} }}"


def _atom(text: str) -> str:
    return f"({text})" if " " in text else text


def _dims(dims: tuple[int | str, ...] | None) -> str:
    if dims is None:
        return "Undeclared"
    symbols: list[str] = []
    text = "NoMore"
    for dim in reversed(dims):
        if isinstance(dim, str) and dim not in symbols:
            symbols.append(dim)
        if isinstance(dim, str):
            shown = f"Symbolic {symbols.index(dim)}"
        else:
            shown = f"Known {dim}" if dim >= 0 else f"Known ({dim})"
        text = f"And ({shown}) {_atom(text)}"
    return f"Dims {_atom(text)}"


# --- Renders spec/clip.yaml into Why3 theories: one file an element type, and one for the restrictions ------


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
    found = tuple(d.name for d in declarations(text) if d.form == "axiom")
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
