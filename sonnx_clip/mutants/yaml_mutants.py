"""Mutants of spec/clip.yaml: one part of a condition changed, or the result of a case."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sonnx_clip.backends.declared import conditions_of
from sonnx_clip.backends.whyml_printer import element_printer, tensor_printer
from sonnx_clip.language import tree
from sonnx_clip.language.scope import kind_of
from sonnx_clip.language.tree import Expr, Kind, parts_of
from sonnx_clip.mutants import Mutant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.backends.declared import ConditionField
    from sonnx_clip.spec import Spec

# The two mistakes that a comparison invites: at equality, and in the direction.
_SIGNS = {
    "<": ("<=", ">"),
    "<=": ("<", ">="),
    ">": (">=", "<"),
    ">=": (">", "<="),
    "==": ("<=",),
}
_WORDS = {"and": "or", "or": "and", "implies": "iff", "iff": "implies"}


@dataclass(frozen=True)
class YamlMutant(Mutant):
    """A specification with one change, which is shown in WhyML, cut down to the changed part.

    Args:
        place: what is changed.
        families: those of the element types that have it.
        original: the condition, or the operand that a case returns.
        changed: what replaces it.
    """

    place: ConditionField
    families: tuple[str, ...]
    original: Any
    changed: Any

    def applied(self, spec: Spec) -> Spec:
        """The changed specification."""
        section, entry, field, family = self.place
        value = self.changed
        # A field that differs between families has a condition for each of them.
        if family:
            value = {**getattr(entry, field), family: self.changed}
        changed = entry.model_copy(update={field: value})
        entries = []
        for other in getattr(spec, section):
            entries.append(changed if other.id == entry.id else other)
        return spec.model_copy(update={section: tuple(entries)})


def yaml_mutants(spec: Spec) -> Iterator[YamlMutant]:
    """Every mutant, in the order of the conditions; of those that print alike, the first."""
    for place, condition in conditions_of(spec):
        families = _families_of(spec, place)
        yield from _changed_conditions(spec, place, families, condition)
        if place.section == "cases":
            yield from _changed_results(spec, place, families)


def _families_of(spec: Spec, place: ConditionField) -> tuple[str, ...]:
    """The families whose element types have a condition."""
    section, entry, _, family = place
    if family:
        return (family,)
    # Latitudes are about NaNs and zeros, which floats alone have.
    if section == "latitude":
        return ("float",)
    stated_families = getattr(entry, "families", None)
    return stated_families or tuple(known.id for known in spec.families)


def _changed_conditions(
    spec: Spec,
    place: ConditionField,
    families: tuple[str, ...],
    condition: Expr,
) -> Iterator[YamlMutant]:
    section, entry, field, family = place
    name = ".".join(filter(None, (section, entry.id, field.rstrip("_"), family)))
    # In WhyML, in which the provers are asked: of mutants that print alike one is enough.
    etype = spec.types_of(families[-1])[0]
    make_printer = tensor_printer if section == "constraints" else element_printer
    printer = make_printer(spec, etype)
    operands = getattr(entry, "parameters", ()) or spec.signature.ids
    seen = {printer.show(condition)}
    for part, other, whole in mutations(condition, operands):
        text = printer.show(whole)
        if text in seen:
            continue
        change = f"{printer.show(part)} => {printer.show(other)}"
        if change in seen:  # the same part stands twice: the whole tells the mutants apart
            change += f" in {text}"
        seen |= {text, change}
        yield YamlMutant(section, name, change, place, families, condition, whole)


def _changed_results(
    spec: Spec, place: ConditionField, families: tuple[str, ...]
) -> Iterator[YamlMutant]:
    """A case that returns another operand."""
    section, entry, *_ = place
    name = f"{section}.{entry.id}.result"
    of_result = place._replace(field="result")
    for operand in spec.signature.ids:
        if operand != entry.result_text:
            change = f"{entry.result_text} => {operand}"
            other = tree.Name(operand, Kind.ELEMENT)
            yield YamlMutant(section, name, change, of_result, families, entry.result, other)


def mutations(expr: Expr, names: tuple[str, ...]) -> Iterator[tuple[Expr, Expr, Expr]]:
    """Each changed part of a condition, what replaces it, and the whole condition."""
    for other in _edits(expr, names):
        yield expr, other, other
    is_atom = not isinstance(expr, tree.Not | tree.Connective | tree.If)
    if is_atom and kind_of(expr) is Kind.BOOL:
        # Of a compound condition each part is negated by itself, further down.
        negated = tree.Not(expr)
        yield expr, negated, negated
    parts = parts_of(expr)
    for part in parts:
        for old, new, changed in mutations(part, names):
            # By identity, since two parts may be equal.
            changed_parts = [changed if other is part else other for other in parts]
            yield old, new, tree.with_parts(expr, changed_parts)


def _edits(expr: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """What a small mistake puts in the place of a node: one arm for each kind of mistake."""
    match expr:
        # Shapes and element types have no order.
        case tree.Compare(operator=operator) if expr.kind not in (Kind.SHAPE, Kind.ELEMENT_TYPE):
            yield from (replace(expr, operator=sign) for sign in _SIGNS[operator])
        case tree.Connective(operator=operator, left=left, right=right):
            yield replace(expr, operator=_WORDS[operator])
            yield left
            yield right
        case tree.Not(operand=operand):
            yield operand
        case tree.If(then=then, otherwise=otherwise):
            yield replace(expr, then=otherwise, otherwise=then)
            yield then
            yield otherwise
        case tree.Name(id=name, kind=Kind.ELEMENT) if name in names:
            yield from (replace(expr, id=other) for other in names if other != name)
        case tree.Number(text=text) if text.lstrip("-").isdigit():
            yield replace(expr, text=str(int(text) + 1))
        case tree.Number(text="lowest"):
            yield replace(expr, text="highest")
        case tree.Number(text="highest"):
            yield replace(expr, text="lowest")
        case tree.Number(text=text, constant=name) if name != "nan":
            opposite = text[1:] if text.startswith("-") else f"-{text}"
            yield replace(expr, text=opposite)
