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
from sonnx_clip.trace.formula import FormulaError, Node, parse
from sonnx_clip.whyml.hand_written import modules

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = "why3/numpy.mlw"
ValueKind: TypeAlias = Literal["element", "mask"]

_DEFINITION = re.compile(
    r"^  (?P<form>function|predicate) (?P<name>\w+)(?P<parameters>(?: \([\w ]+: \w+\))+)(?: : t)? ="
    r"(?P<body>.*?)"
    r"(?=^  (?:function|predicate|type)\b|^end\b)",
    re.MULTILINE | re.DOTALL,
)
_ANY = re.compile(r"^  (?:function|predicate|constant|axiom|val|let|goal|lemma)\b[^=\n]*=", re.MULTILINE)
_PARAMETERS = re.compile(r"\((?P<names>[\w ]+): (?P<type>\w+)\)")
_DOC = re.compile(r"\(\*\*(?P<text>(?:(?!\*\)).)*)\*\)\s*\Z", re.DOTALL)


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
        """The parameters that stand for what NumPy leaves open."""
        return tuple(name for name, _ in self.parameters if name in CHOICES)

    @property
    def head(self) -> str:
        """The operation with its parameters, for people."""
        return f"{self.name}({', '.join(name.removeprefix('_') for name, _ in self.parameters)})"


CHOICES = frozenset({"tie", "low", "high", "free"})
"""What a parameter is called that NumPy leaves open."""


def table() -> dict[str, Meaning]:
    """All meanings by name; UserError if a definition is outside the small language."""
    return _read(repo_file(PATH).read_text(encoding="utf-8"))


@cache
def _read(text: str) -> dict[str, Meaning]:
    found: dict[str, Meaning] = {}
    for module, body in modules(text):
        for meaning in _of_module(module, body, text):
            if meaning.name in found:
                raise UserError(f"two operations are called {meaning.name}", PATH, "rename one")
            found[meaning.name] = meaning
    if not found:
        raise UserError("the table of NumPy's operations is empty", PATH, "restore the file")
    return found


def _of_module(module: str, body: str, text: str) -> Iterator[Meaning]:
    definitions = list(_DEFINITION.finditer(body))
    if len(definitions) != len(_ANY.findall(body)):
        raise UserError(
            f"module {module} holds a definition that is not read", PATH, "write it like the others"
        )
    section = text[text.index(f"\nmodule {module}\n") :]
    for match in definitions:
        parameters = tuple(
            (name, _sort(group["type"]))
            for group in _PARAMETERS.finditer(match["parameters"])
            for name in group["names"].split()
        )
        try:
            tree = parse(match["body"])
        except FormulaError as error:
            raise UserError(f"{module}.{match['name']}: {error}", PATH, "use the small language") from error
        before = section.partition(f"  {match['form']} {match['name']} ")[0]
        comment = _DOC.search(before)
        yield Meaning(
            module,
            match["name"],
            parameters,
            "element" if match["form"] == "function" else "mask",
            " ".join(match["body"].split()),
            " ".join(comment["text"].split()) if comment else "",
            tree,
        )


def _sort(type_: str) -> ValueKind:
    return "mask" if type_ == "bool" else "element"
