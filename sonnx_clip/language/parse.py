"""Text of a condition -> tokens -> expression tree; kinds and names are checked as each node is built."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.language import tree
from sonnx_clip.language.scope import BUILT_IN, Scope, kind_of
from sonnx_clip.language.tree import Expr, Kind
from sonnx_clip.language.values import CONSTANTS
from sonnx_clip.root.terminal import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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


class Token(NamedTuple):
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


# --- Names that are taken -----------------------------------------------------------------------------------

VARIABLES = frozenset({"Y", "A", "Z", "F"})
"""The result, an answer of an implementation, another answer, and a FLOAT: no operand is called so."""
# What the rendered theories call their own things, and the words of WhyML: an entry of such a name would
# change what the theories mean.
# fmt: off
THEORY_NAMES = frozenset({
    "t", "le", "lt", "eq", "nan", "cases", "clip", "clip_tensor", "value", "entry", "element", "shape",
    "valid", "index", "tensor", "scalar", "empty", "origin", "magnitude", "negative", "nan_bits",
    "le_bits", "ule", "ult", "sle", "slt", "bw_and", "bw_or", "bw_xor", "bw_add", "bw_sub", "bw_ashr",
    "c1", "c2", "c3", "numbers", "abstract", "absurd", "alias", "any",
    "as", "assert", "assume", "at", "axiom", "begin", "break", "by", "check", "clone",
    "coinductive", "constant", "continue", "diverges", "do", "done", "downto", "end", "ensures",
    "epsilon", "exception", "exists", "export", "false", "float", "for", "forall", "fun", "function",
    "ghost", "goal", "import", "in", "inductive", "invariant", "label", "lemma", "let", "match", "meta",
    "module", "mutable", "old", "partial", "predicate", "private", "pure", "raise", "raises", "range",
    "reads", "rec", "ref", "requires", "return", "returns", "scope", "so", "theory", "to", "true", "try",
    "type", "use", "val", "variant", "while", "with", "writes",
})
# fmt: on
RESERVED = {
    **dict.fromkeys(THEORY_NAMES, "a name or keyword of the rendered theories"),
    **dict.fromkeys(VARIABLES, "a variable of the language"),
    **dict.fromkeys(BUILT_IN, "built in of the language"),
    **dict.fromkeys(CONSTANT_NAMES, "a constant of the language"),
    **dict.fromkeys(KEYWORDS, "a keyword of the language"),
}
"""Names that an entry or a parameter may not take, and what each of them is."""


def suggestion(name: str, names: Iterable[str], label: str) -> str:
    """``did you mean `a`, `b`?``, or the list of all names under a label."""
    names = list(names)
    if near := nearest(name, names):
        return f"did you mean {' or '.join(f'`{match}`' for match in near)}?"
    return f"{label}: {', '.join(names)}"


# --- The parser: precedence climbing, with every node's kind checked as it is built -------------------------
#
# From loosest to tightest: ``if _ then _ else _``, ``iff``, ``implies`` (to the right), ``or``, ``and``,
# ``not``, one comparison, a primary.


_DEEPEST = 50  # levels of parentheses, calls, `not`, `implies`
_LONGEST = 500  # tokens
_LEVELS = {"iff": 1, "implies": 2, "or": 3, "and": 4}
COMPARISONS = ("<", "<=", ">", ">=", "==")
_ELEMENT = frozenset({Kind.ELEMENT})
_COMPARABLE = (Kind.ELEMENT, Kind.SHAPE, Kind.ELEMENT_TYPE)


def parse(text: str, scope: Scope, kind: Kind | None = Kind.BOOL) -> Expr:
    """The tree of a condition.

    Args:
        text: the condition.
        scope: what its names mean.
        kind: the kind it must have; None allows any.

    Raises:
        LanguageError: with the offset of the token in question.
    """
    found = tokens(text)
    if len(found) > _LONGEST:
        offset = found[_LONGEST].offset
        raise LanguageError(offset, "the condition is too long", "name the parts under `definitions`")
    parser = _Parser(found, scope)
    expr = parser.expression()
    rest = parser.peek
    if rest.kind != "end":
        what = f"`{rest.text}` is not expected here"
        raise LanguageError(rest.offset, what, "the condition could end before it")
    return expr if kind is None else parser.demand(expr, kind, 0)


@dataclass
class _Parser:
    tokens: list[Token]
    scope: Scope
    at: int = 0
    inside_every: bool = False
    wants_float: bool = False  # the argument at hand is a FLOAT, and has the constants of one
    depth: int = 0

    @property
    def peek(self) -> Token:
        return self.tokens[self.at]

    def next(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, *texts: str) -> Token | None:
        token = self.tokens[self.at]
        return self.next() if token.text in texts and token.kind in ("keyword", "mark") else None

    def require(self, text: str, todo: str) -> Token:
        token = self.accept(text)
        if token is None:
            raise self.unexpected(f"`{text}`", todo)
        return token

    def unexpected(self, wanted: str, todo: str | None = None) -> LanguageError:
        found = f"`{self.peek.text}` stands here" if self.peek.text else "the condition ends here"
        return LanguageError(self.peek.offset, f"{found}, {wanted} is expected", todo)

    def demand(self, expr: Expr, kind: Kind, offset: int) -> Expr:
        """The expression, if it is of a kind."""
        if (found := kind_of(expr)) is not kind:
            what = f"{_a(kind)} is expected here, this is {_a(found)}"
            raise LanguageError(offset, what, _hint(found, kind))
        return expr

    # ------------------------------------------------------------------ operators, loosest first

    def expression(self, kind: Kind | None = None) -> Expr:
        """An expression; of the given kind, unless None."""
        start = self.peek.offset
        with self:
            expr = self.conditional() if self.peek.text == "if" else self.operators(1)
        return expr if kind is None else self.demand(expr, kind, start)

    def __enter__(self) -> None:
        """One level further down; what no person would nest would only exhaust the stack."""
        if self.depth == _DEEPEST:
            raise LanguageError(self.peek.offset, "nested too deeply", "name the parts under `definitions`")
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1

    def conditional(self) -> Expr:
        self.next()
        condition = self.expression(Kind.BOOL)
        whole = "write: if condition then a else b"
        self.require("then", whole)
        then = self.expression()
        self.require("else", whole)
        otherwise = self.expression(kind_of(then))
        return tree.If(condition, then, otherwise, kind_of(then))

    def operators(self, loosest: int) -> Expr:
        """Operands joined by operators that bind at least so tightly."""
        start = self.peek.offset
        left = self.negation()
        while (level := _LEVELS.get(self.peek.text, 0)) >= loosest:
            token = self.next()
            self.demand(left, Kind.BOOL, start)
            right_start = self.peek.offset
            if token.text == "implies":  # groups to the right
                with self:
                    right = self.operators(level)
            else:
                right = self.operators(level + 1)
            self.demand(right, Kind.BOOL, right_start)
            left = tree.Connective(token.text, left, right)
        return left

    def negation(self) -> Expr:
        if self.accept("not"):
            start = self.peek.offset
            with self:
                operand = self.negation()
            return tree.Not(self.demand(operand, Kind.BOOL, start))
        return self.comparison()

    def comparison(self) -> Expr:
        start = self.peek.offset
        left = self.primary()
        token = self.accept(*COMPARISONS)
        if token is None:
            return left
        kind = kind_of(left)
        if kind not in _COMPARABLE or (kind is not Kind.ELEMENT and token.text != "=="):
            todo = "write `iff` between conditions" if kind is Kind.BOOL else None
            raise LanguageError(start, f"{_a(kind)} cannot be compared by `{token.text}`", todo)
        right_start = self.peek.offset
        right = self.demand(self.primary(), kind, right_start)
        if self.peek.text in COMPARISONS:
            raise LanguageError(self.peek.offset, "comparisons do not chain", "write `a <= b and b <= c`")
        return tree.Compare(token.text, left, right, kind)

    # ------------------------------------------------------------------ primaries

    def primary(self) -> Expr:
        token = self.peek
        if token.kind == "word":
            return self.word(self.next())
        if self.accept("("):
            inner = self.expression()
            self.require(")", "a parenthesis is not closed")
            return inner
        if token.text == "-":
            return self.negative()
        if token.kind == "number":
            return self.number(self.next(), "")
        if token.text == "if":
            todo = "put `if _ then _ else _` in parentheses"
            raise LanguageError(token.offset, "`if` is not expected here", todo)
        raise self.unexpected("a name, a number or `(`")

    def negative(self) -> Expr:
        self.next()
        if self.peek.kind == "number" or self.peek.text in CONSTANT_NAMES:
            return self.number(self.next(), "-")
        todo = "`-` stands only before these: the language has no arithmetic"
        raise self.unexpected("a number or a constant", todo)

    def number(self, token: Token, sign: str) -> Expr:
        """A number, or a constant that every family of the scope has; a FLOAT has all of them."""
        named = token.text in CONSTANT_NAMES and not self.wants_float
        lacking = sorted(f for f in self.scope.families if named and token.text not in CONSTANTS[f])
        if lacking:
            what = f"`{token.text}` does not exist for {' and '.join(lacking)}"
            todo = "use it in a definition with `families`, which is false elsewhere"
            raise LanguageError(token.offset, what, todo)
        return tree.Number(sign + token.text)

    def word(self, token: Token) -> Expr:
        name, scope = token.text, self.scope
        if name in scope.variables:
            return self.variable(token)
        if name in CONSTANT_NAMES:
            return self.number(token, "")
        if name == "every" and scope.tensors:
            return self.every(token)
        if signature := scope.functions.get(name):
            return tree.Call(name, self.arguments(token, signature.arguments), signature.result)
        if scope.gives_result and name == scope.head.function:
            operands = self.arguments(token, [_ELEMENT] * len(scope.head.operands))
            return tree.CasesResult(name, operands, Kind.ELEMENT)
        if usable := scope.uses.get(name):
            lacking = sorted(scope.families - usable.families)
            if lacking and usable.kind is Kind.ELEMENT:
                raise LanguageError(token.offset, f"`{name}` is not defined for {' and '.join(lacking)}")
            given = self.arguments(token, [_ELEMENT] * usable.parameters) if usable.parameters else ()
            return tree.Use(name, given, usable.kind, () if given else scope.head.operands)
        known = name in RESERVED or name in scope.head.variables or name == scope.head.function
        what = f"`{name}` {'cannot be used' if known else 'is not defined'} in {scope.name}"
        raise LanguageError(token.offset, what, suggestion(name, scope.names(), "it knows"))

    def variable(self, token: Token) -> Expr:
        kind = self.scope.variables[token.text]
        name = tree.Name(token.text, kind)
        if self.peek.text != "[":
            return name
        if kind is not Kind.TENSOR:
            raise LanguageError(self.peek.offset, f"`{token.text}` is {_a(kind)} and has no entries")
        opened = self.next()
        index = self.next()
        if index.text != "i" or not self.accept("]"):
            raise LanguageError(opened.offset, "the only index is `i`", f"write `{token.text}[i]`")
        if not self.inside_every:
            raise LanguageError(
                token.offset, f"`{token.text}[i]` stands outside `every(…)`", "`every` binds the index"
            )
        return tree.Subscript(name)

    def every(self, token: Token) -> Expr:
        if self.inside_every:
            raise LanguageError(token.offset, "`every` stands inside `every`", "one index is all there is")
        self.require("(", "write: every(condition)")
        self.inside_every = True
        body = self.expression(Kind.BOOL)
        self.inside_every = False
        self.require(")", "write: every(condition)")
        return tree.Every(body)

    def arguments(self, token: Token, kinds: Sequence[frozenset[Kind]]) -> tuple[Expr, ...]:
        """The arguments in parentheses, each of one of the kinds for its position."""
        count = len(kinds)
        shape = f"write: {token.text}({', '.join('abcdefgh'[:count])})"
        self.require("(", shape)
        found: list[tuple[Expr, int]] = []
        while not found or self.accept(","):
            start = self.peek.offset
            self.wants_float = len(found) < count and kinds[len(found)] == {Kind.FLOAT}
            found.append((self.expression(), start))
            self.wants_float = False
        closing = self.require(")", shape)
        if len(found) != count:
            what = f"`{token.text}` takes {count} argument{'s' * (count != 1)}, {len(found)} are given"
            raise LanguageError(closing.offset if len(found) < count else found[count][1], what, shape)
        given: list[Expr] = []
        for (expr, offset), allowed in zip(found, kinds, strict=True):
            if allowed == {Kind.FLOAT} and isinstance(expr, tree.Number):
                given.append(replace(expr, kind=Kind.FLOAT))
                continue
            given.append(expr)
            if kind_of(expr) not in allowed:
                self.demand(expr, min(allowed, key=lambda kind: kind.value), offset)
        return tuple(given)


def _a(kind: Kind) -> str:
    return f"{'an' if kind.value.startswith('e') else 'a'} {kind.value}"


def _hint(found: Kind, kind: Kind) -> str | None:
    if found is Kind.TENSOR and kind is Kind.ELEMENT:
        return "inside `every(…)`, `X[i]` is an element of the tensor"
    if found is Kind.ELEMENT and kind is Kind.BOOL:
        return "compare it: a < b, a <= b, a == b, identical(a, b), is_nan(a)"
    return None
