"""Reads the assumptions of WhyML text: axioms, contracts without a body, annotations that drop goals.

A keyword is reserved in WhyML, so that each of them is found wherever it stands; where a statement ends
decides how it is shown, and never whether.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from sonnx_clip.whyml.declarations import end_of
from sonnx_clip.whyml.why3_lexer import Tokens, known_attribute, tokens, without_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FoundKind: TypeAlias = Literal[
    "axiom", "lemma", "goal", "val", "clone", "type", "unasked", "attribute", "undefined", "meta", "refused",
    "library", "lemma program", "program",
]  # fmt: skip

CALLED: Final = "sonnx_clip_"  # how the name of a program begins that C calls

_ASSERTS: Final = ("axiom", "lemma", "goal", "lemma program", "clone", "val", "type", "undefined")
_MODULE: Final = ("module", "theory")
_LOGIC: Final = ("function", "predicate", "constant")
_STATEMENTS: Final[dict[str, Literal["axiom", "lemma", "goal"]]] = {
    "axiom": "axiom", "lemma": "lemma", "goal": "goal",
}  # fmt: skip
# Words that begin a declaration. They stand nowhere else, but in what is given to a clone, and in programs.
_BEGIN: Final = frozenset(
    (*_MODULE, *_LOGIC, *_STATEMENTS, "type", "clone", "use", "val", "inductive", "coinductive", "meta",
     "exception", "scope", "import")
)  # fmt: skip
_OF_PROGRAMS: Final = (*_LOGIC, *_STATEMENTS)  # these words stand behind `val` or `let`, too
_BEFORE_A_KIND: Final = ("val", "let", "rec", "ghost", "lemma", "partial")
_BEFORE_A_NAME: Final = ("ghost", "rec", "lemma", "partial", *_LOGIC)
_UNASKED: Final = ("assume", "any", "diverges", "partial")
_NOT_READ: Final = {
    "scope": "a scope", "import": "an import of a scope", "coinductive": "a coinductive predicate",
}  # fmt: skip
_OPEN: Final = ("(", "[", "{")
_CLOSE: Final = (")", "]", "}")


@dataclass(frozen=True)
class Found:
    """One assumption in a module, or something that affects it.

    Args:
        kind: what it is; ``goal``, ``lemma`` and ``lemma program`` are what is to be proved.
        module: the module that it stands in.
        name: its name; empty where it has none.
        text: the statement or the contract, on one line; empty for what is to be proved.
        comment: the documentation comment before it.
        line: where it stands, counted from 1.
    """

    kind: FoundKind
    module: str
    name: str
    text: str
    comment: str
    line: int


def read_theories(text: str) -> tuple[Found, ...]:
    """Everything of interest in a file, in its order."""
    return _read_theories(without_header(text))


@lru_cache(maxsize=1024)
def _read_theories(text: str) -> tuple[Found, ...]:
    found = tuple(_Reader(tokens(text)).found())
    return (*found, *_behind_smoke(found))


def _behind_smoke(found: tuple[Found, ...]) -> Iterator[Found]:
    """What stands behind the smoke goal of its module, whose task would not show it."""
    tested: set[str] = set()
    for f in found:
        if f.module in tested and f.kind in _ASSERTS:
            what = f"a declaration after the smoke goal of {f.module}"
            yield Found("refused", f.module, what, f"{f.kind} {f.name}".rstrip(), "", f.line)
        if f.kind == "goal" and f.name.startswith("smoke_"):
            tested.add(f.module)


class _Reader:
    def __init__(self, read: Tokens) -> None:
        self.read, self.tokens = read, read.tokens
        self.module, self.at = "", 0

    def found(self) -> Iterator[Found]:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "attribute" and not known_attribute(token.text):
                yield self._one("attribute", self.at, "", token.text)
            elif token.kind == "word" and token.text in _OF_INTEREST:
                yield from self._word(token.text)
            self.at += 1
        for refusal in self.read.refusals:
            yield Found("refused", "", refusal.what, refusal.text, "", refusal.line)

    def _word(self, word: str) -> Iterator[Found]:
        if word in _BEGIN and not self.module and word not in _MODULE:
            yield self._one("refused", self.at, "a declaration outside of a module", word)
        if word in _UNASKED:
            yield self._one("unasked", self.at, word, word)
        elif word in _NOT_READ:
            yield self._one("refused", self.at, _NOT_READ[word], self._text(self.at, self.at + 3))
        elif word in _READERS and not (word in _OF_PROGRAMS and self._is(self.at - 1, *_BEFORE_A_KIND)):
            yield from _READERS[word](self)
        elif word == "lemma" and not self._is(self.at - 1, "val"):
            yield self._one("lemma program", self.at, self._name(self.at + 1), "")

    def read_module(self) -> Iterator[Found]:
        self.module = self._name(self.at + 1)
        behind = self.at + 2
        while self._kind(behind) == "attribute":
            behind += 1
        if not self.module or self._is(behind, ":"):
            yield self._one("refused", self.at, "a module without a simple name", self._text(self.at, behind))

    def read_statement(self) -> Iterator[Found]:
        """An axiom, a lemma or a goal: ``axiom name attribute* : formula``."""
        at, name, colon = self.at, self._name(self.at + 1), self.at + 2
        while self._kind(colon) in ("attribute", "other"):
            colon += 1
        if not name or not self._is(colon, ":"):
            yield self._one("refused", at, "a statement without a simple name", self._text(at, at + 4))
        kind = _STATEMENTS[self.tokens[at].text]
        yield self._one(
            kind, at, name, self._text(colon + 1, end_of(self.tokens, at)) if kind == "axiom" else ""
        )

    def read_let(self) -> Iterator[Found]:
        """The contract of a program that C calls: ``let sonnx_clip_… attribute* contract =``."""
        name, end = self._name(self.at + 1), self.at + 2
        if not name.startswith(CALLED):
            return
        while self._kind(end) == "attribute":
            end += 1
        first, depth = end, 0
        while end < len(self.tokens) and not (depth == 0 and self._is(end, "=")):
            depth += self._step(end)
            end += 1
        yield self._one("program", self.at, name, self._text(first, end))

    def read_meta(self) -> Iterator[Found]:
        """``meta coercion function name``, which decides how a formula is read; no other."""
        end = self.at + 4
        if (
            self._is(self.at + 1, "coercion")
            and self._is(self.at + 2, "function")
            and self._name(self.at + 3)
        ):
            yield self._one("meta", self.at, self._name(self.at + 3), self._text(self.at, end))
            self.at = end - 1
        else:
            yield self._one("refused", self.at, "a meta", self._text(self.at, end))
            self.at += 2 if self._is(self.at + 2, *_LOGIC) else 0  # it is no declaration of a symbol

    def read_val(self) -> Iterator[Found]:
        """``val ghost? function? name attribute* contract``, of a module or within a program."""
        name = self.at + 1
        while self._is(name, *_BEFORE_A_NAME) or self._kind(name) in ("attribute", "other"):
            name += 1
        called, behind = self._name(name), name + 1
        if not called and self._is(name, "("):
            while behind < len(self.tokens) and not self._is(behind, ")"):
                behind += 1
            called = "".join(self._text(name, behind + 1).split())
            behind += 1
        elif not called:
            yield self._one("refused", self.at, "a val without a name", self._text(self.at, behind))
        contract = self._text(behind, end_of(self.tokens, self.at, in_ends=True))
        yield self._one("val", self.at, called, f"val {contract}".strip())

    def read_clone(self) -> Iterator[Found]:
        """``clone export? theory as? with …`` and ``use export? theory, …``; what is given is passed over."""
        start, word = self.at, self.tokens[self.at].text
        end = end_of(self.tokens, start)
        first = start + 2 if self._is(start + 1, "import", "export") else start + 1
        if word == "clone":
            given = {self.tokens[i].text for i in range(first, end)}
            if "axiom" in given:
                yield self._one("clone", start, self._qualified(first), f"clone {self._text(first, end)}")
        for i in range(first, end):
            if i == first or (word == "use" and self._is(i - 1, ",")):
                yield self._one("library", start, self._qualified(i), "")
            if self.tokens[i].kind == "attribute":
                yield self._one("attribute", i, "", self.tokens[i].text)
        self.at = end - 1

    def read_type(self) -> Iterator[Found]:
        """Of a type with an invariant, something is assumed."""
        end = end_of(self.tokens, self.at)
        inside = self.tokens[self.at : end]
        if any(token.text == "invariant" for token in inside):
            yield self._one("type", self.at, self._name(self.at + 1), self._text(self.at, end))

    def read_logic(self) -> Iterator[Found]:
        """A symbol without a definition: its meaning is a driver's, or that of whoever clones the module."""
        end = end_of(self.tokens, self.at)
        name, depth = self._name(self.at + 1), 0
        if not name:
            what = "a symbol without a simple name"
            yield self._one("refused", self.at, what, self._text(self.at, self.at + 4))
        for i in range(self.at + 1, end):
            depth += self._step(i)
            if depth == 0 and self._is(i, "="):
                return
        yield self._one("undefined", self.at, name, self._text(self.at, end))

    def _step(self, at: int) -> int:
        text = self.tokens[at].text
        return 1 if text in _OPEN else -1 if text in _CLOSE else 0

    def _name(self, at: int) -> str:
        """The plain name at a place, or empty."""
        if at >= len(self.tokens) or self.tokens[at].kind != "word" or self.tokens[at].text in _BEGIN:
            return ""
        return self.tokens[at].text

    def _qualified(self, at: int) -> str:
        parts = [self._name(at)]
        while self._is(at + 1, "."):
            at += 2
            parts.append(self._name(at))
        return ".".join(parts)

    def _is(self, at: int, *texts: str) -> bool:
        return 0 <= at < len(self.tokens) and self.tokens[at].text in texts

    def _kind(self, at: int) -> str:
        return self.tokens[at].kind if at < len(self.tokens) else ""

    def _text(self, start: int, end: int) -> str:
        if start >= min(end, len(self.tokens)):
            return ""
        return self.read.between(self.tokens[start].start, self.tokens[min(end, len(self.tokens)) - 1].end)

    def _one(self, kind: FoundKind, at: int, name: str, text: str) -> Found:
        place = self.tokens[at].start
        return Found(kind, self.module, name, text, self.read.comment_before(place), self.read.line(place))


_READERS: Final[dict[str, Callable[[_Reader], Iterator[Found]]]] = {
    **dict.fromkeys(_MODULE, _Reader.read_module),
    **dict.fromkeys(_STATEMENTS, _Reader.read_statement),
    **dict.fromkeys(_LOGIC, _Reader.read_logic),
    **dict.fromkeys(("clone", "use"), _Reader.read_clone),
    "val": _Reader.read_val,
    "type": _Reader.read_type,
    "meta": _Reader.read_meta,
    "let": _Reader.read_let,
}
_OF_INTEREST: Final = frozenset((*_BEGIN, *_UNASKED, *_NOT_READ, *_READERS))
