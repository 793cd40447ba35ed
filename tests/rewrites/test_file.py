"""Mistakes in spec/rewrites.yaml are named with their place."""

import pytest

from sonnx_clip.rewrites.rewrite import FILE, known_rewrites
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file

TEXT = repo_file(FILE).read_text(encoding="utf-8")
FIRST = "after: clip(X, max(A, C), min(B, D))"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (FIRST, "after: clip(X, maxi(A, C), min(B, D))", "did you mean `max`"),
        (FIRST, "afterwards: X", "afterwards"),
        ("given: A <= B and C <= D", "given: A <= B and C", "an element"),
        ("int: {bits: C <= B}", "int: {bits: E <= B}", "`E` is no constant of the terms"),
        ("int: {bits: C <= B}", "int: {bit: C <= B}", "bit"),
        ("id: clip-clip-by-clipped-bounds", "id: clip-clip-by-max-min", "is there twice"),
    ],
)
def test_a_mistake_is_named(old, new, words, tmp_path):
    file = tmp_path / "rewrites.yaml"
    file.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError) as raised:
        known_rewrites(file)
    assert words in str(raised.value)
    assert "rewrites.yaml" in str(raised.value)
