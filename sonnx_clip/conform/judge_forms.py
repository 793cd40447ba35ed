"""Judges a runtime that opens models in several forms, all asked the same calls: for `campaign`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.check_report import FormReport
from sonnx_clip.conform.describe import Describer
from sonnx_clip.conform.plan import form_plan
from sonnx_clip.conform.session import EnvironmentFaultError, GaveUpError
from sonnx_clip.conform.tally import Tally
from sonnx_clip.conform.verdicts import type_report, worst
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.model_forms import FIRST_OPSET, base, covering, every_form

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.conform.check_report import Verdict
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.conform.compare import Policy
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.conform.results import Counts, Known
    from sonnx_clip.conform.session import Session
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.model_forms import Choice, ModelForm


CHUNK = 96
"""Forms of `all` that are judged by one process."""


def judge_forms(
    session: Session, etype: ElementType, policy: Policy, choice: Choice, chunk: int | None = None
) -> tuple[tuple[FormReport, ...], bool]:
    """What came of each form, and whether it ended early.

    The operator sets are 13 and the newest that is served, or all between them.

    Args:
        session: of a runtime that opens models.
        etype: the element type.
        policy: which latitudes count.
        choice: ``default`` for forms in which every pair of values of two axes occurs, or ``all``.
        chunk: of ``all`` the number of some forms, which are judged; if None, those that come first.

    Raises:
        UserError: onnx is not installed.
    """
    found: dict[ModelForm, FormReport] = {}
    stopped = False

    def judge(forms: Sequence[ModelForm]) -> None:
        nonlocal stopped
        for form in forms:
            if form not in found and not stopped:
                found[form], stopped, _ = judge_form(session, etype, policy, form)

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
    if choice == "default":
        ends = [form for form in every if form.opset in (FIRST_OPSET, newest)]
        judge(covering(ends))
    elif chunk is not None:
        some = set(_of_all(known)[chunk * CHUNK : (chunk + 1) * CHUNK])
        judge([form for form in every if form in some])
    return tuple(found.values()), stopped


def chunks_of_all() -> int:
    """How many chunks the forms of ``all`` are, at most; 0 where onnx is not installed."""
    try:
        return -(-len(_of_all(opsets_of_this_clip())) // CHUNK)
    except UserError:
        return 0


def _of_all(known: Sequence[int]) -> tuple[ModelForm, ...]:
    return every_form(known, (True, False))


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


def judge_form(
    session: Session, etype: ElementType, policy: Policy, form: ModelForm,
    of: CheckedOperator | None = None, expected: Table | None = None, known: Known = frozenset(),
) -> tuple[FormReport, bool, Counts]:  # fmt: skip
    """What came of a form, whether no other can be asked after it, and what was counted.

    Where bounds are missing, some classes cannot be reached.
    """
    tally, stopped = Tally(etype, policy, Describer(etype, session, of), of, known), None
    why: tuple[Verdict, str] | None = None
    session.forget()
    try:
        for request, table in form_plan(etype, form, few=session.worker.few, table=expected):
            for piece in session.ask(request, table):
                tally.add(*piece)
            if tally.refuses(request):
                break
    except GaveUpError as error:
        why = "crashed", str(error)
    except EnvironmentFaultError as error:
        why = "environment", str(error)
    stopped = why is not None
    counts = tally.state(refused=False, answers=False)
    report = type_report(etype, counts, None, why, of)
    refused = report.verdict == "unsupported"
    odd = [] if refused else [c for c in report.classes if c.verdict != "conforms"]
    reached = [c.verdict for c in report.classes if form.given == "both" or c.verdict != "unreached"]
    words = report.words or next((c.words for c in odd if c.words), None)
    return (
        FormReport(
            bounds=form.bounds,
            shape=form.shape,
            rank=form.rank,
            opset=form.opset,
            optimised=form.optimised,
            given=form.given,
            verdict="refused" if refused else worst(reached),
            compared=report.compared,
            calls=report.calls,
            words=words,
            classes={c.id: c.verdict for c in odd},
            deviations={c.id: c.deviations[0] for c in odd if c.deviations},
        ),
        stopped,
        counts,
    )
