"""Reads a condition in LaTeX, by a table of levels of its own: the looser, the smaller."""

from __future__ import annotations

import re
from typing import Any

from tests.language.forms import joined

IF, THEN, OTHERWISE, IS_NAN = r"\text{if }", r"\text{ then }", r"\text{ otherwise }", r"\text{ is NaN}"
_INDEX = r"_{(\text{f})}"
# Sign: its level, the least level on its left and on its right, and what it means.
_SIGNS = {
    r"\Leftrightarrow": (1, 2, 2, "iff"), r"\Rightarrow": (2, 3, 2, "implies"),
    r"\lor": (3, 3, 4, "or"), r"\land": (4, 4, 5, "and"), r"\equiv": (6, 7, 7, "identical"),
    **{sign + _INDEX: (6, 7, 7, word)
       for sign, word in ((r"\lt", "<"), (r"\le", "<="), (r"\gt", ">"), (r"\ge", ">="), ("=", "=="))},
}  # fmt: skip
_TOKEN = re.compile("|".join(map(re.escape, (IF, THEN, OTHERWISE, IS_NAN, *_SIGNS, r"\lnot"))) + r"|[()]|\w")


class _Reader:
    def __init__(self, text: str) -> None:
        self.left = _TOKEN.findall(text)
        assert "".join(self.left).replace(" ", "") == text.replace(" ", "")

    def take(self, *wanted: str) -> str:
        assert not wanted or self.left[0] in wanted, (wanted, self.left)
        return self.left.pop(0)

    def term(self, least: int) -> Any:
        """A term that binds at least as tightly as a level."""
        made, level = self.start(least)
        while self.left and self.left[0] in _SIGNS:
            own, before, after, word = _SIGNS[self.left[0]]
            if own < least or level < before:
                break
            self.take()
            right = self.term(after)
            made = (word.replace(">", "<"), right, made) if ">" in word else joined(word, made, right)
            level = own
        return made

    def start(self, least: int) -> tuple[Any, int]:
        if self.left[0] == IF:
            assert least == 0
            parts = []
            for word, level in ((IF, 1), (THEN, 0), (OTHERWISE, 0)):
                self.take(word)
                parts.append(self.term(level))
            return ("if", *parts), 0
        if self.left[0] == r"\lnot":
            assert least <= 5
            self.take()
            return ("not", self.atom()), 5
        made = self.atom()
        if self.left and self.left[0] == IS_NAN:
            self.take()
            return ("is_nan", made), 6
        return made, 7

    def atom(self) -> Any:
        if self.left[0] != "(":
            return self.take().lower()
        self.take("(")
        made = self.term(0)
        self.take(")")
        return made


def read_latex(text: str) -> Any:
    reader = _Reader(text)
    made = reader.term(0)
    assert not reader.left, reader.left
    return made
