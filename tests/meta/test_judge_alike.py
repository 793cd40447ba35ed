"""Nodes judged at once get what each gets by itself; a key that leaves something out is caught."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from onnx import TensorProto, helper

from sonnx_clip.graph import judge_alike, lint_model, to_json
from tests.graph.build import bounds, clip, graph, model, scalar, value
from tests.graph.open_models import MODELS as OPEN
from tests.meta.test_lint_meta import MODELS

if TYPE_CHECKING:
    from pathlib import Path

    import onnx


def _unlike() -> onnx.ModelProto:
    """Nodes that differ in one thing each: the shape of X, a type of a bound, a shape of a bound, Y."""
    nodes = [
        clip("X", "L", "M", out="a", name="a"),
        clip("Z", "L", "M", out="b", name="b"),
        clip("X", "D", "M", out="c", name="c"),
        clip("X", "L", "O", out="d", name="d"),
        clip("X", "L", "M", out="Y", name="e"),
    ]
    stored = [*bounds(), scalar("D", 0.0, TensorProto.DOUBLE), helper.make_tensor("O", 1, [1], [6.0])]
    inputs = [value("X", [2, 3]), value("Z", ["N", 3])]
    return model(graph(*nodes, inputs=inputs, stored=stored))


def judged(folder: Path, proto: onnx.ModelProto) -> str:
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return to_json([lint_model(path)])


def one_by_one(patch: pytest.MonkeyPatch) -> None:
    """Nodes judged each by itself, by all that is known of their names."""
    patch.setattr(judge_alike.Judge, "_all_set", lambda *_: ())
    patch.setattr(judge_alike, "_Names", _EachName)


class _EachName(judge_alike._Names):
    def __init__(self, scope: object) -> None:
        super().__init__(scope)  # type: ignore[arg-type]
        self.clear()
        self[""] = None


EVERY = {
    **{name: proto for name, (proto, _) in MODELS.items()},
    **{name: proto for name, (proto, _) in OPEN.items()},
    "nodes that differ": _unlike(),
}


@pytest.mark.parametrize("name", EVERY)
def test_nodes_judged_at_once_get_what_each_gets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    found = judged(tmp_path, EVERY[name])
    one_by_one(monkeypatch)
    assert judged(tmp_path, EVERY[name]) == found


@pytest.mark.parametrize("known", ["nothing", "the inferred type alone"])
def test_a_key_that_leaves_something_out_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        one_by_one(patch)
        expected = judged(tmp_path, EVERY["nodes that differ"])

    class Forgetful(judge_alike._Names):
        def __getitem__(self, name: str) -> object:
            return None if known == "nothing" else id(self._scope.inferred.get(name))

    monkeypatch.setattr(judge_alike, "_Names", Forgetful)
    assert judged(tmp_path, EVERY["nodes that differ"]) != expected
