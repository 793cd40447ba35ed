"""What Coq's kernel has checked, as the evidence tells it."""

import json

import pytest

from sonnx_clip.evidence.road_records import coq_evidence, read_foundation, with_coq
from sonnx_clip.prove.coq_sources import coq_sources, digests
from sonnx_clip.prove.run_coq import GOLDEN
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.spec import load_spec


@pytest.fixture
def record():
    """A record that fits the files and the list of assumptions."""
    golden = dict(line.split(": ", 1) for line in repo_file(GOLDEN).read_text().splitlines())
    sources = coq_sources(repo_root())
    theorems = [
        {"id": t.id, "shows": t.shows,
         "assumptions": [] if golden[t.id].startswith("closed") else golden[t.id].split(", ")}
        for s in sources for t in s.theorems()
    ]  # fmt: skip
    about = {"spec_sha256": load_spec().digest, "coq": "8.16.1", "problems": []}
    return {**about, "sources": digests(sources), "theorems": theorems}


def told(record, tmp_path):
    (tmp_path / "foundation.json").write_text(json.dumps(record))
    return coq_evidence(load_spec(), read_foundation(tmp_path))


def shown_by(entry, coq):
    return dict(with_coq(entry, coq).facts).get("shown by")


def entry(written, section, id_):
    return next(e for e in written.evidence.entries if (e.section, e.id) == (section, id_))


def test_third_column(written, record, tmp_path):
    coq = told(record, tmp_path)
    assert coq.status == "checked"
    for p in load_spec().properties:
        assert shown_by(entry(written, "properties", p.id), coq) == "Z3, cvc5, Coq kernel"
    assert shown_by(entry(written, "constraints", "C2"), coq) == "Z3, cvc5, Coq kernel"
    assert shown_by(entry(written, "constraints", "C1"), coq) == "Z3, cvc5, Coq kernel: no theorem"
    assert shown_by(entry(written, "restrictions", "R1"), coq) is None


def test_readings_are_in_coq(written, record, tmp_path):
    coq = told(record, tmp_path)
    for reading in load_spec().readings:
        assert shown_by(entry(written, "readings", reading.id), coq) == "Z3, cvc5, Coq kernel"


def test_not_run_is_said(written, tmp_path):
    coq = coq_evidence(load_spec(), read_foundation(tmp_path))
    assert coq.status == "not run"
    assert shown_by(entry(written, "properties", "monotone"), coq).endswith("Coq kernel: not run")
    assert "Coq kernel: not run" in written.html


@pytest.mark.parametrize("statuses", [("gap",), ("not proved", "proved"), ("proved by one", "proved")])
def test_what_the_provers_lack_is_said(written, record, tmp_path, statuses):
    given = entry(written, "properties", "monotone")
    cells = tuple(given.cells[i].model_copy(update={"status": s}) for i, s in enumerate(statuses))
    said = shown_by(given.model_copy(update={"cells": cells}), told(record, tmp_path))
    assert said.startswith(("not by Z3 and cvc5", "Z3 or cvc5, in some types not both"))


def test_changed_file_makes_it_stale(record, tmp_path):
    record["sources"]["coq/Clip.v"] = "0" * 64
    assert told(record, tmp_path).status == "stale"


def test_record_is_held_against_the_list(record, tmp_path):
    record["theorems"][0]["assumptions"] = ["wish"]
    coq = told(record, tmp_path)
    assert coq.status == "not proved"
    assert "wish" in coq.problems[0]


def test_problems_are_kept(record, tmp_path):
    record["problems"] = ["coq/Clip.v:1: `Admitted` is not allowed"]
    assert told(record, tmp_path).problems == ("coq/Clip.v:1: `Admitted` is not allowed",)


def test_damaged_record_is_refused(tmp_path):
    (tmp_path / "foundation.json").write_text("{")
    with pytest.raises(UserError, match="not JSON"):
        read_foundation(tmp_path)
