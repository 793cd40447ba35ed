"""Derives the evidence from the records: statuses, counts, and the basis of each line of argument."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import sonnx_clip
from sonnx_clip.backends.generate import LEFT_BY_COQC
from sonnx_clip.conform.context_text import failing_contexts
from sonnx_clip.conform.verdict_table import FAILING
from sonnx_clip.evidence.entry_evidence import entries_of
from sonnx_clip.evidence.evidence_model import (
    TAKEN,
    Argument,
    CKernelEvidence,
    CoqEvidence,
    Evidence,
    PersonalCheck,
)
from sonnx_clip.evidence.other_operators import argument_line, operator_evidence
from sonnx_clip.evidence.proved import (
    open_points,
    operator_totals,
    proof_results,
    statements_not_reviewed,
)
from sonnx_clip.evidence.runtimes import dialects_of, not_judged, runtimes_of
from sonnx_clip.explain.finding_views import tell
from sonnx_clip.mutants.run import RECORD as MUTANTS
from sonnx_clip.mutants.run import MutantsRecord, all_mutants, mutants_digest
from sonnx_clip.prove.coq import coq_digests, coq_sources, unlisted_axioms
from sonnx_clip.prove.frama_c import OPTIONS, frama_c_digests
from sonnx_clip.prove.statements import (
    STATEMENTS,
    pinned,
    pinned_digests,
    rendered_list,
    unpinned,
)
from sonnx_clip.qualification.kit import PATH as QUALIFICATION
from sonnx_clip.qualification.kit import load_kit
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of_file
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.root.stored import read_record
from sonnx_clip.root.terminal import counted
from sonnx_clip.runtimes.runtime import OURS
from sonnx_clip.spec.coverage import PATH as COVERAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Literal

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.evidence.checkout import Checkout
    from sonnx_clip.evidence.evidence_model import Basis
    from sonnx_clip.evidence.proved import ProofResults
    from sonnx_clip.evidence.records import Records
    from sonnx_clip.evidence.runtimes import RuntimeView


def gather(records: Records, checkout: Checkout | None = None) -> Evidence:
    """The evidence of records; nothing but the checkout is stated that does not follow from them."""
    spec, proofs = records.spec, records.proofs
    results = proof_results(records)
    coq = _coq(records)
    # A stale record may list theorems that the files no longer state.
    theorems = coq.record.theorems if coq.record and coq.status == "checked" else ()
    entries = tuple(entries_of(records, results.obligations, theorems))
    runtimes = runtimes_of(spec, records.reports)
    dialects = dialects_of(spec, records.dialects)
    c_kernels = tuple(_kernels(records))
    operators = tuple(operator_evidence(other) for other in records.others)

    unaccounted = [*results.unaccounted]
    unaccounted += [f"Coq: {line}" for line in coq.problems]
    unaccounted += [f"not as reviewed: {line}" for line in unpinned()]
    unaccounted += statements_not_reviewed(records)

    # What is open keeps the evidence from being complete: unproved, unreviewed, or wrong in our own code.
    opened = [*open_points(records, results, entries, unaccounted), *_open_runtimes(runtimes)]
    # A kernel that is stale or was not run is no open point: the line of argument reports it.
    not_proved = (kernel for kernel in c_kernels if kernel.status == "not proved")
    opened += (f"Frama-C did not prove the C of {kernel.type}" for kernel in not_proved)
    for operator in operators:
        opened += [f"{operator.operator}: {line}" for line in operator.open]

    return Evidence(
        tool=f"sonnx-clip {sonnx_clip.__version__}",
        checkout=checkout,
        operator=spec.operator,
        spec_sha256=spec.digest,
        totals=operator_totals(records, results.obligations, entries, opened),
        argument=(
            *_argument(records, results, coq, c_kernels, (*runtimes, *dialects)),
            *map(argument_line, operators),
        ),
        for_a_person=tuple(_for_a_person()),
        element_types={etype.id: etype.family for etype in spec.element_types},
        entries=entries,
        obligations=results.obligations,
        findings=tell(spec, records.measured),
        runtimes={runtime.name: runtime.report for runtime in runtimes},
        c_kernels=c_kernels,
        coq=coq,
        replays=records.replays,
        dialects={dialect.name: dialect.report for dialect in dialects},
        trusted=results.trusted,
        tools=_tools(records),
        programs={
            **proofs.programs,
            **{f"Why3's {name}": digest for name, digest in proofs.why3_drivers.items()},
        },
        limits={prover: _limit_text(limit) for prover, limit in proofs.limits.items()},
        files={name: digest_of_file(repo_file(name)) for name in _files(records)},
        operators=operators,
    )


def _for_a_person() -> Iterator[PersonalCheck]:
    """The user constraints that no probe of `sonnx-clip verify` checks."""
    for constraint in load_kit().constraints:
        if not constraint.probe:
            yield PersonalCheck(id=constraint.id, text=constraint.text, check=constraint.check)


def _tools(records: Records) -> dict[str, str]:
    """The versions of the tools that the records name, ours first."""
    own_version = records.proofs.about.tool.removeprefix("sonnx-clip ")
    tools = {"sonnx-clip": own_version, **records.proofs.tools}
    if records.frama_c:
        tools["Frama-C"] = records.frama_c.tools.get("Frama-C", "")
    if records.coq:
        tools["Coq"] = records.coq.coq
    return tools


def _limit_text(limit: Mapping[str, object]) -> str:
    """Each amount with what it limits."""
    return ", ".join(f"{amount} {unit}" for unit, amount in limit.items())


def _coq(records: Records) -> CoqEvidence:
    record = records.coq
    if record is None:
        return CoqEvidence(status="not run")
    sources = coq_digests(coq_sources(repo_root()))
    if record.spec_sha256 != records.spec.digest or record.sources != sources:
        return CoqEvidence(status="stale", record=record)
    problems = (*record.problems, *unlisted_axioms(repo_root(), record.axioms))
    status: Literal["not proved", "checked"] = "not proved" if problems else "checked"
    return CoqEvidence(status=status, record=record, problems=problems)


def _kernels(records: Records) -> Iterator[CKernelEvidence]:
    """What Frama-C found of each element type that has a kernel in C."""
    record = records.frama_c
    by_type = {}
    fresh = False
    if record is not None:
        by_type = {of_type.type: of_type for of_type in record.types}
        # Other options of Frama-C may prove less, or something else.
        fresh = record.spec_digest == records.spec.digest and record.options == OPTIONS
    for etype in records.spec.element_types:
        if etype.c is None:
            continue
        of_type = by_type.get(etype.id)
        if of_type is None:
            yield CKernelEvidence(type=etype.id, status="not run")
        elif not fresh or of_type.files != frama_c_digests(etype):
            yield CKernelEvidence(type=etype.id, status="stale")
        else:
            # A goal that one prover proved is not open for Frama-C's record; the evidence lists it too.
            by_one = [goal.name for goal in of_type.goals if goal.status == "proved by one"]
            opened = [*of_type.open(etype), *(f"{name}: by one prover" for name in by_one)]
            yield CKernelEvidence(
                type=etype.id,
                status=of_type.status(etype),
                found=of_type,
                open=tuple(opened),
            )


def _files(records: Records) -> Iterator[str]:
    """What the evidence rests on: specifications, their sources, the theories, what is generated."""
    # Records in build/ are no materials of the evidence but its subjects, which a statement names.
    yield from (
        "spec/clip.yaml",
        "spec/clip.expected.yaml",
        "spec/clip.statements.txt",
        COVERAGE,
        QUALIFICATION,
    )
    for folder in ("spec/sources", "spec/measured", "why3", "coq", "generated"):
        for path in sorted(repo_file(folder).rglob("*")):
            # Left by whoever ran or compiled the files: not the same on another machine.
            compiled = path.suffix in {*LEFT_BY_COQC, ".pyc"}
            if path.is_file() and not path.name.startswith(".") and not compiled:
                yield path.relative_to(repo_file("")).as_posix()
    # Of an operator without a counted proof the evidence states nothing that could rest on its files.
    for other in records.others:
        if other.proved:
            yield other.spec.file
            pins = rendered_list(other.spec)
            if pins.is_file():
                yield pins.relative_to(repo_root()).as_posix()


def _open_runtimes(runtimes: Sequence[RuntimeView]) -> Iterator[str]:
    """A line for everything that is wrong with our own Clip, or was not judged."""
    # Deviations of other runtimes are results, which the page shows; those of our own are failures.
    ours = [runtime for runtime in runtimes if runtime.name in OURS]
    for runtime in ours:
        for type_id, of_type in runtime.verdicts.items():
            for klass, verdict in of_type.items():
                if verdict in FAILING:
                    yield f"{runtime.name} {verdict} in {type_id}, {klass}"
    for runtime in ours:
        for line in not_judged(runtime):
            yield f"not judged: {line}"


def _argument(
    records: Records,
    results: ProofResults,
    coq: CoqEvidence,
    c_kernels: Sequence[CKernelEvidence],
    runtimes: Sequence[RuntimeView],
) -> Iterator[Argument]:
    """Every line of argument, those too that were not run: an assessor is to see what is missing."""
    yield from _confirmed_lines(records, results)
    yield from _proof_lines(results)
    yield _coq_line(coq)
    yield _frama_c_line(c_kernels)
    yield _replay_line(records)
    for view in runtimes:
        yield _runtime_line(view)
    yield from _context_lines(records)
    yield _mutants_line(records)
    yield _line(
        "Answers in findings",
        "what runtimes answer where a source is unclear",
        f"{len(records.measured.answers):,} answers",
        "spec/measured/runtimes.json",
    )
    # Neither leaves a record that could be read here: they are listed so that nobody assumes them.
    yield _line("DirectML", "its answers (needs Windows and a Direct3D 12 device)", "", "none")
    yield _line("Other processors", "the C kernels elsewhere (leaves no record)", "", "none")


def _line(name: str, shows: str, result: str, record: str, basis: Basis | None = None) -> Argument:
    """A line of argument; without a basis, a result is taken from records, and no result was not run."""
    # Nothing is `confirmed` unless the caller says so: that takes a computation of this very command.
    if basis is None:
        basis = TAKEN if result else "not run"
    return Argument(name=name, shows=shows, result=result, record=record, basis=basis)


def _confirmed_lines(records: Records, results: ProofResults) -> Iterator[Argument]:
    """What was computed again just now: reading the records fails where it does not agree."""
    yield _line(
        "Coverage",
        "every sentence of the sources is encoded, disputed, or left out for a stated reason",
        _counts((sentence.answer.sort for sentence in records.coverage), "; "),
        COVERAGE,
        "confirmed",
    )
    yield _line(
        "Generated files",
        "theories, kernels, oracle and vectors follow from spec/clip.yaml",
        f"{len(records.generated.files)} files rendered again, equal",
        "generated/",
        "confirmed",
    )
    reviewed = rendered_list(records.spec)
    rendered = len(pinned_digests(reviewed))
    by_hand = len(pinned())
    yield _line(
        "Statements",
        "what the provers were asked is what a person reviewed",
        f"{rendered:,} rendered and {by_hand} hand-written statements compared",
        f"spec/{reviewed.name}, {STATEMENTS}",
        "confirmed",
    )
    yield _line(
        "Statuses",
        "each status follows from the provers’ answers",
        f"derived again from {results.replies:,} answers",
        "build/proofs.json",
        "confirmed",
    )


def _proof_lines(results: ProofResults) -> Iterator[Argument]:
    obligations = len(results.obligations)
    yield _line(
        "Z3 and cvc5",
        "every obligation for all inputs; no context is contradictory",
        f"{results.replies:,} answers about {obligations:,} obligations",
        "build/proofs.json",
    )
    # A canary is `proved` if every prover refuted it.
    refuted = sum(canary.status == "proved" for canary in results.canaries)
    yield _line(
        "Canaries",
        "statements planted as false are refuted: printer, Why3, drivers, provers",
        f"{refuted} of {len(results.canaries)} refuted",
        "build/proofs.json",
    )


def _coq_line(coq: CoqEvidence) -> Argument:
    theorems = ""
    if coq.record and coq.status == "checked":
        theorems = f"{len(coq.record.theorems)} theorems checked"
    # An axiom that is not listed leaves no result, and yet Coq was run: the basis is not derived.
    basis = coq.status if coq.status in ("stale", "not run") else TAKEN
    return _line(
        "Coq’s kernel",
        "the definition and its properties, without Z3 and cvc5",
        theorems,
        "build/foundation.json",
        basis,
    )


def _frama_c_line(c_kernels: Sequence[CKernelEvidence]) -> Argument:
    # One kernel whose result counts is enough: the result of the line has the number of each status.
    statuses = {kernel.status for kernel in c_kernels}
    basis: Basis = "not run"
    if statuses - {"not run", "stale"}:
        basis = TAKEN
    elif "stale" in statuses:
        basis = "stale"
    return _line(
        "Frama-C",
        "the generated C meets its contracts",
        _counts((f"kernels {kernel.status}" for kernel in c_kernels), ", "),
        "build/frama-c.json",
        basis,
    )


def _replay_line(records: Records) -> Argument:
    replays = []
    for replay in records.replays:
        tools = f"Why3 {replay.why3}, Z3 {replay.z3}, cvc5 {replay.cvc5}"
        replays.append(f"{replay.valid} of {replay.goals} goals with {tools}")
    shows = "the obligations again, by Why3 alone"
    return _line("Replay", shows, "; ".join(replays), "build/replays/")


def _runtime_line(view: RuntimeView) -> Argument:
    recorded = counted(len(view.deviations), "recorded deviation")
    if view.report is None:
        result = ""
    elif view.report.compared:
        result = f"{view.report.compared:,} answers compared, {recorded}"
    else:  # as of a version of Clip that a runtime does not implement
        result = "no answer compared"
    # The name of a report on a version of ONNX's Clip has both (`records.read_reports`).
    folder = "build/dialects/" if " against " in view.name else "build/verdicts/"
    return _line(f"Runtime {view.name}", "its answers, class by class", result, folder)


def _context_lines(records: Records) -> Iterator[Argument]:
    """A line for each runtime that was asked beside other nodes; one for none."""
    shows = (
        "graphs of Clip and its neighbours: the whole, its nodes one at a time, and their meaning"
    )
    results = {name: _contexts_in_words(report) for name, report in records.contexts.items()}
    # ONNX Runtime stands for all where none was judged: the line is then one that was not run.
    for name, result in (results or {"onnxruntime": ""}).items():
        yield _line(f"Beside other nodes, {name}", shows, result, "build/contexts/")


def _contexts_in_words(report: Report) -> str:
    """How many contexts are wrong, in which types, and how much was compared."""
    types = []
    contexts = 0
    compared = 0
    for of_type in report.types:
        if of_type.contexts:
            types.append(of_type.type)
            contexts += len(of_type.contexts)
            compared += sum(context.compared for context in of_type.contexts)
    if not types:
        return ""
    number = f"{failing_contexts(report)} of {counted(contexts, 'context')}"
    wrong = f"{number} of {' and '.join(types)} wrong"
    return f"{report.runtime_version}: {wrong}; {compared:,} results compared"


def _counts(sorts: Iterable[str], separator: str) -> str:
    return separator.join(f"{count:,} {sort}" for sort, count in Counter(sorts).items())


def _mutants_line(records: Records) -> Argument:
    """What the record of mutants counts; it is stale where others were mutated.

    UserError if kills and survivors of a kind are not all of its mutants.
    """
    name = "Mutants"
    shows = "small mistakes in the specification, kernels and rewrites are found"
    path = repo_file(MUTANTS)
    if not path.is_file():
        return _line(name, shows, "", MUTANTS, "not run")
    record = read_record(path, MutantsRecord, "run: make mutants")
    mutants = all_mutants(records.spec)
    if record.mutated_sha256 != mutants_digest(mutants):
        result = "of other conditions, kernels or rewrites; run: make mutants"
        return _line(name, shows, result, MUTANTS, "stale")
    # The same mutants as now, and yet others than are counted: the record was edited or is damaged.
    recorded = record.mutants_by_kind()
    if recorded != Counter(mutant.kind for mutant in mutants):
        message = f"{recorded.total()} mutants are recorded, and there are {len(mutants)}, or of other kinds"
        raise UserError(message, str(path), "run: make mutants")
    return _line(name, shows, record.closing_line, MUTANTS, TAKEN)
