"""The theorem about sweeps over pairs needs each of them, and is not about nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.prove.workbench import Workbench

FILE = "why3/composition.mlw"
THEOREM = "composition.sweeps_cover_every_triple"
SECONDS = 4  # more than what holds takes: the last test here
TWO_STEPS = "composition.lower_then_upper"

# What is replaced, and the obligation that must fail.
PLANTED = {
    "no sweep of (X, min)": ("(forall x l: t. kernel x l hi = clip x l hi)\n    /\\ ", "", THEOREM),
    "no sweep of (X, max), min low": ("    /\\ (forall x m: t. kernel x lo m = clip x lo m)\n", "", THEOREM),
    "no sweep of (X, max), min high": ("    /\\ (forall x m: t. kernel x hi m = clip x hi m)\n", "", THEOREM),
    "no pairs of bounds, X low": ("    /\\ (forall l m: t. kernel lo l m = clip lo l m)\n", "", THEOREM),
    "no pairs of bounds, X = min": ("    /\\ (forall l m: t. kernel l l m = clip l l m)\n", "", THEOREM),
    "no pairs of bounds, X NaN": (
        "    /\\ (forall l m: t. kernel probe l m = clip probe l m)\n", "", THEOREM),
    "the structure is another one": (
        "else if at_upper m x then m\n", "else if at_upper l x then m\n", THEOREM),
    "zeros of both signs are forgotten": (
        "(if le x l /\\ eq l m then m else clip x l m)", "clip x l m", TWO_STEPS),
    "a zero for an end": (
        "fixed (0xfc00: t) (0x7c00: t) (0x7e00: t)", "fixed (0xfc00: t) (0x0000: t) (0x7e00: t)",
        "composition.float16_ends"),
    "a number for the NaN": (
        "fixed (0xff80: t) (0x7f80: t) (0x7fc0: t)", "fixed (0xff80: t) (0x7f80: t) (0x3f80: t)",
        "composition.bfloat16_ends"),
}  # fmt: skip


# Independent mistakes of different obligations, planted together.
TOGETHER = [
    "no sweep of (X, min)", "zeros of both signs are forgotten", "a zero for an end", "a number for the NaN",
]  # fmt: skip


def require_refuted(names: list[str], bench: Workbench) -> None:
    for name in names:
        bench.plant(FILE, *PLANTED[name][:2])
    caught_by = {PLANTED[name][2] for name in names}
    bench.limit(SECONDS)
    ended = bench.prove(*(part for id_ in caught_by for part in ("--only", id_)), "--json")
    assert ended.status == 1
    assert {ended.outcomes[id_]["status"] for id_ in caught_by} == {"not proved"}


def test_mistakes_in_the_theorems_are_not_proved(bench: Workbench) -> None:
    require_refuted(TOGETHER, bench)


@pytest.mark.nightly
@pytest.mark.parametrize("name", PLANTED)
def test_theorem_needs_each_part(bench: Workbench, name: str) -> None:
    require_refuted([name], bench)


@pytest.mark.nightly
@pytest.mark.parametrize("obligation", sorted({planted[2] for planted in PLANTED.values()}))
def test_unmodified_theorem_is_proved(bench: Workbench, obligation: str) -> None:
    ended = bench.prove("--only", obligation, "--json")
    assert ended.outcomes[obligation]["status"] == "proved"
    assert max(reply["cpu"] for reply in ended.outcomes[obligation]["replies"]) < SECONDS
