"""Judges a runtime that opens models in several forms of a model, all asked the same: for `campaign`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.check_report import FormReport
from sonnx_clip.conform.describe import Describer
from sonnx_clip.conform.model_forms.axes import FIRST_OPSET, base, covering, every_form
from sonnx_clip.conform.model_forms.form_plan import form_plan
from sonnx_clip.conform.session import EnvironmentFaultError, GaveUpError
from sonnx_clip.conform.tally import Tally
from sonnx_clip.conform.verdicts import by_form, with_forms, worst
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.conform.check_report import TypeReport, Verdict
    from sonnx_clip.conform.compare import Policy
    from sonnx_clip.conform.model_forms.axes import Choice, ModelForm
    from sonnx_clip.conform.session import Session
    from sonnx_clip.language.types import ElementType

_STOPS = ("crashed", "environment")


def judge_forms(
    session: Session, etype: ElementType, policy: Policy, choice: Choice
) -> tuple[FormReport, ...]:
    """What came of each form. The operator sets are 13 and the newest that is served, or all between them.

    Args:
        session: of a runtime that opens models.
        etype: the element type.
        policy: which latitudes count.
        choice: ``default`` for forms in which every pair of values of two axes occurs, or ``all``.

    Raises:
        UserError: onnx is not installed.
    """
    found: dict[ModelForm, FormReport] = {}
    stopped = False

    def judge(forms: Sequence[ModelForm]) -> None:
        nonlocal stopped
        for form in forms:
            if form not in found and not stopped:
                found[form], stopped = _judge_form(session, etype, policy, form)

    known = opsets_of_this_clip()
    judge([base()])
    newest = FIRST_OPSET
    # What is refused there is part of what is told. Where 13 is refused, it is not for its number.
    for opset in reversed(known) if found[base()].verdict != "refused" else ():
        judge([base(opset)])
        if stopped or found[base(opset)].verdict != "refused":
            newest = opset
            break
    every = every_form(range(FIRST_OPSET, newest + 1), session.worker.models)
    ends = [form for form in every if form.opset in (FIRST_OPSET, newest)]
    judge(every if choice == "all" else covering(ends))
    return tuple(found.values())


def opsets_of_this_clip() -> tuple[int, ...]:
    """The operator sets from 13 on that mean the same Clip, as far as the installed onnx knows them.

    Raises:
        UserError: onnx is not installed.
    """
    try:
        from sonnx_clip.conform.dialects.forms import clip_version, newest_opset
    except ImportError as error:
        what = f"environment: models cannot be made for a runtime that opens them: {error}"
        raise UserError(what, todo="install onnx: pip install 'sonnx-clip[onnx]'") from None
    return tuple(n for n in range(FIRST_OPSET, newest_opset() + 1) if clip_version(n) == FIRST_OPSET)


def _judge_form(
    session: Session, etype: ElementType, policy: Policy, form: ModelForm
) -> tuple[FormReport, bool]:
    """What came of a form, and whether no other can be asked after it."""
    tally, stopped = Tally(etype, policy, Describer(etype, session)), None
    why: tuple[Verdict, str] | None = None
    session.forget()
    try:
        for request, table in form_plan(etype, form, few=session.worker.few):
            for piece in session.ask(request, table):
                tally.add(*piece)
            if tally.refuses(request):
                break
    except GaveUpError as error:
        why = "crashed", str(error)
    except EnvironmentFaultError as error:
        why = "environment", str(error)
    stopped = why is not None
    report = tally.report(why)
    refused = report.verdict == "unsupported"
    odd = [] if refused else [c for c in report.classes if c.verdict != "conforms"]
    words = report.words or next((c.words for c in odd if c.words), None)
    return FormReport(
        bounds=form.bounds,
        shape=form.shape,
        rank=form.rank,
        opset=form.opset,
        optimised=form.optimised,
        verdict="refused" if refused else report.verdict,
        compared=report.compared,
        calls=report.calls,
        words=words,
        classes={c.id: c.verdict for c in odd},
        deviations={c.id: c.deviations[0] for c in odd if c.deviations},
    ), stopped


def with_forms_judged(report: TypeReport, forms: tuple[FormReport, ...]) -> TypeReport:
    """A report in which the verdicts of classes take those of the forms into account."""
    found = by_form(report.model_copy(update={"forms": forms}))
    in_forms = {id_: [verdict for _, verdict in pairs] for id_, pairs in found.items()}
    classes = tuple(
        c.model_copy(update={
            "verdict": with_forms(c.verdict, in_forms[c.id]),
            # What the runtime refused before any call counts as one refusal where other forms are served.
            "refused": max(c.refused, int(c.verdict == "unsupported" and bool(in_forms[c.id]))),
        })
        for c in report.classes
    )  # fmt: skip
    verdict = worst(c.verdict for c in classes)
    words = report.words
    if verdict in _STOPS:
        words = words or next((form.words for form in forms if form.verdict == verdict), None)
    # What all forms do alike is told once, by the class, unless only models do it.
    alone = {c.id for c in classes if not c.deviations}
    differ = alone | {id_ for id_, verdicts in in_forms.items() if len(set(verdicts)) > 1}
    told = tuple(
        form.model_copy(update={"deviations": {k: v for k, v in form.deviations.items() if k in differ}})
        for form in forms
    )
    return report.model_copy(update={"classes": classes, "verdict": verdict, "words": words, "forms": told})
