"""What the checker costs: rows of the table of targets.

Before anything is timed it must find a planted difference: no figure is that of a blind checker.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import sonnx_clip
from bench.inputs import TYPES, Case, make_case
from bench.targets import MIDDLE, Row
from bench.timing import Call, interleave
from sonnx_clip.conform.compare import compare
from sonnx_clip.conform.dtypes import Array, bits_type
from sonnx_clip.errors import UserError
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

COMPARISON_LIMIT = 1.3


def rows(types: Iterable[str] = TYPES, budget: float = 0.1) -> list[Row]:
    """The rows of the checker; `budget` is in seconds for each type."""
    return [
        _against_the_clip(
            "checker: comparison of bits, against the clip", COMPARISON_LIMIT, comparison, types, budget
        )
    ]


def comparison(case: Case, due: Array) -> Call:
    """The checker's comparison of a result with what is due, where all is as it should be.

    Raises:
        UserError: it does not see one bit that differs.
    """
    bits = bits_type(case.etype)
    etype = load_spec().element_type(case.etype)
    got = due.view(bits)[np.newaxis].copy()
    triples = (
        case.x.view(bits)[np.newaxis],
        case.lower.view(bits)[np.newaxis],
        case.upper.view(bits)[np.newaxis],
    )
    call = partial(compare, etype, got, due.view(bits)[np.newaxis], triples, "default")
    place = case.size // 2
    got[0, place] ^= bits.type(1)
    if (found := call().columns.tolist()) != [place]:
        raise UserError(
            f"the checker found a difference at {found} instead of {place}", case.etype, "run `make test`"
        )
    got[0, place] ^= bits.type(1)
    return call


def _against_the_clip(
    what: str, limit: float, make: Callable[[Case, Array], Call], types: Iterable[str], budget: float
) -> Row:
    ratios: Mapping[str, float] = {etype: _over_the_clip(etype, make, budget) for etype in types}
    worst = max(ratios, key=lambda etype: ratios[etype])
    return Row(what, "at most", limit, "×", ratios[worst], worst, len(ratios))


def _over_the_clip(etype: str, make: Callable[[Case, Array], Call], budget: float) -> float:
    case = make_case(etype, "ordinary", MIDDLE)
    y = case.output()
    clip = partial(sonnx_clip.clip, case.x, case.lower, case.upper, out=y)
    clip()
    figures = interleave({"clip": clip, "work": make(case, y.copy())}, budget)
    return figures["work"].median / figures["clip"].median
