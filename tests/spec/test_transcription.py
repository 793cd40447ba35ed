"""The entries of spec/clip.yaml that transcribe lists and code of the pinned texts have what stands there."""

from __future__ import annotations

import re

import pytest

from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from sonnx_clip.spec.dialect_examples import ComputedBy, DialectExample
from sonnx_clip.spec.texts import fold

SPEC = load_spec()


def _page(source: str) -> str:
    return repo_file(SPEC.page(source).file).read_text(encoding="utf-8")


# --- The node tests of Clip on ONNX's page ------------------------------------------------------------------

# The code in front of each name, by name.
CODE, *NAMED = re.split(r"name='test_clip_(\w+)'\)", fold(_page("onnx-clip-examples")))
EXAMPLES = dict(zip(NAMED[::2], [CODE, *NAMED[1::2]], strict=False))
LIMITS = {
    "np.inf": "inf",
    "-np.inf": "-inf",
    "np.iinfo(np.int8).min": "lowest",
    "np.iinfo(np.int8).max": "highest",
}


def test_each_node_test_of_the_page_is_an_example() -> None:
    assert {f"onnx_{name}" for name in EXAMPLES} == {example.id for example in SPEC.dialect_examples}
    assert len(EXAMPLES) > 5


@pytest.mark.parametrize("example", SPEC.dialect_examples, ids=lambda example: example.id)
def test_example_has_the_numbers_of_the_code(example: DialectExample) -> None:
    code = EXAMPLES[example.id.removeprefix("onnx_")]
    bounds = dict(re.findall(r"\b(min|max)_val = np\.\w+\((-?[\d.]+)\)", code))
    entries = {
        name: tuple(part.strip() for part in numbers.split(","))
        for name, numbers in re.findall(r"\b([xy]) = np\.array\(\[([^\]]*)\]\)", code)
    }
    drawn = re.search(r"\bx = np\.random\.randn\(", code) is not None
    clipped = re.search(r"\by = np\.clip\(x, (\S+), (\S+)\) expect", code)
    assert (bounds.get("min"), bounds.get("max")) == (example.L, example.M)
    assert ("finite" if drawn else entries["x"]) == example.X
    if isinstance(example.Y, ComputedBy):
        assert clipped is not None
        given = [bounds.get(word.removesuffix("_val"), LIMITS.get(word, word)) for word in clipped.groups()]
        assert given == [example.Y.L, example.Y.M]
    else:
        assert entries["y"] == example.Y
    types = set(re.findall(r"np\.(float32|int8)\b", re.sub(r"np\.iinfo\(\S+", "", code)))
    assert types == {SPEC.element_type(example.type).numpy}
    assert f"name='test_clip_{example.id.removeprefix('onnx_')}')" in example.source.quote
