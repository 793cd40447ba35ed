"""build/verdicts/*.json and build/dialects/*.json, what `check` and `compare-dialects` found of each runtime:
read, and counted again.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sonnx_clip.conform.check_report import Report
from sonnx_clip.conform.comparison_record import FOLDER, RUNTIMES, ComparisonRecord, oracle_digest
from sonnx_clip.conform.comparison_text import crashes, refusals, summary, table_of
from sonnx_clip.conform.verdicts import Count, by_form, verdict_of, with_forms, worst
from sonnx_clip.evidence.evidence_model import DialectRow, DialectRunEvidence
from sonnx_clip.evidence.read import read_record, require_digest
from sonnx_clip.evidence.runtime_verdicts import FORMS
from sonnx_clip.language.values import identical
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.runtime import code_digest
from sonnx_clip.spec import class_of, evaluator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.conform.check_report import ClassReport, Deviation, ReadingMatch, TypeReport, Verdict
    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec


def wrong_in_report(spec: Spec, report: Report) -> Iterator[str]:
    """What a report states and does not bear out, in words."""
    types = [found.type for found in report.types]
    for type_id in types:
        if types.count(type_id) > 1:
            yield f"{type_id} is there twice"
            return
    for found in report.types:
        etype = spec.element_type(found.type)
        yield from _type(spec, etype, report, found)


def _type(spec: Spec, etype: ElementType, report: Report, found: TypeReport) -> Iterator[str]:
    ids = [klass.id for klass in found.classes]
    due = [*(klass.id for klass in spec.classes_of(etype.family)), *FORMS]
    if sorted(ids) != sorted(due):
        odd = next((id_ for id_ in ids if id_ not in due or ids.count(id_) > 1), "a class too few")
        yield f"{etype.id}: its classes are not those of {etype.family}: {odd}"
        return
    for klass in found.classes:
        for said in _class(spec, etype, report, klass):
            yield f"{etype.id}, {klass.id}: {said}"
    summed = sum(klass.compared for klass in found.classes if klass.id not in FORMS)
    if found.compared != summed:
        yield f"{etype.id}: {found.compared} are stated as compared, its classes sum up to {summed}"
    for said in _readings(spec, etype, found):
        yield f"{etype.id}: its readings {said}"


def _class(spec: Spec, etype: ElementType, report: Report, klass: ClassReport) -> Iterator[str]:
    numbers = (klass.compared, klass.acceptable, klass.violating, klass.raised, klass.refused, klass.died)
    counts = (*numbers, *klass.latitude.values())
    if min(counts) < 0:
        yield "a count is below zero"
    if klass.acceptable != sum(klass.latitude.values()):
        latitudes = sum(klass.latitude.values())
        yield f"{klass.acceptable} are stated as acceptable, its latitudes sum up to {latitudes}"
    if klass.acceptable + klass.violating > klass.compared:
        yield f"{klass.acceptable + klass.violating} deviate of {klass.compared} that were compared"
    known = {entry.id for entry in spec.latitude if entry.always or report.policy == "default"}
    if stray := sorted(set(klass.latitude) - known):
        yield f"there is no latitude `{stray[0]}` under the {report.policy} policy"
    if klass.verdict in ("unsupported", "crashed", "environment"):
        return
    shown = [d.latitude or ("raises" if d.kind == "raises" else "violates") for d in klass.deviations]
    needed = {*(id_ for id_, count in klass.latitude.items() if count)}
    needed |= {"violates"} if klass.violating else set()
    needed |= {"raises"} if klass.raised else set()
    if set(shown) != needed or len(shown) != len(needed):
        listed = ", ".join(sorted(needed ^ set(shown))) or shown[0]
        yield f"its counts and its recorded deviations do not fit: {listed}"
    if klass.id in FORMS:
        return
    for deviation in klass.deviations:
        yield from _deviation(spec, etype, klass, deviation)


def _deviation(spec: Spec, etype: ElementType, klass: ClassReport, deviation: Deviation) -> Iterator[str]:
    try:
        expected, environment = int(deviation.expected, 16), deviation.environment(spec.head)
    except ValueError:
        yield "a recorded deviation is no bit pattern"
        return
    if environment is None:  # a call without a result: there is nothing to compare
        return
    *operands, got = environment.values()
    ask = evaluator(spec, etype)
    numbers = f"X={deviation.x} min={deviation.min} max={deviation.max}"
    if class_of(spec, etype, *operands).id != klass.id:
        yield f"{numbers} lies in {class_of(spec, etype, *operands).id}"
    elif not identical(ask.result(*operands), expected):
        yield f"for {numbers} {deviation.expected} is stated as expected, and is not"
    elif identical(got, expected):
        yield f"for {numbers} the answer {deviation.got} is no deviation"
    else:
        accepted = [entry.id for entry in ask.latitudes(tuple(operands), got)]
        if (deviation.kind == "acceptable") != (deviation.latitude is not None):
            yield f"for {numbers} the answer is called {deviation.kind}, with latitude {deviation.latitude}"
        elif deviation.latitude is not None and deviation.latitude not in accepted:
            yield f"for {numbers} `{deviation.latitude}` does not accept {deviation.got}"


def _readings(spec: Spec, etype: ElementType, found: TypeReport) -> Iterator[str]:
    match = found.readings
    if match is None:
        # A call whose result has another shape or type gives no answer, and counts as violating throughout.
        answered = sum(k.compared - k.violating for k in found.classes if k.id not in FORMS)
        if answered and found.verdict not in ("crashed", "environment"):
            yield f"are missing, and {answered} answers were compared"
        return
    classes = {klass.id: klass for klass in found.classes if klass.id not in FORMS}
    deviating = {id_ for id_, klass in classes.items() if _answered_otherwise(klass)}
    known = {reading.id for reading in spec.readings}
    named = {*match.allowed_by, *match.exactly, *([match.nearest] if match.nearest else [])}
    if stray := sorted(named - known):
        yield f"name `{stray[0]}`, which is none"
    elif not set(match.exactly) <= set(match.allowed_by) or (match.nearest is None) != bool(match.allowed_by):
        yield "contradict themselves: which allow every answer, and which is nearest"
    elif match.explained_by is not None and match.allowed_by:
        yield "contradict themselves: a reading allows every answer, and something else explains them"
    elif not 0 <= match.left <= match.answers or not 0 < match.answers <= max(1, found.compared):
        yield f"count {match.left} of {match.answers} answers, and {found.compared} were compared"
    elif (match.left > 0) != (match.nearest is not None) or (match.left > 0) != bool(match.left_in):
        yield f"leave {match.left} answers in {', '.join(match.left_in) or 'no class'}"
    elif "cases" in match.allowed_by and deviating:
        yield f"say that every answer is that of the cases, and {min(deviating)} deviates"
    elif "cases" not in match.allowed_by and not deviating:
        yield f"count {match.left} answers that `{match.nearest}` does not allow, and no class deviates"
    else:
        yield from _of_cases(match, classes, deviating)
        yield from _disallowed(spec, etype, match, found)


def _answered_otherwise(klass: ClassReport) -> bool:
    """Whether a class has results in other bits; what raised, or had another form, has none to compare."""
    return bool(klass.acceptable) or any(d.got is not None for d in klass.deviations)


def _of_cases(match: ReadingMatch, classes: Mapping[str, ClassReport], deviating: set[str]) -> Iterator[str]:
    """Answers that the cases do not allow are deviations, which are counted by class."""
    if match.nearest != "cases":
        return
    if not set(match.left_in) <= deviating:
        yield f"leave answers in {min(set(match.left_in) - deviating)}, which does not deviate"
    counted = sum(classes[id_].acceptable + classes[id_].violating for id_ in match.left_in if id_ in classes)
    if match.left > counted:
        yield f"count {match.left} answers that are not allowed, its classes {counted}"


def _disallowed(spec: Spec, etype: ElementType, match: ReadingMatch, found: TypeReport) -> Iterator[str]:
    """A reading that is said to allow every answer allows those that are recorded."""
    ask = evaluator(spec, etype)
    for klass in found.classes:
        for deviation in klass.deviations:
            environment = None if klass.id in FORMS else deviation.environment(spec.head)
            if environment is None:
                continue
            for id_ in match.allowed_by:
                if not ask(spec.reading(id_).returns, environment):
                    yield f"say that `{id_}` allows every answer, and not {deviation.got} in {klass.id}"
                    return


def require_same_plan(reports: Mapping[str, tuple[str, Report]]) -> None:
    """UserError where two reports that served a type do not count as many comparisons of a class.

    Args:
        reports: by runtime, the file and the report.
    """
    counts: dict[tuple[str, str], tuple[str, int]] = {}
    for name, (path, report) in reports.items():
        for found in report.types:
            if (
                not found.compared
                or found.refused_layouts
                or found.verdict in ("unsupported", "crashed", "environment")
            ):
                continue
            if any(klass.raised for klass in found.classes):
                continue
            for klass in found.classes:
                other, count = counts.setdefault((found.type, klass.id), (name, klass.compared))
                if count != klass.compared:
                    what = (
                        f"{found.type}, {klass.id}: {klass.compared} compared for {name}, "
                        f"{count} for {other}: every runtime is asked the same"
                    )
                    todo = f"run `sonnx-clip check --again` for {name} and {other}"
                    raise UserError(what, path, todo)


# --- build/verdicts/*.json, what `sonnx-clip check` found of each runtime: read and recounted ---------------


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


# ------------------------------------------------------------------------------------------------------------
# build/dialects/*.json, what `sonnx-clip compare-dialects` found: read, recounted, and shown as a table


def read_dialect_runs(build: Path, spec: Spec) -> dict[str, ComparisonRecord]:
    """The record of each runtime that was compared, by its name.

    Raises:
        UserError: a file is damaged or stale, or its groups do not account for what its forms count.
    """
    found: dict[str, ComparisonRecord] = {}
    for path in sorted((build / FOLDER).glob("*.json")):
        again = "run `sonnx-clip compare-dialects`, or remove the file"
        record, _ = read_record(path, ComparisonRecord, again)
        require_digest(record.spec_sha256, spec, path, again)
        if record.oracle_sha256 != oracle_digest():
            raise UserError("stale: what judges the dialects has changed since", str(path), again)
        if record.runtime in found:
            raise UserError(f"another file speaks of {record.runtime} too", str(path), "remove one of them")
        _check_comparison(record, path, again)
        found[record.runtime] = record
    return found


def _check_comparison(record: ComparisonRecord, path: Path, again: str) -> None:
    """Every disagreement that a form counts is accounted for by one group, and nothing else is."""
    told: Counter[tuple[int, str, str]] = Counter()
    unexplained: Counter[tuple[int, str, str]] = Counter()
    for group in record.groups:
        for place in group.places:
            told[place.opset, place.type, place.form] += place.count
            if group.kind == "unexplained":
                unexplained[place.opset, place.type, place.form] += place.count
    for cell in record.cells:
        key = (cell.opset, cell.type, cell.form)
        where = f"opset {cell.opset}, {cell.type}, {cell.form}"
        if cell.compared != cell.same + cell.payload + cell.allowed + cell.differing:
            raise UserError(f"{where}: its counts do not add up", str(path), again)
        if told.pop(key, 0) != cell.explaining or unexplained[key] != cell.unexplained:
            raise UserError(f"{where}: its disagreements are not those of the groups", str(path), again)
    if told:
        raise UserError("a group speaks of a form that is not there", str(path), again)


def dialect_runs_of(spec: Spec, records: Mapping[str, ComparisonRecord]) -> tuple[DialectRunEvidence, ...]:
    """One entry for each known runtime of models and each record; what was not compared is not run."""
    return tuple(_run(spec, name, records.get(name)) for name in dict.fromkeys([*RUNTIMES, *records]))


def _run(spec: Spec, name: str, record: ComparisonRecord | None) -> DialectRunEvidence:
    if record is None:
        return DialectRunEvidence(name=name, run=False)
    table = table_of(record, [etype.id for etype in spec.element_types])
    return DialectRunEvidence(
        name=name,
        run=True,
        version=record.runtime_version,
        environment=f"onnx {record.onnx}, Python {record.python}, NumPy {record.numpy}, {record.machine}",
        summary=summary(record),
        complete=record.complete,
        types=table.types,
        rows=tuple(
            DialectRow(opsets=row.opsets, dialect=row.dialect, form=row.form, states=row.states)
            for row in table.rows
        ),
        refusals=(*refusals(record), *crashes(record)),
        explained=record.groups,
    )
