"""generated/profile.json: its facts are those of NumPy, ONNX and the obligations; a broken one is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.lint.profile import read_profile
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file

if TYPE_CHECKING:
    from pathlib import Path


def test_unusable_profile_is_one_message(tmp_path: Path) -> None:
    file = tmp_path / "profile.json"
    for text in (None, "", "[]", "{", "\xff"):
        if text is not None:
            file.write_text(text, encoding="latin-1")
        with pytest.raises(UserError, match="cannot be read") as raised:
            read_profile(file)
        assert "run: sonnx-clip generate" in str(raised.value)
    document = json.loads(repo_file("generated/profile.json").read_text(encoding="utf-8"))
    del document["operands"]
    file.write_text(json.dumps(document))
    with pytest.raises(UserError, match="the profile has no entry 'operands'") as raised:
        read_profile(file)
    assert "run: sonnx-clip generate" in str(raised.value)
