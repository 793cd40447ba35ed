"""A part of what `make mutants` does: what finds mutants, the journal, and the page made of it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from sonnx_clip.mutants.mutants_record import MutantsRecord, all_found, closing_line, page
from sonnx_clip.mutants.run_mutants import Journal, MutantsRun
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from pathlib import Path

SOME = 40


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("build")


@pytest.fixture(scope="module")
def record(build: Path) -> MutantsRecord:
    run = MutantsRun(load_spec(), build, Console(quiet=True))
    mutants = list(islice(run.theories.of_subject("int8"), SOME))
    rows = run._of_theories(mutants)
    run.journal.close()
    return MutantsRecord(
        tool="a test", spec_sha256=run.spec.digest, seconds=1, mutants=tuple(rows), kills={}, unkilled=()
    )


def test_most_are_found_by_an_obligation(record: MutantsRecord) -> None:
    found = [row for row in record.mutants if row.by.startswith("int8.")]
    assert len(record.mutants) == SOME
    assert len(found) > SOME // 2
    assert any(row.example for row in found)  # a goal without variables has none


def test_what_nothing_finds_is_open(record: MutantsRecord) -> None:
    row = record.mutants[0].model_copy(update={"by": "", "name": "none of that name", "example": ""})
    worse = record.model_copy(update={"mutants": (*record.mutants, row)})
    assert not all_found(worse.mutants)
    assert f"{SOME + 1} mutants" in closing_line(worse)
    assert "none of that name" in page(worse)


def test_a_second_run_reads_the_journal(build: Path, record: MutantsRecord) -> None:
    with (build / "mutants.jsonl").open("a") as journal:
        journal.write('["half a li')
    known = Journal(build / "mutants.jsonl").known
    run = MutantsRun(load_spec(), build, Console(quiet=True))
    before = (build / "mutants.jsonl").stat().st_size
    rows = run._of_theories(list(islice(run.theories.of_subject("int8"), SOME)))
    run.journal.close()
    assert tuple(rows) == record.mutants
    assert run.journal.known == known
    assert (build / "mutants.jsonl").stat().st_size == before
