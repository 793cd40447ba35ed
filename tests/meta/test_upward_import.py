"""An import against the layers is found, wherever in a file it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.layers import forbidden, layers

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """
| package | what for | imports |
| --- | --- | --- |
| low | the lower one | nothing of ours |
| high | the upper one | low |
"""


@pytest.mark.parametrize(
    "line",
    [
        "from sonnx_clip.high.part import thing",
        "from sonnx_clip.high import thing",
        "from sonnx_clip import high",
        "import sonnx_clip.high",
        "def f():\n    from sonnx_clip.high import thing",
        "import sonnx_clip\nsonnx_clip.high.part.thing()",
        "import importlib\nimportlib.import_module('sonnx_clip.high.part')",
        "part = __import__('sonnx_clip.high', fromlist=['part'])",
        "run('-c', 'from sonnx_clip.high import thing')",
        "if TYPE_CHECKING:\n    from sonnx_clip.high import thing",
    ],
)
def test_an_upward_import_is_found(line: str, tmp_path: Path) -> None:
    for package in ("low", "high"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "high" / "fine.py").write_text("from sonnx_clip.low import thing\n")
    (tmp_path / "low" / "fine.py").write_text(
        '"""As sonnx_clip.high says."""\nfrom sonnx_clip import __version__\n'
    )
    assert not forbidden(tmp_path, layers(PAGE))
    (tmp_path / "low" / "part.py").write_text(line + "\n")
    assert forbidden(tmp_path, layers(PAGE)) == ["low/part.py: low imports high"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("from ..high import thing", "a relative import"),
        ("import sonnx_clip as s", "by another name"),
        ("import_module(f'sonnx_clip.{part}')", "put together"),
    ],
)
def test_a_way_around_the_table_is_no_way(line: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "low").mkdir()
    (tmp_path / "low" / "part.py").write_text(line + "\n")
    with pytest.raises(AssertionError, match=words):
        forbidden(tmp_path, layers(PAGE))


def test_clip_itself_is_of_the_oracle(tmp_path: Path) -> None:
    (tmp_path / "low").mkdir()
    (tmp_path / "low" / "part.py").write_text("import sonnx_clip\nsonnx_clip.clip(1, 2, 3)\n")
    assert forbidden(tmp_path, layers(PAGE)) == ["low/part.py: low imports oracle"]
