"""Planted runtimes, judged by all calls of the checker's plan or by few of them."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from sonnx_clip.conform import campaign, local_judge
from sonnx_clip.conform.options import CheckOptions
from sonnx_clip.conform.plan import chosen
from sonnx_clip.conform.session import sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from sonnx_clip.conform.check_report import ClassReport, Report
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.calls import Request

    Calls: TypeAlias = Iterator[tuple[Request, Table]]


def few_calls(etype: ElementType, *of: CheckedOperator) -> Calls:
    """The plan with an eighth of the long calls and of the triples of 8 bits: for mistakes in values."""
    for request, table in chosen(etype, *of):
        every = (etype.width == 8 and request.count == 1024) or (etype.width > 16 and request.length >= 1024)
        some = every and request.lengths is None
        yield sample(request, table, max(4, request.count // 8)) if some else (request, table)


def three_layouts(etype: ElementType, *of: CheckedOperator) -> Calls:
    """One request in each of three layouts: for what is slow, hangs, or is the same in every layout."""
    wanted = {"contiguous", "length-7", "rank-2"}
    for request, table in chosen(etype, *of):
        if request.layout in wanted:
            wanted -= {request.layout}
            yield request, table


def judged(
    runtime: str, dtype: str, plan: Callable[..., Calls] | None = None, **options: Any
) -> tuple[Report, dict[str, ClassReport]]:
    """The report on a runtime in one element type, and what it says of each class.

    Args:
        runtime: a module of this folder and a function of it, as ``planted:right``.
        dtype: the id of the element type.
        plan: the calls that are made, if not all.
        options: of `CheckOptions`.
    """
    with nullcontext() if plan is None else patch.object(local_judge, "chosen", plan):
        report = campaign.run_campaign(CheckOptions(f"tests.meta.{runtime}", [dtype], **options))
    return report, {c.id: c for c in report.types[0].classes}
