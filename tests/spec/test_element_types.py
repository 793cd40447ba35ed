"""The element types that an operator has, and mistakes in spec/element_types.yaml."""

import pytest

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import element_types, load_spec
from sonnx_clip.spec.element_types import known_element_types
from tests.toy.toys import FOLDER

TEXT = repo_file(element_types.FILE).read_text(encoding="utf-8")
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]


def operator_of(families, folder):
    """A specification with these lines as families."""
    text = (FOLDER / "relu.yaml").read_text(encoding="utf-8")
    begin, end = text.index("  - {id: int, chapter"), text.index("\n\ncases:")
    file = folder / "relu.yaml"
    file.write_text(text[:begin] + families + text[end:], encoding="utf-8")
    return load_spec(file)


SOURCE = 'source: {page: toy, section: Relu, quote: "the float is FP32"}'
INT = f"  - {{id: int, chapter: Relu, {SOURCE}}}\n"
UINT = f"  - {{id: uint, chapter: Relu, {SOURCE}}}\n"
FLOAT = f"  - {{id: float, chapter: Relu, types: [float32], {SOURCE}}}\n"


def test_clip_has_every_type():
    types, _ = known_element_types()
    assert [etype.id for etype in load_spec().element_types] == [etype.id for etype in types]


def test_unsigned_types_are_integers_where_there_is_no_other_family(tmp_path):
    spec = operator_of(INT + FLOAT, tmp_path)
    assert [etype.id for etype in spec.types_of("int")][-4:] == UNSIGNED
    assert [etype.id for etype in spec.types_of("float")] == ["float32"]


def test_unsigned_types_are_a_family_where_it_is_named(tmp_path):
    text = (FOLDER / "relu.yaml").read_text(encoding="utf-8")
    text = text.replace("families: [int, float]", "families: [int, uint, float]")
    text = text.replace("holds_for: [int, float]", "holds_for: [int, uint, float]")
    text = text.replace("holds_for: [int]", "holds_for: [int, uint]")
    begin, end = text.index("  - {id: int, chapter"), text.index("\n\ncases:")
    file = tmp_path / "relu.yaml"
    file.write_text(text[:begin] + INT + UINT + FLOAT + text[end:], encoding="utf-8")
    spec = load_spec(file)
    assert [etype.id for etype in spec.types_of("uint")] == UNSIGNED
    assert [etype.id for etype in spec.types_of("int")] == ["int8", "int16", "int32", "int64"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("width: 32, bits: {exponent: 8", "width: many, bits: {exponent: 8", "a whole number is expected"),
        ("Float16, width: 16", "Float16, width: 32", "does not have the parameters of its family"),
        ("id: int16,", "id: int8,", "`int8` is there twice"),
        ("family: uint,", "family: whole,", "`whole` is not allowed here"),
        ("numpy: int8,", "numpy: 'int8\": open(1)',", "is not a valid name"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_at_its_place(old, new, words, tmp_path, monkeypatch):
    assert old in TEXT
    file = tmp_path / "element_types.yaml"
    file.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    monkeypatch.setattr(element_types, "repo_file", lambda _: file)
    with pytest.raises(UserError) as caught:
        known_element_types.__wrapped__()
    assert words in str(caught.value)
    assert f"{file}:" in str(caught.value)
