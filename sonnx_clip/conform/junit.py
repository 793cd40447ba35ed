"""The report of `check` as JUnit XML, which servers of continuous integration show.

A suite is an element type. The XML is of the form that Jenkins has described (junit-10.xsd) and others read.
It has so few elements that the standard library writes it: a package for it would be one more dependency.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sonnx_clip.conform.judged_cases import cases, told

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.conform.judged_cases import JudgedCase

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
    first = case.deviations[0] if case.deviations else None
    shown = " ".join(first.shown.split()) if first else ""
    return ": ".join(text for text in (case.verdict, case.words or shown) if text)


def _text(case: JudgedCase) -> str:
    return _legal(told(case))


def _legal(text: str) -> str:
    """A text without the characters that no XML document may have."""
    return "".join(c if _is_legal(ord(c)) else f"\\u{ord(c):04x}" for c in text)


def _is_legal(code: int) -> bool:
    return (
        code in (0x9, 0xA) or 0x20 <= code < 0xD800 or (0xE000 <= code <= _PLANES and code & 0xFFFE != 0xFFFE)
    )
