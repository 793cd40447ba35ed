"""`make mutants`: what kills a mutant, what proves it equivalent, and the committed record."""

from collections import Counter
from dataclasses import replace

import pytest

from sonnx_clip.mutants import Mutant
from sonnx_clip.mutants.claim_judge import ClaimJudge, proved_equivalent
from sonnx_clip.mutants.kernel_mutants import kernel_mutants, killer
from sonnx_clip.mutants.rewrite_mutants import (
    killer_of_rewrite,
    rewrite_mutants,
    rewrites_proved_equivalent,
)
from sonnx_clip.mutants.run import (
    PAGE,
    RECORD,
    Journal,
    MutantsRecord,
    all_mutants,
    judges_of,
    mutants_digest,
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
OF_REWRITES = {mutant.key: mutant for mutant in rewrite_mutants()}


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


@pytest.mark.parametrize(
    ("change", "obligation"),
    [
        # legal where it is not stated
        ("legal_when.real.bits: C <= B => C < B", "real_bits_exact"),
        # stated where it is illegal
        ("legal_when.int.bits: C <= B => C >= B", "int_bits_legal"),
        ("after: C => D", "real_bits_legal"),
        # only a bound that is NaN beside an infinite one shows it
        ("given: B => D", "float_value_exact"),
    ],
)
def test_mutant_of_a_rewrite_is_killed_by_an_obligation(change, obligation):
    mutant = OF_REWRITES[f"rewrites.clip-clip-by-max-min.{change}"]
    assert killer_of_rewrite(mutant) == f"rewrites.clip_clip_by_max_min_{obligation}"


@pytest.mark.nightly
def test_both_provers_separate_equivalent_from_other_mutants_of_rewrites(tmp_path):
    same, other = (
        "rewrites.relu-clip-by-negative-min.legal_when.float.value: A < 0 => A <= 0",
        "rewrites.clip-before-abs.after: B => X",
    )
    mutants = [OF_REWRITES[same], OF_REWRITES[other]]
    assert rewrites_proved_equivalent(mutants, tmp_path) == [same]


@pytest.mark.nightly
def test_planted_survivor_among_rewrites_is_open(tmp_path):
    survivor = OF_REWRITES["rewrites.clip-before-abs.after: B => X"]
    planted = replace(survivor, name="rewrites.planted.after")
    judges = judges_of(SPEC, Journal(tmp_path / "mutants.sqlite"), tmp_path)
    record = run_mutants([planted], judges)
    assert [(s.name, s.outcome) for s in record.survivors] == [("rewrites.planted.after", "open")]
    assert "0 killed" in record.closing_line


def test_interrupted_run_resumes(tmp_path, monkeypatch):
    mutants = list(MUTANTS.values())[:6]

    def run():
        journal = Journal(tmp_path / "mutants.sqlite")
        return run_mutants(mutants, judges_of(SPEC, journal, tmp_path))

    record = run()
    monkeypatch.setattr(ClaimJudge, "killer", None)
    assert run() == record


def test_survivor_without_a_reason_is_open():
    assert survivor(Mutant("cases", "cases.low.when", "a => b")).outcome == "open"


def test_record_counts_every_mutant(record):
    mutants = all_mutants(SPEC)
    assert record.mutated_sha256 == mutants_digest(mutants), "run: make mutants"
    assert Counter(m.kind for m in mutants) == record.mutants_by_kind()
    assert record.count("open") == 0


def test_page_is_rendered_from_the_record(record):
    assert repo_file(PAGE).read_text(encoding="utf-8") == page(record), "run: make mutants"


def test_each_reason_fits_a_survivor(record):
    used = {s.reason for s in record.survivors}
    assert [reason for reason in reasons().values() if reason not in used] == []
