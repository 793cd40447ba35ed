"""Everything that is known about the specification, gathered into one `Evidence`; no count says more than it
counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import sonnx_clip
from sonnx_clip.backends.generate import LEFT_BY_COQC
from sonnx_clip.conform.check_report import FAILING, Report
from sonnx_clip.evidence.all_findings import findings_of, with_source_findings
from sonnx_clip.evidence.entries_shown import Materials, entries_of
from sonnx_clip.evidence.evidence_model import (
    Entry,
    Evidence,
    FileDigest,
    Obligations,
    Road,
    SourceItem,
    Statements,
    Times,
    Totals,
)
from sonnx_clip.evidence.proof_records import ProofsRecord, read_proofs
from sonnx_clip.evidence.read import require_fresh, require_installed
from sonnx_clip.evidence.recheck_proofs import require_borne_out
from sonnx_clip.evidence.road_records import (
    CoqRecord,
    c_kernels_of,
    coq_evidence,
    read_foundation,
    read_frama_c,
    read_replays,
    with_coq,
)
from sonnx_clip.evidence.runtime_verdicts import not_judged, runtimes_of
from sonnx_clip.evidence.trace import Trace, all_obligations
from sonnx_clip.evidence.vector_records import Vectors, read_vectors, shown_vectors
from sonnx_clip.evidence.verdict_records import dialect_runs_of, read_dialect_runs, read_reports
from sonnx_clip.explain.findings_told import tell
from sonnx_clip.explain.measured_record import read_record
from sonnx_clip.mutants.mutants_record import RECORD as MUTANTS
from sonnx_clip.mutants.mutants_record import closing_line, read_mutants
from sonnx_clip.prove.rendered import obligations_of as every_obligation
from sonnx_clip.prove.trusted import TrustedItem as Taken
from sonnx_clip.prove.trusted import surprises
from sonnx_clip.root.files import digest_of_file
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.runtime import OURS, RUNTIMES
from sonnx_clip.spec.coverage_checks import require_coverage
from sonnx_clip.spec.coverage_file import PATH as COVERAGE
from sonnx_clip.spec.sections import BY_NAME, SECTIONS
from sonnx_clip.spec.texts import require_sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.conform.comparison_record import ComparisonRecord
    from sonnx_clip.evidence.evidence_model import (
        CKernelEvidence,
        CoqEvidence,
        DialectRunEvidence,
        ObligationEvidence,
        ReplayEvidence,
        RuntimeEvidence,
    )
    from sonnx_clip.explain.measured_record import Measured
    from sonnx_clip.prove.frama_c_record import FramaCRecord
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


# --- Everything that is known about the specification, gathered into one `Evidence` -------------------------


CHECK = "run `sonnx-clip check --runtime {name} --json -o build/verdicts/{name}.json`, or remove the file"


@dataclass(frozen=True)
class Inputs:
    """What the evidence is made of.

    Args:
        spec: the specification.
        wanted: every obligation that its theories hold.
        proofs: what the provers found.
        reports: what the checker found, by runtime.
        vectors: the test vectors, by element type.
        frama_c: what Frama-C found of the C kernels; None if it was not run.
        measured: what runtimes answered for the findings about the sources.
        foundation: what Coq's kernel has checked; None if it was not run.
        dialect_runs: what came of comparing runtimes with ONNX's dialects, by runtime.
        replays: what generated/replay.sh counted, of these obligations.
    """

    spec: Spec
    wanted: tuple[Obligation, ...]
    proofs: ProofsRecord
    reports: Mapping[str, Report]
    vectors: Vectors
    frama_c: FramaCRecord | None
    measured: Measured
    foundation: CoqRecord | None = None
    dialect_runs: Mapping[str, ComparisonRecord] = field(default_factory=dict)
    replays: tuple[ReplayEvidence, ...] = ()


def read_inputs(
    build: Path, spec: Spec, wanted: tuple[Obligation, ...], generated: Path,
    texts: dict[str, str] | None = None,
) -> Inputs:  # fmt: skip
    """Read what other commands left in `build` and `generated`, and check that it is borne out.

    Args:
        build: holds proofs.json, the ledger and the reports.
        spec: the specification.
        wanted: every obligation.
        generated: the folder of what is generated.
        texts: if given, everything is rendered and the tasks are printed again, for `verify`; the tasks are
            put here by their digests.

    Raises:
        UserError: something is missing, damaged, stale, or states what it does not bear out.
    """
    proofs = read_proofs(build, spec, wanted)
    reports, vectors = read_reports(build, spec), read_vectors(generated, spec)
    require_sources(spec)
    require_fresh(spec, generated, everything=texts is not None)
    require_installed(reports, CHECK)
    require_borne_out(build, proofs, spec, wanted, texts)
    frama_c, foundation, runs = read_frama_c(build), read_foundation(build), read_dialect_runs(build, spec)
    measured, replays = read_record(spec), read_replays(build)
    return Inputs(spec, wanted, proofs, reports, vectors, frama_c, measured, foundation, runs, replays)


def gather(found: Inputs) -> Evidence:
    """The evidence: nothing in it is stated that is not in the inputs."""
    spec, proofs = found.spec, found.proofs
    mistakes = read_mutants() if repo_file(MUTANTS).is_file() else None
    obligations = all_obligations(found.wanted, proofs.outcomes, mistakes.kills if mistakes else {})
    runtimes = runtimes_of(spec, found.reports)
    trace = Trace(obligations, spec.element_types)
    coq = coq_evidence(spec, found.foundation)
    materials = Materials(spec, trace, found.vectors, runtimes, found.reports)
    entries = tuple(with_coq(entry, coq) for entry in entries_of(materials))
    derived = findings_of(spec, {(e.section, e.id): e for e in entries})
    findings = tuple(with_source_findings(spec, tell(spec, found.measured), derived))
    c_kernels = c_kernels_of(spec, found.frama_c)
    dialect_runs = dialect_runs_of(spec, found.dialect_runs)
    statements = statements_of(entries)
    strays = (
        *proofs.strays,
        *(f"trusted base: {line}" for line in _surprises(proofs)),
        *(f"Coq: {line}" for line in coq.problems),
    )
    return Evidence(
        tool=f"sonnx-clip {sonnx_clip.__version__}",
        operator=spec.operator,
        spec_sha256=spec.digest,
        totals=_totals(
            found,
            obligations,
            entries,
            runtimes,
            c_kernels,
            strays=len(strays),
            findings=len(spec.findings),
            refuted=statements.ours_refuted,
        ),
        element_types={etype.id: etype.family for etype in spec.element_types},
        entries=entries,
        obligations=obligations,
        strays=strays,
        findings=findings,
        runtimes=runtimes,
        c_kernels=c_kernels,
        coq=coq,
        dialect_runs=dialect_runs,
        vectors=shown_vectors(spec, found.vectors),
        trusted=proofs.trusted,
        mutants=closing_line(mistakes) if mistakes else "",
        tools={
            "sonnx-clip": proofs.about.tool.removeprefix("sonnx-clip "),
            **proofs.tools,
            **_frama_c(found),
        },
        replays=found.replays,
        limits={
            name: ", ".join(f"{v} {k}" for k, v in limit.items()) for name, limit in proofs.limits.items()
        },
        statements=statements,
        sources=tuple(source_items(require_coverage(spec, (o.id for o in every_obligation(spec))))),
        obligations_of=obligations_of(spec, obligations),
        roads=roads_of(
            complete=proofs.complete,
            coq=coq,
            c_kernels=c_kernels,
            replays=found.replays,
            runtimes={runtime.name: runtime.run for runtime in runtimes},
            dialect_runs=dialect_runs,
        ),
        files=tuple(FileDigest(file=name, sha256=digest_of_file(repo_file(name))) for name in _files()),
    )


def times_of(found: Inputs) -> Times:
    """Whatever differs between two runs on the same things."""
    replies = [(o.id, reply) for o in found.proofs.outcomes for reply in o.replies]
    by_id: dict[str, dict[str, float]] = {}
    for id_, reply in replies:
        by_id.setdefault(id_, {})[reply.prover] = reply.cpu
    run = found.proofs.run
    return Times(
        seconds={
            "provers, all answers": round(sum(reply.cpu for _, reply in replies), 3),
            "provers, last run": run.prover_cpu,
            "Why3, last run": run.why3_cpu,
            "wall clock, last run": run.wall,
        },
        replies=by_id,
        from_ledger=sum(reply.from_ledger for _, reply in replies),
        asked=run.asked,
    )


def _frama_c(found: Inputs) -> dict[str, str]:
    return {"Frama-C": found.frama_c.tools.get("Frama-C", "")} if found.frama_c else {}


def _surprises(proofs: ProofsRecord) -> list[str]:
    """Where what is taken for granted differs from the list that a person keeps."""
    return surprises(Taken(**t.model_dump()) for t in proofs.trusted)


def _totals(
    found: Inputs, obligations: Sequence[ObligationEvidence], entries: Sequence[Entry],
    runtimes: Sequence[RuntimeEvidence], c_kernels: Sequence[CKernelEvidence], *,
    strays: int, findings: int, refuted: int,
) -> Totals:  # fmt: skip
    status = [o.status for o in obligations if o.kind != "smoke"]
    smoke = [o.status for o in obligations if o.kind == "smoke"]
    gaps = sum(bool(entry.gaps) for entry in entries)
    unjustified = sum(not t.justification.strip() for t in found.proofs.trusted)
    ours = sum(
        verdict in FAILING
        for runtime in runtimes if runtime.name in OURS
        for of_type in runtime.verdicts.values() for verdict in of_type.values()
    )  # fmt: skip
    not_proved = [*status, *smoke].count("not proved")
    sonnx_open = tuple(
        words for name in OURS for words in not_judged(found.spec, name, found.reports.get(name))
    )
    c_not_proved = sum(kernel.status == "not proved" for kernel in c_kernels)
    bad = not_proved + gaps + unjustified + strays + ours + len(sonnx_open) + c_not_proved
    return Totals(
        obligations=len(obligations),
        smoke=len(smoke),
        smoke_held=len(smoke) - smoke.count("not proved"),
        by_two=status.count("proved"),
        by_one=status.count("proved by one"),
        by_definition=sum(o.standing == "by definition" for o in obligations),
        repeats=sum(o.standing == "repeats" for o in obligations),
        not_proved=not_proved,
        requirements=sum(e.requirement for e in entries),
        requirements_with_gap=gaps,
        findings=findings,
        refuted=refuted,
        vectors=sum(map(len, found.vectors.values())),
        unjustified=unjustified,
        strays=strays,
        complete=found.proofs.complete,
        violated_by_sonnx=ours,
        sonnx_open=sonnx_open,
        c_not_proved=c_not_proved,
        fine=bad == 0 and found.proofs.complete,
    )


def _files() -> Iterator[str]:
    """What the evidence rests on: the specification, its sources, the theories, what is generated."""
    yield from ("spec/clip.yaml", COVERAGE)
    for folder in ("spec/sources", "spec/measured", "why3", "coq", "generated"):
        for path in sorted(repo_file(folder).rglob("*")):
            if path.is_file() and not path.name.startswith(".") and path.suffix not in LEFT_BY_COQC:
                yield path.relative_to(repo_file("")).as_posix()
