"""Which tensors a node has, and what is asked of them, is what the profile says: here of other operators."""

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
    from onnx import NodeProto

    from sonnx_clip.lint import Judgement

MODEL = Path("m.onnx")
Names = dict[str, str]
DROPOUT = {"D": "data", "P": "ratio", "T": "training_mode"}
PAD = {"D": "data", "W": "pads", "V": "constant_value"}
CLIP = {"A": "input", "B": "min", "C": "max"}


def planted(folder: Path, operator: str, names: Names, tensors: str, **asked: tuple[str, str]) -> Profile:
    """The profile of another operator: its operands, of which some are tensors, and restrictions on them."""
    document: dict[str, Any] = json.loads(repo_file("generated/profile.json").read_text(encoding="utf-8"))
    document |= {
        "operator": operator,
        "operands": [
            {"id": id_, "onnx": name, "role": "tensor" if id_ in tensors else "scalar"}
            for id_, name in names.items()
        ],
        "result": {"id": "Z", "onnx": "output"},
        "restrictions": [{"id": id_, "word": word, "of": list(of)} for id_, (word, of) in asked.items()],
    }
    file = folder / "profile.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return read_profile(file)


def node_of(proto: NodeProto, opset: int) -> ClipNode:
    body = graph(
        proto,
        inputs=[value("data", [2, 3]), value("untyped", None, TensorProto.UNDEFINED)],
        outputs=[value("z", [2, 3])],
        stored=[scalar("one", 0.5), scalar("two", 0.5)],
    )
    return ClipNode(proto, Scope(body, "main"), 0, opset)


def judged(profile: Profile, *inputs: str, opset: int = 13, **attributes: float) -> tuple[Judgement, ...]:
    proto = helper.make_node(profile.operator, inputs, ["z"], **attributes)
    node = node_of(proto, opset)
    return judge(node, arguments(node, MODEL, profile), profile)


def problems(judgements: tuple[Judgement, ...]) -> list[tuple[str, str, str, str]]:
    return [(one.id, p.argument, p.message, p.remedy) for one in judgements for p in one.problems]


def test_the_operands_are_those_of_the_head(tmp_path: Path) -> None:
    profile = planted(tmp_path, "Dropout", DROPOUT, "D")
    found = arguments(node_of(helper.make_node("Dropout", ["data", "", "two"], ["z"]), 13), MODEL, profile)
    assert [(one.id, one.operand.onnx, one.operand.role, one.name) for one in found] == [
        ("D", "data", "tensor", "data"),
        ("P", "ratio", "scalar", None),
        ("T", "training_mode", "scalar", "two"),
        ("Z", "output", "result", "z"),
    ]


def test_each_restriction_speaks_of_its_own_operands(tmp_path: Path) -> None:
    profile = planted(tmp_path, "Dropout", DROPOUT, "D", S1=("is_set", "T"), S2=("is_scalar", "DT"))
    assert problems(judged(profile, "data", "one")) == [
        (
            "S1", "T", "input T (training_mode) is not set: input 2 of the node is absent",
            "set input T (training_mode) to a scalar of D's element type",
        ),
        ("S2", "D", "shape [2, 3] where the empty shape is required", "make the bound a scalar: shape []"),
    ]  # fmt: skip
    assert [rule for rule, *_ in problems(judged(profile, "data", "one", "two"))] == ["S2"]


def test_operand_that_is_an_attribute_is_reported_as_one(tmp_path: Path) -> None:
    profile = planted(tmp_path, "Dropout", DROPOUT, "D", S1=("is_set", "PT"))
    found = problems(judged(profile, "untyped", opset=7, ratio=0.25))
    assert [message for rule, _, message, _ in found if rule == "S1"] == [
        "Dropout-7 has no input P; the bound is the attribute ratio = 0.25",
        "Dropout-7 has no input T; its attribute training_mode is not set either, and it has no default",
    ]
    assert found[0][3] == "export the model again with operator set 13 or later"
    (_, _, message, _), *_ = problems(judged(profile, "untyped", opset=7))
    assert message.endswith("its attribute ratio is not set either, so its default 0.5 applies")


def test_a_scalar_stands_where_the_head_has_it(tmp_path: Path) -> None:
    profile = planted(tmp_path, "Pad", PAD, "DW", S1=("is_set", "V"))
    ((rule, argument, message, _),) = problems(judged(profile, "data", "one", ""))
    assert (rule, argument) == ("S1", "V")
    assert message == "input V (constant_value) is not set: input 2 of the node is the empty name"


def test_the_bounds_of_clip_may_have_other_ids(tmp_path: Path) -> None:
    profile = planted(tmp_path, "Clip", CLIP, "A", low=("is_set", "B"), same=("same_type", "BZ"))
    assert profile.rules == ("low", "same", "element_types", "C1")
    ((rule, argument, message, remedy),) = problems(judged(profile, "data", "", "two"))
    assert (rule, argument) == ("low", "B")
    assert message == "input B (min) is not set: input 1 of the node is the empty name"
    assert remedy.startswith("normalise --assume finite sets it")


def test_the_schema_of_the_operator_says_what_it_takes(tmp_path: Path) -> None:
    profile = planted(tmp_path, "Dropout", DROPOUT, "D")
    for opset, wanted in ((13, "Dropout-13 takes 1 to 3 inputs"), (7, "Dropout-7 takes exactly one input")):
        with pytest.raises(UserError, match=wanted):
            judged(profile, *["data"] * 4, opset=opset)
    with pytest.raises(UserError, match="Dropout-13 has no attribute 'is_test'"):
        judged(profile, "data", is_test=1)


def test_a_word_that_lint_cannot_judge_is_no_restriction_that_is_met(tmp_path: Path) -> None:
    profile = planted(tmp_path, "Clip", CLIP, "A", new=("is_large", "A"))
    with pytest.raises(ValueError, match="lint has no judgement for the word is_large of new"):
        judged(profile, "data")
