"""Each mistake planted in the specification or in a theory makes a named obligation fail."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends import whyml_printer
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from tests.meta.spec_bugs import ALL, QUICK, Bug

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.prove.workbench import Ended, Workbench

SECONDS = 4  # more than what holds takes: the last test here


def _only(ids: tuple[str, ...]) -> list[str]:
    return [part for id_ in ids for part in ("--only", id_)]


def _not_proved(ended: Ended) -> set[str]:
    return set(re.findall(r"^not proved (\S+):", ended.out, re.MULTILINE))


def test_each_can_be_planted() -> None:
    """Most are, in the exhaustive tests alone: what they replace stands once in today's files."""
    counts = {bug.name: repo_file(bug.file).read_text(encoding="utf-8").count(bug.old) for bug in ALL}
    assert {name: count for name, count in counts.items() if count != 1} == {}


@pytest.mark.parametrize(
    "bug",
    [pytest.param(bug, marks=() if bug in QUICK else pytest.mark.nightly, id=bug.name) for bug in ALL],
)
def test_planted_bug_is_caught_by_its_obligation(bug: Bug, bench: Workbench) -> None:
    bench.limit(SECONDS)
    bench.plant(bug.file, bug.old, bug.new)
    if bug.loader:
        with pytest.raises(UserError, match=re.escape(bug.loader)):
            bench.generate()
        bench.believe_the_yaml()
    bench.generate()
    ended = bench.prove(*_only(bug.caught_by))
    assert ended.status == 1
    assert _not_proved(ended) == set(bug.caught_by)


@pytest.mark.parametrize(
    ("constant", "pattern", "caught_by"),
    [
        ("highest", 0x7F7FFFFE, ("float32.extremes", "float32.widest_bounds_are_no_bound_repaired")),
        ("inf", 0x7F7FFFFF, ("float32.extremes", "float32.nan_max_is_no_bound")),
        ("-0", 0x00000000, ("float32.idempotent_bitwise_refuted", "float32.zero_sign_inhabited")),
    ],
)
def test_a_wrong_constant_is_caught(
    constant: str, pattern: int, caught_by: tuple[str, ...], bench: Workbench
) -> None:
    right = whyml_printer.encode
    bench.render_anew()
    bench.monkeypatch.setattr(
        whyml_printer, "encode", lambda text, etype: pattern if text == constant else right(text, etype)
    )
    bench.limit(SECONDS)
    bench.generate()
    ended = bench.prove(*_only(caught_by))
    assert ended.status == 1
    assert _not_proved(ended) == set(caught_by)


@pytest.mark.parametrize("bugs", [QUICK, pytest.param(ALL, marks=pytest.mark.nightly)], ids=["quick", "all"])
def test_without_a_bug_the_same_obligations_hold(bugs: Iterable[Bug], bench: Workbench) -> None:
    """The obligations fail because of the bugs, and not for want of time.

    It is the processor time that is compared: a machine that is busy makes the provers wait.
    """
    catchers = {id_ for bug in bugs for id_ in bug.caught_by if not id_.endswith(".bad")}
    ended = bench.prove("--json", *_only(tuple(catchers)))
    assert ended.status == 0
    assert "not proved" not in {o["status"] for o in ended.outcomes.values()}
    assert set(ended.outcomes) == catchers
    assert max(reply["cpu"] for o in ended.outcomes.values() for reply in o["replies"]) < SECONDS
