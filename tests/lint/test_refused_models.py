"""Files that are no model, models that contradict themselves and models that mean harm: one message each.

External data is located and never loaded; outside the model's folder it is refused wherever a tensor can be.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import onnx
import pytest
from onnx import AttributeProto, TensorProto, helper

from sonnx_clip.lint import lint_model, run_each
from sonnx_clip.root.errors import UserError
from tests.lint.build import (
    FLOAT,
    bounds,
    clip,
    graph,
    lint,
    model,
    parsed,
    scalar,
    sparse,
    value,
    verdicts,
)

REAL = Path(__file__).parent.parent / "models" / "relu6_op11.onnx"


def message(path: Path, data: bytes | None = None) -> str:
    """The refusal of a file, which names it and says what to do; `data` is written into it before."""
    if data is not None:
        path = path / "bad.onnx"
        path.write_bytes(data)
    with pytest.raises(UserError) as raised:
        lint_model(path)
    assert raised.value.where
    assert raised.value.todo
    return raised.value.what


def test_file_that_is_missing_or_not_regular_is_refused(tmp_path: Path) -> None:
    assert message(tmp_path).endswith("this is a folder")
    assert message(tmp_path / "none.onnx") == "cannot read the model: No such file or directory"
    os.mkfifo(tmp_path / "pipe")
    assert message(tmp_path / "pipe").endswith("this is not a regular file")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert message(tmp_path / "loop").startswith("cannot read the model: Too many levels")


def test_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.onnx"
    with path.open("wb") as file:
        file.truncate(2**31)  # sparse: takes no space on disk
    assert (
        message(path)
        == "the file has 2147483648 bytes, over the limit of 2 GiB of a protobuf message"
    )


def test_file_that_is_no_whole_model_is_refused(tmp_path: Path) -> None:
    assert message(tmp_path, b"") == "the file is empty"
    for data in (
        b"hello, world\n",
        b"%PDF-1.7",
        b"\x00" * 64,
        b"\xff" * 64,
        b"PK\x03\x04",
        b'{"a": 1}',
    ):
        assert message(tmp_path, data).startswith("not an ONNX model")
    whole = REAL.read_bytes()
    for length in range(1, len(whole), 97):
        assert message(tmp_path, whole[:length]).startswith("not an ONNX model")
    named = whole.replace(b"/Clip_1_output_0", b"/Clip\xff1_output_0")
    assert message(tmp_path, named) == r"the name b'/Clip\xff1_output_0' is not valid UTF-8"


def test_random_damage_gives_a_report_or_one_message(tmp_path: Path) -> None:
    source, path, statuses = random.Random(2), tmp_path / "damaged.onnx", []
    for _ in range(20):
        damaged = bytearray(REAL.read_bytes())
        for _ in range(source.randint(1, 6)):
            damaged[source.randrange(len(damaged))] = source.randrange(256)
        path.write_bytes(damaged)
        statuses.append(run_each([path], lint_model).exit_status)
    assert set(statuses) == {1, 2}


def test_deep_nesting_is_refused_and_legal_nesting_is_judged(tmp_path: Path) -> None:
    def nested(depth: int) -> onnx.ModelProto:
        inner = graph(clip(out="y"), inputs=[], outputs=[value("y", [2, 3])], stored=[])
        for _ in range(depth):
            node = helper.make_node("If", ["c"], ["y"])
            attribute = node.attribute.add(name="then_branch", type=AttributeProto.GRAPH)
            attribute.g.CopyFrom(inner)
            inner = onnx.GraphProto(node=[node], name="nested", output=[value("y", [2, 3])])
        inner.input.extend([value("X", [2, 3]), value("L", []), value("M", [])])
        return model(inner)

    assert len(lint(tmp_path, nested(20)).nodes) == 1
    assert message(tmp_path, _deep_bytes(60)).endswith("broken, truncated or nested too deeply")
    assert message(tmp_path, _deep_bytes(5_000)).startswith("not an ONNX model")


def _deep_bytes(depth: int) -> bytes:
    """So many graphs in each other, as bytes: no protobuf library would write them from a message."""

    def field(number: int, content: bytes) -> bytes:
        size, head = len(content), bytearray([number << 3 | 2])
        while size > 127:
            head.append(size & 127 | 128)
            size >>= 7
        return bytes([*head, size]) + content

    inner = b""
    for _ in range(depth):
        inner = field(
            1, field(5, field(6, inner))
        )  # GraphProto.node, NodeProto.attribute, AttributeProto.g
    return b"\x08\x08" + field(7, inner) + field(8, b"\x10\x0d")


def external(location: str | None, name: str = "L", **more: str) -> TensorProto:
    tensor = TensorProto(name=name, data_type=FLOAT, data_location=TensorProto.EXTERNAL)
    for key, text in {"location": location, **more}.items():
        if text is not None:
            tensor.external_data.add(key=key, value=text)
    return tensor


def _importing(*imports: tuple[str, int]) -> onnx.ModelProto:
    proto = model()
    del proto.opset_import[:]
    proto.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in imports)
    return proto


def _stored(**parts: object) -> onnx.ModelProto:
    return model(graph(stored=[TensorProto(name="L", **parts), scalar("M", 6.0)]))


def _at(offset: str) -> onnx.ModelProto:
    return model(graph(stored=[external("w.bin", offset=offset, length="4"), scalar("M", 6.0)]))


def _constant() -> onnx.NodeProto:
    node = helper.make_node("Constant", [], ["L"])
    node.attribute.add(name="value", type=AttributeProto.TENSOR).t.CopyFrom(external("/x"))
    return node


def _sparse() -> onnx.SparseTensorProto:
    stored = sparse("S")
    stored.values.CopyFrom(external("/x", "S"))
    return stored


def _training() -> onnx.ModelProto:
    proto = model()
    proto.training_info.add().algorithm.initializer.append(external("/x"))
    return proto


_BRANCH = helper.make_node("If", ["X"], ["Y"], then_branch=graph(stored=[external("/x")]))
_BODY = helper.make_function("here", "F", [], ["L"], [_constant()], [helper.make_opsetid("", 13)])
NODE = "node 0 'clip' of graph 'main'"
NO_NUMBER, OUTSIDE = "not a number of bytes", "is not a path below it"
REFUSED = [  # what it says, the model, and the place that it names
    ("takes 1 to 3 inputs, the first of them set", model(graph(clip("", "L", "M"))), NODE),
    ("Clip-6 takes exactly one input", model(graph(clip("X", "L", "M")), opset=10), NODE),
    ("Clip-13 has no attribute 'min'", model(graph(clip("X", "L", "M", min=0.0))), NODE),
    ("exactly one output", model(graph(clip(out=""))), NODE),
    ("input X is the undefined tensor 'nowhere'", model(graph(clip("nowhere", "L", "M"))), NODE),
    ("no version of that operator set is imported", _importing(("com.acme", 1)), ""),
    (
        "two versions, 11 and 13, of the operator set 'ai.onnx'",
        _importing(("", 11), ("ai.onnx", 13)),
        "",
    ),
    ("imports version 0 of the operator set 'ai.onnx'", _importing(("", 0)), ""),
    ("dimensions [] contradict its data", _stored(data_type=FLOAT, float_data=[1, 2, 3]), ""),
    ("dimensions [1] contradict its data", _stored(data_type=FLOAT, raw_data=b"123", dims=[1]), ""),
    ("dimensions [2] contradict its data", _stored(data_type=FLOAT, dims=[2]), ""),
    ("a dimension is below zero", _stored(data_type=FLOAT, dims=[-1]), ""),
    ("contradict its data", _stored(data_type=TensorProto.FLOAT8E5M2, raw_data=b"12"), ""),
    (NO_NUMBER, _at("abc"), ""),
    (NO_NUMBER, _at("-4"), ""),
    (NO_NUMBER, _at("9" * 5_000), ""),
    ("it ends at byte 8", _at("4"), ""),
    # External data outside of the folder is found wherever a tensor can be.
    (OUTSIDE, model(graph(_constant(), clip(), stored=[external("w.bin", "M")])), ""),
    (OUTSIDE, model(graph(_BRANCH)), ""),
    (OUTSIDE, model(functions=[_BODY]), ""),
    (OUTSIDE, model(graph(sparse_stored=[_sparse()])), ""),
    (OUTSIDE, model(graph(helper.make_node("Constant", [], ["Y"], sparse_value=_sparse()))), ""),
    (OUTSIDE, _training(), ""),
]


@pytest.mark.parametrize(("text", "proto", "where"), REFUSED, ids=range(len(REFUSED)))
def test_part_without_a_meaning_is_refused(
    tmp_path: Path, text: str, proto: onnx.ModelProto, where: str
) -> None:
    (tmp_path / "w.bin").write_bytes(b"\0" * 4)
    with pytest.raises(UserError, match=re.escape(text)) as raised:
        lint(tmp_path, proto)
    assert (raised.value.where or "").endswith(where)
    assert raised.value.todo


_FUNCTION = helper.make_function(
    "my", "F", ["X"], ["Y"], [clip("X")], [helper.make_opsetid("", 13)]
)


@pytest.mark.parametrize(
    "proto",
    [
        model(graph(stored=[*bounds(), scalar("L", 9.0)])),
        model(graph(clip(), clip())),
        model(functions=[_FUNCTION, _FUNCTION], imports={"": 13, "my": 1}),
        _stored(data_type=FLOAT, float_data=[1], raw_data=b"1234"),
    ],
)
def test_model_that_the_checker_refuses_is_undecided(
    tmp_path: Path, proto: onnx.ModelProto
) -> None:
    report = lint(tmp_path, proto)
    assert report.undecided
    assert report.verdict != "meets"


@pytest.mark.parametrize("values", ["<value_float = 1.0, value_int = 2>", "", "<value = 1.0>"])
def test_constant_without_exactly_one_value_declares_nothing(tmp_path: Path, values: str) -> None:
    head = "main (float[2,3] X) => (float[2,3] Y) <float M = {6}>"
    report = lint(tmp_path, parsed(f"{head} {{ L = Constant {values} () Y = Clip(X, L, M) }}"))
    assert report.verdict != "meets"
    assert "R4" in verdicts(report)


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("/etc/passwd", OUTSIDE),
        ("C:w.bin", OUTSIDE),
        ("a/../../w.bin", OUTSIDE),
        ("..\\w.bin", OUTSIDE),
        ("link/w.bin", "leads out of the model's folder through a link"),
        ("out.bin", "leads out of the model's folder through a link"),
        ("a\0b", "is not a usable path"),
        ("loop/w.bin", "is not a usable path"),
        (None, "no location is given"),
        ("", "no location is given"),
    ],
)
def test_external_data_outside_the_folder_is_refused(
    tmp_path: Path, location: str | None, reason: str
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "w.bin").write_bytes(b"\0" * 4)
    (folder / "link").symlink_to(tmp_path)
    (folder / "out.bin").symlink_to(tmp_path / "w.bin")
    (folder / "loop").symlink_to(folder / "loop")
    with pytest.raises(UserError, match=reason) as raised:
        lint(folder, model(graph(stored=[external(location), external("w.bin", "M")])))
    assert raised.value.where is not None
    assert raised.value.where.endswith("tensor 'L'")


def test_tensor_with_two_locations_is_refused(tmp_path: Path) -> None:
    """What is checked must be what is read: another library may take the first of two entries."""
    twice = external("../outside.bin")
    twice.external_data.add(key="location", value="w.bin")
    (tmp_path / "w.bin").write_bytes(b"\0" * 4)
    with pytest.raises(UserError, match="more than one 'location'"):
        lint(tmp_path, model(graph(stored=[twice, external("w.bin", "M")])))


def test_external_data_inside_the_folder_is_not_loaded(tmp_path: Path) -> None:
    proto = model(graph(stored=[external("sub/not_there.bin"), external("w.bin", "M")]))
    assert lint(tmp_path, proto).nodes[0].findings.verdict == "meets"
