"""Which calls of a plan reach a runtime that stands behind a pipe or has little memory: for `campaign`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.conform.calls import Request
    from sonnx_clip.conform.chosen_triples import Table

STRIDED = "how X lies in memory: its entries were given one behind the other"
"""What is not seen of a runtime to which strides do not matter."""

_LONGEST = 65


def _same_as_plain() -> Iterator[str]:
    """The layouts that differ from another one in memory alone."""
    for layout in LAYOUTS:
        found = layout.arrange(np.zeros(_LONGEST if layout.length is None else layout.length))
        if not found.flags.c_contiguous or not found.flags.aligned or layout.id == "offset":
            yield layout.id


_STRIDED = frozenset(_same_as_plain())


def reaching(
    plan: Iterable[tuple[Request, Table]], *, strides: bool = True, entries: int | None = None
) -> Iterator[tuple[Request, Table]]:
    """The requests of a plan as they can be made.

    Args:
        plan: requests, each with what is expected.
        strides: whether layouts that differ in memory alone are asked.
        entries: the most entries of a call; longer calls are made in pieces that cover all of X.
    """
    for request, table in plan:
        if not strides and request.layout in _STRIDED:
            continue
        if entries is None or request.length <= entries:
            yield request, table
        else:
            yield _in_pieces(request, table, entries)


def _in_pieces(request: Request, table: Table, entries: int) -> tuple[Request, Table]:
    firsts = np.arange(0, request.length, entries)
    rows = np.repeat(np.arange(request.count), len(firsts))
    starts = (request.starts[:, None] + firsts).reshape(-1) % len(request.pool)
    scalars = tuple(scalar[rows] for scalar in request.scalars)
    return replace(request, length=entries, starts=starts, scalars=scalars), table.rows(rows)
