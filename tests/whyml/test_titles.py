"""generated/why3/titles.json: a file that does not fit the theories gets one message."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.whyml.rendered_goals import FOLDER, TITLES, rendered_obligations
from tests.other_root import use_root

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("text", [None, "{", "[]", "{}"])
def test_titles_of_other_theories_are_refused(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theories = tmp_path / FOLDER
    theories.mkdir(parents=True)
    shutil.copy(repo_file(f"{FOLDER}/int8.mlw"), theories)
    if text is not None:
        (tmp_path / TITLES).write_text(text, encoding="utf-8")
    use_root(tmp_path, monkeypatch)
    with pytest.raises(UserError, match=r"titles.*missing, damaged") as caught:
        rendered_obligations("int8")
    assert caught.value.todo == "run: sonnx-clip generate"
