"""Judges a runtime that opens models in several forms, all asked the same calls: for `campaign`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.check_report import FormReport
from sonnx_clip.conform.chosen_triples import covering_scalars
from sonnx_clip.conform.describe import Describer
from sonnx_clip.conform.expected import Table, tabulate
from sonnx_clip.conform.session import EnvironmentFaultError, GaveUpError, cut
from sonnx_clip.conform.tally import Tally
from sonnx_clip.conform.verdicts import type_report, worst
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import integer_range
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.form_caller import FormRequest
from sonnx_clip.runtimes.layouts import LAYOUTS, PLAIN
from sonnx_clip.runtimes.model_forms import FIRST_OPSET, base, covering, every_form

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.conform.check_report import Verdict
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.conform.compare import Policy
    from sonnx_clip.conform.results import Counts, Known
    from sonnx_clip.conform.session import Session
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.model_forms import Choice, ModelForm


_LAYOUTS = {0: "0-d", 1: PLAIN.id, 2: "rank-2", 4: "rank-4"}
_LENGTHS = {layout.id: layout.length for layout in LAYOUTS}
_CALLS = 1024
_FIRST = 64  # calls after which a form is given up that refuses each of them
# Neighbours and bounds that int32 and int64 lose on a way through float32 and float64.
_THROUGH_FLOAT = ((2**24 + 1, 20_000_000), (-20_000_000, -(2**24) - 1), (2**53 + 1, 10**16))


def form_plan(
    etype: ElementType, form: ModelForm, *, few: bool = False, table: Table | None = None
) -> Iterator[tuple[FormRequest, Table]]:
    """The requests for a form, each with what is expected; the first is a sample of all bounds.

    Args:
        etype: the element type.
        form: the form.
        few: whether bounds are fewer, which reach every class, and X of rank 0 is one of each class.
        table: what is expected, if that is not the specification's.
    """
    table = table or _table(etype, few=few)
    size, layout = len(table.pool), _LAYOUTS[form.rank]
    length = _LENGTHS[layout] or size
    times = -(-size // length)  # of calls for a pair of bounds, until each X was in one
    rows = np.repeat(np.arange(table.count), times)
    starts = np.tile(np.arange(times) * length % size, table.count)
    if few and form.rank == 0:
        rows, starts = np.unravel_index(np.unique(table.classes, return_index=True)[1], table.classes.shape)
    every = table.rows(rows)
    request = FormRequest(layout, length, table.pool, starts, every.scalars, form=form)
    calls = np.arange(len(rows))
    first = np.unique(np.linspace(0, len(calls) - 1, _FIRST).astype(int))
    rest = np.setdiff1d(calls, first)
    for part in (first, *np.array_split(rest, -(-len(rest) // _CALLS) or 1)):
        if len(part):
            yield cut(request, every, part)  # type: ignore[misc]


@cache
def _table(etype: ElementType, *, few: bool) -> Table:
    """What is expected for every special value, and what `_THROUGH_FLOAT` adds, under the chosen bounds."""
    bounds = few_bounds(etype) if few else bounds_of(etype)
    pool = np.array(list(dict.fromkeys([*special_patterns(etype), *_around(etype)])), bits_type(etype.id))
    return tabulate(etype, [pool], bounds)


@cache
def bounds_of(etype: ElementType) -> tuple[Array, ...]:
    """The pairs of bounds, as bits, each of shape (p,).

    They reach every class; each special value is a bound of one, in ordinary and in inverted order by turns;
    and integers of 32 and 64 bits that a float32 or a float64 does not hold are both.
    """
    low, high = covering_scalars(etype, 0)
    special = special_patterns(etype)
    side_by_side = zip(special[::2], (*special[1::2], special[0]), strict=False)
    turned = [pair if at % 2 else pair[::-1] for at, pair in enumerate(side_by_side)]
    pairs = [*zip(low.tolist(), high.tolist(), strict=True), *turned, *_through_float(etype)]
    return _columns(pairs, etype)


def _columns(pairs: Iterable[tuple[int, int]], etype: ElementType) -> tuple[Array, ...]:
    return tuple(np.array(list(dict.fromkeys(pairs)), bits_type(etype.id)).T)


def few_bounds(etype: ElementType) -> tuple[Array, ...]:
    """The pairs of `bounds_of` that reach every class, and those that a float does not hold."""
    low, high = covering_scalars(etype, 0)
    pairs = [*zip(low.tolist(), high.tolist(), strict=True), *_through_float(etype)]
    return _columns(pairs, etype)


def _through_float(etype: ElementType) -> Iterator[tuple[int, int]]:
    if etype.family != "int":
        return
    assert etype.width is not None
    low, high = integer_range(etype)
    for first, second in _THROUGH_FLOAT:
        if low <= first and second <= high:
            yield first % (1 << etype.width), second % (1 << etype.width)


def _around(etype: ElementType) -> Iterator[int]:
    """The bounds of `_through_float`, and the values beside them."""
    for pair in _through_float(etype):
        for bound in pair:
            assert etype.width is not None
            yield from (near % (1 << etype.width) for near in (bound - 1, bound, bound + 1))


# --- Judges a runtime that opens models in several forms of a model, all asked the same ---------------------


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
