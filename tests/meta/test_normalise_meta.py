"""Normalisations with planted bugs: each is caught by comparing the outputs of the model named beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from onnx import TensorProto, helper

from sonnx_clip.lint.edit import Editor
from sonnx_clip.lint.normalise import NormaliseOptions, normalise
from sonnx_clip.lint.operator_versions import Limit
from tests.lint.build import clip, graph, model, scalar, value
from tests.lint.same_outputs import differences, reference_differences

if TYPE_CHECKING:
    from collections.abc import Callable

    import onnx

    Plant = Callable[[pytest.MonkeyPatch], None]

INT8 = TensorProto.INT8


def _one_entry(name, number):
    return helper.make_tensor(name, 1, [1], [number])


def _int8(*inputs):
    stored = [tensor for tensor in (scalar("L", -9, INT8), scalar("M", 9, INT8)) if tensor.name in inputs]
    ends = [value(name, [2, 3], INT8) for name in "XY"]
    return model(graph(clip(*inputs), inputs=ends[:1], outputs=ends[1:], stored=stored))


MODELS: dict[str, onnx.ModelProto] = {
    "no bound of int8": _int8("X"),
    "no min of int8": _int8("X", "", "M"),
    "no max of int8": _int8("X", "L"),
    "bounds of one entry": model(graph(stored=[_one_entry("L", -1.0), _one_entry("M", 2.0)])),
}


def different(folder, name):
    """Whether a normalised model computes something else than the original, by either of two runtimes."""
    before, after = folder / "before.onnx", folder / "after.onnx"
    before.write_bytes(MODELS[name].SerializeToString())
    found = normalise(before, after, NormaliseOptions(assume_finite=True, self_check=False))
    assert found.report.changed
    after.write_bytes(found.data)
    return bool(differences(before, after) + reference_differences(before, after))


@pytest.mark.parametrize("name", MODELS)
def test_normalise_as_it_is_changes_no_output(tmp_path, name):
    assert not different(tmp_path, name)


_set_input = Editor.set_input
_constant = Editor.constant


def _other_limit(pattern):
    return lambda patch: patch.setattr(Limit, "of", lambda *_: pattern)


def _swapped(patch):
    def set_input(editor, place, operand, name):
        _set_input(editor, place, replace(operand, position=3 - operand.position), name)

    patch.setattr(Editor, "set_input", set_input)


def _zeroed(editor, place, wanted, _):
    return _constant(editor, place, wanted, helper.make_tensor("", 1, [], [0.0]))


PLANTS: dict[str, tuple[Plant, str]] = {
    "the highest int8 is 126": (_other_limit(b"\x7e"), "no max of int8"),
    "the lowest int8 is -127": (_other_limit(b"\x81"), "no min of int8"),
    "min and max are exchanged": (_swapped, "no bound of int8"),
    "a scalar loses its value": (
        lambda patch: patch.setattr(Editor, "constant", _zeroed),
        "bounds of one entry",
    ),
}


@pytest.mark.parametrize("bug", PLANTS)
def test_a_planted_bug_is_caught_by_the_outputs_of_its_model(tmp_path, monkeypatch, bug):
    plant, caught_by = PLANTS[bug]
    plant(monkeypatch)
    assert different(tmp_path, caught_by)
