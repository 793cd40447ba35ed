"""Other operators than Clip in the evidence: shown where they are proved, and never where they are not."""

import csv
import io
import json
import shutil

import pytest

from sonnx_clip.evidence import write_evidence
from sonnx_clip.evidence.collect import gather
from sonnx_clip.evidence.exchange_formats import render_junit, render_matrix, render_needs
from sonnx_clip.evidence.other_operators import operator_evidence
from sonnx_clip.evidence.records import read_other, read_records
from sonnx_clip.evidence.supply_chain import record_files
from sonnx_clip.evidence.verify import recorded_answers, repeat_answers, verify
from sonnx_clip.prove.proofs_record import theory_digests
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from tests.evidence import made

OTHERS = (made.other("max"), made.other("relu"))


@pytest.fixture
def build(tmp_path):
    """The record of Max."""
    return made.write_other(tmp_path / "build", "max")


def shown(build):
    """The evidence of Max."""
    return operator_evidence(read_other(build, made.other("max")))


def change(build, edit):
    """Change the record of Max."""
    path = build / "max" / "proofs.json"
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))


def test_proved_operator_has_its_requirements_with_their_obligations(build):
    found = shown(build)
    requirements = {entry.id for entry in found.entries if entry.requirement}
    assert requirements == {f"max:{entry.id}" for _, entry in made.other("max").requirements()}
    ids = {o.obligation.id for o in found.obligations}
    cells = [cell for entry in found.entries for cell in entry.cells]
    assert {id_ for cell in cells for id_ in cell.obligations} <= ids
    assert {cell.status for cell in cells} == {"proved"}
    assert found.totals.by_two == found.totals.obligations > 600
    assert found.totals.open == ()


def other_specification(document):
    document["about"]["spec_digest"] = "0" * 64


def other_theory(document):
    document["about"]["files"]["generated/why3/int8.mlw"] = "0" * 64


@pytest.mark.parametrize("edit", [other_specification, other_theory])
def test_record_of_something_else_is_stale(build, edit):
    change(build, edit)
    found = shown(build)
    assert (found.basis, found.totals, found.obligations) == ("stale", None, ())
    assert found.command == "sonnx-clip prove --operator max"


def test_theories_that_were_changed_with_their_digests_are_stale(build):
    theory = build / "max/generated/why3/int8.mlw"
    theory.write_text(theory.read_text() + "(* other *)\n")
    digests = theory_digests(build / "max")
    change(build, lambda document: document["about"].update(files=digests))
    assert "int8.mlw" in shown(build).problem


def test_damaged_record_is_refused(build):
    (build / "max" / "proofs.json").write_text("{")
    with pytest.raises(UserError, match="not JSON"):
        shown(build)


def remove_answers(document):
    made.answered(document, "int8.total", [])


def test_unproved_obligation_is_open(build):
    change(build, remove_answers)
    assert "not proved: int8.total: no prover answered" in shown(build).open


def test_answer_about_another_task_is_refused(build):
    operator = read_other(build, made.other("max")).proved
    answers = [one for one in recorded_answers(operator) if one.obligation.id == "int8.total"]
    with pytest.raises(UserError, match="the theories have another") as error:
        repeat_answers(build, operator, answers)
    assert "max/proofs.json" in str(error.value)


@pytest.fixture(scope="module")
def written_once(tmp_path_factory):
    """Records of Clip and Max with the evidence of them; nobody has proved Relu."""
    build = made.write(tmp_path_factory.mktemp("operators") / "build", made.proofs())
    made.write_other(build, "max")
    summary = write_evidence(load_spec(), build, build / "evidence", others=OTHERS)
    return build, summary.evidence


def test_operator_without_a_record_is_not_run_and_names_its_command(written_once):
    _, evidence = written_once
    lines = {line.name: line for line in evidence.argument}
    assert lines["Operator Max"].basis == "taken from records, not repeated"
    assert lines["Operator Relu"].basis == "not run"
    assert "sonnx-clip prove --operator relu" in lines["Operator Relu"].result


def test_verify_accepts_what_was_written(written_once):
    build, _ = written_once
    lines = list(verify(load_spec(), build, 0.0, others=OTHERS))
    assert any("index.html" in line and "agree with the records" in line for line in lines)


def forge_answer(build):
    def edit(document):
        document["outcomes"][0]["replies"][0]["task"] = "f" * 64

    change(build, edit)


def remove(build):
    (build / "max" / "proofs.json").unlink()


def make_stale(build):
    change(build, other_theory)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (forge_answer, "differs from the records"),
        pytest.param(remove, "differs from the records", marks=pytest.mark.nightly),
        (make_stale, r"stale: .*\n.*prove --operator max"),
    ],
)
def test_spoilt_record_is_refused_by_verify(written_once, tmp_path, spoil, message):
    build = tmp_path / "build"
    shutil.copytree(written_once[0], build)
    spoil(build)
    with pytest.raises(UserError, match=message):
        list(verify(load_spec(), build, 0.0, others=OTHERS))


def test_open_point_of_another_operator_is_one_of_the_page(written_once, tmp_path):
    build = tmp_path / "build"
    shutil.copytree(written_once[0], build)
    change(build, remove_answers)
    written = write_evidence(load_spec(), build, tmp_path / "out", others=OTHERS)
    assert "Max: not proved: int8.total: no prover answered" in written.evidence.totals.open
    assert written.exit_status == 1


@pytest.mark.nightly
def test_every_format_has_the_operator_under_ids_of_its_own(written_once):
    build, evidence = written_once
    found = read_records(build, load_spec(), OTHERS)
    assert gather(found, evidence.checkout) == evidence
    rows = list(csv.DictReader(io.StringIO(render_matrix(evidence, found))))
    assert {row["obligation"] for row in rows} >= {"int8.total", "max:int8.total"}
    assert [row["sentence"] for row in rows if row["entry"] == "max:first"]
    junit = render_junit(evidence, found)
    assert 'name="int8.total"' in junit
    assert 'name="max:int8.total"' in junit
    (version,) = json.loads(render_needs(evidence, found))["versions"].values()
    needs = version["needs"]
    tracked = [id_ for id_, need in needs.items() if need["type"] not in ("test", "verdict")]
    every = (*evidence.all_entries, *evidence.all_obligations, *evidence.all_findings)
    assert len(tracked) == len(every)
    assert needs["REQ_MAX__FIRST"]["links_back"]
    assert "max/proofs.json" in record_files(build)
