"""Files that are no model, and models that mean harm: one message, no traceback, nothing loaded."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import onnx
import pytest
from onnx import helper

from sonnx_clip.lint import lint_model, run_each, to_text
from sonnx_clip.lint.onnx_process import ask_onnx
from sonnx_clip.root.errors import UserError
from tests.lint.build import clip, graph, lint, model, value

REAL = Path(__file__).parent.parent / "models" / "relu6_op11.onnx"


def message(path: Path) -> str:
    with pytest.raises(UserError) as raised:
        lint_model(path)
    assert raised.value.where
    assert raised.value.todo
    return raised.value.what


def written(folder: Path, data: bytes) -> Path:
    path = folder / "bad.onnx"
    path.write_bytes(data)
    return path


def test_file_that_is_missing_or_no_regular_file(tmp_path: Path) -> None:
    assert message(tmp_path).endswith("this is a folder")
    assert message(tmp_path / "none.onnx") == "cannot read the model: No such file or directory"
    assert message(REAL / "x.onnx") == "cannot read the model: Not a directory"
    assert "null" in message(tmp_path / "a\0b")
    os.mkfifo(tmp_path / "pipe")
    assert message(tmp_path / "pipe").endswith("this is no regular file")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert message(tmp_path / "loop").startswith("cannot read the model: Too many levels")


def test_an_empty_file(tmp_path: Path) -> None:
    assert message(written(tmp_path, b"")) == "the file is empty"


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.onnx"
    with path.open("wb") as file:
        file.truncate(2**31)  # sparse: takes no space on disk
    assert message(path) == "the file has 2147483648 bytes, over the limit of 2 GiB of a protobuf message"


@pytest.mark.parametrize(
    "data", [b"hello, world\n", b"%PDF-1.7", b"\x00" * 64, b"\xff" * 64, b"PK\x03\x04", b'{"a": 1}']
)
def test_other_formats(tmp_path: Path, data: bytes) -> None:
    assert message(written(tmp_path, data)).startswith("not an ONNX model")


def test_a_long_name_is_shortened(tmp_path: Path) -> None:
    path = written(tmp_path, model(graph(clip("X", name="n" * 3_000_000), stored=[])).SerializeToString())
    assert len(to_text(lint_model(path))) < 10_000


def test_every_truncation_of_a_model_is_refused(tmp_path: Path) -> None:
    data = REAL.read_bytes()
    for length in range(1, len(data), 29):
        assert message(written(tmp_path, data[:length])).startswith("not an ONNX model")


def test_random_damage_gives_a_report_or_one_message(tmp_path: Path) -> None:
    random_source = random.Random(2)
    data, outcomes = REAL.read_bytes(), {0: 0, 1: 0, 2: 0}
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(random_source.randint(1, 6)):
            damaged[random_source.randrange(len(damaged))] = random_source.randrange(256)
        outcomes[run_each([written(tmp_path, bytes(damaged))], lint_model).exit_status] += 1
    assert outcomes[1] > 0
    assert outcomes[2] > 0


def test_names_that_are_no_text(tmp_path: Path) -> None:
    data = REAL.read_bytes().replace(b"/Clip_1_output_0", b"/Clip\xff1_output_0")
    assert message(written(tmp_path, data)) == r"the name b'/Clip\xff1_output_0' is not valid UTF-8"


def test_deep_nesting_is_refused_and_legal_nesting_is_judged(tmp_path: Path) -> None:
    def nested(depth: int) -> onnx.ModelProto:
        inner = graph(clip(out="y"), inputs=[], outputs=[value("y", [2, 3])], stored=[])
        for _ in range(depth):
            node = helper.make_node("If", ["c"], ["y"])
            attribute = node.attribute.add(name="then_branch", type=onnx.AttributeProto.GRAPH)
            attribute.g.CopyFrom(inner)
            inner = onnx.GraphProto(node=[node], name="nested", output=[value("y", [2, 3])])
        inner.input.extend([value("X", [2, 3]), value("L", []), value("M", [])])
        return model(inner)

    assert len(lint(tmp_path, nested(20)).nodes) == 1
    # 60 graphs: built as bytes, since no protobuf library would write them from a message.
    path = written(tmp_path, _deep_bytes(60))
    assert message(path).endswith("broken, truncated or nested too deeply")
    assert message(written(tmp_path, _deep_bytes(20_000))).startswith("not an ONNX model")


def _deep_bytes(depth: int) -> bytes:
    def field(number: int, content: bytes) -> bytes:
        size, head = len(content), bytearray([number << 3 | 2])
        while size > 127:
            head.append(size & 127 | 128)
            size >>= 7
        return bytes([*head, size]) + content

    inner = b""
    for _ in range(depth):
        inner = field(1, field(5, field(6, inner)))  # GraphProto.node, NodeProto.attribute, AttributeProto.g
    return b"\x08\x08" + field(7, inner) + field(8, b"\x10\x0d")


def test_a_child_process_that_hangs_or_dies_gives_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnx.checker.check_model", lambda _: time.sleep(60))
    with monkeypatch.context() as patch:
        patch.setattr("sonnx_clip.lint.onnx_process.SECONDS", 0.3)
        answer = ask_onnx(onnx.load(REAL))
    assert (answer.failure, answer.derived) == ("no answer within 0.3 s", None)
    monkeypatch.setattr("onnx.checker.check_model", lambda _: os.abort())
    assert ask_onnx(onnx.load(REAL)).failure == "its process ended with status -6"
