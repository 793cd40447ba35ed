"""Which modules know the operands of Clip: they name X, L and M, or min and max as values of a call.

graph/ speaks of models, in which the bounds are min and max, and of R1 and R2, which demand them.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGES = ("language", "spec", "claims", "whyml", "backends", "prove", "runtimes", "conform", "graph")
"""The packages whose modules are asked; oracle, trace and sweep are Clip's own kernels."""

_TEXT = re.compile(r"^[LM]$|^XLM|\b[xX],? [lL],? [mM]\b|\bL, M\b|\bl, m\b")
_IN_MODELS = re.compile(rf"{_TEXT.pattern}|^(min|max|R[12])$")
_PAIRS = ({"l", "m"}, {"lower", "upper"}, {"L", "M"})
_ALONE = frozenset({"clip_operands"})


def knowing(folder: Path) -> Iterator[str]:
    """The modules of a package folder that do, each as ``claims/nodes``."""
    for package in PACKAGES:
        for file in sorted((folder / package).rglob("*.py")):
            if knows(file.read_text(encoding="utf-8"), of_models=package == "graph"):
                yield file.relative_to(folder).with_suffix("").as_posix()


def knows(source: str, *, of_models: bool = False) -> bool:
    """Whether the text of a module, docstrings apart, names an operand of Clip, or of models with it."""
    words = _IN_MODELS if of_models else _TEXT
    parsed = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(parsed)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    called = {id(node.func) for node in ast.walk(parsed) if isinstance(node, ast.Call)}
    texts, names = [], set()
    for node in ast.walk(parsed):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in docstrings:
                texts.append(text)
            case ast.Attribute(attr=name) if id(node) not in called:
                names.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.keyword(arg=name) | ast.alias(name=name):
                names.add(name)
            case ast.FunctionDef(name=name):
                names.add(name)
            case ast.ImportFrom(module=str(name)):
                names.add(name.rpartition(".")[2])
    return bool(names & _ALONE) or any(pair <= names for pair in _PAIRS) or any(map(words.search, texts))
