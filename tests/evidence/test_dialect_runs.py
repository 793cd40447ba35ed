"""What the evidence says of runtimes and ONNX's dialects: what the records say, and never more."""

import json
import shutil

import pytest

from sonnx_clip.conform.comparison_record import FOLDER, ComparisonRecord
from sonnx_clip.conform.run_comparison import compare_dialects
from sonnx_clip.evidence.page import render_page
from sonnx_clip.evidence.verdict_records import dialect_runs_of, read_dialect_runs
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec

SPEC = load_spec()


@pytest.fixture(scope="module")
def record():
    return compare_dialects("onnx-reference", [5, 11, 13], ["float32", "int8"])


def build(tmp_path, *records):
    shutil.rmtree(tmp_path / FOLDER, ignore_errors=True)
    (tmp_path / FOLDER).mkdir()
    for number, one in enumerate(records):
        text = one.model_dump_json() if isinstance(one, ComparisonRecord) else json.dumps(one)
        (tmp_path / FOLDER / f"{number}.json").write_text(text)
    return tmp_path


def test_what_was_not_compared_is_not_run(tmp_path, written):
    assert read_dialect_runs(tmp_path, SPEC) == {}
    assert [(run.name, run.run) for run in written.evidence.dialect_runs] == [
        ("onnxruntime", False), ("onnx-reference", False),
    ]  # fmt: skip
    section = written.html.partition('id="dialect-runs"')[2].partition('id="frama-c"')[0]
    assert section.count("It was not compared: nothing is known of it.") == 2


def test_a_record_stands_on_the_page(tmp_path, record, written):
    found = read_dialect_runs(build(tmp_path, record), SPEC)
    runs = dialect_runs_of(SPEC, found)
    html = render_page(written.evidence.model_copy(update={"dialect_runs": runs}), SPEC)
    section = html.partition('id="dialect-runs"')[2].partition('id="frama-c"')[0]
    assert "This was a part" in section
    assert "it takes a missing bound as no bound" in section
    assert 'href="#o-float32.onnx_13_infinities"' in section
    assert "No implementation for operator" in section
    assert "unknown" not in section
    (row,) = [row for row in runs[1].rows if (row.opsets, row.form) == ("13", "none")]
    assert dict(zip(runs[1].types, row.states, strict=True)) == {"int8": "agrees", "float32": "differs"}


@pytest.mark.parametrize("key", ["spec_sha256", "oracle_sha256"])
def test_a_stale_record_is_refused(tmp_path, record, key):
    with pytest.raises(UserError, match="stale") as caught:
        read_dialect_runs(build(tmp_path, record.model_copy(update={key: "0" * 64})), SPEC)
    assert "sonnx-clip compare-dialects" in str(caught.value)


def test_one_file_for_a_runtime(tmp_path, record):
    with pytest.raises(UserError, match="another file speaks of onnx-reference too"):
        read_dialect_runs(build(tmp_path, record, record), SPEC)


def test_a_damaged_record_is_one_message(tmp_path):
    with pytest.raises(UserError, match="Field required"):
        read_dialect_runs(build(tmp_path, {"format": 1}), SPEC)


def spoilt(record, **fields):
    """The record with one disagreement of a form told otherwise."""
    index = next(i for i, cell in enumerate(record.cells) if cell.differing)
    cells = list(record.cells)
    cells[index] = cells[index].model_copy(update=fields)
    return record.model_copy(update={"cells": tuple(cells)})


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"differing": 0}, "its counts do not add up"),
        ({"compared": 1, "same": 1, "payload": 0, "allowed": 0, "differing": 0}, "not those of the groups"),
        ({"unexplained": 1}, "not those of the groups"),
        ({"opset": 12}, "not those of the groups"),
    ],
)
def test_what_the_groups_do_not_bear_out_is_refused(tmp_path, record, fields, words):
    with pytest.raises(UserError, match=words):
        read_dialect_runs(build(tmp_path, spoilt(record, **fields)), SPEC)


def test_a_group_that_hides_a_disagreement_is_refused(tmp_path, record):
    hidden = record.model_copy(update={"groups": record.groups[1:]})
    with pytest.raises(UserError, match="not those of the groups"):
        read_dialect_runs(build(tmp_path, hidden), SPEC)
    fewer = record.model_copy(update={"cells": tuple(c for c in record.cells if not c.differing)})
    with pytest.raises(UserError, match="a form that is not there"):
        read_dialect_runs(build(tmp_path, fewer), SPEC)


def test_what_is_unexplained_stands_open_on_the_page(tmp_path, written):
    wrong = compare_dialects("tests.meta.planted_models:swapped", [13], ["int8"])
    runs = dialect_runs_of(SPEC, read_dialect_runs(build(tmp_path, wrong), SPEC))
    html = render_page(written.evidence.model_copy(update={"dialect_runs": runs}), SPEC)
    assert '<details class="ob" open><summary><span class="chip v-violates">unexplained</span>' in html
    assert [run.name for run in runs][-1] == "tests.meta.planted_models:swapped"
