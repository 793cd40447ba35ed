"""Names of obligations are composed in sonnx_clip/claims, and nowhere else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import sonnx_clip

FOLDER = Path(sonnx_clip.__file__).parent
# What stands at the end of a goal's name, as `goal_names` and the claims write it.
_PART = re.compile(
    r"_\(?(refuted|repaired|inhabited|agrees|differs|nowhere_else|is_sonnx|infinities|printed_default|is_written"
    r"|same_(values|bits)|other_(values|bits)|in_classes|is_narrow|is_given|is_accepted|is_stated|changed"
    r"|widened|without_(bounds|min|max)|independent|answers)\b"
)


def composed(source: str) -> list[str]:
    """The f-strings and patterns of a file that make or match the name of a goal."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            parts = [p.value for p in node.values if isinstance(p, ast.Constant) and isinstance(p.value, str)]
            found += [ast.unparse(node) for part in parts if " " not in part and _PART.search(part)]
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MATCHES
        ):
            texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            found += [ast.unparse(node) for text in texts if _PART.search(text)]
    return found


_MATCHES = ("compile", "search", "match", "fullmatch", "removesuffix", "endswith", "rpartition", "split")


def test_no_file_outside_composes_or_matches_one() -> None:
    files = [file for file in sorted(FOLDER.rglob("*.py")) if file.parent.name != "claims"]
    assert len(files) > 300
    found = {
        file.relative_to(FOLDER).as_posix(): names
        for file in files
        if (names := composed(file.read_text(encoding="utf-8")))
    }
    assert found == {}


@pytest.mark.parametrize(
    "line",
    [
        'f"{etype.id}.{p.id}_refuted"',
        'f"{word}_and_{other}_other_values"',
        'f"{r.word}_agrees{suffix}_nowhere_else"',
        're.search(r"_(is_sonnx|without_bounds)$", name)',
        'name.removesuffix("_repaired")',
    ],
)
def test_one_that_does_is_seen(line: str) -> None:
    assert composed(line)


@pytest.mark.parametrize("line", ['f"{name} is refuted"', '"C2_refuted"', 'f"{folder}/{name}.mlw"'])
def test_other_texts_are_left_alone(line: str) -> None:
    assert not composed(line)
