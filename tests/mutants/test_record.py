"""The record of the last run over all mutants, and its page."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase

import pytest

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.mutants.mutants_record import (
    KERNELS,
    PAGE,
    RECORD,
    SAME,
    MutantsRecord,
    all_found,
    outcome,
    page,
    read_mutants,
    reasons,
    wrong_programs,
)
from sonnx_clip.prove.standing import by_definition
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec


@pytest.fixture(scope="module")
def record() -> MutantsRecord:
    return read_mutants()


def test_the_page_is_that_of_the_record(record: MutantsRecord) -> None:
    assert repo_file(PAGE).read_text(encoding="utf-8") == page(record), "run: make mutants"


def test_it_speaks_of_this_specification(record: MutantsRecord) -> None:
    assert record.spec_sha256 == load_spec().digest, "run: make mutants"
    ids = {o.id for o in all_obligations(load_spec()) if o.kind != "smoke"}
    assert set(record.kills) | set(record.unkilled) == ids
    assert not set(record.kills) & set(record.unkilled)


def test_each_mutant_is_found_or_equivalent_or_has_a_reason(record: MutantsRecord) -> None:
    assert len(record.mutants) >= 2000
    assert all_found(record.mutants)
    known = reasons()
    for pattern, reason in known:
        assert reason, pattern
        assert any(outcome(row, [(pattern, reason)]) == "reason" for row in record.mutants), pattern


# Why no mutant makes these fail, although they do not hold by definition.
UNDECIDED = {
    "*.nan_payload_is_given": "two readings give it, and a mutant changes one of them",
    "*.nan_inverted_is_given": "three readings give it, and a mutant changes one of them",
    "tensor.rows_*": "arithmetic, which rests on no definition that a mutant changes",
}


def test_what_no_mutant_makes_fail_holds_by_definition(record: MutantsRecord) -> None:
    """Such an obligation is out of what the headline counts; the few others are known, each with a reason."""
    patterns = by_definition()
    left = [id_ for id_ in record.unkilled if not any(fnmatchcase(id_, p) for p in patterns)]
    assert [id_ for id_ in left if not any(fnmatchcase(id_, p) for p in UNDECIDED)] == []
    assert all(any(fnmatchcase(id_, p) for id_ in left) for p in UNDECIDED)


def test_the_record_names_no_place_in_memory() -> None:
    """An example with one differs from run to run: nobody can compute it again."""
    for file in (RECORD, PAGE):
        text = repo_file(file).read_text(encoding="utf-8")
        assert not re.search(r" at 0x[0-9a-f]+|<(?:function|object|built-in)", text), file


def test_the_vectors_find_every_wrong_kernel(record: MutantsRecord) -> None:
    for area in KERNELS:
        wrong = wrong_programs(record, reasons(), area)
        assert len(wrong) > 300
        assert [row for row in wrong if not row.by.startswith("vector")] == []


def test_what_finds_a_mutant_exists(record: MutantsRecord) -> None:
    ids = {o.id for o in all_obligations(load_spec())}
    machine = [e.id for e in load_spec().element_types if e.family != "real"]
    files = [repo_file(f"generated/vectors/{id_}.json").read_text(encoding="utf-8") for id_ in machine]
    vectors = {v["id"] for text in files for v in json.loads(text)["vectors"]}
    others = {"", "why3/statements.txt", "special values", SAME, "compiler", "vector", "import"}
    for row in record.mutants:
        word = row.by.removeprefix("vector ").split(" (")[0].partition(":")[0]
        known = word in ids or word in vectors or word.startswith("(it raises") or row.by in others
        assert known or row.by.startswith("equivalent"), row
