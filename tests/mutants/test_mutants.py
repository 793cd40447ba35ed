"""`make mutants`: what kills a mutant, what proves it equivalent, and the committed record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from sonnx_clip.mutants.kernel_mutants import c_kernels, found_by, numpy_kernels
from sonnx_clip.mutants.mutants_record import (
    PAGE,
    RECORD,
    MutantsRecord,
    page,
    read_mutants,
    reasons,
    survivor,
)
from sonnx_clip.mutants.run_mutants import MutantsRun
from sonnx_clip.mutants.yaml_mutants import ClaimJudge, key_of, proved_equivalent, yaml_mutants
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from pathlib import Path

SPEC = load_spec()
MUTANTS = {key_of(mutant): mutant for mutant in yaml_mutants(SPEC)}


@pytest.fixture(scope="module")
def record() -> MutantsRecord:
    return read_mutants()


@pytest.mark.parametrize(
    ("change", "obligation"),
    [
        ("cases.low.when: le x l => lt x l", "low_tie_inhabited"),
        ("cases.low.result: L => X", "cases_results"),
        ("definitions.is_max_2008.is: lt a b => lt b a", "formula_2008_agrees"),
        ("latitude.nan-inverted.accepts: nan a => not nan a", "nan_inverted_inhabited"),
        ("properties.interval.claim: le l y => lt l y", "interval"),
    ],
)
def test_mutant_is_killed_by_an_obligation(change: str, obligation: str) -> None:
    killers = ClaimJudge(SPEC, set()).killers(MUTANTS[change])
    assert obligation in {id_.partition(".")[2] for id_ in killers}


def test_both_provers_separate_equivalent_from_other_mutants(tmp_path: Path) -> None:
    same, other = "properties.interval.claim: le y m => lt y m", "properties.interval.claim: le l y => lt l y"
    asked = [MUTANTS[same], MUTANTS[other]]
    assert proved_equivalent(SPEC, asked, tmp_path, lambda _: None) == {same}


def test_mutated_kernels_are_killed_by_vectors() -> None:
    numpy = next(m for m in numpy_kernels(SPEC) if "upper < lower => upper > lower" in m.change)
    c = next(m for m in c_kernels(SPEC) if "int8" in m.name and "return" in m.change)
    for mutant in (numpy, c):
        killed = found_by(SPEC, mutant)
        assert killed is not None
        assert killed[0].startswith("vector")


def test_interrupted_run_resumes(tmp_path: Path) -> None:
    some = list(MUTANTS.values())[:6]
    first = MutantsRun(SPEC, tmp_path, Console(quiet=True))
    found = first.of_conditions(some)[1:]
    first.journal.close()
    with (tmp_path / "mutants.jsonl").open("a", encoding="utf-8") as journal:
        journal.write('["half a li')
    size = (tmp_path / "mutants.jsonl").stat().st_size
    second = MutantsRun(SPEC, tmp_path, Console(quiet=True))
    assert second.of_conditions(some)[1:] == found
    second.journal.close()
    assert (tmp_path / "mutants.jsonl").stat().st_size == size


def test_survivor_without_a_reason_is_open() -> None:
    row = survivor("cases", "cases.low.when", "a => b", equivalent=False, known=[])
    assert row.outcome == "open"


def test_counts_of_the_record_add_up(record: MutantsRecord) -> None:
    for kind in record.kinds:
        assert kind.killed + sum(s.kind == kind.kind for s in record.survivors) == kind.mutants
    assert record.count("open") == 0
    assert record.evaluated <= record.obligations


def test_page_is_rendered_from_the_record(record: MutantsRecord) -> None:
    assert repo_file(PAGE).read_text(encoding="utf-8") == page(record), "run: make mutants"
    assert repo_file(RECORD).stat().st_size < 100_000


def test_each_reason_fits_a_survivor(record: MutantsRecord) -> None:
    used = {s.reason for s in record.survivors}
    assert [reason for _, reason in reasons() if reason not in used] == []
