"""Reads SMT-LIB text: its commands, each with the name that Why3 wrote above it, and terms as nested tuples.

The texts of all tasks come to many megabytes, so that parentheses are counted by NumPy, and only the commands
that somebody looks into are read as terms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Term: TypeAlias = "str | tuple[Term, ...]"

# What may hold parentheses that are none: a comment, a string (a quote is doubled in it), a quoted symbol.
_OPAQUE: Final = re.compile(rb';[^\n]*|"(?:[^"]|"")*"|\|[^|\\]*\|')
_TOKEN: Final = re.compile(r'[()]|"(?:[^"]|"")*"|\|[^|\\]*\||;[^\n]*|[^\s()";|]+|[";|]')
_SPACE: Final = b" \t\r\n"
_OPEN, _CLOSE, _SEMICOLON = ord("("), ord(")"), ord(";")


class SmtlibError(ValueError):
    """A text that is not SMT-LIB."""


@dataclass(frozen=True)
class SmtlibCommand:
    """One command of a script.

    Args:
        head: its first word, such as ``assert``.
        text: the command as it stands, comments included.
        name: what Why3 wrote in the comment directly above it; empty where there is none.
    """

    head: str
    text: str
    name: str

    @cached_property
    def term(self) -> tuple[Term, ...]:
        """The command as nested tuples, its head included; read once."""
        return read_smtlib_term(self.text)


def commands(text: str) -> tuple[SmtlibCommand, ...]:
    """The commands of a script, in order.

    Raises:
        SmtlibError: parentheses do not match, or something stands outside of a command that is no comment.
    """
    import numpy as np  # `explain` comes by here and reads no task

    raw = text.encode("utf-8")
    plain = _without_opaque_parts(raw)

    # A command begins where the depth of parentheses becomes 1, and ends where it is 0 again.
    signs = np.frombuffer(plain, dtype=np.uint8)
    places = np.flatnonzero((signs == _OPEN) | (signs == _CLOSE))
    steps = np.where(signs[places] == _OPEN, 1, -1)
    depth = np.cumsum(steps)
    is_balanced = len(depth) == 0 or (depth.min() >= 0 and depth[-1] == 0)
    if not is_balanced:
        raise SmtlibError("the parentheses of the task do not match")
    opens_command = (depth == 1) & (steps == 1)
    closes_command = depth == 0
    starts = places[opens_command].tolist()
    ends = (places[closes_command] + 1).tolist()
    return tuple(_commands(raw, plain, starts, ends))


def _without_opaque_parts(raw: bytes) -> bytes:
    """The text with blanks in place of comments and ``_`` in place of strings and quoted symbols."""
    # Overwritten in place, so that what is found in the plain text has the same place in the raw one.
    plain = bytearray(raw)
    for opaque in _OPAQUE.finditer(raw):
        start, end = opaque.span()
        filler = b" " if raw[start] == _SEMICOLON else b"_"
        plain[start:end] = filler * (end - start)
    return bytes(plain)


def _commands(
    raw: bytes,
    plain: bytes,
    starts: list[int],
    ends: list[int],
) -> Iterator[SmtlibCommand]:
    before = 0
    for start, end in zip(starts, ends, strict=True):
        _require_nothing(plain[before:start])
        head = _head(plain[start + 1 : start + 80])  # the whole command may have megabytes
        name = _name(raw[before:start].decode())
        yield SmtlibCommand(head, raw[start:end].decode(), name)
        before = end
    _require_nothing(plain[before:])


def _head(beginning: bytes) -> str:
    """The first word of a command, which no parenthesis is part of; empty where there is none."""
    words = beginning.split(None, 1)
    if not words:
        return ""
    return re.split(rb"[()]", words[0], maxsplit=1)[0].decode()


def _require_nothing(between: bytes) -> None:
    stray = between.strip(_SPACE)
    if stray:
        shown = stray[:40].decode(errors="replace")
        raise SmtlibError(f"text outside of a command: {shown!r}")


def _name(between: str) -> str:
    """The name above a command: ``;; NAME``, then perhaps ``;; File …``, and no empty line."""
    # What stands above an empty line belongs to something else.
    _, _, paragraph = between.rstrip().rpartition("\n\n")
    for line in reversed(paragraph.splitlines()):
        if not line.startswith(";; "):
            continue
        name = line.removeprefix(";;").strip()
        if not name.startswith('File "'):  # the place in the theory, below the name
            return name.replace('"', "")  # Why3 1.6 and later put quotation marks around it
    return ""


def read_smtlib_term(text: str) -> tuple[Term, ...]:
    """The one parenthesised term in a text, comments left out.

    Raises:
        SmtlibError: it is not one term.
    """
    # Of the open terms, each with its parts so far; the lowest list gets the whole terms.
    stack: list[list[Term]] = [[]]
    for token in _TOKEN.findall(text):
        if token == "(":  # noqa: S105
            stack.append([])
        elif token == ")":  # noqa: S105
            if len(stack) == 1:
                raise SmtlibError("an unmatched closing parenthesis")
            closed = tuple(stack.pop())
            stack[-1].append(closed)
        elif token in ('"', "|", ";"):  # alone, since the pattern of the whole does not match
            raise SmtlibError("an unterminated string or quoted symbol")
        elif not token.startswith(";"):
            stack[-1].append(token)
    match stack:
        case [[tuple(term)]]:
            return term
        case _:
            raise SmtlibError("this is not one term in parentheses")


def smtlib_text(term: Term) -> str:
    """A term as one line of SMT-LIB."""
    if isinstance(term, str):
        return term
    return f"({' '.join(map(smtlib_text, term))})"
