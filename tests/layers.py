"""Which package of sonnx_clip imports which, and which may: docs/architecture.md says it in a table."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NOTHING = "nothing of ours"
_NAMED = re.compile(r"\bsonnx_clip\.(\w+)")  # in a text: of a line that is run, or what importlib is given
_BEHIND = {"clip": "oracle", "RestrictionError": "root"}  # what the door of sonnx_clip opens on
_ROW = re.compile(r"^\| (?!package )(?P<package>[a-z]+) \| [^|]+ \| (?P<uses>[^|]+) \|$", re.MULTILINE)


def layers(page: str) -> dict[str, set[str]]:
    """The packages from the lowest up, each with those that it imports, as the page says."""
    rows = {row["package"]: row["uses"].strip() for row in _ROW.finditer(page)}
    return {name: set() if uses == NOTHING else set(uses.split(", ")) for name, uses in rows.items()}


def packages(folder: Path) -> set[str]:
    """The packages in the folder of sonnx_clip."""
    return {path.parent.name for path in folder.glob("*/__init__.py")}


def imports(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Each import of a package by another: the file, its package, and what it imports.

    An import counts wherever it stands, in a function and under TYPE_CHECKING too; so does what is taken from
    ``sonnx_clip`` itself (``sonnx_clip.clip`` is the oracle's), and a package that a text names, such as that
    of importlib. Docstrings do not count. The version of the project is no package.
    """
    known = packages(folder)
    for file in sorted(folder.rglob("*.py")):
        own = file.relative_to(folder).parts[0]
        if own.endswith(".py"):  # a door for users, or the command line: it may open on everything
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
                renamed = any(alias.name == "sonnx_clip" and alias.asname for alias in node.names)
                assert not renamed, f"{file}: sonnx_clip by another name"
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file}: a relative import"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Attribute):
                names = [ast.unparse(node)] if ast.unparse(node.value) == "sonnx_clip" else []
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                assert not node.value.endswith("sonnx_clip."), f"{file}: a name that is put together"
                names = [found[0] for found in _NAMED.finditer(node.value) if found[1] in known]
            for name in names:
                top, _, rest = name.partition(".")
                other = _BEHIND.get(rest.partition(".")[0], rest.partition(".")[0])
                if top == "sonnx_clip" and other not in ("", own, "__version__"):
                    yield file, own, other


def forbidden(folder: Path, allowed: Mapping[str, set[str]]) -> list[str]:
    """What is imported against the table: a line for each such import."""
    return [
        f"{file.relative_to(folder)}: {own} imports {other}"
        for file, own, other in imports(folder)
        if other not in allowed.get(own, set())
    ]


def classes(folder: Path) -> dict[str, list[str]]:
    """The public classes of all files by name, each with the files that have one of this name."""
    found: dict[str, list[str]] = {}
    for file in sorted(folder.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(file.relative_to(folder).as_posix())
    return found
