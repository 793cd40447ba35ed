"""The specification, read and checked once for each state of its files, and kept in a file for the next
process. Every command begins here.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import stat
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import VERSION as PYDANTIC

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of, digest_of_parts
from sonnx_clip.root.folders import build_folder, cache_folder, is_ours, package, repo_file
from sonnx_clip.root.folders import read_private as _read_ours
from sonnx_clip.spec.model import Spec
from sonnx_clip.spec.reading_classes import reading_classes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


_LAYERS = ("root", "language", "spec")  # this layer, and those below it (docs/architecture.md)
_PARTS = ("sonnx_clip.language.", "sonnx_clip.spec.")
_DERIVED = ("dialects", "reading_classes")  # what of the memo is kept: it stays true with the specification


def kept(path: Path, read: Callable[[Path], Spec]) -> Spec:
    """The specification in a file, as it was kept, or as `read` gives it; then it is kept.

    Args:
        path: the YAML file.
        read: reads and checks it; what it raises passes through, and nothing is kept.
    """
    for folder in folders():
        spec = _take(folder / file_name(path), path)
        if spec is not None:
            return spec
    spec = read(path)
    _keep(path, spec)
    return spec


def folders() -> Iterator[Path]:
    """Where specifications are kept, in the order in which the folders are tried."""
    if not hasattr(os, "geteuid"):  # whose a file is cannot be asked, so none is believed
        return
    build = build_folder()
    if build is not None:
        yield build / "cache"
    with suppress(UserError):  # no home
        yield cache_folder()


def file_name(path: Path) -> str:
    """The name of the file for a YAML file: interpreters and checkouts have one each."""
    return f"spec-{sys.implementation.cache_tag}-{digest_of(str(path.absolute()))[:12]}.bin"


def code_files() -> list[Path]:
    """The source files that decide what becomes of a YAML file."""
    return [file for layer in _LAYERS for file in sorted((package() / layer).glob("*.py"))]


def key_of(path: Path, pages: Iterable[str]) -> str:
    """The digest of all that a specification comes from; OSError if a file cannot be read.

    Args:
        path: the YAML file.
        pages: the texts that it quotes, by their paths in the repository.
    """
    from importlib.util import find_spec

    yaml = find_spec("yaml")
    libraries = [Path(yaml.origin)] if yaml is not None and yaml.origin else []
    parts: list[bytes | str] = [sys.version, PYDANTIC, path.read_bytes()]
    for name, file in (
        *((page, repo_file(page)) for page in pages),
        *((file.name, file) for file in (*code_files(), *libraries)),
    ):
        parts += [name, file.read_bytes()]
    return digest_of_parts(parts)


# ---------------------------------------------------------------------- the file


def _keep(path: Path, spec: Spec) -> None:
    """Write a specification where the next process finds it, if there is a place for it."""
    from sonnx_clip.root.files import write_whole_bytes

    pages = [page.file for page in spec.sources]
    for family in spec.families:
        reading_classes(spec, family.id)  # is kept with it: it takes as long as all checks
    derived = {key: found for key, found in spec.memo.items() if key[0] in _DERIVED}
    body = pickle.dumps((spec, derived), protocol=5)
    try:
        head = {"key": key_of(path, pages), "pages": pages, "body": digest_of(body)}
    except OSError:
        return
    content = json.dumps(head).encode() + b"\n" + body
    for folder in folders():
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if is_ours(folder.lstat(), stat.S_ISDIR):
                write_whole_bytes(folder / file_name(path), content, mode=0o600)
                return
        except (OSError, UserError):
            continue


def _take(file: Path, path: Path) -> Spec | None:
    """The specification in a file that was kept; None if it is not to be believed."""
    try:
        content = _read_ours(file)
        if content is None:
            return None
        line, _, body = content.partition(b"\n")
        head = json.loads(line)
        if head["body"] != digest_of(body) or head["key"] != key_of(path, head["pages"]):
            return None
        spec, derived = _Unpickler(io.BytesIO(body)).load()
        if isinstance(spec, Spec):
            spec.memo.update(derived)
            return spec
    except Exception:  # noqa: BLE001 - whatever is wrong with it, the specification is read again
        return None
    return None


class _Unpickler(pickle.Unpickler):
    """Makes the parts of a specification, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith(_PARTS):
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a specification")


# --- The specification, read and checked once for each state of its files: every command begins here --------


def load_spec(path: Path | None = None) -> Spec:
    """The specification of Clip; the default file is read once.

    Args:
        path: a YAML file in the form of spec/clip.yaml, which is the default. The texts that it quotes are
            looked up in the repository.

    Raises:
        UserError: the file cannot be read, is not in that form, or contradicts itself; the message has
            file, line, column and the path of the entry.
    """
    default = repo_file("spec/clip.yaml")
    return _read(path) if path is not None and path != default else _load_once(default)


@cache
def _load_once(path: Path) -> Spec:
    return kept(path, _read)


def _read(path: Path) -> Spec:
    from sonnx_clip.spec.checked import read_and_check  # a specification that was kept needs none of it

    return read_and_check(path)
