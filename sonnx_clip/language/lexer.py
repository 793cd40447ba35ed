"""Text of a condition -> tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

KEYWORDS = frozenset({"and", "or", "not", "implies", "iff", "if", "then", "else"})
CONSTANT_NAMES = frozenset({"nan", "inf", "lowest", "highest", "smallest_normal", "smallest_subnormal"})

_TOKEN = re.compile(
    r"\s*(?:"
    r"(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<mark><=|>=|==|<|>|\(|\)|\[|\]|,|-)"
    r"|(?P<end>\Z)"
    r"|(?P<wrong>!=|=|\S)"
    r")"
)
_INSTEAD = {
    "=": "equality is `==`",
    "!=": "write `not a == b`",
    "&": "write `and`",
    "|": "write `or`",
    "!": "write `not`",
}


class LanguageError(Exception):
    """A condition that does not parse, or has the wrong type.

    Args:
        offset: index into the text of the condition, of the token in question.
        what: what is wrong.
        todo: what is expected.
    """

    def __init__(self, offset: int, what: str, todo: str | None = None) -> None:
        self.offset = offset
        self.what = what
        self.todo = todo
        super().__init__(what)


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its kind (``number``, ``word``, ``keyword``, ``mark``, ``end``), text and offset."""

    kind: str
    text: str
    offset: int


def tokens(text: str) -> list[Token]:
    """The tokens of a condition, and one of kind ``end``; LanguageError at a character it cannot have."""
    found: list[Token] = []
    at = 0
    while not found or found[-1].kind != "end":
        match = _TOKEN.match(text, at)
        assert match is not None  # the pattern matches any text
        assert match.lastgroup is not None
        word, offset = match[match.lastgroup], match.start(match.lastgroup)
        if match.lastgroup == "wrong":
            raise LanguageError(offset, f"`{word}` is not part of the language", _INSTEAD.get(word))
        kind = "keyword" if word in KEYWORDS else match.lastgroup
        found.append(Token(kind, word, offset))
        at = match.end()
    return found
