"""The findings of spec/clip.yaml, beside those that follow from refutations: none appears twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.evidence.evidence_model import Finding
from sonnx_clip.spec.finding_checks import names_of
from sonnx_clip.spec.findings import Lack, Refutation, SharedTag

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.explain.findings_told import FindingTold
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import SourceFinding


def with_source_findings(
    spec: Spec, told: Sequence[FindingTold], derived: Iterable[Finding]
) -> Iterator[Finding]:
    """The findings of the YAML, each with the numbers of the derived ones that it covers; then the others."""
    rest = {finding.id: finding for finding in derived}
    for entry, words in zip(spec.findings, told, strict=True):
        covered = [rest.pop(id_) for id_ in _covers(spec, entry) if id_ in rest]
        names = tuple(dict.fromkeys(name for witness in entry.witnesses for name in names_of(witness)))
        # The table of numbers in every type, and the repair, are those of the derived finding.
        table = next((finding for finding in covered if finding.witnesses), None)
        yield Finding(
            id=entry.id,
            kind=entry.kind,
            about=table.about if table else next(iter(names), entry.id),
            names=names,
            family=table.family if table else "all",
            said=entry.title,
            found=entry.found,
            details=tuple(finding.found for finding in covered if not finding.witnesses),
            repaired=table.repaired if table else None,
            witnesses=table.witnesses if table else (),
            told=words,
        )
    yield from rest.values()


def _covers(spec: Spec, entry: SourceFinding) -> Iterator[str]:
    """The ids of the derived findings that say nothing beyond this one."""
    lacking: dict[str, set[str]] = {}
    for witness in entry.witnesses:
        match witness:
            case Refutation():
                yield f"refuted-{witness.refutes}-{spec.element_type(witness.type).family}"
            case SharedTag():
                yield f"ambiguous-{witness.tag}"
            case Lack():
                lacking.setdefault(witness.example, set()).add(witness.type)
            case _:
                pass
    for example, types in lacking.items():
        if types >= set(spec.example(example).not_representable_in):
            yield f"not-representable-{example}"
