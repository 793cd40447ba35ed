"""Verdicts on properties: a runtime violates one only where an answer that is recorded does."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.evidence.runtime_verdicts import FORMS
from sonnx_clip.language.tree import Call, Name
from sonnx_clip.language.walk import subtrees
from sonnx_clip.spec import evaluator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.conform.check_report import Report, TypeReport
    from sonnx_clip.evidence.evidence_model import Shown
    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Property

Verdicts: TypeAlias = "dict[str, dict[str, Shown]]"
"""By runtime and element type."""


def verdicts_on_property(
    spec: Spec, entry: Property, reports: Mapping[str, Report], shown: Verdicts
) -> Verdicts:
    """The verdicts of the classes of a property, as far as they are verdicts on the property.

    Args:
        spec: the specification.
        entry: the property.
        reports: by runtime.
        shown: by runtime and element type the worst verdict of its classes: an answer that deviates there
            is a wrong result, and may well have the property.
    """
    return {
        runtime: {
            type_id: _judged(spec, entry, reports.get(runtime), type_id, verdict)
            for type_id, verdict in of_type.items()
        }
        for runtime, of_type in shown.items()
    }


def _judged(spec: Spec, entry: Property, report: Report | None, type_id: str, verdict: Shown) -> Shown:
    found = next((t for t in report.types if t.type == type_id), None) if report else None
    if verdict != "violates" or found is None:
        return verdict
    return "violates" if violated(spec, entry, spec.element_type(type_id), found) else "undecided"


def violated(spec: Spec, entry: Property, etype: ElementType, found: TypeReport) -> bool:
    """Whether a recorded answer makes the claim false, where the property holds of Clip.

    A claim on two results of Clip says nothing of one answer.
    """
    names = {node.id for node in subtrees(entry.claim) if isinstance(node, Name)}
    calls = {node.function for node in subtrees(entry.claim) if isinstance(node, Call)}
    if "X2" in names or "clip" in calls or etype.family not in entry.families:
        return False
    ask, repaired = evaluator(spec, etype), entry.repaired.get(etype.family)
    for klass in found.classes:
        for d in klass.deviations if klass.id not in FORMS else ():
            if (environment := d.environment(spec.head)) is None:
                continue
            if (repaired is None or ask(repaired, environment)) and not ask(entry.claim, environment):
                return True
    return False
