"""SHA-256, in hex: by it the records name what they speak of."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def digest_of(content: bytes | str) -> str:
    """Of bytes, or of a text in UTF-8."""
    return hashlib.sha256(_bytes(content)).hexdigest()


def digest_of_file(path: Path) -> str:
    """Of what a file holds; OSError if it cannot be read."""
    return digest_of(path.read_bytes())


def digest_of_parts(parts: Iterable[bytes | str]) -> str:
    """Of several parts in their order, each behind its length: where one ends and the next begins counts."""
    digest = hashlib.sha256()
    for part in map(_bytes, parts):
        digest.update(b"%d:" % len(part) + part)
    return digest.hexdigest()


def _bytes(content: bytes | str) -> bytes:
    return content.encode() if isinstance(content, str) else content
