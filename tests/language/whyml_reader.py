"""Reads a goal in WhyML back as nested tuples, in the words of the language of conditions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sonnx_clip.whyml.why3_lexer import Why3Token, tokens
from tests.language.forms import joined

# Sign: how tightly it binds, the same for the operand on its right, the word of the language.
_INFIX = {
    "->": (1, 1, "implies"), "<->": (1, 1, "iff"), "\\/": (2, 2, "or"), "/\\": (3, 3, "and"),
    "=": (5, 6, "identical"), "<>": (5, 6, "distinct"), "/.": (6, 7, "/."),
}  # fmt: skip
_NOT = 4
_NAMES = {"lt": "<", "le": "<=", "eq": "==", "nan": "is_nan"}
_KEYWORDS = ("then", "else", "in")


def read_formula(text: str) -> Any:
    """The form of a formula; AssertionError if it is outside the part of WhyML that goals are printed in."""
    read = tokens(text)
    assert not read.refusals, read.refusals
    reader = _Reader(read.tokens)
    made = reader.formula()
    assert not reader.left, reader.left
    return made


class _Reader:
    def __init__(self, found: tuple[Why3Token, ...]) -> None:
        self.left = [token.text for token in found]

    def sees(self, *texts: str) -> bool:
        return bool(self.left) and self.left[0] in texts

    def take(self, *wanted: str) -> str:
        assert self.left, "the text ends too early"
        assert not wanted or self.left[0] in wanted, (wanted, self.left)
        return self.left.pop(0)

    def word(self) -> str:
        assert self.left, "the text ends too early"
        assert self.left[0].isidentifier(), self.left
        return self.take()

    def formula(self, least: int = 0) -> Any:
        """A formula whose signs bind at least so tightly."""
        made = self.start()
        while self.left and self.left[0] in _INFIX and _INFIX[self.left[0]][0] >= least:
            _, right, word = _INFIX[self.take()]
            made = joined(word, made, self.formula(right))
            if word == "/.":
                made = ("literal", made[1][1] / made[2][1])
        return made

    def start(self) -> Any:
        if self.sees("forall", "exists"):
            return self.quantified()
        if self.sees("let"):
            self.take()
            name = self.word()
            self.take("=")
            value = self.formula()
            self.take("in")
            return ("let", name, value, self.formula())
        if self.sees("if"):
            self.take()
            condition = self.formula()
            self.take("then")
            then = self.formula()
            self.take("else")
            return ("if", condition, then, self.formula())
        if self.sees("not"):
            self.take()
            return ("not", self.formula(_NOT))
        if self.sees("-"):
            self.take()
            return ("literal", -self.application()[1])
        return self.application()

    def quantified(self) -> Any:
        """``forall x y: t, i: index [trigger]. formula``."""
        quantifier, binders = self.take(), []
        while True:
            names = [self.word()]
            while not self.sees(":"):
                names.append(self.word())
            self.take(":")
            sort = self.qualified()
            binders += [(name, sort) for name in names]
            if not self.sees(","):
                break
            self.take()
        if self.sees("["):
            while self.take() != "]":
                pass
        self.take(".")
        return (quantifier, tuple(sorted(binders)), self.formula())

    def qualified(self) -> str:
        """A name, perhaps of a module: ``FLOAT.lt``."""
        name = self.word()
        return name + self.take() + self.word() if name[0].isupper() and self.sees(".") else name

    def application(self) -> Any:
        head, arguments = self.atom(), []
        while (
            self.left and self.left[0] not in _KEYWORDS and (self.left[0] == "(" or self.left[0][0].isalnum())
        ):
            arguments.append(self.atom())
        if not arguments:
            return head
        return (_NAMES.get(head, head), *arguments) if isinstance(head, str) else (*head, *arguments)

    def atom(self) -> Any:
        if self.sees("("):
            self.take()
            made = self.formula()
            if self.sees(":"):
                self.take()
                made = ("FLOAT" if self.qualified() == "FLOAT.t" else "literal", made[1])
            self.take(")")
        elif self.left and self.left[0][0].isdigit():
            text = self.take()
            made = ("literal", int(text, 0) if text.isalnum() else Fraction(text))
        else:
            made = self.qualified()
        while self.sees("."):
            self.take()
            made = (f".{self.word()}", made)
        return made
