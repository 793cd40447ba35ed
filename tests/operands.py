"""Which modules know the operands of Clip: they name X, L and M, or min and max as values of a call."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGES = ("language", "spec", "claims", "whyml", "backends", "prove", "conform", "graph")
"""The packages whose modules are asked; oracle, trace and sweep are Clip's own kernels."""

_TEXT = re.compile(r"^[LM]$|XLM|\b[xX],? [lL],? [mM]\b|\bL, M\b|\bl, m\b")
_NAMES = frozenset({"l", "m", "lower", "upper"})


def knowing(folder: Path) -> Iterator[str]:
    """The modules of a package folder that do, each as ``claims/nodes``."""
    for package in PACKAGES:
        for file in sorted((folder / package).rglob("*.py")):
            if knows(file.read_text(encoding="utf-8")):
                yield file.relative_to(folder).with_suffix("").as_posix()


def knows(source: str) -> bool:
    """Whether the text of a module, docstrings apart, names an operand of Clip."""
    parsed = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(parsed)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    called = {id(node.func) for node in ast.walk(parsed) if isinstance(node, ast.Call)}
    return any(_names(node, called) for node in ast.walk(parsed) if id(node) not in docstrings)


def _names(node: ast.AST, called: set[int]) -> bool:
    match node:
        case ast.Constant(value=str(text)):
            return _TEXT.search(text) is not None
        case ast.Name(id=name) | ast.arg(arg=name) | ast.keyword(arg=name):
            return name in _NAMES
        case ast.Attribute(attr=name):
            return name in ("lower", "upper", "L", "M") and id(node) not in called
        case ast.alias(name=name):
            return name in ("L", "M")
        case ast.ImportFrom(module=name):
            return name is not None and name.endswith(".clip_operands")
    return False
