"""About how long slices take here: for the plan of a sweep on many machines."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from sonnx_clip.sweep.work import run_slice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.sweep.slices import Slice
    from sonnx_clip.sweep.subjects import SweepSubject

_PART = 64  # of a slice one such part is swept, to know how long it takes


def seconds_of(left: Iterable[tuple[SweepSubject, Slice]]) -> float:
    """Seconds of one processor, by a small part of the first slice of each kind.

    The slices without a range are not counted: one or two of an element type.
    """
    known: dict[tuple[str, str, int], float] = {}
    total = 0.0
    for subject, part in left:
        if (size := part.stop - part.start) <= 0:
            continue
        kind = subject.name, part.side, size
        if kind not in known:
            some = max(1, size // _PART)
            small = replace(part, stop=part.start + some)
            run_slice(subject, replace(part, stop=part.start + 1))  # it makes the tables
            began = time.monotonic()
            run_slice(subject, small)
            known[kind] = (time.monotonic() - began) * size / some
        total += known[kind]
    return total
