"""The table of what NumPy's operations mean: why3/numpy.mlw, read as the provers read it.

One text serves both sides: Why3 loads the file and the obligations apply its functions; here its definitions
are parsed, so that they are evaluated on patterns and compared with NumPy itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.trace.formula import FormulaError, Node, parse_formula
from sonnx_clip.whyml.declarations import declarations

if TYPE_CHECKING:
    from sonnx_clip.whyml.declarations import WhymlDeclaration

PATH = "why3/numpy.mlw"
ValueKind: TypeAlias = Literal["element", "mask"]

# A function gives an element, of type t; a predicate has no type of a result.
_DEFINITION = re.compile(r"(?P<parameters>(?:\([\w ]+: \w+\) )+)(?:: t )?= (?P<body>.*)")
_PARAMETERS = re.compile(r"\((?P<names>[\w ]+): (?P<type>\w+)\)")
_ABSTRACT = ("use", "type", "function", "predicate")


@dataclass(frozen=True)
class Meaning:
    """What one operation does to one element.

    Args:
        module: the module of why3/numpy.mlw that holds it.
        name: its name there.
        parameters: name and kind of each, choices last.
        kind: of the result.
        text: the definition after the equals sign, in one line.
        about: the comment beside it.
        tree: the definition, parsed.
    """

    module: str
    name: str
    parameters: tuple[tuple[str, ValueKind], ...]
    kind: ValueKind
    text: str
    about: str
    tree: Node

    @property
    def choices(self) -> tuple[str, ...]:
        """The parameters for choices that NumPy leaves open."""
        return tuple(name for name, _ in self.parameters if name in CHOICES)

    @property
    def head(self) -> str:
        """The operation with its parameters, for people."""
        # A parameter that a definition does not use is marked, as Why3 wants it.
        names = [name.removeprefix("_") for name, _ in self.parameters]
        return f"{self.name}({', '.join(names)})"


CHOICES = frozenset({"tie", "low", "high", "free"})
"""What a parameter is called that NumPy leaves open."""


def table() -> dict[str, Meaning]:
    """All meanings by name; UserError if a definition is outside the small language."""
    return _read(repo_file(PATH).read_text(encoding="utf-8"))


@cache
def _read(text: str) -> dict[str, Meaning]:
    meanings: dict[str, Meaning] = {}
    for declaration in declarations(text):
        is_defined = "=" in declaration.text.split()
        # What a clone gives a meaning, as the order, is no operation of NumPy.
        if declaration.form in _ABSTRACT and not is_defined:
            continue
        # Kernels name operations without their module.
        if declaration.name in meanings:
            raise UserError(f"two operations are called {declaration.name}", PATH, "rename one")
        meanings[declaration.name] = _meaning(declaration)
    return meanings


def _meaning(d: WhymlDeclaration) -> Meaning:
    """The meaning that a definition states; UserError where it is outside the small language."""
    match = _DEFINITION.fullmatch(d.statement)
    if match is None or d.form not in ("function", "predicate"):
        message = f"module {d.module} holds a definition that is not read"
        raise UserError(message, PATH, "write it like the others")
    parameters: list[tuple[str, ValueKind]] = []
    for group in _PARAMETERS.finditer(match["parameters"]):
        kind_of_group: ValueKind = "mask" if group["type"] == "bool" else "element"
        for name in group["names"].split():
            parameters.append((name, kind_of_group))
    try:
        tree = parse_formula(match["body"])
    except FormulaError as error:
        raise UserError(f"{d.module}.{d.name}: {error}", PATH, "use the small language") from error
    kind: ValueKind = "element" if d.form == "function" else "mask"
    return Meaning(
        module=d.module,
        name=d.name,
        parameters=tuple(parameters),
        kind=kind,
        text=match["body"],
        about=d.comment,
        tree=tree,
    )
