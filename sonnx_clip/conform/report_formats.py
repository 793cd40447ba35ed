"""A report of the checker in the formats of other tools: as cases that pass, fail or are skipped, and as
JUnit XML.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal, TypeAlias
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sonnx_clip.conform.check_report import FAILING
from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.conform.verdicts import in_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.conform.check_report import (
        ClassReport,
        Deviation,
        FormReport,
        Report,
        TypeReport,
        Verdict,
    )


Outcome: TypeAlias = Literal["passed", "failed", "skipped", "error"]
"""``error`` is what says nothing about the runtime: the machine lacks something, or nothing was compared."""

_SKIPPED = ("refused", "unsupported")


@dataclass(frozen=True)
class JudgedCase:
    """One verdict.

    Args:
        etype: the id of an element type; empty for the report as a whole.
        id: of a class, or ``C1``, ``C3``, or ``compared`` for a report that compared nothing.
        form: the form of a model, in words; empty for the verdict on the class.
        outcome: what becomes of it.
        verdict: the checker's.
        words: why, where there is a reason; the runtime's own words where it has some.
        deviations: what was found, each with a line of Python that repeats it.
    """

    etype: str
    id: str
    form: str
    outcome: Outcome
    verdict: Verdict | Literal["nothing compared"]
    words: str = ""
    deviations: tuple[Deviation, ...] = ()


def cases(report: Report) -> Iterator[JudgedCase]:
    """Every case of a report, at least one.

    One of them has failed or is an error if and only if the report has failed.
    """
    if report.compared == 0 and not report.environment:
        yield _blind("", "nothing was compared in any element type")
    for found in report.types:
        required = found.type in report.required
        for one in found.classes:
            yield _of_class(found, one, required=required)
        if found.compared and found.forms is not None and not any(form.compared for form in found.forms):
            yield _blind(found.type, "nothing was compared in any form of a model")
        for form in found.forms or ():
            for one in found.classes:
                yield _of_form(found, one.id, form)


def told(case: JudgedCase) -> str:
    """Why, and what was found, each deviation with the line of Python that repeats it."""
    parts = [case.words, *map(_deviation, case.deviations)]
    return "\n".join(part for part in parts if part)


def headline_of(case: JudgedCase) -> str:
    """What a case says in one line: its worst wrong value before the runtime's words on other calls."""
    failing = [found for found in case.deviations if found.kind != "acceptable"]
    first = next(iter(failing if case.outcome == "failed" else case.deviations), None)
    if first is not None and (first.got is not None or not case.words):
        return " ".join(first.shown.split())
    return " ".join(case.words.split())


def _deviation(found: Deviation) -> str:
    why = found.words or found.explanation
    head = f"{found.latitude or found.kind}, layout {found.layout}: {found.shown}"
    line = ["repeat it:", command_line(found.reproduce)] if found.reproduce else []
    return "\n".join([head, *([why] if why else ()), *line])


def _blind(etype: str, words: str) -> JudgedCase:
    return JudgedCase(etype, "compared", "", "error", "nothing compared", words)


def _outcome(verdict: Verdict, *, required: bool = False) -> Outcome:
    if verdict in ("environment", "unfinished"):
        return "error"
    if verdict in FAILING or (required and verdict == "unsupported"):
        return "failed"
    return "skipped" if verdict in _SKIPPED else "passed"


def _of_class(found: TypeReport, one: ClassReport, *, required: bool) -> JudgedCase:
    words = [one.words or ""]
    if one.verdict in (*_SKIPPED, "crashed", "environment"):
        words = [one.words or found.words or ""]
    if one.verdict == "refused":
        words += [f"layout {layout}: {text}" for layout, text in found.refused_layouts.items()]
    if one.verdict == "unfinished":
        words = [found.unfinished or ""]
    if one.verdict == "unreached":
        words = ["no vector reached it"]
    if one.verdict == "unsupported" and required:
        words.insert(0, "the type is required")
    outcome = _outcome(one.verdict, required=required and found.verdict == "unsupported")
    deviations: Sequence[Deviation] = one.deviations
    if one.verdict == "depends":
        wrong = [form for form in found.served_forms if form.classes.get(one.id, "conforms") in FAILING]
        told_forms = "; ".join(str(form.form) for form in wrong)
        words.append(f"it fails in {len(wrong)} of {len(found.served_forms)} forms of a model: {told_forms}")
        shown = [form.deviations[one.id] for form in wrong if one.id in form.deviations]
        deviations = in_order([*deviations, *shown[:1]])
    told = "; ".join(text for text in dict.fromkeys(words) if text)
    return JudgedCase(found.type, one.id, "", outcome, one.verdict, told, tuple(deviations))


def _of_form(found: TypeReport, id_: str, form: FormReport) -> JudgedCase:
    whole = form.verdict in ("refused", "environment")
    verdict: Verdict = form.verdict if whole else form.classes.get(id_, "conforms")
    first = form.deviations.get(id_)
    words = form.words or "" if verdict not in ("conforms", "acceptable") else ""
    given = () if first is None else (first,)
    return JudgedCase(found.type, id_, str(form.form), _outcome(verdict), verdict, words, given)


# --- The report of `check` as JUnit XML, which servers of continuous integration show -----------------------
#
# A suite is an element type. The XML is of the form that Jenkins has described (junit-10.xsd) and others
# read. It has so few elements that the standard library writes it: a package for it would be one more
# dependency.


_ELEMENTS = {"failed": "failure", "error": "error", "skipped": "skipped"}
_COUNTS = {"failures": "failed", "errors": "error", "skipped": "skipped"}
_PLANES = 0x10FFFF


def to_junit(report: Report) -> str:
    """The XML, with its declaration.

    What violates, depends on the form, crashed or was not reached is a failure, with the line that repeats
    it; what was refused or is unsupported is skipped, unless it is required; what the machine lacks, what an
    interrupt left unfinished, and a report that compared nothing, is an error.
    """
    every = list(cases(report))
    root = Element("testsuites", _attributes("sonnx-clip check", every), time=f"{report.seconds:g}")
    for etype, some in groupby(every, key=lambda case: case.etype):
        _suite(root, report, etype, list(some))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _attributes(name: str, every: Iterable[JudgedCase]) -> dict[str, str]:
    found = Counter(case.outcome for case in every)
    counts = {name: str(found[outcome]) for name, outcome in _COUNTS.items()}  # type: ignore[index]
    return {"name": _legal(name), "tests": str(found.total()), **counts}


def _suite(root: Element, report: Report, etype: str, every: list[JudgedCase]) -> None:
    name = etype or "report"
    suite = SubElement(root, "testsuite", _attributes(name, every))
    properties = SubElement(suite, "properties")
    for key, value in (("runtime", report.runtime_version), ("policy", report.policy), ("tool", report.tool)):
        SubElement(properties, "property", name=key, value=_legal(value))
    for case in every:
        shown = f"{case.id} [{case.form}]" if case.form else case.id
        one = SubElement(suite, "testcase", name=shown, classname=_legal(f"{report.runtime}.{name}"))
        if case.outcome != "passed":
            head = _legal(_message(case))
            SubElement(one, _ELEMENTS[case.outcome], message=head, type=case.verdict).text = _text(case)
        elif case.deviations:
            SubElement(one, "system-out").text = _text(case)


def _message(case: JudgedCase) -> str:
    return f"{case.verdict}: {headline}" if (headline := headline_of(case)) else case.verdict


def _text(case: JudgedCase) -> str:
    return _legal(told(case))


def _legal(text: str) -> str:
    """A text without the characters that no XML document may have."""
    return "".join(c if _is_legal(ord(c)) else f"\\u{ord(c):04x}" for c in text)


def _is_legal(code: int) -> bool:
    return (
        code in (0x9, 0xA) or 0x20 <= code < 0xD800 or (0xE000 <= code <= _PLANES and code & 0xFFFE != 0xFFFE)
    )
