"""A repository of one's own with a kept specification, and what can happen to either."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.root.files import digest_of_parts
from sonnx_clip.root.folders import package, repo_root
from sonnx_clip.spec import load
from sonnx_clip.spec.checked import read_and_check
from tests.other_root import use_root

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from sonnx_clip.spec.model import Spec

_READ: dict[str, Spec] = {}  # by the digest of spec/


@dataclass
class Repository:
    """A copy of spec/ and of the code that reads it, and how often it was read."""

    root: Path
    reads: int = 0

    @property
    def yaml(self) -> Path:
        return self.root / "spec/clip.yaml"

    @property
    def file(self) -> Path:
        """Where the specification is kept."""
        return self.root / "build/cache" / load.file_name(self.yaml)

    def load(self) -> Spec:
        return load.kept(self.yaml, self._read)

    def reads_again(self) -> bool:
        """Whether the next process would read the YAML, and not believe what is kept."""
        before = self.reads
        self.load()
        return self.reads > before

    def _read(self, path: Path) -> Spec:
        """Counted each time; what the same bytes gave in this process already is not computed again."""
        self.reads += 1
        parts: list[bytes | str] = [str(path.relative_to(self.root))]
        for file in sorted(found for found in (self.root / "spec").rglob("*") if found.is_file()):
            parts += [str(file.relative_to(self.root)), file.read_bytes()]
        key = digest_of_parts(parts)
        if key not in _READ:
            _READ[key] = read_and_check(path)
        return _READ[key]


def repository(root: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A copy whose folders are those that are asked."""
    shutil.copytree(repo_root() / "spec", root / "spec")
    for layer in load._LAYERS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(package() / layer, root / "sonnx_clip" / layer, ignore=ignored)
    use_root(root, monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / "home"))
    return Repository(root)


def _append(relative: str) -> Callable[[Repository], None]:
    def change(own: Repository) -> None:
        with (own.root / relative).open("a", encoding="utf-8") as file:
            file.write("\n# more\n")

    return change


def _flip(own: Repository) -> None:
    """One bit of the body is another."""
    content = bytearray(own.file.read_bytes())
    content[-100] ^= 1
    own.file.write_bytes(content)


def _cut(own: Repository) -> None:
    own.file.write_bytes(own.file.read_bytes()[:-1])


def _empty(own: Repository) -> None:
    own.file.write_bytes(b"")


def _by_others(own: Repository) -> None:
    own.file.chmod(0o666)


def _folder_of_others(own: Repository) -> None:
    own.file.parent.chmod(0o777)


def _link(own: Repository) -> None:
    other = own.root / "other.bin"
    own.file.rename(other)
    own.file.symlink_to(other)


def _pipe(own: Repository) -> None:
    own.file.unlink()
    os.mkfifo(own.file, 0o600)


# What the specification came from has changed.
STALE = {
    "yaml": _append("spec/clip.yaml"),
    "quoted text": _append("spec/sources/numpy-clip.txt"),
    "code of the checks": _append("sonnx_clip/spec/meaning_checks.py"),
    "code that keeps it": _append("sonnx_clip/spec/load.py"),
    "code of the layer below": _append("sonnx_clip/language/values.py"),
    "code of the lowest layer": _append("sonnx_clip/root/errors.py"),
}
# The file is not what was written.
SPOILT = {
    "a bit": _flip,
    "cut short": _cut,
    "empty": _empty,
    "writable by others": _by_others,
    "in a folder that others can write": _folder_of_others,
    "a link": _link,
    "a pipe": _pipe,
}
