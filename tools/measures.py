#!/usr/bin/env python3
"""Print how dense the code is, and what is named twice: for readers, no test enforces any of it.

    python tools/measures.py                 a line for each package
    python tools/measures.py --functions 60  and the densest functions
    python tools/measures.py --names         and file names and public names that occur twice, empty nouns

A node is one of Python's syntax tree; a line of code has no docstring, is no comment and not blank.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PACKAGE = Path(__file__).parents[1] / "sonnx_clip"
DENSE = 12  # nodes for each line of code, above which a file is hard to read
SHORT = 10  # lines of code, below which the density of a function says little
EMPTY_NOUNS = ("found", "one", "what", "of", "given", "words")
"""Names of variables that do not say what they hold."""

_SCOPES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True)
class Module:
    """A file that has been read."""

    path: Path
    tree: ast.Module
    text: str

    @property
    def package(self) -> str:
        """The package that it is in; ``.`` for a file beside the packages."""
        return self.path.relative_to(PACKAGE).parts[0] if self.path.parent != PACKAGE else "."

    def lines_of_code(self) -> set[int]:
        """The numbers of its lines of code."""
        lines: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in _NO_CODE:
                lines.update(range(token.start[0], token.end[0] + 1))
        for node in ast.walk(self.tree):
            if isinstance(node, _SCOPES) and ast.get_docstring(node, clean=False) is not None:
                docstring = node.body[0]
                lines -= set(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
        return lines


@dataclass
class Totals:
    """Sums over files."""

    files: int = 0
    nodes: int = 0
    code: int = 0
    comprehensions: int = 0
    comments: int = 0
    lines: int = 0
    dense_files: int = 0

    def add(self, other: Totals) -> None:
        """Add the sums of other files."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    def __str__(self) -> str:
        """As a row under `HEADINGS`."""
        code, lines = max(1, self.code), max(1, self.lines)
        return (
            f"{self.files:6}{self.nodes:9}{self.code:8}{self.nodes / code:12.1f}"
            f"{100 * self.comprehensions / code:12.1f}{100 * self.comments / lines:12.1f}"
            f"{self.dense_files:12}"
        )


HEADINGS = (
    f"{'package':16}{'files':>6}{'nodes':>9}{'code':>8}{'nodes/line':>12}{'compr./100':>12}"
    f"{'comments %':>12}{'files > 12':>12}"
)


def totals_of(module: Module) -> Totals:
    """The sums of one file."""
    nodes = list(ast.walk(module.tree))
    lines = module.text.splitlines()
    code = len(module.lines_of_code())
    return Totals(
        files=1,
        nodes=len(nodes),
        code=code,
        comprehensions=sum(isinstance(node, _COMPREHENSIONS) for node in nodes),
        comments=sum(line.lstrip().startswith("#") for line in lines),
        lines=len(lines),
        dense_files=int(len(nodes) > DENSE * max(1, code)),
    )


def functions_of(module: Module) -> Iterator[tuple[float, str]]:
    """The density of each longer function, and where it is."""
    code = module.lines_of_code()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = len(code & set(range(node.lineno, (node.end_lineno or 0) + 1)))
            if own > SHORT:
                density = sum(1 for _ in ast.walk(node)) / own
                place = f"{module.path.relative_to(PACKAGE.parent)}:{node.lineno}"
                yield density, f"{own:4} lines  {place} {node.name}"


def public_names(module: Module) -> Iterator[str]:
    """The functions and classes of a file that other files can import."""
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def variables(module: Module) -> Iterator[str]:
    """The names that are assigned or are parameters, as often as they are."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def repeated(places: Mapping[str, list[Path]]) -> Iterator[str]:
    """A line for each name that has several places."""
    for name, paths in sorted(places.items()):
        if len(paths) > 1:
            yield f"  {name}: {', '.join(str(path.relative_to(PACKAGE)) for path in paths)}"


def print_names(modules: list[Module]) -> None:
    """Print what occurs twice, and how often variables have a name that says nothing."""
    basenames: dict[str, list[Path]] = defaultdict(list)
    publics: dict[str, list[Path]] = defaultdict(list)
    empty: Counter[str] = Counter()
    for module in modules:
        if module.path.name != "__init__.py":
            basenames[module.path.name].append(module.path)
        for name in public_names(module):
            publics[name].append(module.path)
        empty.update(name for name in variables(module) if name in EMPTY_NOUNS)
    for title, places in (("file names", basenames), ("public names", publics)):
        lines = list(repeated(places))
        print(f"\n{len(lines)} {title} occur twice")
        print("\n".join(lines))
    print("\nempty nouns:", ", ".join(f"{noun} {count}" for noun, count in empty.most_common()))


def main() -> None:
    """Read the package, and print."""
    parser = argparse.ArgumentParser(description=re.split(r"\n\n", __doc__ or "")[0])
    parser.add_argument("--functions", type=int, default=0, metavar="N")
    parser.add_argument("--names", action="store_true")
    options = parser.parse_args()
    modules = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        modules.append(Module(path, ast.parse(text), text))

    packages: dict[str, Totals] = defaultdict(Totals)
    for module in modules:
        packages[module.package].add(totals_of(module))
    everything = Totals()
    print(HEADINGS)
    for name, totals in sorted(packages.items()):
        everything.add(totals)
        print(f"{name:16}{totals}")
    print(f"{'all':16}{everything}")

    densest = sorted((entry for module in modules for entry in functions_of(module)), reverse=True)
    for density, place in densest[: options.functions]:
        print(f"{density:6.1f}  {place}")
    if options.names:
        print_names(modules)


if __name__ == "__main__":
    main()
