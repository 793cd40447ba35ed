"""Parses terms, formulas and programs of WhyML: the part of the language that the theories here use.

What is outside this part is refused with its line, and never passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError
from sonnx_clip.whyml.node import Binder, Node, Pattern
from sonnx_clip.whyml.why3_lexer import WhymlToken, parser_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORDS = frozenset({
    "let", "in", "if", "then", "else", "forall", "exists", "match", "with", "end", "not", "old",
    "fun", "while", "do", "done", "true", "false", "invariant", "variant", "ref", "predicate",
    "function", "constant", "goal", "lemma", "axiom", "type", "use", "clone", "module", "theory",
    "meta", "val", "assert", "requires", "ensures", "reads", "writes", "returns", "raises", "export",
    "import", "as", "mutable", "abstract", "ghost", "rec", "so", "by", "begin", "inductive",
})  # fmt: skip
# From loose to tight; each level is right or left associative, as in Why3's grammar.
_LEVELS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("->", "<->"), "right"),
    (("\\/", "||"), "right"),
    (("/\\", "&&"), "right"),
)
_COMPARED = ("=", "<>", "<", "<=", ">", ">=", "<.", "<=.", ">.", ">=.")
_ADDED = ("+", "-", "+.", "-.")
_TIMES = ("*", "/", "*.")


class Reader:
    """Reads tokens from left to right."""

    def __init__(self, found: Sequence[WhymlToken], where: str) -> None:
        self.found, self.where, self.at = found, where, 0

    @property
    def next(self) -> str:
        """The text of the token to come; empty at the end."""
        return self.found[self.at].text if self.at < len(self.found) else ""

    @property
    def token(self) -> WhymlToken:
        """The token to come."""
        if self.at >= len(self.found):
            self.refuse("the text ends too early")
        return self.found[self.at]

    def refuse(self, what: str) -> None:
        """Raise UserError with the line."""
        line = self.found[min(self.at, len(self.found) - 1)].line if self.found else 1
        raise UserError(what, f"{self.where}:{line}", "write it as the theories beside it do")

    def take(self, wanted: str = "") -> str:
        """The next token, which has to be the one that is wanted."""
        if not self.next or (wanted and self.next != wanted):
            self.refuse(f"`{wanted or 'a word'}` is expected, not `{self.next or 'the end'}`")
        self.at += 1
        return self.found[self.at - 1].text

    def skip(self, text: str) -> bool:
        """Whether the next token is this one; it is taken if so."""
        if self.next != text:
            return False
        self.at += 1
        return True

    def word(self) -> str:
        """A name."""
        if self.at >= len(self.found) or self.token.kind != "word" or self.next in _WORDS:
            self.refuse(f"a name is expected, not `{self.next}`")
        return self.take()

    # ------------------------------------------------------------------------------------ from loose to tight

    def sequence(self) -> Node:
        """A program: expressions one after the other."""
        parts = [self.expression()]
        while self.skip(";"):
            if self.next in ("done", "end", "}"):
                break
            parts.append(self.expression())
        return parts[0] if len(parts) == 1 else Node("seq", "", tuple(parts))

    def expression(self) -> Node:
        """A term, a formula, or one step of a program."""
        word = self.next
        if word in ("let", "forall", "exists", "if", "fun", "while", "assert"):
            return getattr(self, f"_{word}")()  # type: ignore[no-any-return]
        return self._level(0)

    def _let(self) -> Node:
        self.take("let")
        kind = "ref" if self.skip("ref") else "let"
        name = self.word()
        self.take("=")
        value = self.expression()
        self.take("in")
        return Node(kind, name, (value, self.sequence()))

    def _forall(self) -> Node:
        kind = self.take()
        found = self.binders()
        if self.skip("["):  # a trigger: what the provers look for, and nothing that is stated
            depth = 1
            while depth:
                depth += {"[": 1, "]": -1}.get(self.take(), 0)
        self.take(".")
        return Node(kind, "", (self.expression(),), found)

    _exists = _forall

    def binders(self) -> tuple[Binder, ...]:
        """``a b: t, c: u``."""
        found: list[Binder] = []
        while True:
            names = [self.word()]
            while self.next not in (":", ""):
                names.append(self.word())
            self.take(":")
            of = self.type_name()
            found += [(name, of) for name in names]
            if not self.skip(","):
                return tuple(found)

    def type_name(self) -> str:
        """A type, as text: ``t``, ``map int elt``, ``index -> elt``."""
        parts = [self.word()]
        while True:
            if self.next == "->":
                parts += [self.take(), self.word()]
            elif self.at < len(self.found) and self.token.kind == "word" and self.next not in _WORDS:
                parts.append(self.word())
            else:
                return " ".join(parts)

    def _if(self) -> Node:
        self.take("if")
        condition = self.expression()
        self.take("then")
        then = self.expression()
        otherwise = self.expression() if self.skip("else") else Node("unit")
        return Node("if", "", (condition, then, otherwise))

    def _fun(self) -> Node:
        self.take("fun")
        names = []
        while self.next != "->":
            names.append((self.word(), ""))
        self.take("->")
        return Node("fun", "", (self.expression(),), tuple(names))

    def _while(self) -> Node:
        self.take("while")
        condition = self.expression()
        self.take("do")
        kept: list[Node] = []
        while self.next in ("invariant", "variant"):
            word = self.take()
            self.take("{")
            formula = self.expression()
            self.take("}")
            if word == "invariant":
                kept.append(formula)
        body = self.sequence()
        self.take("done")
        return Node("while", "", (condition, *kept, body))

    def _assert(self) -> Node:
        self.take("assert")
        self.take("{")
        formula = self.expression()
        self.take("}")
        return Node("assert", "", (formula,))

    def _level(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._negation()
        signs, _ = _LEVELS[level]
        left = self._level(level + 1)
        if self.next not in signs:
            return left
        sign = self.take()
        sign = {"||": "\\/", "&&": "/\\"}.get(sign, sign)
        opens = self.next in ("let", "forall", "exists", "if", "fun")
        return Node("binary", sign, (left, self.expression() if opens else self._level(level)))

    def _negation(self) -> Node:
        if self.skip("not"):
            return Node("not", "", (self._negation(),))
        return self._comparison()

    def _comparison(self) -> Node:
        left = self._sum()
        found: Node | None = None
        while self.next in _COMPARED:
            sign = self.take()
            right = self.expression() if self.next in ("if", "let") else self._sum()
            compared = Node("binary", sign, (left, right))
            found = compared if found is None else Node("binary", "/\\", (found, compared))
            left = right
        if found is not None:
            return found
        if left.kind == "name" and self.next == "<-":
            self.take()
            return Node("assign", left.text, (self.expression(),))
        return left

    def _sum(self) -> Node:
        left = self._product()
        while self.next in _ADDED:
            sign = self.take()
            left = Node("binary", sign, (left, self._product()))
        return left

    def _product(self) -> Node:
        left = self._application()
        while self.next in _TIMES:
            sign = self.take()
            left = Node("binary", sign, (left, self._application()))
        return left

    def _application(self) -> Node:
        if self.next == "-":
            self.take()
            inner = self._application()
            return (
                Node("number", f"-{inner.text}") if inner.kind == "number" else Node("negative", "", (inner,))
            )
        if self.skip("old"):
            return Node("old", "", (self._atom(),))
        head = self._atom()
        arguments = []
        while self._begins_atom():
            arguments.append(self._atom())
        if not arguments:
            return head
        if head.kind == "name":
            return Node("apply", head.text, tuple(arguments))
        return Node("call", "", (head, *arguments))

    def _begins_atom(self) -> bool:
        if self.at >= len(self.found):
            return False
        token = self.token
        if token.kind == "word":
            return token.text not in _WORDS or token.text in ("true", "false", "match")
        return token.kind == "number" or token.text in ("(", "{")

    def _atom(self) -> Node:
        node = self._plain_atom()
        while True:
            if self.next == ".":
                self.take()
                node = Node("field", self.word(), (node,))
            elif self.next == "[":
                self.take()
                index = self.expression()
                if self.skip("<-"):
                    node = Node("update", "", (node, index, self.expression()))
                else:
                    node = Node("at", "", (node, index))
                self.take("]")
            else:
                return node

    def _plain_atom(self) -> Node:
        token = self.token
        if token.kind == "number":
            return Node("number", self.take())
        if token.text == "(":
            return self._in_parentheses()
        if token.text == "{":
            return self._record()
        if token.text == "match":
            return self._match()
        if token.text in ("true", "false"):
            return Node("name", self.take())
        name = self.word()
        if "." not in name or name.split(".")[0][0].isupper():
            return Node("name", name)
        head, *fields = name.split(".")
        node = Node("name", head)
        for field in fields:
            node = Node("field", field, (node,))
        return node

    def _in_parentheses(self) -> Node:
        self.take("(")
        if self.skip(")"):
            return Node("unit")
        node = self.sequence()
        if self.skip(":"):
            of = self.type_name()
            node = Node("typed", of, (node,)) if node.kind == "number" else node
        self.take(")")
        return node

    def _record(self) -> Node:
        self.take("{")
        base: tuple[Node, ...] = ()
        names, values = [], []
        name = self.word()
        if self.skip("with"):
            base = (Node("name", name),)
            name = self.word()
        while True:
            names.append(name)
            self.take("=")
            values.append(self.expression())
            if not self.skip(";") or self.next == "}":
                break
            name = self.word()
        self.take("}")
        return Node("record", " ".join(names), (*base, *values))

    def _match(self) -> Node:
        self.take("match")
        subject = self.expression()
        self.take("with")
        self.skip("|")
        patterns, bodies = [], []
        while True:
            patterns.append(self._pattern())
            self.take("->")
            bodies.append(self.sequence())
            if not self.skip("|"):
                break
        self.take("end")
        return Node("match", "", (subject, *bodies), (), tuple(patterns))

    def _pattern(self) -> Pattern:
        if self.skip("("):
            inner = self._pattern()
            self.take(")")
            return inner
        text = self.word()
        parts = []
        while self.next == "(" or (self.token.kind == "word" and self.next not in _WORDS):
            if self.next == "(":
                parts.append(self._pattern())
            else:
                parts.append(Pattern(self.word()))
        return Pattern(text, tuple(parts))


def parse_formula(text: str, where: str = "a formula") -> Node:
    """The tree of a formula; UserError if it is outside the part of the language that is known here."""
    reader = Reader([t for t in parser_tokens(text, where) if t.kind != "attribute"], where)
    node = reader.sequence()
    if reader.next:
        reader.refuse(f"`{reader.next}` is not expected")
    return node
