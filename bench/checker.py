"""What the checker costs: rows of the table of targets.

Before anything is timed it must be right, and must find a planted difference: no figure is that of a blind
checker.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import sonnx_clip
from bench.inputs import TYPES, Case, make_case
from bench.targets import MIDDLE, Row, second_chance
from bench.timing import Call, interleave
from sonnx_clip.conform.compare import same_bits
from sonnx_clip.conform.histogram import class_histogram
from sonnx_clip.conform.triples import clip_under_every_max, compare_every_triple
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.clip_model import clip_of_many_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMPARISON = ("checker: comparison of bits, against the clip", 1.3)
_HISTOGRAM = ("checker: classes of all entries, against the clip", 5)
_TRIPLES = ("checker: all 16,777,216 triples of int8 by rows, against the oracle", 10)
_THROUGH = ("checker: all 16,777,216 triples of int8 through onnxruntime, 256 nodes a model", 60)
_TODO = "run `make test`"


def rows(types: Sequence[str] = TYPES, budget: float = 0.3) -> list[Row]:
    """The rows of the checker; `budget` is in seconds for each type.

    Raises:
        UserError: the checker errs.
    """
    cases = [make_case(etype, "ordinary", MIDDLE) for etype in types]
    ratios = (
        partial(_against_the_clip, *_COMPARISON, [(case, comparison(case)) for case in cases], budget),
        partial(_against_the_clip, *_HISTOGRAM, [(case, histogram(case)) for case in cases], budget),
    )
    return [
        *(second_chance(measure(), measure) for measure in ratios),
        # times and no ratios: what else the machine does is not divided out
        every_triple(5 * budget),
        through_onnxruntime(5 * budget),
    ]


def comparison(case: Case) -> Call:
    """The comparison of a result with what is due, where all is as it should be; UserError if it is blind."""
    due = sonnx_clip.clip(case.x, case.lower, case.upper)
    got = case.output()
    got[...] = due
    bits, call = got.view(bits_type(case.etype)), partial(same_bits, got, due)
    bits[case.size // 2] ^= 1
    seen = not call()
    bits[case.size // 2] ^= 1
    if not seen or not call():
        raise UserError("same_bits sees no difference where one is, or one where none is", case.etype, _TODO)
    return call


def histogram(case: Case) -> Call:
    """The number of entries in each class; UserError if the oracle's conditions say otherwise."""
    oracle = load_oracle()
    conditions = oracle.CLASSES[oracle.FAMILY_OF[case.etype]]
    due = {id_: int(np.sum(holds(case.x, case.lower, case.upper))) for id_, holds in conditions.items()}
    call = partial(class_histogram, case.x, case.lower, case.upper)
    if (found := call()) != due:
        raise UserError(f"class_histogram counts {found}, the oracle {due}", case.etype, _TODO)
    return call


def every_triple(budget: float) -> Row:
    """All triples of int8 against the answers of the oracle; UserError if one deviates, or if it is blind."""
    began = time.perf_counter()
    found = compare_every_triple("int8")
    first = time.perf_counter() - began
    blind = compare_every_triple("int8", _spoilt).deviating != 1
    if blind or found.deviating or found.compared != 1 << 24:
        raise UserError(f"compare_every_triple found {found}", "int8", _TODO)
    figures = interleave({"": partial(compare_every_triple, "int8")}, budget)
    note = f"the oracle's answers are kept from the first call, which took {first:.1f} s"
    what, limit = _TRIPLES
    return Row(what, "at most", limit, "ms", 1e3 * figures[""].median, "", 1, note)


def through_onnxruntime(budget: float) -> Row:
    """The same through ONNX Runtime, its calls and the comparison; UserError as above."""
    from sonnx_clip.runtimes.adapters.onnxruntime import RUNTIME

    assert RUNTIME.open_model is not None
    clip = clip_of_many_nodes(RUNTIME.open_model)

    def wrong(*given: Array) -> None:
        clip(*given)
        if given[1] == 3:
            given[3][5, 7] ^= 1

    found, blind = compare_every_triple("int8", clip), compare_every_triple("int8", wrong).deviating != 1
    if blind or found.deviating or found.compared != 1 << 24:
        raise UserError(f"compare_every_triple found {found}", "int8", _TODO)
    figures = interleave({"": partial(compare_every_triple, "int8", clip)}, budget)
    what, limit = _THROUGH
    return Row(what, "at most", limit, "ms", 1e3 * figures[""].median, "", 1)


def _spoilt(x: Array, lower: Array, upper: Array, out: Array) -> None:
    """One wrong bit, of one triple."""
    clip_under_every_max(x, lower, upper, out)
    if lower == 3:
        out[5, 7] ^= 1


def _against_the_clip(what: str, limit: float, works: Sequence[tuple[Case, Call]], budget: float) -> Row:
    ratios = {case.etype: _over_the_clip(case, work, budget) for case, work in works}
    worst = max(ratios, key=lambda etype: ratios[etype])
    return Row(what, "at most", limit, "×", ratios[worst], worst, len(ratios))


def _over_the_clip(case: Case, work: Call, budget: float) -> float:
    clip = partial(sonnx_clip.clip, case.x, case.lower, case.upper, out=case.output())
    figures = interleave({"clip": clip, "work": work}, budget)
    return figures["work"].median / figures["clip"].median
