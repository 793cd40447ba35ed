"""Lint takes operands and restrictions from the profile: here from profiles of other operators."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from onnx import TensorProto, helper

from sonnx_clip.lint.clip_nodes import ClipNode, arguments
from sonnx_clip.lint.profile import Profile, read_profile
from sonnx_clip.lint.restrictions import judge
from sonnx_clip.lint.scope import Scope
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from tests.lint.build import graph, scalar, value

if TYPE_CHECKING:
    from sonnx_clip.lint.tensors import Argument

DROPOUT = {"D": "data", "P": "ratio", "T": "training_mode"}
PAD = {"D": "data", "W": "pads", "V": "constant_value"}
CLIP = {"A": "input", "B": "min", "C": "max"}


def planted(
    folder: Path, operator: str, names: dict[str, str], tensors: str, **rules: tuple[str, str]
) -> Profile:
    """The profile of another operator: its operands, of which some are tensors, and restrictions on them."""
    document: dict[str, Any] = json.loads(repo_file("generated/profile.json").read_text(encoding="utf-8"))
    document |= {
        "operator": operator,
        "operands": [
            {"id": id_, "onnx": name, "role": "tensor" if id_ in tensors else "scalar"}
            for id_, name in names.items()
        ],
        "result": {"id": "Z", "onnx": "output"},
        "restrictions": [{"id": id_, "word": word, "of": list(of)} for id_, (word, of) in rules.items()],
    }
    file = folder / "profile.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return read_profile(file)


def node(
    profile: Profile, *inputs: str, opset: int = 13, **attributes: float
) -> tuple[ClipNode, tuple[Argument, ...]]:
    proto = helper.make_node(profile.operator, inputs, ["z"], **attributes)
    declared = [value("data", [2, 3]), value("untyped", None, TensorProto.UNDEFINED)]
    stored = [scalar("one", 0.5), scalar("two", 0.5)]
    body = graph(proto, inputs=declared, outputs=[value("z", [2, 3])], stored=stored)
    found = ClipNode(proto, Scope(body, "main"), 0, opset)
    return found, arguments(found, Path("m.onnx"), profile)


def problems(profile: Profile, *inputs: str, **given: Any) -> list[tuple[str, str, str]]:
    judgements = judge(*node(profile, *inputs, **given), profile)
    return [(one.id, p.argument, p.message) for one in judgements for p in one.problems]


def test_operands_and_restrictions_are_those_of_the_profile(tmp_path: Path) -> None:
    profile = planted(tmp_path, "Dropout", DROPOUT, "D", S1=("is_set", "T"), S2=("is_scalar", "DT"))
    _, found = node(profile, "data", "", "two")
    assert [(one.id, one.operand.role, one.name) for one in found] == [
        ("D", "tensor", "data"), ("P", "scalar", None), ("T", "scalar", "two"), ("Z", "result", "z"),
    ]  # fmt: skip
    assert [problem[:2] for problem in problems(profile, "data", "one")] == [("S1", "T"), ("S2", "D")]
    assert [rule for rule, *_ in problems(profile, "data", "one", "two")] == ["S2"]
    profile = planted(tmp_path, "Pad", PAD, "DW", S1=("is_set", "V"))
    ((rule, argument, message),) = problems(profile, "data", "one", "")
    assert (rule, argument) == ("S1", "V")
    assert "input V (constant_value)" in message
    profile = planted(tmp_path, "Clip", CLIP, "A", low=("is_set", "B"), same=("same_type", "BZ"))
    assert profile.rules == ("low", "same", "element_types", "C1")
    assert [problem[:2] for problem in problems(profile, "data", "", "two")] == [("low", "B")]


def test_operand_that_is_an_attribute_is_reported_as_one(tmp_path: Path) -> None:
    profile = planted(tmp_path, "Dropout", DROPOUT, "D", S1=("is_set", "PT"))
    found = problems(profile, "untyped", opset=7, ratio=0.25)
    assert [message for rule, _, message in found if rule == "S1"] == [
        "Dropout-7 has no input P; the bound is the attribute ratio = 0.25",
        "Dropout-7 has no input T; its attribute training_mode is also not set, and it has no default",
    ]
    assert problems(profile, "untyped", opset=7)[0][2].endswith("so its default 0.5 applies")


def test_inputs_and_attributes_are_those_of_the_schema(tmp_path: Path) -> None:
    profile = planted(tmp_path, "Dropout", DROPOUT, "D")
    for opset, wanted in ((13, "Dropout-13 takes 1 to 3 inputs"), (7, "Dropout-7 takes exactly one input")):
        with pytest.raises(UserError, match=wanted):
            node(profile, *["data"] * 4, opset=opset)
    with pytest.raises(UserError, match="Dropout-13 has no attribute 'is_test'"):
        node(profile, "data", is_test=1)


def test_unknown_word_of_a_restriction_is_an_error(tmp_path: Path) -> None:
    profile = planted(tmp_path, "Clip", CLIP, "A", new=("is_large", "A"))
    with pytest.raises(ValueError, match="lint has no check for the word is_large of new"):
        problems(profile, "data")
