"""The report of `check` in SARIF 2.1.0, for the tools that gather findings.

A finding is of a runtime, and its place is no line: it is the class and the element type, as a logical
location, and the file where the runtime is named as one.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sonnx_clip.conform.foreign.runtime_names import file_name, library_name
from sonnx_clip.conform.judged_cases import cases
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.sarif_log import sarif_log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.conform.judged_cases import JudgedCase

_NO_CLASS = {
    "C1": "the shape of the result is that of X",
    "C3": "the element type of the result is that of X",
    "compared": "something is compared",
}


def check_to_sarif(report: Report) -> str:
    """A log with one run.

    What fails is a result of the level error. What is acceptable is ``informational``. What was refused or is
    unsupported is a note on the run. What the machine lacks, and a report that compared nothing, is an error
    of the run, which then counts as not successful.
    """
    every = list(cases(report))
    rules = {id_: f"results in {id_}, a class of the case {case}" for id_, case in _classes().items()}
    rules |= _NO_CLASS
    places = list(rules)
    skipped: dict[str, None] = {}
    for case in every:
        if case.outcome == "skipped":
            form = f", models with {case.form}" if case.form else ""
            skipped[f"{case.verdict}: {case.etype}{form}: {case.words}"] = None
    errors = dict.fromkeys(f"{c.etype or 'report'}: {c.words}" for c in every if c.outcome == "error")
    return sarif_log(
        (_rule(id_, text) for id_, text in rules.items()),
        (_result(report, c, places.index(c.id), n) for c in every for n in _findings(c)),
        [*(_note(report, text, "error") for text in errors), *(_note(report, t, "note") for t in skipped)],
        successful=not errors,
    )


def _classes() -> dict[str, str]:
    found: dict[str, str] = load_oracle().CASE_OF_CLASS
    return found


def _rule(id_: str, text: str) -> dict[str, Any]:
    return {"id": id_, "shortDescription": {"text": text}, "defaultConfiguration": {"level": "error"}}


def _findings(case: JudgedCase) -> Iterator[int]:
    """The number of each deviation of which there is a result; -1 for a result without any."""
    if case.outcome == "failed":
        yield 0 if case.deviations else -1
    elif case.outcome == "passed":
        yield from range(len(case.deviations))


def _result(report: Report, case: JudgedCase, rule: int, number: int) -> dict[str, Any]:
    deviation = case.deviations[number] if number >= 0 else None
    of_form = f", model with {case.form}" if case.form else ""
    parts = [f"{case.etype}, {case.id}{of_form}: {case.verdict}", case.words]
    if deviation is not None:
        why = deviation.words or deviation.explanation or ""
        parts += [f"{deviation.shown} (layout {deviation.layout})", why]
        parts.append(f"Repeat it: python -c {shlex.quote(deviation.reproduce)}")
    failed = case.outcome == "failed"
    kind = case.verdict if deviation is None else deviation.latitude or deviation.kind
    return {
        "ruleId": case.id,
        "ruleIndex": rule,
        "level": "error" if failed else "none",
        "kind": "fail" if failed else "informational",
        "message": {"text": ". ".join(dict.fromkeys(part for part in parts if part))},
        "locations": [_place(report, case)],
        "partialFingerprints": {
            "sonnxClip/v1": f"{report.runtime}/{case.etype}/{case.id}/{case.form}/{kind}"
        },
    }


def _place(report: Report, case: JudgedCase) -> dict[str, Any]:
    title = f"{report.runtime} > {case.etype} > {case.id}{f' > {case.form}' if case.form else ''}"
    return {**_file(report), "logicalLocations": [{"name": case.id, "fullyQualifiedName": title}]}


def _note(report: Report, text: str, level: str) -> dict[str, Any]:
    place = {**_file(report), "logicalLocations": [{"name": report.runtime}]}
    return {"level": level, "message": {"text": text}, "locations": [place]}


def _file(report: Report) -> dict[str, Any]:
    """The file that holds the runtime, where its name says one."""
    named = file_name(report.runtime)
    library = library_name(report.runtime)
    text = named[0] if named else library[1] if library else None
    if text is None:
        return {}
    path = Path(text)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    return {"physicalLocation": {"artifactLocation": {"uri": uri}}}
