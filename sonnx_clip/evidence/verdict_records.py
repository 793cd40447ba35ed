"""build/verdicts/*.json, what `sonnx-clip check` found of each runtime: read and recounted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sonnx_clip.conform.check_report import Report
from sonnx_clip.conform.runtimes import code_digest
from sonnx_clip.conform.verdicts import Count, by_form, verdict_of, with_forms, worst
from sonnx_clip.evidence.count_verdicts import require_same_plan, wrong_in_report
from sonnx_clip.evidence.read import read_record, require_digest
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sonnx_clip.conform.check_report import ClassReport, Verdict
    from sonnx_clip.spec import Spec


def read_reports(build: Path, spec: Spec) -> dict[str, Report]:
    """The report on each runtime that was checked, by the runtime's name.

    Raises:
        UserError: a file is damaged or stale, states what its counts do not bear out, or speaks of a
            runtime of which another file speaks.
    """
    found: dict[str, Report] = {}
    files: dict[str, str] = {}
    for path in sorted((build / "verdicts").glob("*.json")):
        again = f"run `sonnx-clip check --runtime {path.stem} --json -o {path}`, or remove the file"
        report = read_report(path, spec, again)
        if report.runtime in found:
            raise UserError(f"another file speaks of {report.runtime} too", str(path), "remove one of them")
        found[report.runtime] = report
        files[report.runtime] = str(path)
    require_same_plan({name: (files[name], report) for name, report in found.items()})
    return found


def read_report(path: Path, spec: Spec, again: str) -> Report:
    """A report, whose verdicts are those that its counts bear out.

    Args:
        path: of the JSON file.
        spec: the specification, of which it must speak.
        again: what a message says is to be done.

    Raises:
        UserError: it is missing, damaged or stale, or states what its counts do not bear out.
    """
    report, _ = read_record(path, Report, again)
    require_digest(report.spec_sha256, spec, path, again)
    if report.code_sha256 != code_digest(report.runtime):
        what = f"stale: the code of {report.runtime} has changed since it was judged"
        raise UserError(what, str(path), again)
    _check(report, spec, path, again)
    return report


def _check(report: Report, spec: Spec, path: Path, again: str) -> None:
    for by_type in report.types:
        family = spec.element_type(by_type.type).family
        due = {klass.id for klass in spec.classes_of(family)}
        if missing := sorted(due - {c.id for c in by_type.classes}):
            raise UserError(f"{by_type.type}: no verdict for {missing[0]}", str(path), again)
        in_forms = {id_: [v for _, v in found] for id_, found in by_form(by_type).items()}
        for klass in by_type.classes:
            counted = _recounted(klass, in_forms[klass.id], served=any(c.compared for c in by_type.classes))
            if klass.verdict != counted:
                what = f"{by_type.type}, {klass.id}: stated as {klass.verdict}, its counts say {counted}"
                raise UserError(what, str(path), again)
        if by_type.verdict != worst(c.verdict for c in by_type.classes):
            raise UserError(f"{by_type.type}: {by_type.verdict} is not its worst class", str(path), again)
    for what in wrong_in_report(spec, report):
        raise UserError(what, str(path), again)


def _recounted(klass: ClassReport, in_forms: Sequence[Verdict], *, served: bool) -> str:
    """The verdict that follows from counts and forms; what was refused before any call has words alone."""
    if klass.verdict == "unsupported" and not served and klass.words:
        return "unsupported"
    latitude = Counter(klass.latitude)
    count = Count(klass.compared, klass.violating, klass.raised, latitude, klass.refused, klass.died)
    stopped = klass.verdict if klass.verdict in ("crashed", "environment") else None
    return with_forms(verdict_of(count, stopped=stopped, served=served), in_forms)
