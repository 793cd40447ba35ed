"""What becomes of the sources, and which roads of argument were gone: no count says more than it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.runtimes import RUNTIMES
from sonnx_clip.evidence.evidence_model import Obligations, Road, SourceItem, Statements
from sonnx_clip.spec.sections import BY_NAME, SECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sonnx_clip.evidence.evidence_model import (
        CKernelEvidence,
        CoqEvidence,
        DialectRunEvidence,
        Entry,
        ObligationEvidence,
        ReplayEvidence,
    )
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.coverage_file import Coverage

_COUNTED = {"of_page": "of the page", "ours": "ours", "findings": "findings", "readings": "readings"}


def statements_of(entries: Sequence[Entry]) -> Statements:
    """How many statements of the page and conclusions of ours hold, and how many are repaired."""
    required = [(BY_NAME[e.section].weight, e) for e in entries if e.requirement]
    of_page = [e for weight, e in required if weight == "of the page"]
    ours = [e for weight, e in required if weight == "ours"]
    return Statements(
        of_page=len(of_page),
        of_page_refuted=sum(_refuted(e) for e in of_page),
        ours=len(ours),
        ours_refuted=sum(_refuted(e) for e in ours),
    )


def _refuted(entry: Entry) -> bool:
    return any(cell.finding for cell in entry.cells)


def obligations_of(spec: Spec, obligations: Sequence[ObligationEvidence]) -> Obligations:
    """Of what the obligations speak: each is counted once, under the first of these that fits."""
    by_weight = {
        name: {e.id for s in SECTIONS if s.weight == weight for e in getattr(spec, s.name)}
        for name, weight in _COUNTED.items()
    }
    counts = dict.fromkeys((*by_weight, "others"), 0)
    for o in obligations:
        if o.kind != "smoke":
            counts[next((name for name, ids in by_weight.items() if ids & set(o.shows)), "others")] += 1
    return Obligations(**counts)


def source_items(coverage: Coverage) -> Iterator[SourceItem]:
    """Every sentence of every source with its answer, in the order of the sources."""
    for one in coverage.covered:
        yield SourceItem(
            source=one.source,
            line=one.item.line,
            section=one.item.section,
            kind=one.item.kind,
            text=one.item.text,
            answer=one.answer.sort,
            encoded_by=one.answer.encoded_by,
            disputed_by=one.answer.disputed_by,
            reason=one.reason or one.answer.not_encoded or "",
            note=one.answer.note or "",
        )


def roads_of(
    *,
    complete: bool,
    coq: CoqEvidence,
    c_kernels: Sequence[CKernelEvidence],
    replays: Sequence[ReplayEvidence],
    runtimes: Mapping[str, bool],
    dialect_runs: Sequence[DialectRunEvidence],
) -> tuple[Road, ...]:
    """Every road of argument, and whether it was gone for what is here."""
    kernels = {kernel.status for kernel in c_kernels}
    frama_c = "not run" if kernels == {"not run"} else "in part" if kernels & {"not run", "stale"} else "run"
    roads = [
        ("Z3 and cvc5 on every obligation", "run" if complete else "in part"),
        ("Coq’s kernel", {"checked": "run", "not proved": "run, not proved"}.get(coq.status, coq.status)),
        ("Frama-C on the C kernels", frama_c),
        ("replay without our Python", "run" if replays else "not run"),
        *((f"runtime {name}", "run" if runtimes.get(name) else "not run") for name in (*RUNTIMES,)),
        *((f"dialects in {run.name}", "run" if run.run else "not run") for run in dialect_runs),
        ("DirectML", "not run"),
    ]
    return tuple(Road(name=name, status=status) for name, status in roads)
