"""Where the result goes: whole or not at all, with its external data, never over the input unasked."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import TensorProto, helper
from typer.testing import CliRunner

from sonnx_clip.cli import app
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import check_target
from tests.lint.build import clip, graph, model, value
from tests.lint.normalised import one_entry
from tests.lint.same_outputs import differences

if TYPE_CHECKING:
    from collections.abc import Sequence

MODELS = Path(__file__).parent.parent / "models"


def run(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app.app, ["normalise", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return 2, result.stdout, str(result.exception)
    return result.exit_code, result.stdout, result.stderr


def written(folder: Path, name: str, proto: onnx.ModelProto) -> Path:
    path = folder / name
    path.write_bytes(proto.SerializeToString())
    return path


def old(folder: Path, low: float = 0.0) -> Path:
    """A model that normalise changes: its bounds have the shape [1]."""
    return written(folder, "old.onnx", model(graph(stored=[one_entry("L", low), one_entry("M", 6.0)])))


def test_status_0_and_the_words(tmp_path: Path) -> None:
    path = old(tmp_path)
    status, out, _ = run(path, "-o", tmp_path / "new/new.onnx")
    assert status == 0
    assert out.splitlines()[0].endswith("1 Clip node, 1 changed, 1 in the profile now, 0 with something left")
    assert "      theorems: float32.C1, float32.clip_is_cases" in out
    assert differences(path, tmp_path / "new/new.onnx") == []
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["new", "new.onnx", "old.onnx"]


@pytest.mark.parametrize("arguments", [[], ["-o", "x.onnx", "--in-place"]])
def test_one_place_for_the_result(tmp_path: Path, arguments: Sequence[str]) -> None:
    status, _, message = run(old(tmp_path), *arguments)
    assert status == 2
    assert "either -o OUT.onnx or --in-place" in message


def test_the_input_is_overwritten_only_when_asked(tmp_path: Path) -> None:
    path = old(tmp_path)
    path.chmod(0o640)
    before = path.read_bytes()
    (tmp_path / "link.onnx").symlink_to(path)
    for same, reason in ((path, "a model that this run reads"), (tmp_path / "link.onnx", "a symbolic link")):
        status, _, message = run(path, "-o", same)
        assert status == 2
        assert reason in message
    assert path.read_bytes() == before
    status, _, message = run(tmp_path / "link.onnx", "--in-place")
    assert (status, "a symbolic link" in message) == (2, True)
    assert path.read_bytes() == before
    assert run(path, "--in-place")[0] == 0
    assert path.read_bytes() != before
    assert path.stat().st_mode & 0o777 == 0o640


def test_bad_input_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(b"no model")
    status, _, message = run(path, "-o", tmp_path / "out.onnx")
    assert status == 2
    assert "not an ONNX model" in message
    assert not (tmp_path / "out.onnx").exists()


def external(folder: Path) -> Path:
    """A model whose weights lie in a file beside it, in a folder of its own."""
    (folder / "data").mkdir(parents=True)
    data = b"".join(float(n).hex().encode()[:0] + bytes([0, 0, n, 0x3F]) for n in range(6))
    (folder / "data/w.bin").write_bytes(data)
    tensor = TensorProto(name="w", data_type=1, dims=[2, 3], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="data/w.bin")
    nodes = [helper.make_node("Add", ["X", "w"], ["Z"]), clip("Z")]
    return written(folder, "m.onnx", model(graph(*nodes, stored=[tensor])))


def test_external_data_goes_with_the_model(tmp_path: Path) -> None:
    path = external(tmp_path / "in")
    finite = ("--assume", "finite")
    assert run(path, "-o", tmp_path / "in/beside.onnx", *finite)[0] == 0
    assert run(path, "-o", tmp_path / "out/m.onnx", *finite)[0] == 0
    assert (tmp_path / "out/data/w.bin").read_bytes() == (tmp_path / "in/data/w.bin").read_bytes()
    assert (tmp_path / "out/m.onnx").stat().st_size < 1000
    assert differences(path, tmp_path / "out/m.onnx") == []
    assert differences(path, tmp_path / "in/beside.onnx") == []
    assert run(path, "-o", tmp_path / "out/m.onnx", *finite)[0] == 0  # the same data is there already
    (tmp_path / "out/data/w.bin").write_bytes(b"other")
    status, _, message = run(path, "-o", tmp_path / "out/m.onnx")
    assert status == 2
    assert "another file has the name of the model's external data" in message


def test_an_output_that_an_input_refers_to_is_refused(tmp_path: Path) -> None:
    """Before, `-o w.bin` replaced the model's own weights."""
    path = external(tmp_path / "in")
    weights = tmp_path / "in/data/w.bin"
    before = weights.read_bytes()
    (tmp_path / "soft").symlink_to(tmp_path / "in/data")
    for target in (weights, tmp_path / "in/data/../data/w.bin", tmp_path / "soft/w.bin"):
        status, _, message = run(path, "-o", target, "--assume", "finite")
        assert (status, "the model's external data" in message) == (2, True)
    (tmp_path / "out").mkdir()
    other = old(tmp_path)
    (tmp_path / "out/m.onnx").hardlink_to(other)
    status, _, message = run(path, other, "-o", tmp_path / "out", "--assume", "finite")
    assert ("a model that this run reads" in message, status) == (True, 2)
    flat = onnx.load(path, load_external_data=False)
    flat.graph.initializer[0].external_data[0].value = "w.bin"
    weights = weights.rename(tmp_path / "in/w.bin")
    status, _, message = run(written(tmp_path / "in", "m.onnx", flat), "-o", tmp_path / "new/w.bin")
    assert (status, "the model's external data" in message) == (2, True)
    assert weights.read_bytes() == before


def test_external_data_that_is_missing(tmp_path: Path) -> None:
    path = external(tmp_path / "in")
    (tmp_path / "in/data/w.bin").unlink()
    status, _, message = run(path, "-o", tmp_path / "out/m.onnx")
    assert status == 2
    assert "the external data 'data/w.bin' is missing" in message
    assert not (tmp_path / "out").exists()


def test_nothing_stays_where_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = external(tmp_path / "in")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tempfile.mkstemp", lambda **_: full())
        status, _, message = run(path, "-o", tmp_path / "out/m.onnx")
    assert status == 2
    assert "it cannot be written: No space left on device" in message
    assert not [file for file in (tmp_path / "out").rglob("*") if file.is_file()]


def test_the_model_keeps_what_is_not_of_clip(tmp_path: Path) -> None:
    proto = onnx.load(MODELS / "relu6_op13.onnx")
    helper.set_model_props(proto, {"author": "someone"})
    proto.doc_string = "kept"
    path = written(tmp_path, "m.onnx", proto)
    assert run(path, "-o", tmp_path / "out.onnx", "--assume", "finite")[0] == 0
    after = onnx.load(tmp_path / "out.onnx")
    assert after.metadata_props == proto.metadata_props
    assert (after.doc_string, after.producer_name) == ("kept", proto.producer_name)
    assert after.graph.initializer == proto.graph.initializer
    assert [n for n in after.graph.node if n.op_type in ("Conv", "Log")] == [
        n for n in proto.graph.node if n.op_type in ("Conv", "Log")
    ]
    assert value("input.1", [1, 3, 8, 8]) == after.graph.input[0]


def test_only_a_regular_file_is_replaced(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    status, _, message = run(old(tmp_path), "-o", fifo)
    assert (status, "this is a FIFO, and only a regular file is replaced" in message) == (2, True)
    assert stat.S_ISFIFO(fifo.lstat().st_mode)
    with pytest.raises(UserError, match="this is a device"):
        check_target(Path("/dev/null"))


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    path = old(tmp_path)
    status, out, _ = run(path, "--dry-run")
    assert status == 0
    assert "nothing is written: 1 Clip node, 1 changed" in out
    assert "self-check: equal bits by onnxruntime" in out
    assert [file.name for file in tmp_path.iterdir()] == ["old.onnx"]


def test_the_result_on_standard_output(tmp_path: Path) -> None:
    path = old(tmp_path)
    result = CliRunner().invoke(app.app, ["normalise", str(path), "-o", "-"])
    assert result.exit_code == 0
    assert run(path, "-o", tmp_path / "out.onnx")[0] == 0
    assert result.stdout_bytes == (tmp_path / "out.onnx").read_bytes()
    assert "1 in the profile now" in result.stderr
    status, _, message = run(path, path, "-o", "-")
    assert (status, "one model alone" in message) == (2, True)


def test_several_models_go_to_a_folder(tmp_path: Path) -> None:
    other = old(tmp_path, 0.5).rename(tmp_path / "other.onnx")
    paths = [old(tmp_path), other]
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"no model")
    status, out, error = run(*paths, bad, "-o", tmp_path / "out", "--format", "json")
    assert status == 2
    assert "not an ONNX model" in error
    document = json.loads(out)
    assert [entry["verdict_after"] for entry in document["models"]] == ["meets", "meets"]
    assert [Path(entry["model"]).name for entry in document["errors"]] == ["bad.onnx"]
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["old.onnx", "other.onnx"]
    assert run(*paths, "--in-place")[0] == 0


def test_the_sizes_of_an_input_are_the_users_choice(tmp_path: Path) -> None:
    main = graph(inputs=[value("X", ["N", 3])], outputs=[value("Y", ["N", 3])])
    path = written(tmp_path, "m.onnx", model(main))
    assert run(path, "-o", tmp_path / "open.onnx")[0] == 1
    status, out, _ = run(path, "-o", tmp_path / "out.onnx", "--input-shape", "X=4,3")
    assert status == 0
    assert "input 'X': [N, 3] became [4, 3] (--input-shape)" in out
    after = onnx.load(tmp_path / "out.onnx")
    assert after.graph.input[0] == value("X", [4, 3])
    assert after.graph.output[0] == value("Y", [4, 3])
    for given, text in (
        ("X=4,5", "does not fit"),
        ("Z=1", "no input 'Z'"),
        ("X", "is not the shape of an input"),
        ("X=0", "is not the shape"),
    ):
        status, _, message = run(path, "-o", tmp_path / "out.onnx", "--input-shape", given)
        assert status == 2
        assert text in message
