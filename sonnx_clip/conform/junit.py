"""The report of the checker as JUnit XML, in the form of junit-10.xsd of Jenkins: a suite for each type."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sonnx_clip.conform.report_lines import cases

if TYPE_CHECKING:
    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.conform.report_lines import ReportLine

_ELEMENTS = {"failed": "failure", "error": "error", "skipped": "skipped"}
# What XML 1.0 leaves out of its `Char`: a runtime may print any character.
_ILLEGAL = "[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def to_junit(report: Report) -> str:
    """The XML, with its declaration.

    A class that fails, or a required type that is unsupported, is a failure, with the line that repeats it.
    What is refused or unsupported is skipped. What the machine lacks, what an interrupt left unfinished, and
    a report that compared nothing, is an error.
    """
    judged = list(cases(report))
    attributes = _attributes("sonnx-clip check", judged)
    root = Element("testsuites", attributes, time=f"{report.seconds:g}")
    # `cases` lists those of a type together, as `groupby` needs it.
    for etype, of_type in groupby(judged, key=lambda case: case.etype):
        _add_suite(root, report, etype or "report", list(of_type))
    indent(root)
    declaration = '<?xml version="1.0" encoding="UTF-8"?>'
    return f"{declaration}\n{tostring(root, encoding='unicode')}\n"


def _attributes(name: str, judged: list[ReportLine]) -> dict[str, str]:
    outcomes = Counter[str](case.outcome for case in judged)
    return {
        "name": name,
        "tests": str(len(judged)),
        "failures": str(outcomes["failed"]),
        "errors": str(outcomes["error"]),
        "skipped": str(outcomes["skipped"]),
    }


def _add_suite(root: Element, report: Report, name: str, judged: list[ReportLine]) -> None:
    suite = SubElement(root, "testsuite", _attributes(name, judged))
    properties = SubElement(suite, "properties")
    values = {
        "runtime": report.runtime_version,
        "policy": report.policy,
        "tool": report.tool,
    }
    for key, value in values.items():
        SubElement(properties, "property", name=key, value=_legal(value))
    classname = _legal(f"{report.runtime}.{name}")
    for case in judged:
        shown = f"{case.id} [{case.form}]" if case.form else case.id
        testcase = SubElement(suite, "testcase", name=shown, classname=classname)
        if case.outcome != "passed":
            tag = _ELEMENTS[case.outcome]
            message = _legal(_message(case))
            result = SubElement(testcase, tag, message=message, type=case.head)
            result.text = _legal(case.details)
        elif case.deviations:  # accepted ones: a test that passes has no other place for them
            SubElement(testcase, "system-out").text = _legal(case.details)


def _message(case: ReportLine) -> str:
    """The verdict and the reason in one line."""
    reason = case.headline
    if not reason and case.form:
        # A deviation that forms of a model share is shown once.
        reason = f"as in the case {case.id}"
    return f"{case.head}: {reason}" if reason else case.head


def _legal(text: str) -> str:
    """A text with the characters escaped that no XML document may have."""
    return re.sub(_ILLEGAL, _escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}"
