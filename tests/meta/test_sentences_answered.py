"""Each sentence of a source has an answer in spec/clip.coverage.yaml: a wrong or missing one is refused."""

import re
import shutil
from functools import cache

import pytest

from sonnx_clip.backends.generate import render_theories
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.coverage import PATH, require_coverage
from tests.other_root import use_root

SONNX, ONNX, DIRECTML = (
    f"spec/sources/{name}"
    for name in ("sonnx-clip.md", "onnx-clip-versions.txt", "directml-clip.txt")
)
SPEC = load_spec()


@cache
def obligations():
    return tuple(o.id for o in render_theories(SPEC).obligations)


# ruff: noqa: E501
# fmt: off
# What is replaced in a file by what, and where the message then is, with all that it says.
PLANTED = {
    "a sentence is added": (
        SONNX, "Tensor `X` is the input tensor", "X may be large. Tensor `X` is the input tensor", f"{SONNX}:114",
        ("`X may be large. Tensor `X` is", f"here, and {PATH}:", "answers `Tensor `X` is", "answer the words in their order")),
    "a sentence is added at the end": (
        ONNX, "Constrain input and output types to float tensors\\.\\Z", "Constrain input and output types to float tensors. Or not.",
        f"{ONNX}:255", ("these words have no answer in spec/clip.coverage.yaml: `Or not.`",)),
    "a word of a sentence is another": (
        DIRECTML, "must have the same DataType", "must not have the same DataType", f"{DIRECTML}:63",
        ("InputTensor and OutputTensor must not have", "answers `InputTensor and OutputTensor must have")),
    "a sentence is gone": (
        SONNX, "No error condition", "", f"{SONNX}:", (f"here, and {PATH}:", "answers `No error condition`")),
    "an id that is gone": (
        PATH, r"encoded_by: \[R3\]", "encoded_by: [R3, R9]", f"{PATH}:", ("encoded_by[1]", "there is no `R9`")),
    "an aspect that a dialect does not quote": (
        PATH, "onnx-12/inputs", "onnx-6/inputs", f"{PATH}:", ("there is no `onnx-6/inputs`", "did you mean")),
    "a quotation that is answered with another id": (
        PATH, r"encoded_by: \[result_is_operand\]", "encoded_by: [R2]", f"{PATH}:",
        ("`result_is_operand` of spec/clip.yaml quotes these words, and the answer does not name it", "add `result_is_operand` to encoded_by")),
    "no reason": (
        PATH, "descriptive: leads-in", "descriptive: lead-in", f"{PATH}:", ("there is no reason `lead-in`", "did you mean `leads-in`")),
    "two answers in one": (
        PATH, r"encoded_by: \[R3\]", "encoded_by: [R3]\n      descriptive: leads-in", f"{PATH}:", ("an answer has encoded_by or disputed_by",)),
    "a source without answers": (
        PATH, r"(?s)\n  onnx-where:.*", "\n", f"{PATH}:", ("the source `onnx-where` of spec/clip.yaml has no answers",)),
    "answers to no source": (
        PATH, r"\n  onnx-where:", "\n  onnx-were:", f"{PATH}:", ("has no source `onnx-were`", "did you mean `onnx-where`?")),
}
# fmt: on


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The root of a repository with its own spec/ and the theories of this one."""
    root = tmp_path / "repository"
    shutil.copytree(repo_root() / "spec", root / "spec")
    obligations()  # those of this repository
    use_root(root, monkeypatch)
    return root


def _refused():
    with pytest.raises(UserError) as caught:
        require_coverage(SPEC, obligations())
    return str(caught.value)


@pytest.mark.parametrize("name", PLANTED)
def test_wrong_answer_is_refused_with_its_place(name, own):
    file, old, new, where, says = PLANTED[name]
    text, count = re.subn(old, lambda _: new, (own / file).read_text(encoding="utf-8"), count=1)
    assert count == 1
    (own / file).write_text(text, encoding="utf-8")
    message = _refused()
    assert message.startswith(where), message
    assert all(words in message for words in says), message


def test_answer_that_is_left_out_is_missed(own):
    """One of each source, at its beginning, in its middle and at its end."""
    path = own / PATH
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    begins = [index for index, line in enumerate(lines) if re.match(r"    - (\{?)words:", line)]
    assert len(begins) > 600
    for begin in (*begins[:1], *begins[7::60], *begins[-1:]):
        end = next(
            (i for i in range(begin + 1, len(lines)) if not lines[i].startswith("      ")),
            len(lines),
        )
        path.write_text("".join([*lines[:begin], *lines[end:]]), encoding="utf-8")
        message = _refused()
        assert message.startswith("spec/sources/"), message


def test_two_answers_that_change_places_are_found(own):
    text = (own / PATH).read_text(encoding="utf-8")
    one, other = (
        "    - {words: 'where:', descriptive: leads-in}\n",
        "    - {words: '- `X`: input tensor', descriptive: names}\n",
    )
    assert one + other in text
    (own / PATH).write_text(text.replace(one + other, other + one, 1), encoding="utf-8")
    assert "answer" in _refused()
