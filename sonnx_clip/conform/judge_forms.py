"""Judges a runtime that opens models in several forms, all asked the same calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.conform.check_report import FormReport
from sonnx_clip.conform.plan import form_plan
from sonnx_clip.conform.results import Counts
from sonnx_clip.conform.session import EnvironmentFaultError, GaveUpError
from sonnx_clip.conform.tally import Tally
from sonnx_clip.conform.verdicts import class_reports, compared, crash_words, worst
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.model_forms import FIRST_OPSET, base, covering, every_form

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.conform.options import Unit
    from sonnx_clip.conform.session import Session
    from sonnx_clip.runtimes.model_forms import ModelForm


def judge_forms(session: Session, unit: Unit) -> dict[str, Any]:
    """What came of each form: fields of the result of a unit.

    The counts are those of a dialect, which is compared in forms alone. A form that is refused in one
    operator set and served in the other is not counted there: what a runtime refuses is the operator set.

    Raises:
        UserError: onnx is not installed, or the runtime runs no ONNX models.
    """
    of, stopped = unit.options.of, False
    if not session.worker.models:
        todo = "choose onnxruntime or onnx-reference, or give --onnx or --onnx-cmd"
        raise UserError(f"the runtime {session.worker.name} runs no ONNX models", todo=todo)
    reports: dict[ModelForm, FormReport] = {}
    counts: dict[ModelForm, Counts] = {}
    for form in of.forms if of.dialect else _forms(session, unit, reports):
        if form not in reports:
            reports[form], counts[form], stopped = _judge_form(session, unit, form)
        if stopped:
            break
    found = {"forms": tuple(reports.values()), "forms_stopped": stopped}
    if not of.dialect:
        return found
    served = {form.given for form, report in reports.items() if report.verdict != "refused"}
    counted = (counts[f] for f, one in reports.items() if one.verdict != "refused" or f.given not in served)
    return {**found, "tally": sum(counted, start=Counts())}


def _judge_form(session: Session, unit: Unit, form: ModelForm) -> tuple[FormReport, Counts, bool]:
    """What came of a form, what was counted, and whether no other form can be asked after it.

    Where bounds are missing, some classes cannot be reached.
    """
    of, few, why = unit.options.of, session.worker.few, None
    etype = of.spec.element_type(unit.etype)
    tally = Tally(etype, unit.options.policy, of)
    session.forget()
    try:
        for request, table in form_plan(etype, form, few=few, table=of.table_of_form(etype, form, few=few)):
            tally.add_all(session.ask(request, table))
            if tally.refuses(request):
                break
    except (GaveUpError, EnvironmentFaultError) as error:
        why = error.verdict, str(error)
    counts = tally.counts
    classes = class_reports(counts, of, why)
    refused = worst(c.verdict for c in classes) == "unsupported"
    odd = [c for c in classes if c.verdict != "conforms" and not refused]
    reached = [c.verdict for c in classes if form.given == "both" or c.verdict != "unreached"]
    words = [why[1] if why else crash_words(classes), *(c.words for c in (classes if refused else odd))]
    found = FormReport(
        form=form,
        verdict="refused" if refused else worst(reached),
        compared=compared(counts, of, etype),
        calls=sum(one.calls for one in counts.raised.values()),
        words=next(filter(None, words), None),
        classes={c.id: c.verdict for c in odd},
        deviations={c.id: c.deviations[0] for c in odd if c.deviations},
    )
    # A dialect is counted in all forms together, and a refusal in one is not one in another.
    raised = {str(form): one for one in counts.raised.values()}  # all of one layout
    return found, counts.model_copy(update={"raised": raised}), why is not None


def _forms(session: Session, unit: Unit, reports: Mapping[ModelForm, FormReport]) -> Iterator[ModelForm]:
    """The forms to judge, given the reports on those before: some come more than once.

    The operator sets are 13 and the newest that is served, or all between them.
    """
    known, newest = opsets_of_this_clip(), FIRST_OPSET
    yield base()
    # A refusal there is reported too. Where 13 is refused, it is not for its number.
    for opset in reversed(known) if reports[base()].verdict != "refused" else ():
        yield base(opset)
        if reports[base(opset)].verdict != "refused":
            newest = opset
            break
    every = every_form(range(FIRST_OPSET, newest + 1), session.worker.models)
    if unit.options.forms == "default":
        yield from covering([form for form in every if form.opset in (FIRST_OPSET, newest)])
    else:
        yield from every


def opsets_of_this_clip() -> tuple[int, ...]:
    """The operator sets from 13 on that mean the same Clip, as far as the installed onnx knows them.

    Raises:
        UserError: onnx is not installed.
    """
    try:
        from sonnx_clip.runtimes.opsets import clip_version, newest_opset
    except ImportError as error:
        what = f"environment: models cannot be made for a runtime that opens them: {error}"
        raise UserError(what, todo="install onnx: pip install 'sonnx-clip[onnx]'") from None
    return tuple(n for n in range(FIRST_OPSET, newest_opset() + 1) if clip_version(n) == FIRST_OPSET)
