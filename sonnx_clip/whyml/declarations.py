"""Parses the modules of a WhyML file: what each declares, in the order of the text.

A declaration keeps its tokens, so that its statement can be pinned whatever its layout and comments are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from sonnx_clip.whyml.formulas import Reader
from sonnx_clip.whyml.why3_lexer import WhymlToken, parser_tokens, without_header

if TYPE_CHECKING:
    from sonnx_clip.whyml.node import Binder, Node

_STARTS = frozenset({
    "use", "clone", "type", "predicate", "function", "constant", "axiom", "goal", "lemma", "val", "let",
    "meta", "inductive", "coinductive", "exception", "scope",
})  # fmt: skip
_MARKS = frozenset({"rec", "ghost", "lemma", "function", "predicate", "constant"})


@dataclass(frozen=True)
class WhymlDeclaration:
    """One declaration of a module.

    Args:
        kind: its first word: ``predicate``, ``goal``, ``use``, ``let`` …
        name: what it declares; of ``use`` and ``clone`` the module.
        text: its tokens, joined by blanks; attributes and comments are left out.
        comment: the comment right before it.
        line: where it begins.
        parameters: of a function, predicate or program.
        of: the type of a function's or program's result.
        body: of a definition; the formula of an axiom, goal or lemma; the program of a ``let``.
        requires: what a program asks for.
        ensures: what it gives.
        given: of a ``use`` or ``clone``: what is put for what, as ``(kind, name, by)``.
        way: of a ``use`` or ``clone``: ``export``, ``as NAME`` or empty.
    """

    kind: str
    name: str
    text: str
    comment: str
    line: int
    parameters: tuple[Binder, ...] = ()
    of: str = ""
    body: Node | None = None
    requires: tuple[Node, ...] = ()
    ensures: tuple[Node, ...] = ()
    given: tuple[tuple[str, str, str], ...] = ()
    way: str = ""


@dataclass(frozen=True)
class Module:
    """A module: its name, the comment before it, and its declarations."""

    name: str
    comment: str
    declarations: tuple[WhymlDeclaration, ...] = field(default=())


def parse_modules(text: str, where: str) -> tuple[Module, ...]:
    """The modules of a file; UserError at what is outside the part of WhyML that is known here."""
    return _parse_modules(without_header(text), where)


@lru_cache(maxsize=256)
def _parse_modules(text: str, where: str) -> tuple[Module, ...]:
    found = [t for t in parser_tokens(text, where) if t.kind != "attribute"]
    modules, at = [], 0
    while at < len(found):
        reader = Reader(found, where)
        reader.at = at
        comment = reader.token.comment
        if reader.next not in ("module", "theory"):
            reader.refuse(f"a module is expected, not `{reader.next}`")
        reader.take()
        name = reader.word()
        at, declared = reader.at, []
        while found[at : at + 1] and found[at].text != "end":
            end = _end(found, at)
            declared.append(_declaration(tuple(found[at:end]), where))
            at = end
        if not found[at : at + 1]:
            reader.refuse(f"the module {name} does not end")
        at += 1
        modules.append(Module(name, comment, tuple(declared)))
    return tuple(modules)


def _end(found: list[WhymlToken], start: int) -> int:
    """Where the declaration ends: at the next one, or at the end of the module."""
    at, depth = start + 1, 0
    while at < len(found):
        text, before = found[at].text, found[at - 1].text
        if text in ("(", "{", "[", "begin") or text in ("match", "while"):
            depth += 1
        elif text in (")", "}", "]", "done"):
            depth -= 1
        elif text == "end":
            if depth == 0:
                return at
            depth -= 1
        elif depth == 0 and text in _STARTS and not _goes_on(found, start, at, text, before):
            return at
        at += 1
    return at


def _goes_on(found: list[WhymlToken], start: int, at: int, text: str, before: str) -> bool:
    """Whether a word that could begin a declaration belongs to the one at hand."""
    first = found[start].text
    if first == "clone" and text != "clone" and (before in ("with", ",") or text == "axiom"):
        return True
    if first == "clone" and text == "use":
        return False
    if first == "meta" and text in ("function", "predicate", "type"):
        return True
    if text in _MARKS and before in ("let", "val", "rec", "ghost", "lemma"):
        return True
    # The [let] of a formula or program is followed by [in]; that of a declaration is not.
    return text == "let" and first not in ("use", "clone", "type", "meta", "val") and _has_in(found, at)


def _has_in(found: list[WhymlToken], at: int) -> bool:
    depth = 1
    for token in found[at + 1 :]:
        if token.text == "let":
            depth += 1
        elif token.text == "in":
            depth -= 1
            if not depth:
                return True
        elif token.text in ("goal", "lemma", "axiom", "val", "use", "clone", "module"):
            return False
    return False


def _declaration(found: tuple[WhymlToken, ...], where: str) -> WhymlDeclaration:
    first = found[0]
    text = " ".join(t.text for t in found)
    reader = Reader(found, where)
    kind = reader.take()
    if kind in ("use", "clone"):
        return _import(reader, kind, text, first)
    if kind in ("type", "meta", "inductive", "coinductive", "exception", "scope"):
        while reader.next in _MARKS:
            reader.take()
        name = reader.take()
        return WhymlDeclaration(kind, name, text, first.comment, first.line)
    marks = []
    while reader.next in _MARKS:
        marks.append(reader.take())
    name = reader.word()
    if kind in ("axiom", "goal", "lemma"):
        reader.take(":")
        body = reader.sequence()
        _finished(reader)
        return WhymlDeclaration(kind, name, text, first.comment, first.line, body=body)
    kind = " ".join([kind, *marks])
    return _definition(reader, kind, name, text, first)


def _import(reader: Reader, kind: str, text: str, first: WhymlToken) -> WhymlDeclaration:
    way = "export" if reader.skip("export") else ""
    reader.skip("import")
    name = reader.word()
    if reader.skip("as"):
        way = f"as {reader.word()}"
    given: list[tuple[str, str, str]] = []
    if reader.skip("with"):
        while reader.next:
            what = reader.take()
            if what == "axiom" and reader.next == ".":
                reader.take()
                given.append(("axiom", ".", ""))
                continue
            old = reader.take()
            by = old
            if reader.skip("="):
                by = reader.take()
            given.append((what, old, by))
            reader.skip(",")
    _finished(reader)
    return WhymlDeclaration(kind, name, text, first.comment, first.line, given=tuple(given), way=way)


def _definition(reader: Reader, kind: str, name: str, text: str, first: WhymlToken) -> WhymlDeclaration:
    parameters: list[Binder] = []
    loose = 0
    while reader.next not in (":", "=", "", "requires", "ensures", "variant", "reads", "writes"):
        if reader.skip("("):
            if reader.skip(")"):
                continue
            parameters += reader.binders()
            reader.take(")")
        else:
            parameters.append((f"_{loose}", reader.word()))
            loose += 1
    of = reader.type_name() if reader.skip(":") else ""
    requires: list[Node] = []
    ensures: list[Node] = []
    while reader.next in ("requires", "ensures", "variant", "reads", "writes"):
        word = reader.take()
        reader.take("{")
        if word in ("requires", "ensures"):
            (requires if word == "requires" else ensures).append(reader.expression())
            reader.take("}")
        else:
            while reader.take() != "}":
                pass
    body = reader.sequence() if reader.skip("=") else None
    _finished(reader)
    return WhymlDeclaration(
        kind, name, text, first.comment, first.line,
        tuple(parameters), of, body, tuple(requires), tuple(ensures),
    )  # fmt: skip


def _finished(reader: Reader) -> None:
    if reader.next:
        reader.refuse(f"`{reader.next}` is not expected")
