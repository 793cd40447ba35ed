"""What each level asks, cut into units; tables by ranges of X equal those of the oracle."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sonnx_clip.conform import call_plan, units
from sonnx_clip.conform.call_plan import covering_scalars, planned_calls, some_bounds, together
from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.check_report import Extent, TypeReport
from sonnx_clip.conform.expected import range_tables, tabulate
from sonnx_clip.conform.extent import scope
from sonnx_clip.conform.operator import clip_operator, machine_types
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.language.special import special_patterns
from sonnx_clip.root.dtypes import bits_type

CLIP = clip_operator()
TYPES = {etype.id: etype for etype in machine_types((), CLIP)}


def parts(name: str, level: str) -> list[str]:
    return [
        unit.part
        for unit in CheckOptions("numpy", [name], level=level, of=clip_operator()).every_unit
    ]


@pytest.mark.parametrize("name", TYPES)
def test_a_level_asks_all_that_a_lower_one_asks(name: str) -> None:
    for lower, higher in pairwise(
        parts(name, level) for level in ("quick", "standard", "exhaustive")
    ):
        assert higher[: len(lower)] == lower
    assert parts(name, "quick") == ["chosen"]
    every = parts(name, "exhaustive")
    assert len(set(every)) == len(every)


@pytest.mark.parametrize(
    "name", ["uint8", "float16", pytest.param("float32", marks=pytest.mark.nightly)]
)
def test_standard_has_every_length_and_all_pairs_of_special_bounds(name: str) -> None:
    lengths, pairs = np.zeros(call_plan.EVERY_LENGTH + 1, int), set()
    special = special_patterns(TYPES[name])
    for part in parts(name, "standard")[1:]:
        for request, table in planned_calls(TYPES[name], CLIP, part):
            assert all(map(np.array_equal, request.scalars, table.scalars))
            if request.lengths is not None:
                np.add.at(lengths, request.lengths, 1)
            elif len(request.pool) >= 2**16:
                assert np.isin(special, request.pool).all()
                pairs |= set(zip(*(scalar.tolist() for scalar in request.scalars), strict=True))
    assert np.all(lengths[2:] == call_plan.PAIRS_OF_A_LENGTH)
    assert len(pairs) == (0 if name == "uint8" else len(special) ** 2)


@pytest.mark.parametrize("side", ["min", "max"])
def test_every_bound_of_16_bits_is_asked(side: str) -> None:
    units = [part for part in parts("float16", "exhaustive") if part.startswith(f"every-{side}")]
    asked = [
        some_bounds(TYPES["float16"], CLIP, n, ["min", "max"].index(side))
        for n in range(len(units))
    ]
    varying, beside = (
        np.concatenate([one[k] for one in asked]) for k in ((0, 1) if side == "min" else (1, 0))
    )
    request, _ = next(planned_calls(TYPES["float16"], CLIP, units[-1]))
    assert np.array_equal(request.pool, np.arange(2**16))
    assert all(set(one) <= set(of) for one, of in zip(request.scalars, asked[-1], strict=True))
    assert np.array_equal(varying, np.repeat(np.arange(2**16), 4))
    assert len(np.unique(beside)) == 4


def test_every_x_of_32_bits_is_asked() -> None:
    every = [part for part in parts("float32", "exhaustive") if part.startswith("every-x")]
    stretches = [
        {
            int(request.pool[0]): request.pool
            for request, _ in planned_calls(TYPES["float32"], CLIP, every[n])
        }
        for n in (0, 1, -1)
    ]
    assert len(stretches[0]) * len(every) * 2**16 == 2**32
    found = np.concatenate([pool for one in stretches for pool in one.values()])
    assert (found[0], found[-1]) == (0, 2**32 - 1)
    jump = 2 * len(found) // 3 - 1
    assert np.all(np.delete(np.diff(found), jump) == 1)


def test_blind_spots_depend_on_the_level() -> None:
    every_call = Extent(planned=8, judged=8)
    tried = {"special values": every_call}
    of_quick = TypeReport(type="int32", verdict="conforms", compared=1, classes=(), tried=tried)
    of_whole = of_quick.model_copy(update={"tried": {**tried, "every 32-bit X": every_call}})
    quick, whole = scope([of_quick], CLIP, "quick"), scope([of_whole], CLIP, "exhaustive")
    assert "every X of 32 bits" not in quick[0]
    assert "every X of 32 bits" in whole[0]
    assert "one unusual length above 130 " in quick[1]
    assert "one unusual length above 2,048 " in whole[1]


@pytest.mark.parametrize("name", TYPES)
def test_table_by_ranges_equals_that_of_the_oracle_for_a_pool_in_any_order(name: str) -> None:
    etype, special = TYPES[name], np.array(special_patterns(TYPES[name]), bits_type(name))
    random = np.random.PCG64(7).random_raw(300).astype(special.dtype)
    both = zip(covering_scalars(etype, 8, CLIP), together(random[:40], 2), strict=True)
    scalars = [np.concatenate([a, b[:40]]) for a, b in both]
    pool = np.unique(np.concatenate([special, random]))
    for values in (pool, np.random.default_rng(3).permutation(pool), pool[:0]):
        (found,) = range_tables(etype, CLIP, values, scalars, len(scalars[0]))
        assert sum(found.counts(None)) == found.results.size
        if len(values):
            expected = tabulate(etype, [values], scalars, CLIP)
            for part in ("scalars", "results", "classes"):
                assert np.array_equal(getattr(found, part), getattr(expected, part))
            counts = expected.counts(None)
            assert found.counts(None)[: len(counts)] == counts


@pytest.mark.nightly
def test_some_units_of_the_level_exhaustive(monkeypatch: pytest.MonkeyPatch) -> None:
    some = {16: [("every-max", 1)], 32: [("every-x", 2)]}
    monkeypatch.setattr(units, "kinds_of", lambda etype, *_: some[etype.width])
    types = ["float16", "uint16", "int32", "float32"]
    options = CheckOptions("sonnx", types, policy="strict", level="exhaustive", of=CLIP)
    report = run_campaign(options, jobs=2)
    assert {found.verdict for found in report.types} == {"conforms"}
    assert all(found.compared > 2**25 for found in report.types)
    assert "every X of 32 bits" in report.scope[0]
