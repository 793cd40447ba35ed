"""The tree of a WhyML text: one kind of node for terms, formulas and programs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Path: TypeAlias = "tuple[int, ...]"
"""Where a node is in a tree: the index of the part to go to, from the root on."""

Binder: TypeAlias = "tuple[str, str]"
"""A variable and its type."""


@dataclass(frozen=True)
class Node:
    r"""A term, formula or program.

    Args:
        kind: what it is: ``name``, ``apply``, ``call``, ``number``, ``typed`` (a number of a type),
            ``not``, ``negative``, ``binary``, ``if``, ``let``, ``forall``, ``exists``, ``match``, ``record``,
            ``field``, ``at`` (an entry of a map), ``update``, ``old``, ``fun``, ``unit``; of programs
            ``seq``, ``while``, ``assign``, ``ref``.
        text: what tells it from others of its kind: the name, the operator, the number.
        parts: the nodes that it is made of, in the order of the text.
        binders: the variables that it binds; for a ``match``, the patterns as ``(text, "")``.
    """

    kind: str
    text: str = ""
    parts: tuple[Node, ...] = ()
    binders: tuple[Binder, ...] = ()
    patterns: tuple[Pattern, ...] = field(default=())

    def walk(self, path: Path = ()) -> Iterator[tuple[Path, Node]]:
        """Every node with its place, this one first."""
        yield path, self
        for index, part in enumerate(self.parts):
            yield from part.walk((*path, index))

    def put(self, path: Path, node: Node) -> Node:
        """The tree with another node at a place."""
        if not path:
            return node
        first, *rest = path
        parts = list(self.parts)
        parts[first] = parts[first].put(tuple(rest), node)
        return replace(self, parts=tuple(parts))

    def at(self, path: Path) -> Node:
        """The node at a place."""
        return self.parts[path[0]].at(path[1:]) if path else self

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that occur in it, bound ones included."""
        own = {self.text} if self.kind in ("name", "apply", "field") else set()
        for pattern in self.patterns:
            own |= pattern.names
        return frozenset(own).union(*(part.names for part in self.parts))


@dataclass(frozen=True)
class Pattern:
    """A pattern of a ``match``: a constructor with patterns, a variable, or ``_``."""

    text: str
    parts: tuple[Pattern, ...] = ()

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in it."""
        return frozenset({self.text}).union(*(part.names for part in self.parts))


TRUE, FALSE = Node("name", "true"), Node("name", "false")


def shown(node: Node) -> str:
    """The node as WhyML text, in one line and with all parentheses that could be needed."""
    parts = [shown(part) for part in node.parts]
    form = _FORMS.get(node.kind)
    if form is not None:
        binders = ", ".join(f"{name}: {of}" for name, of in node.binders)
        return form.format(*parts, text=node.text, binders=binders)
    if node.kind == "match":
        branches = (f"| {_pattern(p)} -> {b}" for p, b in zip(node.patterns, parts[1:], strict=True))
        return f"(match {parts[0]} with {' '.join(branches)} end)"
    if node.kind == "record":
        names = node.text.split()
        changed = len(parts) > len(names)
        fields = "; ".join(f"{n} = {p}" for n, p in zip(names, parts[changed:], strict=True))
        return f"{{ {parts[0]} with {fields} }}" if changed else f"{{ {fields} }}"
    if node.kind == "fun":
        return f"(fun {' '.join(name for name, _ in node.binders)} -> {parts[0]})"
    return f"({' '.join([node.text, *parts]).strip()})"


_FORMS = {
    "name": "{text}", "number": "{text}", "unit": "()", "typed": "({0}: {text})", "not": "(not {0})",
    "old": "(old {0})", "negative": "(- {0})", "binary": "({0} {text} {1})",
    "if": "(if {0} then {1} else {2})",
    "let": "(let {text} = {0} in {1})", "ref": "(let ref {text} = {0} in {1})",
    "forall": "(forall {binders}. {0})", "exists": "(exists {binders}. {0})", "field": "{0}.{text}",
    "at": "{0}[{1}]", "update": "{0}[{1} <- {2}]", "assign": "({text} <- {0})",
}  # fmt: skip


def _pattern(pattern: Pattern) -> str:
    parts = [_pattern(part) for part in pattern.parts]
    return f"({' '.join([pattern.text, *parts])})" if parts else pattern.text
