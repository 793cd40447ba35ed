r"""The small part of WhyML in which why3/numpy.mlw is written: text -> tree.

let a = e in e    if e then e else e    e \/ e    e /\ e    f e e, where an argument may be (e)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

_TOKEN = re.compile(r"\s*(/\\|\\/|[()=]|\w+|\S)")
_WORDS = frozenset({"let", "in", "if", "then", "else"})


@dataclass(frozen=True)
class FormulaVariable:
    """A variable."""

    id: str


@dataclass(frozen=True)
class Apply:
    r"""A function or predicate of its arguments; ``/\``, ``\/`` and ``if`` are such too."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class FormulaLet:
    """A name for a value."""

    id: str
    value: Node
    body: Node


Node: TypeAlias = FormulaVariable | Apply | FormulaLet


class FormulaError(ValueError):
    """A text outside the small language."""


def parse_formula(text: str) -> Node:
    """The tree of a formula or term; FormulaError if it is not in the language."""
    reader = _Reader(_TOKEN.findall(text))
    tree = reader.expression()
    if reader.next:
        raise FormulaError(f"`{reader.next}` is not expected in: {' '.join(text.split())}")
    return tree


class _Reader:
    """Reads by recursive descent: a method for each level of binding, the loosest first."""

    def __init__(self, tokens: list[str]) -> None:
        self.left = tokens[::-1]  # reversed, so that the next one is at the end

    @property
    def next(self) -> str:
        return self.left[-1] if self.left else ""

    def take(self, wanted: str) -> None:
        if self.next != wanted:
            raise FormulaError(f"`{wanted}` is expected, not `{self.next or 'the end'}`")
        self.left.pop()

    def is_at_name(self) -> bool:
        return self.next.isidentifier() and self.next not in _WORDS

    def word(self) -> str:
        if not self.is_at_name():
            raise FormulaError(f"a name is expected, not `{self.next or 'the end'}`")
        return self.left.pop()

    def between(self, first: str, last: str) -> Node:
        self.take(first)
        tree = self.expression()
        self.take(last)
        return tree

    def expression(self) -> Node:
        if self.next == "let":
            self.take("let")
            name = self.word()
            value = self.between("=", "in")
            body = self.expression()
            return FormulaLet(name, value, body)
        if self.next == "if":
            condition = self.between("if", "then")
            then = self.expression()
            self.take("else")
            otherwise = self.expression()
            return Apply("if", (condition, then, otherwise))
        # To the left, unlike in WhyML: of `or` and `and` that makes no difference.
        tree = self.conjunction()
        while self.next == "\\/":
            self.take("\\/")
            tree = Apply("\\/", (tree, self.conjunction()))
        return tree

    def conjunction(self) -> Node:
        tree = self.application()
        while self.next == "/\\":
            self.take("/\\")
            tree = Apply("/\\", (tree, self.application()))
        return tree

    def application(self) -> Node:
        name = self.word()
        arguments = []
        # An argument is a name or in parentheses; any other token ends the application.
        while self.next == "(" or self.is_at_name():
            arguments.append(self.atom())
        if not arguments:
            return FormulaVariable(name)
        return Apply(name, tuple(arguments))

    def atom(self) -> Node:
        if self.next == "(":
            return self.between("(", ")")
        return FormulaVariable(self.word())
