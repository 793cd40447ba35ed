"""The cases of a report, which pass, fail or are skipped; and these as JUnit XML."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal, TypeAlias
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sonnx_clip.conform.check_report import FAILING
from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.conform.verdicts import failing_forms, forms_alike, in_order, shared_deviation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.conform.check_report import (
        ClassReport,
        Deviation,
        FormReport,
        Report,
        TypeReport,
        Verdict,
    )

Outcome: TypeAlias = Literal["passed", "failed", "skipped", "error"]
"""``error``: no verdict on the runtime, since the machine lacks something, or nothing was compared."""


@dataclass(frozen=True)
class JudgedCase:
    """One verdict.

    Args:
        etype: the id of an element type; empty for the report as a whole.
        id: of a class, or ``C1``, ``C3``, or ``compared`` for a report that compared nothing.
        form: the form of a model, in words; empty for the verdict on the class.
        outcome: as test runners have it.
        verdict: the checker's.
        words: the reason, if there is one; the runtime's own words if it gave some.
        deviations: each with a line of Python that repeats it.
    """

    etype: str
    id: str
    form: str
    outcome: Outcome
    verdict: Verdict | Literal["nothing compared"]
    words: str = ""
    deviations: tuple[Deviation, ...] = ()

    @property
    def text(self) -> str:
        """The reason, and each deviation with the line of Python that repeats it."""
        parts = [self.words]
        for found in self.deviations:
            parts.append(f"{found.key}, layout {found.layout}: {found.shown}")
            parts.append(found.reason)
            parts += ["repeat it:", command_line(found.reproduce)] if found.reproduce else []
        return "\n".join(filter(None, parts))

    @property
    def headline(self) -> str:
        """One line: the worst wrong value before the runtime's words on other calls."""
        failing = [found for found in self.deviations if found.kind != "acceptable"]
        first = next(iter(failing if self.outcome == "failed" else self.deviations), None)
        shown = first is not None and (first.got is not None or not self.words)
        return " ".join((first.shown if first is not None and shown else self.words).split())


def cases(report: Report) -> Iterator[JudgedCase]:
    """Every case of a report, at least one; one fails or is an error if and only if the report has failed."""
    if report.compared == 0 and not report.environment:
        yield _nothing_compared("", "element type")
    for found in report.types:
        required = found.type in report.required and found.verdict == "unsupported"
        yield from (_of_class(found, one, required=required) for one in found.classes)
        if found.has_blind_forms:
            yield _nothing_compared(found.type, "form of a model")
        for form in found.forms or ():
            yield from (_of_form(found.type, one.id, form) for one in found.classes)


def _nothing_compared(etype: str, where: str) -> JudgedCase:
    words = f"nothing was compared in any {where}"
    return JudgedCase(etype, "compared", "", "error", "nothing compared", words)


def _outcome(verdict: Verdict, *, required: bool = False) -> Outcome:
    if verdict in ("environment", "unfinished"):
        return "error"
    if verdict in FAILING or required:
        return "failed"
    return "skipped" if verdict in ("refused", "unsupported") else "passed"


def _of_class(found: TypeReport, one: ClassReport, *, required: bool) -> JudgedCase:
    own_words = one.words
    if found.serves_forms_only and one.verdict not in ("refused", "unsupported"):
        own_words = f"all other calls were refused: {one.words or found.words}"
    words, deviations = ["the type is required" if required else None, own_words], one.deviations
    if one.raised and found.refusal is not None and found.refusal.condition is not None:
        words.append(f"calls are refused where {found.refusal.condition}")
    match one.verdict:
        case "refused" | "unsupported" | "crashed" | "environment":
            words.append(None if one.words else found.words)
            refused = found.refused_layouts.items() if one.verdict == "refused" else ()
            words += [f"layout {layout}: {text}" for layout, text in refused]
        case "unfinished":
            words = [found.unfinished]
        case "unreached":
            words = ["no vector reached it"]
        case "depends":
            wrong = failing_forms(found, one.id)
            named = "; ".join(str(form.form) for form in wrong)
            words.append(
                f"it fails in {len(wrong)} of {len(found.served_forms)} forms of a model: {named}"
            )
            shown = [form.deviations[one.id] for form in wrong if one.id in form.deviations]
            deviations = in_order([*deviations, *shown[:1]])
    shared = shared_deviation(found, one)
    if shared is not None:
        deviations = in_order([*deviations, shared])
        number = f"{len(forms_alike(found, one))} of {len(found.served_forms)}"
        # The words on these forms come before those on calls that were refused.
        words = [f"{one.verdict} in {number} forms of a model", shared.words, *words]
    text = "; ".join(filter(None, dict.fromkeys(words)))
    outcome = _outcome(one.verdict, required=required)
    return JudgedCase(found.type, one.id, "", outcome, one.verdict, text, deviations)


def _of_form(type_id: str, id_: str, form: FormReport) -> JudgedCase:
    verdict = form.verdict_of(id_)
    words = form.words or "" if verdict not in ("conforms", "acceptable") else ""
    given = (form.deviations[id_],) if id_ in form.deviations else ()
    return JudgedCase(type_id, id_, str(form.form), _outcome(verdict), verdict, words, given)


# --- JUnit XML ----------------------------------------------------------------------------------------------
#
# A suite is an element type. The form is that of junit-10.xsd of Jenkins.

_ELEMENTS = {"failed": "failure", "error": "error", "skipped": "skipped"}
_ILLEGAL = "[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def to_junit(report: Report) -> str:
    """The XML, with its declaration.

    A class that fails, or a required type that is unsupported, is a failure, with the line that repeats it.
    What is refused or unsupported is skipped. What the machine lacks, what an interrupt left unfinished, and
    a report that compared nothing, is an error.
    """
    every = list(cases(report))
    root = Element("testsuites", _attributes("sonnx-clip check", every), time=f"{report.seconds:g}")
    for etype, some in groupby(every, key=lambda case: case.etype):
        _add_suite(root, report, etype or "report", list(some))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _attributes(name: str, every: list[JudgedCase]) -> dict[str, str]:
    found = Counter[str](case.outcome for case in every)
    counts = {"failures": found["failed"], "errors": found["error"], "skipped": found["skipped"]}
    return {
        "name": name,
        "tests": str(len(every)),
        **{key: str(number) for key, number in counts.items()},
    }


def _add_suite(root: Element, report: Report, name: str, every: list[JudgedCase]) -> None:
    suite = SubElement(root, "testsuite", _attributes(name, every))
    properties = SubElement(suite, "properties")
    for key, value in (
        ("runtime", report.runtime_version),
        ("policy", report.policy),
        ("tool", report.tool),
    ):
        SubElement(properties, "property", name=key, value=_legal(value))
    for case in every:
        shown = f"{case.id} [{case.form}]" if case.form else case.id
        one = SubElement(
            suite, "testcase", name=shown, classname=_legal(f"{report.runtime}.{name}")
        )
        if case.outcome != "passed":
            # A deviation that forms of a model share is shown once.
            reason = case.headline or (f"as in the case {case.id}" if case.form else "")
            head = _legal(f"{case.verdict}: {reason}" if reason else case.verdict)
            SubElement(one, _ELEMENTS[case.outcome], message=head, type=case.verdict).text = _legal(
                case.text
            )
        elif case.deviations:
            SubElement(one, "system-out").text = _legal(case.text)


def _legal(text: str) -> str:
    """A text with the characters escaped that no XML document may have."""
    return re.sub(_ILLEGAL, lambda found: f"\\u{ord(found[0]):04x}", text)
