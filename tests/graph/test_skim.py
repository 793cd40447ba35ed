"""A large file is judged without its weights, and no less strictly; hostile files get one message."""

from __future__ import annotations

import io
import tracemalloc
from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import TensorProto, helper

from sonnx_clip.graph import lint_model
from sonnx_clip.graph.skim import all_tensors, passed_over, skim
from sonnx_clip.root.errors import UserError
from tests.graph.build import bounds, clip, graph, lint, model, sparse, value

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 2_000_000


def written(folder: Path, proto: onnx.ModelProto) -> Path:
    path = folder / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def test_only_the_data_of_large_tensors_is_missing(tmp_path: Path) -> None:
    body = graph(stored=[helper.make_tensor("deep", 1, [5000], [0.5] * 5000), *bounds()])
    node = helper.make_node("If", ["X"], ["Y"], then_branch=body)
    large = [
        helper.make_tensor("floats", 1, [5000], [0.5] * 5000),
        helper.make_tensor("doubles", TensorProto.DOUBLE, [5000], [0.5] * 5000),
        helper.make_tensor("raw", 1, [5000], b"\0" * 20_000, raw=True),
        helper.make_tensor("whole", TensorProto.INT32, [50_000], [1] * 50_000),
    ]
    stored = sparse("S")
    proto = model(graph(node, stored=[*bounds(), *large], sparse_stored=[stored]))
    data = proto.SerializeToString()
    found = skim(io.BytesIO(data), len(data))
    assert found is not None
    assert len(found) < len(data) - 95_000
    lean = onnx.ModelProto.FromString(found)
    taken = {tensor.name: passed_over(tensor) for tensor in all_tensors(lean) if passed_over(tensor)}
    assert taken == {
        "floats": {"float_data": 5000}, "doubles": {"double_data": 5000}, "raw": {"raw_data": 20_000},
        "deep": {"float_data": 5000},
    }  # fmt: skip
    for tensor, original in zip(all_tensors(lean), all_tensors(proto), strict=True):
        for name in taken.get(tensor.name, {}):
            getattr(tensor, name)  # exists
            tensor.ClearField("metadata_props")
            tensor.MergeFrom(TensorProto(**{name: getattr(original, name)}))  # type: ignore[arg-type]
    assert lean == proto


@pytest.mark.parametrize("wanted", [999_999, 1_000_001])
def test_the_length_of_weights_that_are_passed_over_is_checked(tmp_path: Path, wanted: int) -> None:
    tensor = TensorProto(name="w", data_type=1, dims=[1_000_000], raw_data=b"\0" * 4 * wanted)
    with pytest.raises(UserError, match=r"do not fit its .* bytes of raw data"):
        lint_model(written(tmp_path, model(graph(stored=[*bounds(), tensor]))))


def test_weights_in_two_fields_are_refused(tmp_path: Path) -> None:
    tensor = TensorProto(
        name="w", data_type=1, dims=[500_000], raw_data=b"\0" * 2_000_000, float_data=[0.0] * 9000
    )
    with pytest.raises(UserError, match="stand in several fields"):
        lint_model(written(tmp_path, model(graph(stored=[*bounds(), tensor]))))


def test_what_protobuf_does_not_write_is_left_to_protobuf() -> None:
    for data in (b"\x0b\x0c", b"\xff" * 20, b"\x80", b"\x3a\xff\xff\xff\xff\x0f", b"\x09\x01"):
        assert skim(io.BytesIO(data), len(data)) is None
    deep = b"x" * 20_000
    for _ in range(300):
        deep = _field(1, _field(5, _field(6, deep)))
    data = _field(7, deep)
    assert skim(io.BytesIO(data), len(data)) is None
    fixed = b"\x08\x08\x11" + b"\0" * 8 + b"\x1d" + b"\0" * 4
    assert skim(io.BytesIO(fixed), len(fixed)) == fixed
    odd = _field(7, _field(5, _field(4, b"\0" * 20_001)))
    assert skim(io.BytesIO(odd), len(odd)) is None


def _field(number: int, content: bytes) -> bytes:
    size, head = len(content), bytearray([number << 3 | 2])
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    return bytes([*head, size]) + content


def test_10_000_nested_subgraphs_in_a_large_file(tmp_path: Path) -> None:
    inner = b"\0" * 2_000_000
    for _ in range(10_000):
        inner = _field(1, _field(5, _field(6, inner))) if len(inner) < 2_200_000 else inner
    path = tmp_path / "m.onnx"
    path.write_bytes(b"\x08\x08" + _field(7, inner) + _field(8, b"\x10\x0d"))
    with pytest.raises(UserError, match="not an ONNX model"):
        lint_model(path)


def test_a_small_file_that_claims_3_gb(tmp_path: Path) -> None:
    claim = TensorProto(name="w", data_type=1, dims=[750_000_000], raw_data=b"\0" * 4)
    data = b"\x08\x08" + b"\x3a\x80\xbc\xc1\x96\x0b" + b"\0" * 900  # a graph of 3,000,000,000 bytes
    tracemalloc.start()
    with pytest.raises(UserError, match=r"dimensions \[750000000\] do not fit its 4 bytes"):
        lint_model(written(tmp_path, model(graph(stored=[*bounds(), claim]))))
    (tmp_path / "m.onnx").write_bytes(data)
    with pytest.raises(UserError, match="not an ONNX model"):
        lint_model(tmp_path / "m.onnx")
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_negative_dimensions(tmp_path: Path) -> None:
    tensor = TensorProto(name="w", data_type=1, dims=[-2, -2], raw_data=b"\0" * 16)
    with pytest.raises(UserError, match="do not fit"):
        lint(tmp_path, model(graph(stored=[*bounds(), tensor])))


@pytest.mark.parametrize("length", [1, 2])
def test_a_cycle_of_nodes_gets_one_message(tmp_path: Path, length: int) -> None:
    names = [f"a{n}" for n in range(length)]
    ring = [helper.make_node("Neg", [names[n - 1]], [names[n]]) for n in range(length)]
    with pytest.raises(UserError, match="form a circle") as raised:
        lint(tmp_path, model(graph(*ring, clip("a0", "L", "M"), infos=[value("a0", [2, 3])])))
    assert raised.value.todo


def test_nodes_out_of_order_without_a_circle_are_judged(tmp_path: Path) -> None:
    late = helper.make_node("Neg", ["X"], ["a0"])
    middle = helper.make_node("Add", ["a0", "a0"], ["a1"])
    report = lint(tmp_path, model(graph(clip("a1", "L", "M"), middle, late)))
    assert len(report.nodes) == 1


def test_a_circle_through_a_subgraph(tmp_path: Path) -> None:
    inner = graph(helper.make_node("Neg", ["b"], ["n"]), inputs=[], outputs=[value("n", [2, 3])], stored=[])
    branch = helper.make_node("If", ["c"], ["a"], then_branch=inner, else_branch=inner)
    back = helper.make_node("Neg", ["a"], ["b"])
    with pytest.raises(UserError, match="form a circle"):
        lint(tmp_path, model(graph(branch, back, clip())))
