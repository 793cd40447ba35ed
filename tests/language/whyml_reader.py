"""Reads a goal in WhyML back as nested tuples, in the words of the language of conditions."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, ClassVar

from sonnx_clip.whyml.why3_lexer import why3_tokens
from tests.language.readers import Reader

_NAMES = {"lt": "<", "le": "<=", "eq": "==", "nan": "is_nan"}
_KEYWORDS = ("then", "else", "in")


def read_formula(text: str) -> Any:
    """The form of a formula; AssertionError if it is outside the part of WhyML that goals are printed in."""
    read = why3_tokens(text)
    assert not read.refusals, read.refusals
    # A qualified name, or a field of a record, is one token there.
    parts = [re.split(r"(\.)", t.text) if t.kind == "word" else [t.text] for t in read.tokens]
    return _Whyml([part for of_token in parts for part in of_token]).whole()


class _Whyml(Reader):
    signs: ClassVar = {
        "->": (90, 80, 90, "implies"), "<->": (90, 80, 90, "iff"),
        "\\/": (80, 70, 80, "or"), "/\\": (70, 60, 70, "and"),
        "=": (50, 40, 40, "identical"), "<>": (50, 40, 40, "distinct"), "/.": (40, 30, 30, "/."),
    }  # fmt: skip

    def pair(self, word: str, left: Any, right: Any) -> Any:
        return ("literal", left[1] / right[1]) if word == "/." else super().pair(word, left, right)

    def word(self) -> str:
        assert self.left[0].isidentifier(), self.left
        return self.take()

    def start(self, most: int) -> tuple[Any, int]:
        match self.left[0]:
            case "forall" | "exists":
                return self.quantified(), 100
            case "let":
                self.take()
                name = self.word()
                self.take("=")
                value = self.term()
                self.take("in")
                return ("let", name, value, self.term()), 100
            case "if":
                parts = []
                for word in ("if", "then", "else"):
                    self.take(word)
                    parts.append(self.term())
                return ("if", *parts), 100
            case "not":
                self.take()
                return ("not", self.term(60)), 60
            case "-":
                self.take()
                return ("literal", -self.application()[1]), 30
        return self.application(), 30

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
        return (quantifier, tuple(sorted(binders)), self.term())

    def qualified(self) -> str:
        """A name, perhaps of a module: ``FLOAT.lt``."""
        name = self.word()
        return name + self.take() + self.word() if name[0].isupper() and self.sees(".") else name

    def application(self) -> Any:
        head, arguments = self.atom(), []
        while (
            self.left
            and self.left[0] not in _KEYWORDS
            and (self.left[0] == "(" or self.left[0][0].isalnum())
        ):
            arguments.append(self.atom())
        if not arguments:
            return head
        return (
            (_NAMES.get(head, head), *arguments) if isinstance(head, str) else (*head, *arguments)
        )

    def atom(self) -> Any:
        if self.sees("("):
            self.take()
            made = self.term()
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
