"""Where results go: whole or not at all, with their external data, never over an input unless --in-place."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from typer.testing import CliRunner

from sonnx_clip.cli import app
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import check_target
from tests import command
from tests.lint.build import graph, model, parsed, value
from tests.lint.normalised import MODELS
from tests.lint.same_outputs import differences

FINITE = ("--assume", "finite")


def run(*arguments: str | Path) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of `normalise`."""
    done = command.run("normalise", *map(str, arguments), cwd=Path.cwd())
    return done.returncode, done.stdout, done.stderr


def assert_refused(text: str, *arguments: str | Path) -> None:
    status, out, message = run(*arguments)
    assert (status, text in message) == (2, True), (out, message)


def written(path: Path, proto: onnx.ModelProto) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(proto.SerializeToString())
    return path


def old(folder: Path, name: str = "old.onnx") -> Path:
    """A model that normalise changes: its bounds have the shape [1]."""
    head = "main (float[2,3] X) => (float[2,3] Y) <float[1] L = {0}, float[1] M = {6}>"
    return written(folder / name, parsed(f"{head} {{ Y = Clip(X, L, M) }}"))


def external(folder: Path, location: str = "data/w.bin") -> Path:
    """A model whose weights are in a file below its own folder."""
    (folder / location).parent.mkdir(parents=True, exist_ok=True)
    (folder / location).write_bytes(b"".join(bytes([0, 0, n, 0x3F]) for n in range(6)))
    tensor = TensorProto(name="w", data_type=1, dims=[2, 3], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    proto = parsed("main (float[2,3] X) => (float[2,3] Y) { Z = Add(X, w) Y = Clip(Z) }")
    proto.graph.initializer.append(tensor)
    return written(folder / "m.onnx", proto)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_result_is_written_and_the_theorems_are_cited(tmp_path: Path) -> None:
    path = old(tmp_path)
    status, out, _ = run(path, "-o", tmp_path / "new.onnx")
    assert status == 0
    assert out.splitlines()[0].endswith(
        "1 Clip node, 1 changed, 1 in the profile now, 0 still with problems"
    )
    assert "  Clip-13 without a name, output 'Y'" in out
    assert "      theorems: float32.C1, float32.clip_is_cases" in out
    assert differences(path, tmp_path / "new.onnx") == []
    assert names(tmp_path) == ["new.onnx", "old.onnx"]


def test_dry_run_writes_nothing(tmp_path: Path) -> None:
    status, out, _ = run(old(tmp_path), "--dry-run")
    assert status == 0
    assert "nothing is written: 1 Clip node, 1 changed" in out
    assert "self-check: equal bits by onnxruntime" in out
    assert names(tmp_path) == ["old.onnx"]


def test_input_is_overwritten_only_in_place(tmp_path: Path) -> None:
    path = old(tmp_path)
    path.chmod(0o640)
    before, link = path.read_bytes(), tmp_path / "link.onnx"
    link.symlink_to(path)
    assert_refused("an input of this run", path, "-o", path)
    assert_refused("a symbolic link", path, "-o", link)
    assert_refused("a symbolic link", link, "--in-place")
    for arguments in ([], ["-o", "x.onnx", "--in-place"]):
        assert_refused("either -o OUT.onnx or --in-place", path, *arguments)
    assert path.read_bytes() == before
    assert run(path, "--in-place")[0] == 0
    assert path.read_bytes() != before
    assert path.stat().st_mode & 0o777 == 0o640


def test_only_a_regular_file_is_replaced(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert_refused(
        "this is a FIFO, and only a regular file can be replaced", old(tmp_path), "-o", fifo
    )
    assert stat.S_ISFIFO(fifo.lstat().st_mode)
    with pytest.raises(UserError, match="this is a device"):
        check_target(Path("/dev/null"))


def test_failure_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad, path = tmp_path / "bad.onnx", external(tmp_path / "in")
    bad.write_bytes(b"no model")
    (tmp_path / "out").mkdir()
    assert_refused("not an ONNX model", bad, "-o", tmp_path / "out/m.onnx")

    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tempfile.mkstemp", full)
        assert_refused(
            "cannot be written: No space left on device", path, "-o", tmp_path / "out/m.onnx"
        )
    (tmp_path / "in/data/w.bin").unlink()
    assert_refused("the external data 'data/w.bin' is missing", path, "-o", tmp_path / "out/m.onnx")
    assert names(tmp_path) == ["bad.onnx", "m.onnx"]


def test_external_data_is_copied_with_the_model(tmp_path: Path) -> None:
    path, out = external(tmp_path / "in"), tmp_path / "out/m.onnx"
    out.parent.mkdir()
    assert run(path, "-o", tmp_path / "in/beside.onnx", *FINITE)[0] == 0
    assert run(path, "-o", out, *FINITE)[0] == 0
    assert (tmp_path / "out/data/w.bin").read_bytes() == (tmp_path / "in/data/w.bin").read_bytes()
    assert out.stat().st_size < 1000
    assert differences(path, out) == []
    assert differences(path, tmp_path / "in/beside.onnx") == []
    assert run(path, "-o", out, *FINITE)[0] == 0  # the same data is there already
    (tmp_path / "out/data/w.bin").write_bytes(b"other")
    assert_refused("another file has the name of the model's external data", path, "-o", out)


def test_output_that_an_input_refers_to_is_refused(tmp_path: Path) -> None:
    """Before, `-o w.bin` replaced the model's own weights."""
    path, weights = external(tmp_path / "in"), tmp_path / "in/data/w.bin"
    before = weights.read_bytes()
    (tmp_path / "soft").symlink_to(tmp_path / "in/data")
    for target in (weights, tmp_path / "in/data/../data/w.bin", tmp_path / "soft/w.bin"):
        assert_refused("the model's external data", path, "-o", target, *FINITE)
    (tmp_path / "out").mkdir()
    flat = external(tmp_path / "flat", "w.bin")
    assert_refused("the model's external data", flat, "-o", tmp_path / "out/w.bin")
    other = old(tmp_path)
    (tmp_path / "out/m.onnx").hardlink_to(other)
    assert_refused("an input of this run", path, other, "-o", tmp_path / "out", *FINITE)
    assert weights.read_bytes() == before


def test_everything_but_clip_is_kept(tmp_path: Path) -> None:
    proto = onnx.load(MODELS / "relu6_op13.onnx")
    helper.set_model_props(proto, {"author": "someone"})
    proto.doc_string = "kept"
    path = written(tmp_path / "m.onnx", proto)
    assert run(path, "-o", tmp_path / "out.onnx", *FINITE)[0] == 0
    after = onnx.load(tmp_path / "out.onnx")
    assert after.metadata_props == proto.metadata_props
    assert (after.doc_string, after.producer_name) == ("kept", proto.producer_name)
    assert after.graph.initializer == proto.graph.initializer
    kept = [[n for n in one.graph.node if n.op_type in ("Conv", "Log")] for one in (proto, after)]
    assert kept[0] == kept[1] != []
    assert value("input.1", [1, 3, 8, 8]) == after.graph.input[0]


def test_result_goes_to_standard_output(tmp_path: Path) -> None:
    path = old(tmp_path)
    result = CliRunner().invoke(app.app, ["normalise", str(path), "-o", "-"])
    assert result.exit_code == 0
    assert run(path, "-o", tmp_path / "out.onnx")[0] == 0
    assert result.stdout_bytes == (tmp_path / "out.onnx").read_bytes()
    assert "1 in the profile now" in result.stderr
    assert_refused("a single model", path, path, "-o", "-")


def test_several_models_go_to_a_folder_and_a_failure_hides_none(tmp_path: Path) -> None:
    paths = [old(tmp_path), old(tmp_path, "other.onnx")]
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"no model")
    status, out, error = run(*paths, bad, "-o", tmp_path / "out", "--format", "json")
    assert status == 2
    assert "not an ONNX model" in error
    document = json.loads(out)
    assert [entry["verdict_after"] for entry in document["models"]] == ["meets", "meets"]
    assert [Path(entry["model"]).name for entry in document["errors"]] == ["bad.onnx"]
    assert names(tmp_path / "out") == ["old.onnx", "other.onnx"]
    assert run(*paths, "--in-place")[0] == 0


def test_open_sizes_of_inputs_are_set_by_the_user(tmp_path: Path) -> None:
    main = graph(inputs=[value("X", ["N", 3])], outputs=[value("Y", ["N", 3])])
    path, out = written(tmp_path / "m.onnx", model(main)), tmp_path / "out.onnx"
    assert run(path, "-o", tmp_path / "open.onnx")[0] == 1
    status, text, _ = run(path, "-o", out, "--input-shape", "X=4,3")
    assert status == 0
    assert "input 'X': [N, 3] became [4, 3] (--input-shape)" in text
    after = onnx.load(out)
    assert after.graph.input[0] == value("X", [4, 3])
    assert after.graph.output[0] == value("Y", [4, 3])
    wrong = {"X=4,5": "does not fit", "Z=1": "no tensor input 'Z'", "X": "is not the shape"}
    for given, reason in wrong.items():
        assert_refused(reason, path, "-o", out, "--input-shape", given)
