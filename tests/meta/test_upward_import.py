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
        "if TYPE_CHECKING:\n    from sonnx_clip.high import thing",
    ],
)
def test_an_upward_import_is_found(line: str, tmp_path: Path) -> None:
    for package in ("low", "high"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "high" / "fine.py").write_text("from sonnx_clip.low import thing\n")
    (tmp_path / "low" / "fine.py").write_text("from sonnx_clip import __version__\n")
    assert not forbidden(tmp_path, layers(PAGE))
    (tmp_path / "low" / "part.py").write_text(line + "\n")
    assert forbidden(tmp_path, layers(PAGE)) == ["low/part.py: low imports high"]
