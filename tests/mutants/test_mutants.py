"""`make mutants`: what kills a mutant, what proves it equivalent, and the committed record."""

from collections import Counter

import pytest

from sonnx_clip.mutants import Mutant
from sonnx_clip.mutants.claim_judge import ClaimJudge, proved_equivalent
from sonnx_clip.mutants.kernel_mutants import kernel_mutants, killer
from sonnx_clip.mutants.run import (
    PAGE,
    RECORD,
    Journal,
    MutantsRecord,
    all_mutants,
    digest_of,
    page,
    reasons,
    run_mutants,
    survivor,
)
from sonnx_clip.mutants.yaml_mutants import yaml_mutants
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec

SPEC = load_spec()
MUTANTS = {mutant.key: mutant for mutant in yaml_mutants(SPEC)}


@pytest.fixture(scope="module")
def record():
    return MutantsRecord.model_validate_json(repo_file(RECORD).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def judge():
    return ClaimJudge(SPEC)


@pytest.mark.parametrize(
    "change",
    [
        "cases.low.when: le x l => lt x l",
        "cases.low.result: L => X",
        "definitions.is_max_dropping_nan.is: lt a b => lt b a",
        "latitude.nan-inverted.accepts: nan a => not nan a",
        "properties.interval.claim: le l y => lt l y",
    ],
)
def test_mutant_is_killed_by_an_obligation(change, judge):
    assert judge.killer(MUTANTS[change])


def test_changed_statement_is_not_killed_where_it_is_equivalent(judge):
    assert judge.killer(MUTANTS["properties.interval.claim: le y m => lt y m"]) == ""


@pytest.mark.nightly
def test_both_provers_separate_equivalent_from_other_mutants(tmp_path):
    same, other = (
        "properties.interval.claim: le y m => lt y m",
        "properties.interval.claim: le l y => lt l y",
    )
    assert proved_equivalent(SPEC, [MUTANTS[same], MUTANTS[other]], tmp_path) == [same]


@pytest.mark.parametrize(
    ("name", "change"),
    [("plan.py", "upper < lower => upper > lower"), ("sonnx_clip_int8.c", "return max")],
)
def test_mutated_kernel_is_killed_by_a_vector(name, change):
    mutant = next(m for m in kernel_mutants(SPEC) if name in m.name and change in m.change)
    assert killer(mutant).partition(".")[0] in ("int8", "uint8", "float16")


def test_interrupted_run_resumes(tmp_path, monkeypatch):
    journal, some = tmp_path / "mutants.sqlite", list(MUTANTS.values())[:6]
    found = run_mutants(SPEC, some, Journal(journal), tmp_path)
    monkeypatch.setattr(ClaimJudge, "killer", None)
    assert run_mutants(SPEC, some, Journal(journal), tmp_path) == found


def test_survivor_without_a_reason_is_open():
    assert survivor(Mutant("cases", "cases.low.when", "a => b")).outcome == "open"


def test_record_counts_every_mutant(record):
    mutants = all_mutants(SPEC)
    assert record.mutated_sha256 == digest_of(mutants), "run: make mutants"
    assert Counter(m.kind for m in mutants) == record.mutants_by_kind()
    assert record.count("open") == 0


def test_page_is_rendered_from_the_record(record):
    assert repo_file(PAGE).read_text(encoding="utf-8") == page(record), "run: make mutants"


def test_each_reason_fits_a_survivor(record):
    used = {s.reason for s in record.survivors}
    assert [reason for reason in reasons().values() if reason not in used] == []
