"""Renders the worked examples of dialects: each is an obligation, entry by entry or for all X."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.reading_theories import THEORIES
from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import header, obligations_of, smoke
from sonnx_clip.backends.why3 import (
    declared_cases,
    declared_reading,
    definition,
    definitions_used,
    result_of_cases,
)
from sonnx_clip.backends.why3_claim import goals as printed
from sonnx_clip.backends.whyml_printer import element_printer
from sonnx_clip.claims.dialect_example_claims import dialect_example_claims
from sonnx_clip.spec.dialect_examples import ComputedBy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.claims.obligation import Obligation
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialect_examples import DialectExample
    from sonnx_clip.spec.entries import Reading


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
