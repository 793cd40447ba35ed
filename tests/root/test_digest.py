"""Digests: the standard's own example, and what tells two lists of parts apart."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from sonnx_clip.root.files import digest_of, digest_of_file, digest_of_parts

if TYPE_CHECKING:
    from pathlib import Path

# FIPS 180-2, appendix B.1.
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_the_example_of_the_standard(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    assert digest_of("abc") == digest_of(b"abc") == digest_of_file(tmp_path / "abc") == ABC
    assert digest_of("é") == digest_of(b"\xc3\xa9")


def test_parts_that_only_join_alike_differ() -> None:
    lists = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["1:a"], ["a"], []]
    assert len({digest_of_parts(parts) for parts in lists}) == len(lists)
    assert digest_of_parts(["ab", b"c"]) == hashlib.sha256(b"2:ab1:c").hexdigest()
