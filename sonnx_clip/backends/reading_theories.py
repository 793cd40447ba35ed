"""Renders readings, dialects and the dialects' worked examples: for each element type where they agree with
the cases, and what they add.
"""

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
from sonnx_clip.backends.whyml_printer import element_printer
from sonnx_clip.backends.whyml_printer import goals as printed
from sonnx_clip.claims.dialect_claims import dialect_claims, of_type
from sonnx_clip.claims.example_claims import dialect_example_claims
from sonnx_clip.claims.meaning_claims import latitude_reading_claims
from sonnx_clip.claims.reading_claims import reading_claims, reading_class_claims
from sonnx_clip.spec.dialect_examples import ComputedBy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import FamilyId
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialect_examples import DialectExample
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.entries import Reading


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


# ------------------------------------------------------------------------------------------------------------
# Renders the dialects: for each element type where they agree with the cases, and what they add to them


def dialect_theories(spec: Spec) -> tuple[Mapping[str, str], tuple[Obligation, ...]]:
    """The theories of the dialects by their path in the repository, and their obligations."""
    files: dict[str, str] = {}
    obligations: list[Obligation] = []
    for etype in spec.element_types:
        dialects = of_type(spec, etype)
        if not dialects:
            continue
        path = f"{THEORIES}/dialects_{etype.id}.mlw"
        readings = _readings_of(spec, dialects)
        regions = _regions(readings, etype.family) + _of_dialects(dialects, etype.family)
        used = definitions_used(spec, [*(r.returns for r in readings), *regions])
        printer = element_printer(spec, etype, spec.element_type("float32"))
        goals = [*printed(dialect_claims(spec, etype), printer), smoke("smoke_dialects")]
        files[path] = template("dialects.mlw.j2").render(
            header=header(spec),
            etype=etype,
            converts=any(d.converts_to(etype.id) for d in dialects),
            scales=etype.family == "float" and any(d.scale_bias for d in dialects),
            cases=declared_cases(spec, printer),
            result=result_of_cases(spec, printer),
            definitions=[definition(spec, d, etype) for d in used],
            readings=[declared_reading(spec, r, printer) for r in readings],
            goals=goals[:-1],
        )
        obligations += obligations_of(etype.id, path, "Dialects", goals)
    return files, tuple(obligations)


def _readings_of(spec: Spec, dialects: tuple[Dialect, ...]) -> tuple[Reading, ...]:
    """What the words of these dialects allow, what decides between answers, and what they are said to be."""
    used = {id_ for d in dialects for id_ in (d.reading, d.answers)}
    used |= {d.equivalence.to for d in dialects if d.equivalence is not None}
    return tuple(r for r in spec.readings if r.id in used)


def _regions(readings: Sequence[Reading], family: FamilyId) -> list[Expr]:
    """Where the readings agree with the cases, in one family."""
    both = [regions for reading in readings for regions in (reading.agrees, reading.agrees_bitwise)]
    return [regions[family] for regions in both if family in regions]


def _of_dialects(dialects: Sequence[Dialect], family: FamilyId) -> list[Expr]:
    """Where the dialects allow more than those before them, or are what their pages say they equal."""
    every = [d.widens for d in dialects]
    every += [d.equivalence.where for d in dialects if d.equivalence is not None]
    return [regions[family] for regions in every if family in regions]


# --- Renders the worked examples of dialects: each is an obligation, entry by entry or for all X ------------


def example_theories(spec: Spec) -> tuple[Mapping[str, str], tuple[Obligation, ...]]:
    """The theories of the examples of dialects by their path in the repository, and their obligations."""
    files: dict[str, str] = {}
    obligations: list[Obligation] = []
    for etype in spec.element_types:
        examples = [example for example in spec.dialect_examples if example.type == etype.id]
        if not examples:
            continue
        path = f"{THEORIES}/examples_{etype.id}.mlw"
        readings = _readings(spec, examples)
        printer = element_printer(spec, etype)
        goals = [*printed(dialect_example_claims(spec, etype), printer), smoke("smoke_examples")]
        files[path] = template("examples.mlw.j2").render(
            header=header(spec),
            etype=etype,
            cases=declared_cases(spec, printer),
            result=result_of_cases(spec, printer),
            definitions=[
                definition(spec, d, etype) for d in definitions_used(spec, [r.returns for r in readings])
            ],
            readings=[declared_reading(spec, r, printer) for r in readings],
            goals=goals[:-1],
        )
        obligations += obligations_of(etype.id, path, "Examples", goals)
    return files, tuple(obligations)


def _readings(spec: Spec, examples: list[DialectExample]) -> tuple[Reading, ...]:
    """What the words of the dialects allow, and what computes a result, in the order of the file."""
    used = {spec.dialect(example.dialect).reading for example in examples}
    used |= {example.Y.reading for example in examples if isinstance(example.Y, ComputedBy)}
    return tuple(reading for reading in spec.readings if reading.id in used)
