"""Text of a condition -> tokens -> expression tree, with every node's kind checked as it is built; and checks
on the names in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sonnx_clip.language import tree
from sonnx_clip.language.scope import BUILT_IN, Scope, Usable, kind_of
from sonnx_clip.language.tree import Expr, Kind, Position
from sonnx_clip.language.values import CONSTANTS
from sonnx_clip.root.terminal import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


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


@dataclass(frozen=True, slots=True)
class Token:
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


# --- Checks on the names in a condition: do they exist, and does every family have them ---------------------


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


def unknown_name(token: Token, scope: Scope) -> LanguageError:
    """The error for a name that the scope does not have."""
    known = {*scope.head.variables, scope.head.function}
    if token.text in RESERVED or token.text in known:
        what = f"`{token.text}` cannot be used in {scope.name}"
    else:
        what = f"`{token.text}` is not defined in {scope.name}"
    return LanguageError(token.offset, what, suggestion(token.text, scope.names(), "it knows"))


def check_constant(token: Token, scope: Scope) -> None:
    """LanguageError where a family of the scope has no such constant."""
    lacking = sorted(family for family in scope.families if token.text not in CONSTANTS[family])
    if lacking:
        raise LanguageError(
            token.offset,
            f"`{token.text}` does not exist for {' and '.join(lacking)}",
            "use it in a definition with `families`, which is false elsewhere",
        )


def check_use(token: Token, usable: Usable, scope: Scope) -> None:
    """LanguageError where an element-valued entry does not exist for a family of the scope."""
    lacking = sorted(scope.families - usable.families)
    if lacking and usable.kind.name == "ELEMENT":
        raise LanguageError(token.offset, f"`{token.text}` is not defined for {' and '.join(lacking)}")


# --- Tokens -> expression tree, by recursive descent, with every node's kind checked as it is built ---------
#
# From loosest to tightest: ``if _ then _ else _``, ``iff``, ``implies`` (to the right), ``or``, ``and``,
# ``not``, one comparison, a primary.


_DEEPEST = 50  # levels of parentheses, calls, `not`, `implies`
_LONGEST = 500  # tokens
COMPARISONS = ("<", "<=", ">", ">=", "==")
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
        raise LanguageError(
            found[_LONGEST].offset, "the condition is too long", "name the parts under `definitions`"
        )
    parser = _Parser(found, scope)
    expr = parser.expression()
    rest = parser.peek
    if rest.kind != "end":
        raise LanguageError(
            rest.offset, f"`{rest.text}` is not expected here", "the condition could end before it"
        )
    if kind is not None:
        parser.demand(expr, kind, 0)
    return expr


def _place(offset: int) -> Position:
    return Position(1, offset + 1)


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
        token = self.peek
        self.at += 1
        return token

    def accept(self, *texts: str) -> Token | None:
        return self.next() if self.peek.text in texts and self.peek.kind in ("keyword", "mark") else None

    def require(self, text: str, todo: str) -> Token:
        token = self.accept(text)
        if token is None:
            raise self.unexpected(f"`{text}`", todo)
        return token

    def unexpected(self, wanted: str, todo: str | None = None) -> LanguageError:
        found = f"`{self.peek.text}` stands here" if self.peek.text else "the condition ends here"
        return LanguageError(self.peek.offset, f"{found}, {wanted} is expected", todo)

    # ------------------------------------------------------------------ levels, loosest first

    def expression(self, kind: Kind | None = None) -> Expr:
        """An expression; of the given kind, unless None."""
        start = self.peek.offset
        expr = self.deeper(self.conditional if self.peek.text == "if" else self.iff)
        if kind is not None:
            self.demand(expr, kind, start)
        return expr

    def deeper(self, level: Callable[[], Expr]) -> Expr:
        """One level further down; what no person would nest would only exhaust the stack."""
        if self.depth == _DEEPEST:
            raise LanguageError(self.peek.offset, "nested too deeply", "name the parts under `definitions`")
        self.depth += 1
        expr = level()
        self.depth -= 1
        return expr

    def demand(self, expr: Expr, kind: Kind, offset: int) -> None:
        found = kind_of(expr)
        if found is not kind:
            raise LanguageError(
                offset, f"{_a(kind)} is expected here, this is {_a(found)}", _hint(found, kind)
            )

    def conditional(self) -> Expr:
        at = _place(self.next().offset)
        condition = self.expression(Kind.BOOL)
        whole = "write: if condition then a else b"
        self.require("then", whole)
        then = self.expression()
        self.require("else", whole)
        otherwise = self.expression(kind_of(then))
        return tree.If(condition, then, otherwise, kind_of(then), at)

    def iff(self) -> Expr:
        return self.chain("iff", self.implies)

    def implies(self) -> Expr:
        start = self.peek.offset
        left = self.disjunction()
        if token := self.accept("implies"):
            self.demand(left, Kind.BOOL, start)
            start = self.peek.offset
            right = self.deeper(self.implies)
            self.demand(right, Kind.BOOL, start)
            return tree.Connective("implies", left, right, _place(token.offset))
        return left

    def disjunction(self) -> Expr:
        return self.chain("or", self.conjunction)

    def conjunction(self) -> Expr:
        return self.chain("and", self.negation)

    def chain(self, operator: str, operand: Callable[[], Expr]) -> Expr:
        """Operands of one level, joined from the left."""
        start = self.peek.offset
        left = operand()
        while token := self.accept(operator):
            self.demand(left, Kind.BOOL, start)
            start = self.peek.offset
            right = operand()
            self.demand(right, Kind.BOOL, start)
            left = tree.Connective(operator, left, right, _place(token.offset))
        return left

    def negation(self) -> Expr:
        if token := self.accept("not"):
            start = self.peek.offset
            operand = self.deeper(self.negation)
            self.demand(operand, Kind.BOOL, start)
            return tree.Not(operand, _place(token.offset))
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
        right = self.primary()
        self.demand(right, kind, right_start)
        if self.peek.text in COMPARISONS:
            raise LanguageError(self.peek.offset, "comparisons do not chain", "write `a <= b and b <= c`")
        return tree.Compare(token.text, left, right, kind, _place(token.offset))

    # ------------------------------------------------------------------ primaries

    def primary(self) -> Expr:
        token = self.peek
        if token.text == "(" and self.accept("("):
            inner = self.expression()
            self.require(")", "a parenthesis is not closed")
            return inner
        if token.text == "-":
            return self.negative()
        if token.kind == "number":
            return tree.Number(self.next().text, _place(token.offset))
        if token.text == "if":
            raise LanguageError(
                token.offset, "`if` is not expected here", "put `if _ then _ else _` in parentheses"
            )
        if token.kind != "word":
            raise self.unexpected("a name, a number or `(`")
        return self.word(self.next())

    def negative(self) -> Expr:
        at = _place(self.next().offset)
        token = self.peek
        if token.kind == "number":
            return tree.Number("-" + self.next().text, at)
        if token.text in CONSTANT_NAMES:
            self.check_constant(self.next())
            return tree.Constant(token.text, negative=True, at=at)
        raise self.unexpected(
            "a number or a constant", "`-` stands only before these: the language has no arithmetic"
        )

    def word(self, token: Token) -> Expr:
        at = _place(token.offset)
        if token.text in self.scope.variables:
            return self.variable(token, at)
        if token.text in CONSTANT_NAMES:
            self.check_constant(token)
            return tree.Constant(token.text, negative=False, at=at)
        if token.text == "every" and self.scope.tensors:
            return self.every(token, at)
        if signature := self.scope.functions.get(token.text):
            floats = [kinds == {Kind.FLOAT} for kinds in signature.arguments]
            arguments = self.arguments(token, len(floats), floats)
            given = []
            for (expr, offset), kinds in zip(arguments, signature.arguments, strict=True):
                found = _as_float(expr) if kinds == {Kind.FLOAT} else expr
                if kind_of(found) not in kinds:
                    self.demand(found, min(kinds, key=lambda kind: kind.value), offset)
                given.append(found)
            return tree.Call(token.text, tuple(given), signature.result, at)
        if self.scope.gives_result and token.text == self.scope.head.function:
            operands = self.elements(token, len(self.scope.head.operands))
            return tree.CasesResult(token.text, operands, Kind.ELEMENT, at)
        if usable := self.scope.uses.get(token.text):
            check_use(token, usable, self.scope)
            if usable.parameters:
                return tree.Use(token.text, self.elements(token, usable.parameters), usable.kind, at)
            return tree.Use(token.text, (), usable.kind, at, self.scope.head.operands)
        raise unknown_name(token, self.scope)

    def elements(self, token: Token, count: int) -> tuple[Expr, ...]:
        """So many arguments, each an element."""
        arguments = self.arguments(token, count)
        for expr, offset in arguments:
            self.demand(expr, Kind.ELEMENT, offset)
        return tuple(expr for expr, _ in arguments)

    def check_constant(self, token: Token) -> None:
        if not self.wants_float:
            check_constant(token, self.scope)

    def variable(self, token: Token, at: Position) -> Expr:
        kind = self.scope.variables[token.text]
        name = tree.Name(token.text, kind, at)
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
        return tree.Subscript(name, at)

    def every(self, token: Token, at: Position) -> Expr:
        if self.inside_every:
            raise LanguageError(token.offset, "`every` stands inside `every`", "one index is all there is")
        self.require("(", "write: every(condition)")
        self.inside_every = True
        body = self.expression(Kind.BOOL)
        self.inside_every = False
        self.require(")", "write: every(condition)")
        return tree.Every(body, at)

    def arguments(self, token: Token, count: int, floats: Sequence[bool] = ()) -> list[tuple[Expr, int]]:
        """The arguments in parentheses, each with the offset where it begins; `floats`: which are FLOAT."""
        shape = f"write: {token.text}({', '.join('abcdefgh'[:count])})"
        self.require("(", shape)
        found: list[tuple[Expr, int]] = []
        while True:
            start = self.peek.offset
            self.wants_float = any(floats[len(found) : len(found) + 1])
            found.append((self.expression(), start))
            self.wants_float = False
            if not self.accept(","):
                break
        closing = self.require(")", shape)
        if len(found) != count:
            what = f"`{token.text}` takes {count} argument{'s' * (count != 1)}, {len(found)} are given"
            raise LanguageError(closing.offset if len(found) < count else found[count][1], what, shape)
        return found


def _as_float(expr: Expr) -> Expr:
    """A number where a FLOAT is expected is one; anything else stays what it is."""
    return replace(expr, kind=Kind.FLOAT) if isinstance(expr, tree.Number | tree.Constant) else expr


def _a(kind: Kind) -> str:
    return f"{'an' if kind.value.startswith('e') else 'a'} {kind.value}"


def _hint(found: Kind, kind: Kind) -> str | None:
    if found is Kind.TENSOR and kind is Kind.ELEMENT:
        return "inside `every(…)`, `X[i]` is an element of the tensor"
    if found is Kind.ELEMENT and kind is Kind.BOOL:
        return "compare it: a < b, a <= b, a == b, identical(a, b), is_nan(a)"
    return None
