"""Which files of this package take part when a module of it runs: what it imports, directly or not.

The conditions of a verdict ask it (conform/conditions.py). Sources are read, nothing is imported: an import
inside a function or under TYPE_CHECKING counts like any other, so that the answer is rather too large.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
