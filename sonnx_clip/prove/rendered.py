"""What spec/clip.yaml is rendered into, kept for the next process, for `generate`, `prove` and `evidence`.

Rendering, with the run of the NumPy kernels on symbols and the extraction of C, takes eight seconds of
processor time. What came out of it is kept as the digest of each file, with the obligations, under the digest
of all that it came from. It stands only while that and every generated file on disk are what they were, byte
for byte: else everything is rendered anew, and whoever asked compares. No file is written from it.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.backends.generate import Generated, all_obligations, render_all
from sonnx_clip.claims.claim import Obligation
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of, digest_of_parts, write_whole_bytes
from sonnx_clip.root.folders import build_folder, package, read_private, repo_file, repo_root
from sonnx_clip.root.installed import distribution, processor
from sonnx_clip.root.run_program import version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sonnx_clip.spec import Spec

_NAME = "rendered.json"
_SOURCES = ("spec", "why3", "coq")
# What is imported to render: another version may print, or run the NumPy kernels, otherwise.
_DISTRIBUTIONS = ("numpy", "ml_dtypes", "jinja2", "markupsafe", "pydantic", "pydantic_core", "pyyaml")
_VARIABLES = ("WHY3", "NPY_", "PYTHON", "GLIBC_TUNABLES", "LD_")
_OF_WHY3 = ("drivers", "extraction_drivers", "stdlib")


def rendered(
    spec: Spec, render: Callable[[Spec], Generated] | None = None, place: Path | None = None
) -> Generated:
    """Everything that the specification is rendered into, by `render_all` or as it was kept.

    Args:
        spec: the specification in spec/clip.yaml.
        render: renders it; `render_all`, if None.
        place: the folder in which it is kept; `folder`, if None.

    Raises:
        UserError: as `render_all`.
    """
    place = place or folder()
    key = key_of(spec, place)
    known = _take(key, place)
    if known is not None:
        return known
    found = (render or render_all)(spec)
    if key is not None and key_of(spec, place) == key:
        _keep(key, found, place)
    return found


def obligations_of(spec: Spec) -> tuple[Obligation, ...]:
    """Every obligation, as `all_obligations` renders them or as they were kept."""
    known = kept(spec)
    return all_obligations(spec) if known is None else known.obligations


def kept(spec: Spec) -> Generated | None:
    """What was kept, if it would be rendered so again and every file on disk is that; else None."""
    place = folder()
    return _take(key_of(spec, place), place)


def key_of(spec: Spec, place: Path | None) -> str | None:
    """The digest of all that rendering depends on; None where it cannot be known, or there is no place."""
    if place is None:
        return None
    installed = [f"{name} {distribution(name)}" for name in _DISTRIBUTIONS]
    variables = [
        f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(_VARIABLES)
    ]
    try:
        parts = [*_files(), *_why3()]
    except (OSError, UserError):
        return None
    machine = [sys.version, str(sys.flags), platform.platform(), processor()]
    return digest_of_parts([spec.digest, *machine, *installed, *variables, *parts])


def folder() -> Path | None:
    """Where it is kept; None where there is no checkout, or no way to ask whose a file is."""
    build = build_folder()
    return build / "cache" if build is not None and hasattr(os, "geteuid") else None


def inputs() -> Iterator[Path]:
    """The files that rendering reads: our code and templates, the specification, what is written by hand."""
    for top in (package(), *map(repo_file, _SOURCES)):
        for path in sorted(top.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def _files() -> Iterator[bytes | str]:
    for path in inputs():
        yield str(path)
        yield path.read_bytes()


def _why3() -> Iterator[bytes | str]:
    """Why3, which extracts the C: the program, its configuration, its drivers and its library."""
    from sonnx_clip.prove.provers import INSTALL

    yield version_of(("why3", "--version"), INSTALL)
    program = Path(shutil.which("why3") or "").resolve()
    found = program.stat()
    yield f"{program} {found.st_size} {found.st_mtime_ns}"
    own = Path(os.environ.get("WHY3CONFIG") or Path.home() / ".why3.conf")
    yield own.read_bytes() if own.is_file() else "no configuration"
    data = Path(version_of(("why3", "--print-datadir"), INSTALL))
    for name in _OF_WHY3:
        for path in sorted((data / name).rglob("*")):
            if path.is_file():
                yield str(path)
                yield path.read_bytes()


def _take(key: str | None, place: Path | None) -> Generated | None:
    """What was kept there under this key, if every file on disk is still that; else None."""
    if key is None or place is None:
        return None
    try:
        line, _, body = (read_private(place / _NAME) or b"").partition(b"\n")
        head = json.loads(line)
        if head != {"key": key, "body": digest_of(body)}:
            return None
        content = json.loads(body)
        files: dict[str, str] = {}
        for path, digest in content["files"].items():
            there = repo_file(path).read_bytes()
            if digest_of(there) != digest:
                return None
            files[path] = there.decode("utf-8")
        rows = [Obligation(**{**row, "shows": tuple(row["shows"])}) for row in content["obligations"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return Generated(files, tuple(rows))


def _keep(key: str, found: Generated, place: Path | None) -> None:
    """Keep what was rendered, where there is a place for it."""
    if place is None or not repo_root().is_dir():
        return
    content = {
        "files": {path: digest_of(text) for path, text in found.files.items()},
        "obligations": [asdict(o) for o in found.obligations],
    }
    body = json.dumps(content).encode("ascii")
    head = json.dumps({"key": key, "body": digest_of(body)}).encode("ascii")
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole_bytes(place / _NAME, head + b"\n" + body, mode=0o600)
    except (OSError, UserError):
        return  # it is rendered again
