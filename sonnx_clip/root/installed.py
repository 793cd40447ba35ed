"""What is installed here: packages with their files, the processor, and which of our files a module needs.

What is kept depends on all of it: the conditions of a verdict ask it, and so does what is kept of rendering.
"""

from __future__ import annotations

import ast
import os
import platform
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from sonnx_clip.root.files import digest_of_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


CPUINFO = Path("/proc/cpuinfo")


def processor(cpuinfo: Path = CPUINFO) -> str:
    """The models of the processors with their instructions, as digest behind the first model's name."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    kept = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ")
    said = sorted({line for line in lines if line.startswith(kept)})
    model = next((line.partition(":")[2].strip() for line in said if line.startswith("model name")), "")
    return f"{platform.machine()} {model} {digest_of_parts(said)}"


def distribution(name: str) -> str | None:
    """Version and digest of what a distribution says to consist of, with size and time of each file there.

    So a file that was edited where it is installed counts as well. None if it is not there, or does not say.
    """
    found = _files_of(name)
    if found is None:
        return None
    version, record, files = found
    parts = [record]
    for file in files:
        try:
            there = os.stat(file)  # noqa: PTH116 - of thousands of files
        except OSError:
            parts.append("missing")
        else:
            parts.append(f"{there.st_size} {there.st_mtime_ns}")
    return f"{version} {digest_of_parts(parts)}"


def release(name: str) -> str | None:
    """As `distribution`, but the same in whatever folder and on whatever machine it is installed.

    So an edit that leaves a file its size is not seen, nor a file that is no module of the distribution.
    """
    found = _files_of(name)
    if found is None:
        return None
    version, record, files = found
    rows = sorted(row for row in record.splitlines() if not row.startswith("..") and "," in row)
    parts = [row for row in rows if ".dist-info/" not in row and ".pyc," not in row]
    for file in sorted(file for file in files if "/../" not in file and ".dist-info/" not in file):
        try:
            parts.append(str(os.stat(file).st_size))  # noqa: PTH116 - of thousands of files
        except OSError:
            parts.append("missing")
    return f"{version} {digest_of_parts(parts)}"


@cache
def _files_of(name: str) -> tuple[str, str, tuple[str, ...]] | None:
    """Version, record and files of a distribution, as they are when it is first asked for."""
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    record = found.read_text("RECORD")
    if record is None or found.files is None:
        return None
    files = [str(file.locate()) for file in found.files if file.suffix != ".pyc"]
    return found.version, record, tuple(files)


# --- Which files of this package take part when a module of it runs: what it imports, directly or not -------
#
# The conditions of a verdict ask it (conform/identity.py). Sources are read, nothing is imported: an import
# inside a function or under TYPE_CHECKING counts like any other, so that the answer is rather too large.


_PARSING = Lock()
_PACKAGE = Path(__file__).resolve().parents[1]


def files_behind(modules: Iterable[str], package: Path = _PACKAGE) -> tuple[Path, ...]:
    """The source files of these modules and of all of the package that they import, sorted.

    Args:
        modules: names such as ``sonnx_clip.conform.campaign``; others are passed over.
        package: the folder of the package.
    """
    found: set[Path] = set()
    left = [file for name in modules for file in _files(name, package)]
    while left:
        file = left.pop()
        if file not in found:
            found.add(file)
            left += [other for name in _imported(file.read_bytes()) for other in _files(name, package)]
    return tuple(sorted(found))


def _imported(source: bytes) -> tuple[str, ...]:
    """The names that a source imports; of ``from a import b`` both ``a`` and ``a.b``, which may be a module.

    One thread at a time: runtimes are judged side by side, and Python 3.11 fails where two threads parse at
    once ("AST constructor recursion depth mismatch").
    """
    with _PARSING:
        return _known(source)


@lru_cache(maxsize=1024)
def _known(source: bytes) -> tuple[str, ...]:
    return tuple(_names_in(ast.parse(source)))


def _names_in(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _files(name: str, package: Path) -> list[Path]:
    """The file of a module, and those of the packages in which it lies."""
    first, *rest = name.split(".")
    if first != package.name:
        return []
    folder, files = package, [package / "__init__.py"]
    for part in rest:
        if (folder / f"{part}.py").is_file():
            return [*files, folder / f"{part}.py"]
        folder = folder / part
        if not (folder / "__init__.py").is_file():
            break
        files.append(folder / "__init__.py")
    return files
