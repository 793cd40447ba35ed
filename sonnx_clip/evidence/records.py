"""Reads what other commands left: in build/, in generated/ and in spec/measured."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from sonnx_clip.backends.generate import differences, render_all, render_theories
from sonnx_clip.conform.check_report import Report
from sonnx_clip.conform.contradictions import contradictions
from sonnx_clip.evidence.evidence_model import ReplayEvidence
from sonnx_clip.explain.measured_record import read_measured
from sonnx_clip.prove.coq import RECORD as COQ
from sonnx_clip.prove.coq import CoqRecord
from sonnx_clip.prove.frama_c import RECORD as FRAMA_C
from sonnx_clip.prove.frama_c import FramaCRecord
from sonnx_clip.prove.proofs_record import (
    RECORD,
    StaleRecordError,
    prove_command,
    read_proofs,
    require_digest,
    results_of,
)
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.root.stored import read_record
from sonnx_clip.runtimes.runtime import PACKAGES, code_digest
from sonnx_clip.spec.coverage import require_coverage
from sonnx_clip.spec.quotes import require_sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from sonnx_clip.backends.theory import Generated
    from sonnx_clip.explain.measured_record import Measured
    from sonnx_clip.prove.proofs_record import ProofsRecord
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.coverage import Covered

_Record = TypeVar("_Record", bound=BaseModel)

REPLAYS = "replays"
# What `generated/replay.sh` digests, in the same order.
_REPLAYED = ("why3/*.mlw", "why3/drivers/*", "generated/why3/*.mlw", "generated/replay.sh")


@dataclass(frozen=True, kw_only=True)
class ProvedOperator:
    """What the evidence of an operator is made of that every operator can have."""

    spec: Spec
    generated: Generated  # what is rendered from it; the files on disk are the same
    theories_root: Path | None = None  # above the generated theories; None: the repository
    proofs: ProofsRecord
    reports: Mapping[str, Report] = field(default_factory=dict)  # by runtime
    measured: Measured  # what runtimes answered for the findings about the sources

    @cached_property
    def vectors(self) -> dict[str, list[dict[str, Any]]]:
        """The test vectors of each machine type, as in generated/vectors; none where that has none."""
        vectors = {}
        for etype in self.spec.element_types:
            text = self.generated.files.get(f"generated/vectors/{etype.id}.json")
            if text is not None:
                vectors[etype.id] = json.loads(text)["vectors"]
        return vectors


@dataclass(frozen=True)
class OtherOperator:
    """Another operator of spec/ than that of the page; without `proved`, it was not proved as it is.

    `stale` says why a record of its proofs does not count.
    """

    spec: Spec
    proved: ProvedOperator | None = None
    stale: StaleRecordError | None = None


@dataclass(frozen=True, kw_only=True)
class Records(ProvedOperator):
    """What the evidence is made of; what is None was not run."""

    coverage: tuple[Covered, ...]  # the sentences of the sources, each with its answer
    dialects: Mapping[str, Report]  # against versions of ONNX's Clip, by runtime and version
    contexts: Mapping[str, Report]  # beside other nodes, by runtime
    frama_c: FramaCRecord | None
    coq: CoqRecord | None
    replays: tuple[ReplayEvidence, ...]  # of these obligations
    others: tuple[OtherOperator, ...]

    @property
    def proved_operators(self) -> tuple[ProvedOperator, ...]:
        """Every operator with a record of its proofs, that of the page first."""
        return (self, *(other.proved for other in self.others if other.proved))


def read_records(build: Path, spec: Spec, others: Iterable[Spec]) -> Records:
    """Read all records of an operator and the proofs of `others`, and render again what is generated.

    UserError if a record is missing, damaged or stale, or a generated file or a source has been changed; of
    other operators only if a record is damaged.
    """
    # The record of proofs first: without it, or with a stale one, there is nothing to render for.
    proofs = read_proofs(build, spec)
    require_sources(spec)
    generated = render_all(spec)
    stale = differences(generated, repo_root())
    if stale:
        raise UserError(stale[0], todo="run: sonnx-clip generate")
    return Records(
        spec=spec,
        generated=generated,
        coverage=require_coverage(spec, (o.id for o in generated.obligations)),
        proofs=proofs,
        reports=read_reports(build, spec),
        dialects=read_reports(build, spec, "dialects"),
        contexts=read_reports(build, spec, "contexts"),
        # Neither is required: not every machine has Frama-C and Coq.
        frama_c=_read_if_present(build / FRAMA_C, FramaCRecord, "run: make frama-c"),
        coq=_read_if_present(build / COQ, CoqRecord, "run: make coq"),
        replays=read_replays(build),
        measured=read_measured(spec),
        others=tuple(read_other(build, other) for other in others),
    )


def _read_if_present(path: Path, form: type[_Record], todo: str) -> _Record | None:
    return read_record(path, form, todo) if path.exists() else None


def read_other(build: Path, spec: Spec) -> OtherOperator:
    """Read the record of the proofs of another operator; UserError if it is damaged."""
    folder, root = results_of(spec, build)
    if not (folder / RECORD).exists():
        return OtherOperator(spec)
    # Its theories are in the build folder, and not in the repository: digests show whether they are these.
    theories = render_theories(spec)
    try:
        proofs = read_proofs(build, spec)
        _require_rendered(spec, theories, proofs, build)
    except StaleRecordError as error:
        return OtherOperator(spec, stale=error)
    proved = ProvedOperator(
        spec=spec,
        generated=theories,
        theories_root=root,
        proofs=proofs,
        measured=read_measured(spec),
    )
    return OtherOperator(spec, proved)


def _require_rendered(spec: Spec, theories: Generated, proofs: ProofsRecord, build: Path) -> None:
    """StaleRecordError if other theories were proved than the specification gives now."""
    proved = proofs.about.files
    for name, text in theories.files.items():
        if proved.get(name) != digest_of(text):
            message = f"stale: {spec.file} now gives another {name} than was proved"
            folder, _ = results_of(spec, build)
            todo = f"run: {prove_command(spec, build)}"
            raise StaleRecordError(message, str(folder / RECORD), todo)


def read_reports(build: Path, spec: Spec, folder: str = "verdicts") -> dict[str, Report]:
    """The report on each runtime that was checked, by its name and the dialect that it was compared with.

    UserError if a report is damaged or stale, or has a verdict that its own counts rule out.
    """
    reports: dict[str, Report] = {}
    for path in sorted((build / folder).glob("*.json")):
        again = _command_of_report(path, folder)
        report = read_record(path, Report, again)
        _require_fresh(report, spec, path, again)
        # The verdicts are stored beside the counts that they follow from: a file edited by hand shows.
        if contradiction := next(contradictions(report), None):
            todo = f"do not rely on this record; {again}"
            raise UserError(contradiction, str(path), todo)
        name = f"{report.runtime} against {report.dialect}" if report.dialect else report.runtime
        if name in reports:
            raise UserError(f"another file also records {name}", str(path), "remove one of them")
        reports[name] = report
    return reports


def _require_fresh(report: Report, spec: Spec, path: Path, again: str) -> None:
    """UserError if a report is of another specification, of other code, or of another version."""
    require_digest(report.spec_sha256, spec, path, again)
    if report.code_sha256 != code_digest(report.runtime):
        message = f"stale: the code of {report.runtime} has changed since it was judged"
        raise UserError(message, str(path), again)
    # A runtime that is not installed here cannot make its record stale.
    now = installed_version(report.runtime)
    if now is not None and now != report.runtime_version:
        message = f"stale: it records {report.runtime_version}, but {now} is installed"
        raise UserError(message, str(path), again)


def _command_of_report(path: Path, folder: str) -> str:
    """What to do about a report: the command that writes it again."""
    match folder:
        case "dialects":
            return "run: sonnx-clip check --against onnx --build build; or remove the file"
        case "contexts":
            command = f"sonnx-clip check --runtime {path.stem} --contexts -o {path}"
            return f"run: {command}; or remove it"
        case _:
            command = f"sonnx-clip check --runtime {path.stem} --json -o {path}"
            return f"run: {command}; or remove the file"


def installed_version(runtime: str) -> str | None:
    """The package of a runtime with its version; None where it has no package, or it is not installed."""
    package = PACKAGES.get(runtime)
    try:
        return None if package is None else f"{package} {version(package)}"
    except PackageNotFoundError:
        return None


def replayed_digest() -> str:
    """SHA-256 of what a replay depends on, as the script computes it: the files one after another."""
    whole = sha256()
    for pattern in _REPLAYED:
        # The shell sorts the names by their bytes (LC_ALL=C) and leaves out hidden files.
        for path in sorted(repo_file("").glob(pattern), key=lambda p: p.name.encode()):
            if not path.name.startswith("."):
                whole.update(path.read_bytes())
    return whole.hexdigest()


def read_replays(build: Path) -> tuple[ReplayEvidence, ...]:
    """What replays of the present obligations counted; records of other obligations are left out."""
    # Each is of one set of tools; those of other files were right for them, and say nothing of these.
    now = replayed_digest()
    replays = [_read_replay(path) for path in sorted((build / REPLAYS).glob("*.txt"))]
    return tuple(record for record in replays if record.digest == now)


def _read_replay(path: Path) -> ReplayEvidence:
    values = {}
    # A file that is no text is damaged, too: the message names the first field that it lacks.
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, value = line.partition(": ")
        values[name] = value
    # Strings, since the file is text: pydantic reads the numbers in them.
    try:
        return ReplayEvidence.model_validate_strings(values)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        message = f"the record of a replay is damaged at {place}"
        raise UserError(message, str(path), "remove it, or run: sh generated/replay.sh") from error
