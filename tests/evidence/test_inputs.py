"""What is missing, damaged or stale is refused with one message, and nothing is written."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli.app import app
from sonnx_clip.evidence import write_evidence
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.runtime import OURS
from tests.evidence import made


def refused(build, tmp_path, **more):
    out = tmp_path / "out"
    with pytest.raises(UserError) as error:
        write_evidence(build, out, **more)
    assert not out.exists()
    return str(error.value)


def test_without_proofs_it_says_what_to_run(tmp_path):
    assert "run `sonnx-clip prove`" in refused(tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[" * 200000, "not JSON"),
        ("[]", "be an object"),
        ('{"about": {}}', "about.tool: Field required"),
        ("\udcff", "cannot be read"),
    ],
)
def test_damaged_proofs(tmp_path, text, said):
    (tmp_path / "proofs.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    message = refused(tmp_path, tmp_path)
    assert said in message
    assert "proofs.json" in message


def test_an_empty_list_of_outcomes_is_no_proof(tmp_path, obligations):
    build = made.write(tmp_path / "b", made.proofs(obligations) | {"outcomes": []})
    assert "outcomes" in refused(build, tmp_path)


def test_an_obligation_that_changed_since(tmp_path, obligations):
    document = made.change(made.proofs(obligations), "float32.total", title="something else")
    assert "stale: float32.total has changed" in refused(made.write(tmp_path / "b", document), tmp_path)


def test_an_obligation_that_is_gone(tmp_path, obligations):
    build = made.write(tmp_path / "b", made.proofs(obligations))
    kept = [o for o in obligations if o.id != "float32.total"]
    assert "there is no obligation float32.total any more" in refused(build, tmp_path, wanted=kept)


def test_an_obligation_twice(tmp_path, obligations):
    document = made.proofs(obligations)
    document["outcomes"].append(document["outcomes"][0])
    assert "is there twice" in refused(made.write(tmp_path / "b", document), tmp_path)


def test_a_theory_that_changed_after_the_proofs(tmp_path, obligations):
    document = made.proofs(obligations)
    document["about"]["files"]["why3/clip.mlw"] = "0" * 64
    assert "stale: why3/clip.mlw has changed" in refused(made.write(tmp_path / "b", document), tmp_path)
    del document["about"]["files"]["why3/clip.mlw"]
    assert "stale: why3/clip.mlw has changed" in refused(made.write(tmp_path / "b", document), tmp_path)


def test_c_that_changed_after_the_proofs(tmp_path, obligations):
    document = made.proofs(obligations)
    document["about"]["files"]["generated/c/sonnx_clip_int8.c"] = "0" * 64
    said = refused(made.write(tmp_path / "b", document), tmp_path)
    assert "stale: generated/c/sonnx_clip_int8.c has changed" in said


def test_a_stale_or_foreign_verdict(tmp_path, obligations):
    stale = made.report("numpy", spec_sha256="0" * 64)
    build = made.write(tmp_path / "b", made.proofs(obligations), [stale])
    assert "stale" in refused(build, tmp_path)
    other = made.report("sonnx", code_sha256="0" * 64)
    build = made.write(tmp_path / "c", made.proofs(obligations), [other])
    assert "stale: the code of sonnx has changed since it was judged" in refused(build, tmp_path)


def test_verdict_on_a_lookalike_is_rejected(tmp_path, obligations):
    report = made.report("numpy").model_copy(update={"runtime": "onnxruntim\u0435"})
    build = made.write(tmp_path / "b", made.proofs(obligations), [report])
    assert "U+0435" in refused(build, tmp_path)


def test_version_is_that_of_the_package_of_the_runtime(tmp_path, obligations):
    report = made.report("numpy", runtime_version="onnxruntime 1.0")
    build = made.write(tmp_path / "b", made.proofs(obligations), [report])
    assert "it speaks of onnxruntime 1.0, and numpy " in refused(build, tmp_path)


def test_two_files_about_one_runtime(tmp_path, obligations):
    build = made.write(tmp_path / "b", made.proofs(obligations), [made.report("numpy")] * 2)
    assert "another file speaks of numpy" in refused(build, tmp_path)


def test_a_class_without_verdict(tmp_path, obligations):
    report = made.report("numpy", types=("int8",))
    short = report.types[0].model_copy(update={"classes": report.types[0].classes[1:]})
    build = made.write(
        tmp_path / "b", made.proofs(obligations), [report.model_copy(update={"types": (short,)})]
    )
    assert "int8: no verdict for inverted_ordinary" in refused(build, tmp_path)


def test_stale_vectors(tmp_path, obligations):
    build = made.write(tmp_path / "b", made.proofs(obligations))
    generated = tmp_path / "generated"
    (generated / "vectors").mkdir(parents=True)
    for path in repo_file("generated/vectors").glob("*.json"):
        (generated / "vectors" / path.name).write_text(path.read_text())
    old = json.loads((generated / "vectors" / "int8.json").read_text()) | {"spec_sha256": "0" * 64}
    (generated / "vectors" / "int8.json").write_text(json.dumps(old))
    assert "run `sonnx-clip generate`" in refused(build, tmp_path, generated=generated)


def test_a_folder_that_cannot_be_written(tmp_path, obligations):
    build = made.write(tmp_path / "b", made.proofs(obligations))
    (tmp_path / "file").write_text("here already")
    with pytest.raises(UserError, match="cannot be made"):
        write_evidence(build, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "here already"


def test_the_old_page_stays_when_the_new_one_is_refused(tmp_path, obligations):
    build = made.write(tmp_path / "b", made.proofs(obligations))
    write_evidence(build, tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert set(before) == {"index.html", "evidence.json", "evidence.schema.json", "times.json"}
    (build / "proofs.json").write_text("{")
    with pytest.raises(UserError):
        write_evidence(build, tmp_path / "out")
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}


def test_the_same_input_gives_the_same_page(tmp_path, obligations):
    build = made.write(tmp_path / "b", made.proofs(obligations), [*map(made.ours, OURS)])
    pages = []
    for name in ("one", "two"):
        write_evidence(build, tmp_path / name)
        pages.append((tmp_path / name / "index.html").read_text())
    assert pages[0] == pages[1]


def test_the_command_prints_one_line_and_its_status(tmp_path, obligations):
    made.write(tmp_path / "build", made.proofs(obligations), [*map(made.ours, OURS)])
    done = CliRunner().invoke(app, ["evidence", "--build", str(tmp_path / "build")], catch_exceptions=False)
    assert done.exit_code == 0
    assert len(done.output.splitlines()) == 1
    assert str(tmp_path / "build" / "evidence" / "index.html") in done.output
    assert "0 not proved" in done.output
    assert "not run: numpy, onnxruntime, onnx-reference" in done.output


def test_an_obligation_nobody_was_asked_about_is_not_proved(tmp_path, obligations):
    build = made.write(tmp_path / "b", made.proofs(obligations))
    more = replace(obligations[0], id="float32.new", goal="new")
    summary = write_evidence(build, tmp_path / "out", wanted=[*obligations, more])
    assert summary.exit_status == 1
    assert summary.totals.not_proved == 1
    assert "no prover replied" in (tmp_path / "out" / "index.html").read_text()
