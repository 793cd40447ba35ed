"""The cases of a report, which pass, fail or are skipped; and these as JUnit XML."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.conform.verdict_table import VERDICT_TABLE, Outcome
from sonnx_clip.conform.verdicts import failing_forms, forms_alike, in_order, shared_deviation
from sonnx_clip.contexts.context_report import FAILING_IN_CONTEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.conform.check_report import (
        ClassReport,
        Deviation,
        FormReport,
        Report,
        TypeReport,
    )
    from sonnx_clip.conform.verdict_table import Verdict
    from sonnx_clip.contexts.context_report import ContextReport, ContextVerdict

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
    verdict: Verdict | ContextVerdict | Literal["nothing compared"]
    words: str = ""
    deviations: tuple[Deviation, ...] = ()

    @property
    def text(self) -> str:
        """The reason, and each deviation with the line of Python that repeats it."""
        parts = [self.words]
        for deviation in self.deviations:
            parts.append(f"{deviation.key}, layout {deviation.layout}: {deviation.shown}")
            parts.append(deviation.reason)
            if deviation.reproduce:
                parts.append("repeat it:")
                parts.append(command_line(deviation.reproduce))
        return "\n".join(filter(None, parts))

    @property
    def headline(self) -> str:
        """One line: the worst wrong value before the runtime's words on other calls."""
        shown = list(self.deviations)
        if self.outcome == "failed":
            shown = [deviation for deviation in shown if deviation.kind != "acceptable"]
        # Words on other calls of the class explain less than a value that anyone can check.
        text = self.words
        if shown and (shown[0].got is not None or not text):
            text = shown[0].shown
        return " ".join(text.split())


def cases(report: Report) -> Iterator[JudgedCase]:
    """Every case of a report, at least one; one fails or is an error if and only if the report has failed."""
    if report.compared == 0 and not report.environment:
        yield _nothing_compared("", "element type")
    for report_of_type in report.types:
        is_unsupported = report_of_type.verdict == "unsupported"
        required = is_unsupported and report_of_type.type in report.required
        for klass in report_of_type.classes:
            yield _of_class(report_of_type, klass, required=required)
        if report_of_type.has_blind_forms:
            yield _nothing_compared(report_of_type.type, "form of a model")
        for form in report_of_type.forms or ():
            for klass in report_of_type.classes:
                yield _of_form(report_of_type.type, klass.id, form)
        for context in report_of_type.contexts:
            yield _of_context(report_of_type.type, context)


def _nothing_compared(etype: str, where: str) -> JudgedCase:
    words = f"nothing was compared in any {where}"
    return JudgedCase(etype, "compared", "", "error", "nothing compared", words)


def _outcome(verdict: Verdict, *, required: bool = False) -> Outcome:
    outcome = VERDICT_TABLE[verdict].outcome
    return "failed" if required and outcome != "error" else outcome


def _of_class(report: TypeReport, klass: ClassReport, *, required: bool) -> JudgedCase:
    words = _reasons(report, klass)
    if required and klass.verdict not in ("unfinished", "unreached"):
        words.insert(0, "the type is required")
    deviations = klass.deviations
    if klass.verdict == "depends":
        # One of the forms is enough: each form has a case of its own.
        shown = _deviations_in_forms(report, klass.id)
        deviations = in_order([*deviations, *shown[:1]])
    shared = shared_deviation(report, klass)
    if shared is not None:
        deviations = in_order([*deviations, shared])
        alike = len(forms_alike(report, klass))
        in_forms = f"{klass.verdict} in {alike} of {len(report.served_forms)} forms of a model"
        # The words on these forms come before those on calls that were refused.
        words = [in_forms, shared.words, *words]
    distinct = dict.fromkeys(words)
    text = "; ".join(filter(None, distinct))
    outcome = _outcome(klass.verdict, required=required)
    return JudgedCase(report.type, klass.id, "", outcome, klass.verdict, text, deviations)


def _deviations_in_forms(report: TypeReport, id_: str) -> list[Deviation]:
    """The deviations of a class in the forms of a model in which it fails."""
    failing = failing_forms(report, id_)
    return [form.deviations[id_] for form in failing if id_ in form.deviations]


def _reasons(report: TypeReport, klass: ClassReport) -> list[str | None]:
    """The words on the verdict of a class."""
    verdict = klass.verdict
    if verdict == "unfinished":
        return [report.unfinished]
    if verdict == "unreached":
        return ["no vector reached it"]
    words = [klass.words]
    is_refused = verdict in ("refused", "unsupported")
    if report.serves_forms_only and not is_refused:
        words = [f"all other calls were refused: {klass.words or report.words}"]
    refusal = report.refusal
    if klass.raised and refusal is not None and refusal.condition is not None:
        words.append(f"calls are refused where {refusal.condition}")
    # The type has the words where the run ended before the class was called.
    ended_early = verdict in ("crashed", "environment")
    if (is_refused or ended_early) and not klass.words:
        words.append(report.words)
    if verdict == "refused":
        for layout, text in report.refused_layouts.items():
            words.append(f"layout {layout}: {text}")
    if verdict == "depends":
        failing = failing_forms(report, klass.id)
        named = "; ".join(str(form.form) for form in failing)
        number = f"{len(failing)} of {len(report.served_forms)}"
        words.append(f"it fails in {number} forms of a model: {named}")
    return words


def _of_context(etype: str, context: ContextReport) -> JudgedCase:
    outcome: Outcome = "passed"
    if context.verdict in FAILING_IN_CONTEXT:
        outcome = "failed"
    elif context.verdict == "refused":
        outcome = "skipped"
    refusals = [refusal for refusal in context.refusals if refusal.when != "always"]
    words = [f"{refusal.when}: {refusal.words}" for refusal in refusals]
    for wrong in context.deviations:
        words.append(f"{wrong.asked}, X = {wrong.x}: got {wrong.got}, expected {wrong.expected}")
        words += filter(None, (wrong.rewrite, wrong.legal_when))
        if wrong.reproduce:
            words += ["repeat it:", command_line(wrong.reproduce)]
    return JudgedCase(
        etype=etype,
        id=f"context-{context.id}",
        form="",
        outcome=outcome,
        verdict=context.verdict,
        words="\n".join(words),
    )


def _of_form(type_id: str, id_: str, report: FormReport) -> JudgedCase:
    verdict = report.verdict_of(id_)
    words = ""
    if verdict not in ("conforms", "acceptable"):
        words = report.words or ""
    deviations: tuple[Deviation, ...] = ()
    if id_ in report.deviations:
        deviations = (report.deviations[id_],)
    form = str(report.form)
    return JudgedCase(type_id, id_, form, _outcome(verdict), verdict, words, deviations)


# --- JUnit XML ----------------------------------------------------------------------------------------------
#
# A suite is an element type. The form is that of junit-10.xsd of Jenkins.

_ELEMENTS = {"failed": "failure", "error": "error", "skipped": "skipped"}
# What XML 1.0 leaves out of its `Char`: a runtime may print any character.
_ILLEGAL = "[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def to_junit(report: Report) -> str:
    """The XML, with its declaration.

    A class that fails, or a required type that is unsupported, is a failure, with the line that repeats it.
    What is refused or unsupported is skipped. What the machine lacks, what an interrupt left unfinished, and
    a report that compared nothing, is an error.
    """
    every = list(cases(report))
    attributes = _attributes("sonnx-clip check", every)
    root = Element("testsuites", attributes, time=f"{report.seconds:g}")
    for etype, of_type in groupby(every, key=lambda case: case.etype):
        _add_suite(root, report, etype or "report", list(of_type))
    indent(root)
    declaration = '<?xml version="1.0" encoding="UTF-8"?>'
    return f"{declaration}\n{tostring(root, encoding='unicode')}\n"


def _attributes(name: str, every: list[JudgedCase]) -> dict[str, str]:
    outcomes = Counter[str](case.outcome for case in every)
    return {
        "name": name,
        "tests": str(len(every)),
        "failures": str(outcomes["failed"]),
        "errors": str(outcomes["error"]),
        "skipped": str(outcomes["skipped"]),
    }


def _add_suite(root: Element, report: Report, name: str, every: list[JudgedCase]) -> None:
    suite = SubElement(root, "testsuite", _attributes(name, every))
    properties = SubElement(suite, "properties")
    values = {
        "runtime": report.runtime_version,
        "policy": report.policy,
        "tool": report.tool,
    }
    for key, value in values.items():
        SubElement(properties, "property", name=key, value=_legal(value))
    classname = _legal(f"{report.runtime}.{name}")
    for case in every:
        shown = f"{case.id} [{case.form}]" if case.form else case.id
        testcase = SubElement(suite, "testcase", name=shown, classname=classname)
        if case.outcome != "passed":
            tag = _ELEMENTS[case.outcome]
            message = _legal(_message(case))
            result = SubElement(testcase, tag, message=message, type=case.verdict)
            result.text = _legal(case.text)
        elif case.deviations:
            SubElement(testcase, "system-out").text = _legal(case.text)


def _message(case: JudgedCase) -> str:
    """The verdict and the reason in one line."""
    reason = case.headline
    if not reason and case.form:
        # A deviation that forms of a model share is shown once.
        reason = f"as in the case {case.id}"
    return f"{case.verdict}: {reason}" if reason else case.verdict


def _legal(text: str) -> str:
    """A text with the characters escaped that no XML document may have."""
    return re.sub(_ILLEGAL, _escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}"
