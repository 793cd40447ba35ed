"""External data outside the model's folder is refused wherever a tensor can be; none is ever loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import TensorProto, helper

from sonnx_clip.root.errors import UserError
from tests.lint.build import FLOAT, clip, graph, lint, model, sparse

if TYPE_CHECKING:
    from pathlib import Path


def external(location: str | None, name: str = "L") -> TensorProto:
    tensor = TensorProto(name=name, data_type=FLOAT, data_location=TensorProto.EXTERNAL)
    if location is not None:
        tensor.external_data.add(key="location", value=location)
    return tensor


def with_external(location: str | None) -> onnx.ModelProto:
    return model(graph(stored=[external(location), external("w.bin", "M")]))


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("/etc/passwd", "is no path below it"),
        ("C:\\w.bin", "is no path below it"),
        ("\\\\server\\share\\w.bin", "is no path below it"),
        ("../w.bin", "is no path below it"),
        ("a/../../w.bin", "is no path below it"),
        ("..\\w.bin", "is no path below it"),
        ("link/w.bin", "leads out of the model's folder through a link"),
        ("out.bin", "leads out of the model's folder through a link"),
        ("a\0b", "is no usable path"),
        ("loop/w.bin", "is no usable path"),
        (None, "no location is given"),
        ("", "no location is given"),
    ],
)
def test_external_data_outside_the_folder(tmp_path: Path, location: str | None, reason: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "w.bin").write_bytes(b"\0" * 4)
    (folder / "link").symlink_to(tmp_path)
    (folder / "out.bin").symlink_to(tmp_path / "w.bin")
    (folder / "loop").symlink_to(folder / "loop")
    with pytest.raises(UserError) as raised:
        lint(folder, with_external(location))
    assert reason in raised.value.what
    assert raised.value.where is not None
    assert raised.value.where.endswith("tensor 'L'")


def test_external_data_inside_the_folder_is_not_loaded(tmp_path: Path) -> None:
    assert lint(tmp_path, with_external("sub/not_there.bin")).nodes[0].findings.verdict == "meets"


def _in_constant() -> onnx.ModelProto:
    node = helper.make_node("Constant", [], ["L"])
    node.attribute.add(name="value", type=onnx.AttributeProto.TENSOR).t.CopyFrom(external("/x"))
    return model(graph(node, clip(), stored=[external("w.bin", "M")]))


def _in_subgraph() -> onnx.ModelProto:
    node = helper.make_node("If", ["X"], ["Y"], then_branch=graph(stored=[external("/x")]))
    return model(graph(node))


def _in_function() -> onnx.ModelProto:
    node = helper.make_node("Constant", [], ["Y"])
    node.attribute.add(name="value", type=onnx.AttributeProto.TENSOR).t.CopyFrom(external("/x"))
    called = helper.make_function("here", "F", [], ["Y"], [node], [helper.make_opsetid("", 13)])
    return model(functions=[called])


def _in_sparse() -> onnx.ModelProto:
    stored = sparse("S")
    stored.values.CopyFrom(external("/x", "S"))
    return model(graph(sparse_stored=[stored]))


def _in_training() -> onnx.ModelProto:
    proto = model()
    proto.training_info.add().algorithm.initializer.append(external("/x"))
    return proto


@pytest.mark.parametrize("build", [_in_constant, _in_subgraph, _in_function, _in_sparse, _in_training])
def test_external_data_is_found_wherever_a_tensor_can_be(tmp_path: Path, build: object) -> None:
    assert callable(build)
    with pytest.raises(UserError, match="no path below it"):
        lint(tmp_path, build())


def test_an_offset_that_is_no_number_of_bytes(tmp_path: Path) -> None:
    proto = with_external("w.bin")
    proto.graph.initializer[0].external_data.add(key="offset", value="9" * 5_000)
    with pytest.raises(UserError, match="which is no number of bytes"):
        lint(tmp_path, proto)
