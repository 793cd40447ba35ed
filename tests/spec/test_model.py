"""The model of spec/clip.yaml: trees, sources, places of conditions, and that the shipped file is right."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import Spec, check_findings, check_spec, load_spec

if TYPE_CHECKING:
    from pathlib import Path


def test_the_shipped_specification_passes_every_check(spec: Spec) -> None:
    """Its claims are evaluated in tests/claims."""
    check_spec(spec)
    check_findings(spec)


def test_the_digest_is_that_of_the_files(spec: Spec) -> None:
    files = [repo_file(name) for name in ("spec/clip.yaml", "spec/element_types.yaml")]
    content = b"".join(file.read_bytes() for file in files)
    assert spec.digest == hashlib.sha256(content).hexdigest()


def test_example_of_a_dialect_may_give_a_bound_before_the_entries(tmp_path: Path) -> None:
    text = repo_file("spec/clip.yaml").read_text(encoding="utf-8")
    entries = "    type: int8\n    X: [-1, 0, 1]\n    Y: [-1, 0, 1]\n"
    assert entries in text
    path = tmp_path / "clip.yaml"
    bound_first = "    type: int8\n    L: 0\n    X: [-1, 0, 1]\n    Y: [0, 0, 1]\n"
    path.write_text(text.replace(entries, bound_first), encoding="utf-8")
    examples = {example.id: example for example in load_spec(path).dialect_examples}
    pairs = examples["onnx_default_int8_inbounds"].pairs
    assert pairs == (("-1", "0"), ("0", "0"), ("1", "1"))


@pytest.mark.parametrize(
    "condition",
    [
        '"not inverted\n      and X ? L"',
        ">-\n      not inverted and\n      X ? L",
        "|\n      not inverted\n      and X ? L",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_quoted_and_folded_conditions_keep_their_places(
    condition: str, end: str, tmp_path: Path
) -> None:
    text = repo_file("spec/clip.yaml").read_text(encoding="utf-8")
    text = text.replace("when: not inverted and X <= L\n", f"when: {condition}\n")
    path = tmp_path / "clip.yaml"
    path.write_text(text, encoding="utf-8", newline=end)
    before = text[: text.index("X ? L") + 2]
    place = f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))} ("
    with pytest.raises(UserError) as caught:
        load_spec(path)
    assert f"clip.yaml:{place}" in str(caught.value)
