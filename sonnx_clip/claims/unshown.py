"""Entries of the YAML that no claim shows in one of their element types.

What else is claimed of them shows in a diff of generated/why3/obligations.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.tensor_claims import SUBJECT
from sonnx_clip.spec.claims import types_of_claim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec


def unshown(spec: Spec, claims: Iterable[Claim]) -> Iterator[str]:
    """A line for each entry and element type without a claim, in the order of the file."""
    shown = {(claim.subject, id_) for claim in claims for id_ in claim.shows}
    for subject, id_ in _entries(spec):
        if (subject, id_) not in shown:
            yield f"{subject}: no claim shows {id_}"


def _entries(spec: Spec) -> Iterator[tuple[str, str]]:
    """Each entry of which something is claimed, in each of its element types."""
    yield from ((SUBJECT, entry.id) for entry in spec.restrictions)
    for etype in spec.element_types:
        yield from ((etype.id, id_) for id_ in _of_type(spec, etype))


def _of_type(spec: Spec, etype: ElementType) -> Iterator[str]:
    if etype.width is not None:
        yield etype.id
    yield from (case.id for case in spec.cases)
    yield from (reading.id for reading in spec.readings)
    yield from (part.id for part in spec.classes if etype.family in part.families)
    yield from (entry.id for entry in spec.properties if etype.family in entry.families)
    yield from (constraint.id for constraint in spec.constraints if etype.family in constraint.families)
    for example in spec.examples:
        if example.family == etype.family and etype.id not in example.not_representable_in:
            yield example.id
    if etype.family == "float":
        yield from (latitude.id for latitude in spec.latitude)
    yield from (dialect.id for dialect in spec.dialects if etype.id in dialect.element_types)
    yield from (example.id for example in spec.dialect_examples if example.type == etype.id)
    for finding in spec.findings:
        if any(etype in types_of_claim(spec, part) for part in finding.theorems):
            yield finding.id
