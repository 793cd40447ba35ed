"""Reads the assumptions of WhyML text: axioms, contracts without a body, annotations that drop goals.

The words that begin a declaration are reserved in WhyML. So each of them is read as a declaration, or the
text is refused.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from sonnx_clip.whyml.declarations import BEGIN, declarations
from sonnx_clip.whyml.why3_lexer import known_attribute, why3_tokens, without_header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.whyml.declarations import WhymlDeclaration
    from sonnx_clip.whyml.why3_lexer import Tokens

TheoryItemKind: TypeAlias = Literal[
    "axiom",
    "lemma",
    "goal",
    "val",
    "clone",
    "type",
    "unasked",
    "attribute",
    "undefined",
    "meta",
    "refused",
    "library",
    "lemma program",
    "program",
]

CALLED: Final = "sonnx_clip_"  # how the name of a program begins that C calls

_ASSERTS: Final = ("axiom", "lemma", "goal", "lemma program", "clone", "val", "type", "undefined")
_IMPORTS: Final = ("use", "clone", "meta")
_UNASKED: Final = ("assume", "any", "diverges", "partial")
_NOT_READ: Final = {
    "scope": "a scope",
    "import": "an import of a scope",
    "coinductive": "a coinductive predicate",
}
# Of the words that begin a declaration, some may stand within one too.
_RESERVED: Final = BEGIN - {"module", "theory", "let", "end", *_NOT_READ}


@dataclass(frozen=True)
class TheoryItem:
    """One assumption in a module, or something that affects it.

    Args:
        kind: what it is; ``goal``, ``lemma`` and ``lemma program`` are what is to be proved.
        module: the module that it stands in.
        name: its name; empty where it has none.
        text: the statement or the contract, on one line; empty for what is to be proved.
        comment: the documentation comment before it.
        line: where it stands, counted from 1.
    """

    kind: TheoryItemKind
    module: str
    name: str
    text: str
    comment: str
    line: int


def read_theories(text: str) -> tuple[TheoryItem, ...]:
    """Everything of interest in a file: by declaration, then what stands anywhere, then what is refused."""
    return _read_theories(without_header(text))


@lru_cache(maxsize=1024)
def _read_theories(text: str) -> tuple[TheoryItem, ...]:
    read = why3_tokens(text)
    declared = declarations(text)
    by_declaration: list[TheoryItem] = []
    for declaration in declared:
        by_declaration += _declared(declaration)
    return (
        *by_declaration,
        *_anywhere(read, declared),
        *_behind_smoke(by_declaration),
        *_refused(read),
    )


def _refused(read: Tokens) -> Iterator[TheoryItem]:
    for refusal in read.refusals:
        yield TheoryItem("refused", "", refusal.what, refusal.text, "", refusal.line)


def _declared(d: WhymlDeclaration) -> Iterator[TheoryItem]:
    """What a declaration assumes, or leaves to be proved."""
    first, *marks = d.form.split()
    words = d.text.split()
    match first:
        case "axiom":
            yield _item(d, "axiom", d.statement)
        case "goal" | "lemma":
            yield _item(d, "goal" if first == "goal" else "lemma")
        case "val":
            yield _item(d, "val", f"val {d.contract}".strip())
        case "type" if "invariant" in words:  # Why3 assumes it of every value
            yield _item(d, "type", d.source)
        # Without a definition: a driver or a clone gives it a meaning.
        case "predicate" | "function" | "constant" if "=" not in words:
            yield _item(d, "undefined", d.source)
        case "let" if "lemma" in marks:  # a program whose contract is a lemma for what follows
            yield _item(d, "lemma program")
        case "let" if d.name.startswith(CALLED):
            yield _item(d, "program", _before_body(d.contract))
        case "use" | "clone" | "meta":
            yield from _imported(d, first, words)


def _imported(
    d: WhymlDeclaration,
    first: str,
    words: list[str],
) -> Iterator[TheoryItem]:
    if first == "meta":
        match words:
            case [_, "coercion", "function", function]:  # it decides how a formula is read
                yield _item(d, "meta", d.source, function)
            case _:  # others change what Why3 prints, each in its own way
                yield _item(d, "refused", d.source, "a meta")
        return
    if first == "clone" and "axiom" in words:  # `with axiom .`: its axioms are assumed
        yield _item(d, "clone", f"clone {d.name} {d.contract}")
    yield _item(d, "library", name=d.name)
    if first == "use":  # of several modules, perhaps; `clone` takes one
        for comma, name in pairwise(words):
            if comma == ",":
                yield _item(d, "library", name=name)


def _item(
    d: WhymlDeclaration,
    kind: TheoryItemKind,
    text: str = "",
    name: str | None = None,
) -> TheoryItem:
    own_name = d.name if name is None else name
    return TheoryItem(kind, d.module, own_name, text, d.comment, d.line)


def _before_body(contract: str) -> str:
    """The contract of a program, up to the equals sign before its body."""
    # Formulas of the contract have equals signs, too, but all of them in brackets.
    depth = 0
    for at, sign in enumerate(contract):
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "=" and depth == 0:
            return contract[:at].strip()
    return contract


def _anywhere(read: Tokens, declared: Sequence[WhymlDeclaration]) -> Iterator[TheoryItem]:
    """What assumes something within a declaration, and reserved words that begin none."""
    starts = [d.tokens[0].start for d in declared]
    in_heads: set[int] = set()
    in_imports: set[int] = set()
    for d in declared:
        places = [token.start for token in d.tokens]
        words_of_head = len(d.form.split())
        in_heads.update(places[:words_of_head])
        if d.form.startswith(_IMPORTS):
            in_imports.update(places)
    # An import may have reserved words further on, such as `axiom` in a clone.
    read_places = in_heads | in_imports

    for token in read.tokens:
        kind: TheoryItemKind = "refused"
        if token.kind == "attribute" and not known_attribute(token.text):
            kind, name = "attribute", ""
        elif token.kind != "word":
            continue
        elif token.text in _UNASKED:
            kind, name = "unasked", token.text
        elif token.text in _NOT_READ and token.start not in in_imports:
            name = _NOT_READ[token.text]
        elif token.text in _RESERVED and token.start not in read_places:
            name = "a declaration that is not read"
        else:
            continue
        # The token lies in the last declaration that begins before it.
        before = bisect_right(starts, token.start)
        module = declared[before - 1].module if before else ""
        yield TheoryItem(kind, module, name, token.text, "", read.line(token.start))


def _behind_smoke(declared: Sequence[TheoryItem]) -> Iterator[TheoryItem]:
    """What stands behind the smoke goal of its module, whose task would not show it."""
    tested: set[str] = set()  # the modules whose smoke goal was read
    for item in declared:
        if item.module in tested and item.kind in _ASSERTS:
            message = f"a declaration after the smoke goal of {item.module}"
            text = f"{item.kind} {item.name}".rstrip()
            yield TheoryItem("refused", item.module, message, text, "", item.line)
        if item.kind == "goal" and item.name.startswith("smoke_"):
            tested.add(item.module)
