"""Whether the theorems speak of everything in spec/clip.yaml that they have to, and of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.coq_files import claims_of_family, theorem_name
from sonnx_clip.backends.coqreadings import MODULES, theorems_of
from sonnx_clip.backends.generate import ids_of
from sonnx_clip.claims import goal_names as named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.foundation.sources import TheoremInFile
    from sonnx_clip.spec import Spec


def wanted(spec: Spec) -> Iterator[tuple[str, str]]:
    """The module and the name of each theorem that the YAML asks for."""
    for family in spec.families:
        module = f"SonnxClip.Generated.{family.id.capitalize()}"
        for claim in claims_of_family(spec, family.id):
            yield module, theorem_name(claim)
            if claim.role == "repaired":
                for etype in spec.types_of(family.id):
                    yield "SonnxClip.Generated.Formats", f"{etype.id}_{named.refuted(claim.shows[0])}"
        for reading in spec.readings:
            for name in theorems_of(reading, family.id):
                yield f"SonnxClip.Generated.{MODULES[family.id]}", name
    for etype in spec.types_of("float"):
        yield "SonnxClip.Generated.Formats", f"{etype.id}_clip"


def uncovered(spec: Spec, theorems: Sequence[TheoremInFile]) -> Iterator[str]:
    """One line for each theorem that the YAML asks for and that is not there."""
    there = {(t.module, t.name) for t in theorems}
    for module, name in wanted(spec):
        if (module, name) not in there:
            yield f"{module} has no theorem {name}, which spec/clip.yaml requires"


def shown_wrongly(spec: Spec, theorems: Sequence[TheoremInFile]) -> Iterator[str]:
    """One line for each theorem that shows what the YAML does not have."""
    known = ids_of(spec)
    for t in theorems:
        for id_ in t.shows:
            if id_ not in known:
                yield f"{t.file}:{t.line}: Theorem {t.name} shows {id_}, which spec/clip.yaml does not have"
