"""The tree of a WhyML text: one kind of node for terms, formulas and programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

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


@dataclass(frozen=True)
class Pattern:
    """A pattern of a ``match``: a constructor with patterns, a variable, or ``_``."""

    text: str
    parts: tuple[Pattern, ...] = ()
