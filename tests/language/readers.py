"""Readers of conditions in Coq, LaTeX and WhyML, by the levels of each: the smaller, the tighter."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from tests.language.forms import joined


class Reader:
    """Reads infix signs; what a term starts with is the business of each target."""

    signs: ClassVar[dict[str, tuple[int, int, int, str]]]
    """Sign: its level, the greatest levels on its left and on its right, and what it means."""

    def __init__(self, left: list[str]) -> None:
        self.left = left

    def sees(self, *texts: str) -> bool:
        return bool(self.left) and self.left[0] in texts

    def take(self, *wanted: str) -> str:
        assert self.left, "the text ends too early"
        assert not wanted or self.left[0] in wanted, (wanted, self.left)
        return self.left.pop(0)

    def term(self, most: int = 200) -> Any:
        """A term of at most a level."""
        made, level = self.start(most)
        while self.left and self.left[0] in self.signs:
            own, before, after, word = self.signs[self.left[0]]
            if own > most or level > before:
                break
            self.take()
            made, level = self.pair(word, made, self.term(after)), own
        return made

    def pair(self, word: str, left: Any, right: Any) -> Any:
        return (word.replace(">", "<"), right, left) if ">" in word else joined(word, left, right)

    def start(self, most: int) -> tuple[Any, int]:
        raise NotImplementedError

    def atom(self) -> Any:
        if not self.sees("("):
            return self.take().lower()
        self.take("(")
        made = self.term()
        if self.sees(":"):
            self.take(":")
            self.take("Prop")
        self.take(")")
        return made

    def whole(self) -> Any:
        made = self.term()
        assert not self.left, self.left
        return made


def _split(text: str, token: str) -> list[str]:
    found = re.findall(token, text)
    assert "".join(found).replace(" ", "") == text.replace(" ", "")
    return found


class _Coq(Reader):
    """The levels are those of Coq's manual and of coq/Order.v."""

    signs: ClassVar = {
        "->": (99, 98, 99, "implies"), "<->": (95, 94, 94, "iff"),
        "\\/": (85, 84, 85, "or"), "/\\": (80, 79, 80, "and"),
        "=": (70, 69, 69, "identical"), "<": (70, 69, 69, "<"),
        "<=": (70, 69, 69, "<="), "==": (70, 69, 69, "=="),
        "||": (50, 50, 49, "or"), "&&": (40, 40, 39, "and"),
    }  # fmt: skip
    heads: ClassVar = {
        "nan": "is_nan", "identical": "identical", "negb": "not", "implb": "implies", "Bool.eqb": "iff",
    }  # fmt: skip

    def start(self, most: int) -> tuple[Any, int]:
        if self.sees("~"):
            assert most >= 75
            self.take()
            return ("not", self.term(75)), 75
        if self.sees("if"):
            assert most >= 200
            parts = []
            for word in ("if", "then", "else"):
                self.take(word)
                parts.append(self.term())
            return ("if", *parts), 200
        if self.left[0] not in self.heads:
            return self.atom(), 10
        head, arguments = self.heads[self.take()], []
        while self.left and (self.left[0] == "(" or re.fullmatch(r"[xlmy]", self.left[0])):
            arguments.append(self.atom())
        return (joined(head, *arguments) if len(arguments) == 2 else (head, *arguments)), 10


_IF, _THEN, _OTHERWISE, _IS_NAN = (
    r"\text{if }",
    r"\text{ then }",
    r"\text{ otherwise }",
    r"\text{ is NaN}",
)
_INDEX = r"_{(\text{f})}"


class _Latex(Reader):
    signs: ClassVar = {
        r"\Leftrightarrow": (90, 80, 80, "iff"), r"\Rightarrow": (80, 70, 80, "implies"),
        r"\lor": (70, 70, 60, "or"), r"\land": (60, 60, 50, "and"), r"\equiv": (40, 30, 30, "identical"),
        **{sign + _INDEX: (40, 30, 30, word)
           for sign, word in ((r"\lt", "<"), (r"\le", "<="), (r"\gt", ">"), (r"\ge", ">="), ("=", "=="))},
    }  # fmt: skip

    def start(self, most: int) -> tuple[Any, int]:
        if self.sees(_IF):
            assert most >= 100
            parts = []
            for word, level in ((_IF, 90), (_THEN, 100), (_OTHERWISE, 100)):
                self.take(word)
                parts.append(self.term(level))
            return ("if", *parts), 100
        if self.sees(r"\lnot"):
            assert most >= 50
            self.take()
            return ("not", self.atom()), 50
        made = self.atom()
        if self.sees(_IS_NAN):
            self.take()
            return ("is_nan", made), 40
        return made, 30


def read_coq(text: str) -> Any:
    return _Coq(_split(text, r"<->|->|\\/|/\\|\|\||&&|<=|==|[=<~():]|[\w.]+")).whole()


def read_latex(text: str) -> Any:
    words = map(re.escape, (_IF, _THEN, _OTHERWISE, _IS_NAN, *_Latex.signs, r"\lnot"))
    return _Latex(_split(text, "|".join(words) + r"|[()]|\w")).whole()
