"""Whether the theorems speak of everything in spec/clip.yaml that they have to, and of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.coq_files import speaks_of_entries
from sonnx_clip.backends.coqreadings import MODULES, theorems_of
from sonnx_clip.backends.generate import ids_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.foundation.sources import Theorem
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Constraint, Property


def wanted(spec: Spec) -> Iterator[tuple[str, str]]:
    """The module and the name of each theorem that the YAML asks for."""
    for family in spec.families:
        module = f"SonnxClip.Generated.{family.id.capitalize()}"
        yield from ((module, name) for name in ("cases_are_clip", "cases_complete", "cases_disjoint"))
        yield from ((module, f"classes_of_{case.id}_complete") for case in spec.cases)
        entries: list[Property | Constraint] = [*spec.properties]
        entries += (c for c in spec.constraints if speaks_of_entries(c))
        for entry in entries:
            if family.id in entry.holds_for:
                yield module, entry.id
            elif family.id in entry.refuted_for:
                yield module, f"{entry.id}_repaired"
                for etype in spec.types_of(family.id):
                    yield "SonnxClip.Generated.Formats", f"{etype.id}_{entry.id}_refuted"
        for reading in spec.readings:
            for name in theorems_of(reading, family.id):
                yield f"SonnxClip.Generated.{MODULES[family.id]}", name
    for etype in spec.types_of("float"):
        yield "SonnxClip.Generated.Formats", f"{etype.id}_clip"


def uncovered(spec: Spec, theorems: Sequence[Theorem]) -> Iterator[str]:
    """One line for each theorem that the YAML asks for and that is not there."""
    there = {(t.module, t.name) for t in theorems}
    for module, name in wanted(spec):
        if (module, name) not in there:
            yield f"{module} has no theorem {name}, which spec/clip.yaml requires"


def shown_wrongly(spec: Spec, theorems: Sequence[Theorem]) -> Iterator[str]:
    """One line for each theorem that shows what the YAML does not have."""
    known = ids_of(spec)
    for t in theorems:
        for id_ in t.shows:
            if id_ not in known:
                yield f"{t.file}:{t.line}: Theorem {t.name} shows {id_}, which spec/clip.yaml does not have"
