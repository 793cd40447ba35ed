"""Renders the readings: for each element type where they agree with the cases, and with one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import header, obligations_of, smoke
from sonnx_clip.backends.why3 import (
    declared_cases,
    declared_classes,
    declared_reading,
    definition,
    definitions_used,
    reading_trees,
    result_of_cases,
)
from sonnx_clip.backends.why3_claim import goals as printed
from sonnx_clip.backends.whyml_printer import element_printer
from sonnx_clip.claims.property_claims import latitude_reading_claims
from sonnx_clip.claims.reading_claims import reading_claims
from sonnx_clip.claims.reading_class_claims import reading_class_claims

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.claims.obligation import Obligation
    from sonnx_clip.spec import Spec

THEORIES = "generated/why3"


def reading_theories(spec: Spec) -> tuple[Mapping[str, str], tuple[Obligation, ...]]:
    """The theories of the readings by their path in the repository, and their obligations."""
    files: dict[str, str] = {}
    obligations: list[Obligation] = []
    of_classes = definitions_used(spec, [klass.when for klass in spec.classes])
    for etype in spec.element_types:
        path = f"{THEORIES}/readings_{etype.id}.mlw"
        of_latitude = [tree for entry in spec.latitude for tree in (entry.when, entry.accepts)]
        used = definitions_used(spec, reading_trees(spec) + of_latitude * (etype.family == "float"))
        printer = element_printer(spec, etype)
        goals = list(printed((*reading_claims(spec, etype), *latitude_reading_claims(spec, etype)), printer))
        class_goals = list(printed(reading_class_claims(spec, etype), printer))
        files[path] = template("readings.mlw.j2").render(
            header=header(spec),
            etype=etype,
            cases=declared_cases(spec, printer),
            result=result_of_cases(spec, printer),
            definitions=[definition(spec, d, etype) for d in used],
            readings=[declared_reading(spec, r, printer) for r in spec.readings],
            goals=goals,
            class_definitions=[definition(spec, d, etype) for d in of_classes if d not in used],
            classes=declared_classes(spec, etype),
            class_goals=class_goals,
        )
        obligations += obligations_of(etype.id, path, "Readings", [*goals, smoke("smoke_readings")])
        class_goals.append(smoke("smoke_reading_classes"))
        obligations += obligations_of(etype.id, path, "ReadingClasses", class_goals)
    return files, tuple(obligations)
