"""Normalisations with planted bugs: each is caught by comparing the outputs of the model named beside it."""

from dataclasses import replace

import pytest
from onnx import TensorProto, helper

from sonnx_clip.lint.edit import Editor
from sonnx_clip.lint.normalise import NormaliseOptions, normalise
from sonnx_clip.lint.operator_versions import Limit
from tests.lint.build import clip, graph, model, scalar, value
from tests.lint.same_outputs import differences, reference_differences

INT8 = TensorProto.INT8


def _int8(*inputs):
    stored = [
        tensor for tensor in (scalar("L", -9, INT8), scalar("M", 9, INT8)) if tensor.name in inputs
    ]
    ends = [value(name, [2, 3], INT8) for name in "XY"]
    return model(graph(clip(*inputs), inputs=ends[:1], outputs=ends[1:], stored=stored))


MODELS = {
    "no bound of int8": _int8("X"),
    "no min of int8": _int8("X", "", "M"),
    "no max of int8": _int8("X", "L"),
    "bounds of one entry": model(
        graph(
            stored=[
                helper.make_tensor(name, 1, [1], [bound])
                for name, bound in (("L", -1.0), ("M", 2.0))
            ]
        )
    ),
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


SET_INPUT, CONSTANT = Editor.set_input, Editor.constant


def _swapped(editor, place, operand, name):
    SET_INPUT(editor, place, replace(operand, position=3 - operand.position), name)


def _zeroed(editor, place, wanted, _):
    return CONSTANT(editor, place, wanted, helper.make_tensor("", 1, [], [0.0]))


# What takes the place of a method, and the model that shows it.
PLANTS = {
    "the highest int8 is 126": (Limit, "of", lambda *_: b"\x7e", "no max of int8"),
    "the lowest int8 is -127": (Limit, "of", lambda *_: b"\x81", "no min of int8"),
    "min and max are exchanged": (Editor, "set_input", _swapped, "no bound of int8"),
    "a scalar loses its value": (Editor, "constant", _zeroed, "bounds of one entry"),
}


@pytest.mark.parametrize("bug", PLANTS)
def test_a_planted_bug_is_caught_by_the_outputs_of_its_model(tmp_path, monkeypatch, bug):
    owner, method, wrong, caught_by = PLANTS[bug]
    monkeypatch.setattr(owner, method, wrong)
    assert different(tmp_path, caught_by)
