"""The packages are layers: each imports only from those above it that docs/architecture.md names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROW = re.compile(r"^\| (?!package )([a-z]+) \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
TABLE = {
    name: set(uses.split(", ")) - {"nothing of ours"}
    for name, uses in ROW.findall((ROOT / "docs/architecture.md").read_text(encoding="utf-8"))
}
OPENS_ON = {"clip": "oracle", "RestrictionError": "root"}  # what is taken from `sonnx_clip` itself


def imported(file: Path) -> set[str]:
    """The packages that a file imports anywhere, or names in a text that is no docstring."""
    tree, names = ast.parse(file.read_text(encoding="utf-8")), set()
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=found):
                names |= {alias.name for alias in found}
            case ast.ImportFrom(module=module, names=found):
                names |= {f"{module}.{alias.name}" for alias in found}
            case ast.Attribute():
                names.add(ast.unparse(node))
            case ast.Constant(value=str(text)) if id(node) not in prose:
                names |= set(re.findall(r"\bsonnx_clip\.\w+", text))
    first = {name.split(".")[1] for name in names if name.startswith("sonnx_clip.")}
    return {OPENS_ON.get(name, name) for name in first} & TABLE.keys()


def test_table_lists_each_package_below_those_that_it_imports() -> None:
    assert set(TABLE) == {path.parent.name for path in (ROOT / "sonnx_clip").glob("*/__init__.py")}
    order = list(TABLE)
    assert all(uses <= set(order[: order.index(name)]) for name, uses in TABLE.items())


def test_packages_import_what_the_table_allows() -> None:
    used = {
        (file.relative_to(ROOT).as_posix(), name)
        for package in TABLE
        for file in (ROOT / "sonnx_clip" / package).rglob("*.py")
        for name in imported(file) - {package} - TABLE[package]
    }
    assert used == set()
