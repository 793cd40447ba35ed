"""generated/profile.json: one that cannot be used is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.lint.profile import profile
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file

if TYPE_CHECKING:
    from pathlib import Path


def test_unusable_profile_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, document = (
        tmp_path / "profile.json",
        json.loads(repo_file("generated/profile.json").read_bytes()),
    )
    del document["operands"]
    monkeypatch.setattr("sonnx_clip.lint.profile.repo_file", lambda _: file)
    incomplete = json.dumps(document), "the profile has no entry 'operands'"
    for text, says in (
        *((text, "cannot be read") for text in (None, "", "[]", "{", "\xff")),
        incomplete,
    ):
        if text is not None:
            file.write_text(text, encoding="latin-1")
        with pytest.raises(UserError, match=says) as raised:
            profile.__wrapped__()
        assert "run: sonnx-clip generate" in str(raised.value)
