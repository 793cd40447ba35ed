r"""The small part of WhyML in which why3/numpy.mlw is written: text -> tree.

let a = e in e    if e then e else e    e \/ e    e /\ e    not e    e = e    f e e    (e)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

_TOKEN = re.compile(r"\s*(?P<token>/\\|\\/|[()=]|\w+|\S)")
_WORDS = frozenset({"let", "in", "if", "then", "else", "not"})


@dataclass(frozen=True)
class FormulaVariable:
    """A variable."""

    id: str


@dataclass(frozen=True)
class Apply:
    r"""A function or predicate of its arguments; ``not``, ``/\``, ``\/``, ``=`` and ``if`` are such too."""

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


def parse(text: str) -> Node:
    """The tree of a formula or term; FormulaError if it is not in the language."""
    reader = _Reader(_TOKEN.findall(text))
    tree = reader.expression()
    if reader.next:
        raise FormulaError(f"`{reader.next}` is not expected in: {' '.join(text.split())}")
    return tree


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        found = self.next
        if not found or (wanted and found != wanted):
            raise FormulaError(f"`{wanted or 'a name'}` is expected, not `{found or 'the end'}`")
        self.at += 1
        return found

    def expression(self) -> Node:
        if self.next == "let":
            self.take()
            name = self.word()
            self.take("=")
            value = self.expression()
            self.take("in")
            return FormulaLet(name, value, self.expression())
        if self.next == "if":
            self.take()
            condition = self.expression()
            self.take("then")
            then = self.expression()
            self.take("else")
            return Apply("if", (condition, then, self.expression()))
        return self.chain("\\/")

    def chain(self, operator: str) -> Node:
        """A disjunction of conjunctions of what is no connective."""

        def part() -> Node:
            return self.chain("/\\") if operator == "\\/" else self.negation()

        tree = part()
        while self.next == operator:
            self.take()
            tree = Apply(operator, (tree, part()))
        return tree

    def negation(self) -> Node:
        if self.next == "not":
            self.take()
            return Apply("not", (self.negation(),))
        left = self.application()
        if self.next == "=":
            self.take()
            return Apply("=", (left, self.application()))
        return left

    def application(self) -> Node:
        if self.next == "(":
            return self.atom()
        name = self.word()
        arguments = []
        while self.next == "(" or (self.next.isidentifier() and self.next not in _WORDS):
            arguments.append(self.atom())
        return Apply(name, tuple(arguments)) if arguments else FormulaVariable(name)

    def atom(self) -> Node:
        if self.next != "(":
            return FormulaVariable(self.word())
        self.take()
        tree = self.expression()
        self.take(")")
        return tree

    def word(self) -> str:
        word = self.take()
        if not word.isidentifier() or word in _WORDS:
            raise FormulaError(f"a name is expected, not `{word}`")
        return word
