"""What the tests replace of our own code while they run: read in their sources."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ATTRIBUTE: Final = frozenset(
    {"setattr", "delattr", "patch", "object"}
)  # of MonkeyPatch, mock, Python itself
_ITEM: Final = frozenset({"setitem", "delitem"})
_OURS: Final = frozenset({"sonnx_clip", "bench"})
_PARAMETER: Final = "sonnx_clip"  # where what a parameter or a variable holds is taken to come from


def patches(source: str, *, constants: bool = False) -> list[str]:
    """Each place of a test that replaces a part of our modules and classes: its line, and what it replaces.

    A part of Python, of another distribution or of the tests does not count; what a parameter or a variable
    holds does, for it may be ours.

    Args:
        source: the text of the test file.
        constants: whether only names in capitals count, which are no functions.
    """
    tree = ast.parse(source)
    packages = dict(_imported(tree))
    found = []
    for node in ast.walk(tree):
        for package, whole in _replaced(node, packages):
            *path, name = whole.split(".")
            ours = package in _OURS and not sys.stdlib_module_names & set(path[1:])
            if ours and (not constants or name.lstrip("_").isupper()):
                found.append(f"{node.lineno}: {whole}")
    return found


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Each name that a file imports, and the package that it comes from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                whole = (node.module if isinstance(node, ast.ImportFrom) else None) or alias.name
                yield alias.asname or alias.name.partition(".")[0], whole.partition(".")[0]


def _replaced(node: ast.AST, packages: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What a node of the tree replaces, as it is written; before it its package."""
    if isinstance(node, ast.Call) and len(node.args) > 1:
        called, (first, second) = _dotted(node.func).rpartition(".")[2], node.args[:2]
        name = f".{second.value}" if isinstance(second, ast.Constant) else ".*"
        if called in _ATTRIBUTE | _ITEM:
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value.partition(".")[0], first.value
            else:
                whole = _dotted(first)
                yield packages.get(whole.partition(".")[0], _PARAMETER), whole + name * (called in _ATTRIBUTE)
    elif isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):
        for target in [node.target] if isinstance(node, ast.AugAssign) else node.targets:
            whole = _dotted(target)
            if isinstance(target, ast.Attribute | ast.Subscript) and "(" not in whole:
                yield packages.get(whole.partition(".")[0], ""), whole


def _dotted(node: ast.AST) -> str:
    """Names and attributes with dots between them, ``()`` after what is called; ``?`` for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    if isinstance(node, ast.Call):
        return f"{_dotted(node.func)}()"
    return _dotted(node.value) if isinstance(node, ast.Subscript) else "?"
