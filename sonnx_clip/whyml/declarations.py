"""Reads a WhyML file as declarations, by its tokens: no formula is parsed.

A declaration keeps its tokens, so that its statement can be pinned whatever its layout and comments are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from sonnx_clip.whyml.why3_lexer import Tokens, Why3Token, why3_tokens, without_header

if TYPE_CHECKING:
    from collections.abc import Sequence

_MODULE: Final = ("module", "theory")
# The words of Why3 that begin a declaration, and the `end` of a module.
BEGIN: Final = frozenset({
    *_MODULE, "use", "clone", "type", "predicate", "function", "constant", "axiom", "goal", "lemma", "val",
    "let", "meta", "inductive", "coinductive", "exception", "scope", "end",
})  # fmt: skip
# Words between the first one and the name: `let rec ghost f` is one declaration.
_MARKS: Final = frozenset({"rec", "ghost", "partial", "lemma", "function", "predicate", "constant"})
# Marks stand behind these.
_MARKED: Final = frozenset({"let", "val", "rec", "ghost", "partial", "lemma"})
# Inside of these no declaration begins. `done` closes a loop, `end` a block or a `match`.
_OPEN: Final = frozenset({"(", "{", "[", "begin", "match", "try", "while", "for"})
_CLOSE: Final = frozenset({")", "}", "]", "done", "end"})
# Behind these words a formula or a program goes on, so that a `let` there belongs to it.
_GOES_ON: Final = frozenset({
    "then", "else", "in", "not", "old", "with", "by", "so", "if", "match", "begin", "do", "let", "and", "or",
    "while", "for", "to", "downto",
})  # fmt: skip


@dataclass(frozen=True)
class WhymlDeclaration:
    """One declaration of a module.

    Args:
        module: the module that it stands in.
        form: its words before the name: ``predicate``, ``goal``, ``use``, ``let rec ghost`` …
        name: what it declares; of an import, the module that it takes in.
        attributes: those behind the name.
        tokens: all of them; a qualified name is one.
        source: how it is written, without comments and on one line.
        contract: the part of that behind the name and its attributes.
        comment: the documentation comment before it.
        line: where it begins, counted from 1.
    """

    module: str
    form: str
    name: str
    attributes: tuple[str, ...]
    tokens: tuple[Why3Token, ...]
    source: str
    contract: str
    comment: str
    line: int

    @property
    def text(self) -> str:
        """Its tokens, joined by blanks, without attributes."""
        return " ".join(token.text for token in self.tokens if token.kind != "attribute")

    @property
    def statement(self) -> str:
        """What follows the name, its attributes and a colon."""
        return self.contract.removeprefix(":").strip()


def declarations(text: str) -> tuple[WhymlDeclaration, ...]:
    """The declarations of the modules of a file, in its order.

    Text that is not WhyML, or stands outside of modules, is passed over: Why3 or `read_theories` refuses it.
    """
    return _declarations(without_header(text))


@lru_cache(maxsize=64)
def _declarations(text: str) -> tuple[WhymlDeclaration, ...]:
    read = why3_tokens(text)
    every = read.tokens
    declared: list[WhymlDeclaration] = []
    at = 0
    module = ""
    while at < len(every):
        word = every[at].text
        end = at + 1
        if word in _MODULE and end < len(every):
            module = every[end].text
            end += 1
        elif word == "end":
            module = ""
        elif module and word in BEGIN:
            end = _end_of(every, at)
            declared.append(_declaration(read, module, every[at:end]))
        at = end
    return tuple(declared)


def _end_of(every: Sequence[Why3Token], start: int) -> int:
    """Where the declaration ends that begins here: at the next one, or with its module."""
    depth = 0
    for at in range(start + 1, len(every)):
        word = every[at].text
        if depth == 0 and word in BEGIN and _begins(every, start, at):
            return at
        if word in _OPEN:
            depth += 1
        elif word in _CLOSE:
            depth -= 1
            if depth < 0:  # the `end` of the module
                return at
    return len(every)


def _begins(every: Sequence[Why3Token], start: int, at: int) -> bool:
    """Whether the word at a place begins a declaration, and does not belong to the one from `start` on."""
    first = every[start].text
    before = every[at - 1]
    word = every[at].text
    # `clone M with type t = u, axiom a`: what is substituted is named by such a word too.
    if first in ("use", "clone"):
        return before.text not in ("with", ",")
    # `meta coercion function value`: so are the arguments behind its name.
    if first == "meta" and (at == start + 2 or before.text == ","):
        return False
    if word in _MARKS and before.text in _MARKED:
        return False
    # The other words occur in no formula and no program of ours, which so need not be parsed.
    if word != "let":
        return True
    # A `let` is a declaration too where no expression can go on.
    if before.kind == "word":
        return before.text not in _GOES_ON
    return before.kind != "operator" and before.text not in ("(", "{", "[", ",", ";")


def _declaration(
    read: Tokens,
    module: str,
    every: tuple[Why3Token, ...],
) -> WhymlDeclaration:
    """A declaration of these tokens: its words, its name, the attributes behind that, and the rest."""
    count = len(every)
    start = every[0].start
    end = every[-1].end
    name_begins = 1
    while name_begins < count and every[name_begins].text in (*_MARKS, "export", "import"):
        name_begins += 1
    name_ends = name_begins + 1
    if name_begins < count and every[name_begins].text == "(":  # an operator
        while name_ends < count and every[name_ends - 1].text != ")":
            name_ends += 1
    behind = name_ends
    while behind < count and every[behind].kind == "attribute":
        behind += 1
    # A text that breaks off may have no name; then its last token is the end of its head.
    last_of_head = every[:behind][-1]
    named = every[name_begins:behind]
    return WhymlDeclaration(
        module=module,
        form=" ".join(token.text for token in every[:name_begins]),
        name="".join(token.text for token in every[name_begins:name_ends]),
        attributes=tuple(token.text for token in named if token.kind == "attribute"),
        tokens=every,
        source=read.between(start, end),
        contract=read.between(last_of_head.end, end),
        comment=read.comment_before(start),
        line=read.line(start),
    )
