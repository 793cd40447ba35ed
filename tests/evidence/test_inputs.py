"""What is missing, damaged or stale is refused with one message, and nothing is written."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli.app import app
from sonnx_clip.evidence import records, write_evidence
from sonnx_clip.evidence.verify import verify
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec
from tests.evidence import made


def refused(build, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(UserError) as error:
        write_evidence(load_spec(), build, out)
    assert not out.exists()
    assert len(str(error.value).splitlines()) <= 2
    return str(error.value)


def test_command_that_writes_the_proofs_names_their_folder(tmp_path):
    build = tmp_path / "results"
    with pytest.raises(UserError) as caught:
        records.read_records(build, load_spec(), ())
    assert caught.value.todo == f"run: sonnx-clip prove --build {build}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[" * 200000, "not JSON"),
        ("[]", "a mapping is expected"),
        ('{"about": {}}', "about.tool: this key is missing"),
        ("\udcff", "cannot be read"),
        ('{"tools": {}, "tools": {}}', "the key 'tools' occurs twice"),
        ('{"cpu": NaN}', "NaN is not a number"),
    ],
)
def test_missing_or_damaged_proofs_are_refused(tmp_path, text, said):
    assert "run: sonnx-clip prove" in refused(tmp_path, tmp_path)
    (tmp_path / "proofs.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    message = refused(tmp_path, tmp_path)
    assert said in message
    assert "proofs.json" in message


@pytest.mark.parametrize("cpu", ["1e999", "-1.0"])
def test_time_that_is_no_time_is_refused(tmp_path, cpu):
    text = json.dumps(made.proofs()).replace('"cpu": 0.25', f'"cpu": {cpu}', 1)
    assert "proofs.json" in refused(made.write(tmp_path / "b", text), tmp_path)


def test_proofs_of_other_files_or_another_specification_are_stale(tmp_path):
    document, file = made.proofs(), "why3/clip.mlw"
    document["about"]["files"][file] = "0" * 64
    assert f"stale: {file} has changed" in refused(made.write(tmp_path / "b", document), tmp_path)
    del document["about"]["files"][file]
    assert f"stale: {file} has changed" in refused(made.write(tmp_path / "b", document), tmp_path)
    document = made.proofs()
    document["about"]["spec_digest"] = "0" * 64
    assert "stale" in refused(made.write(tmp_path / "b", document), tmp_path)


REPORTS = {
    "another specification": ([made.report("numpy", spec_sha256="0" * 64)], "stale"),
    "changed code": ([made.report("sonnx", code_sha256="0" * 64)], "stale: the code of sonnx has changed"),
    "a lookalike": ([made.report("numpy").model_copy(update={"runtime": "onnxruntim\u0435"})], "U+0435"),
    "version of another package": (
        [made.report("numpy", runtime_version="onnxruntime 1.0")], "it records onnxruntime 1.0, but numpy ",
    ),
    "one runtime twice": ([made.report("numpy")] * 2, "another file also records numpy"),
}  # fmt: skip


@pytest.mark.parametrize("name", REPORTS)
def test_unusable_verdicts_are_refused(tmp_path, name):
    reports, message = REPORTS[name]
    assert message in refused(made.write(tmp_path / "b", made.proofs(), reports), tmp_path)


def with_class(report, id_, **fields):
    """A report with other fields of a class in its first element type."""
    first, *others = report.types
    changed = [c.model_copy(update=fields) if c.id == id_ else c for c in first.classes]
    type_report = first.model_copy(update={"classes": tuple(changed)})
    return report.model_copy(update={"types": (type_report, *others)})


CONFORMING, VIOLATING = made.report("numpy"), made.report("numpy", violates=("low_tie",))
CONTRADICTIONS = {
    "violating": (with_class(CONFORMING, "low_tie", violating=3), "counts are 3 violating"),
    "died": (with_class(CONFORMING, "low_tie", died=1), "counts are 1 died"),
    "edited verdict": (
        with_class(VIOLATING, "low_tie", verdict="conforms"), "conforms, but its counts are 3 violating",
    ),
    "erased counts": (
        with_class(VIOLATING, "low_tie", verdict="conforms", violating=0), "a deviation of kind violates",
    ),
    "latitude": (with_class(CONFORMING, "low_tie", latitude={"C2": 1}), "only the latitude C2"),
    "nothing compared": (with_class(CONFORMING, "low_tie", compared=0), "nothing was compared"),
    "unfounded failure": (with_class(CONFORMING, "low_tie", verdict="violates"), "nothing that violates"),
    "element type": (
        with_class(CONFORMING, "low_tie", verdict="crashed"), "the worst of its classes is crashed",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_verdict_that_contradicts_its_counts_is_refused(tmp_path, name):
    report, message = CONTRADICTIONS[name]
    build = made.write(tmp_path / "b", made.proofs(), [report])
    text = refused(build, tmp_path)
    assert message in text
    assert "int8, " in text
    assert "do not rely on this record" in text
    with pytest.raises(UserError, match=message):
        list(verify(load_spec(), build, 0.0))


@pytest.mark.parametrize("name", ["frama-c.json", "foundation.json", "dialects/one.json"])
def test_damaged_record_of_another_argument_is_refused(tmp_path, name):
    build = made.write(tmp_path / "b", made.proofs())
    (build / name).parent.mkdir(exist_ok=True)
    (build / name).write_text('{"tool": "x", "tool": "y"}')
    assert "occurs twice" in refused(build, tmp_path)


def test_vectors_that_are_not_those_of_the_specification_are_refused(tmp_path, monkeypatch):
    files = {**made.generated().files, "generated/vectors/int8.json": "{}"}
    monkeypatch.setattr(records, "render_all", lambda _: replace(made.generated(), files=files))
    build = made.write(tmp_path / "b", made.proofs())
    assert "generated/vectors/int8.json differs" in refused(build, tmp_path)


def test_folder_that_cannot_be_written_is_refused(tmp_path):
    build = made.write(tmp_path / "b", made.proofs())
    (tmp_path / "file").write_text("here already")
    with pytest.raises(UserError, match="cannot be created"):
        write_evidence(load_spec(), build, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "here already"


def test_command_writes_the_same_files_of_the_same_records_and_removes_leftovers(tmp_path, written):
    reports = [made.report("numpy", violates=("low_max_nan", "inside_min_nan"))]
    out = made.write(tmp_path / "build", made.proofs(), reports) / "evidence"
    out.mkdir()
    (out / ".evidence.json.killed").write_text("half")
    done = CliRunner().invoke(
        app, ["evidence", "--build", str(tmp_path / "build")], catch_exceptions=False
    )
    assert done.exit_code == 0
    (line,) = done.output.splitlines()
    assert str(out / "index.html") in line
    one, two = (
        {p.name: p.read_bytes() for p in folder.iterdir()} for folder in (written.folder, out)
    )
    assert one == two
    assert set(one) == {
        "index.html",
        "review.html",
        "explorer.html",
        "evidence.json",
        "evidence.schema.json",
    }
