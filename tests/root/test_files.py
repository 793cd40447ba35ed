"""Digests, and files that a user names: only a regular one is read, since a device may never end."""

import hashlib
import os
from pathlib import Path

import pytest

from sonnx_clip.conform.pytest_items import read_expected
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of, digest_of_file, digest_of_parts, read_regular
from sonnx_clip.runtimes.shared_library import read_abi
from sonnx_clip.spec import load_spec


def test_regular_file_and_a_link_to_one_are_read(tmp_path):
    (tmp_path / "text").write_text("é\n", encoding="utf-8")
    (tmp_path / "link").symlink_to("text")
    assert read_regular(tmp_path / "text") == read_regular(tmp_path / "link") == "é\n"


def test_anything_else_is_refused(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", Path("/dev/zero")):
        with pytest.raises(OSError, match="this is not a regular file"):
            read_regular(path)
    with pytest.raises(OSError, match="this is a folder"):
        read_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "absent")
    for reader in (lambda file: read_abi(str(file)), read_expected, load_spec):
        with pytest.raises(UserError, match="cannot be read: this is not a regular file"):
            reader(tmp_path / "fifo")


def test_digests(tmp_path):
    """FIPS 180-2, appendix B.1; and parts that only join alike differ."""
    (tmp_path / "abc").write_bytes(b"abc")
    assert digest_of("abc") == digest_of(b"abc") == digest_of_file(tmp_path / "abc")
    assert digest_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    lists = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["1:a"], ["a"], []]
    assert len({digest_of_parts(parts) for parts in lists}) == len(lists)
    assert digest_of_parts(["ab", b"c"]) == hashlib.sha256(b"2:ab1:c").hexdigest()
