"""What a user names is read if it is a regular file: a device or a FIFO may never end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sonnx_clip.conform.pytest_items import read_expected
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular
from sonnx_clip.runtimes.shared_library import read_abi
from sonnx_clip.spec import load_spec


def test_a_regular_file_and_a_link_to_one(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("é\n", encoding="utf-8")
    (tmp_path / "link").symlink_to("text")
    assert read_regular(tmp_path / "text") == read_regular(tmp_path / "link") == "é\n"


def test_anything_else_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", Path("/dev/zero")):
        with pytest.raises(OSError, match="this is no regular file"):
            read_regular(path)
    with pytest.raises(OSError, match="this is a folder"):
        read_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "absent")


def test_who_reads_what_a_user_names_asks_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UserError, match="--abi cannot be read: this is no regular file"):
        read_abi(str(tmp_path / "fifo"))
    with pytest.raises(UserError, match="cannot be read: this is no regular file"):
        read_expected(tmp_path / "fifo")
    with pytest.raises(UserError, match="fifo: cannot be read: this is no regular file"):
        load_spec(tmp_path / "fifo")
