"""Text of a condition -> tokens -> typed expression tree, in one pass. printing.py has the operators."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from sonnx_clip.language import tree
from sonnx_clip.language.printing import FORMS, LOOSEST
from sonnx_clip.language.scope import BUILT_IN, Scope, Usable, kind_of
from sonnx_clip.language.tree import Expr, Kind
from sonnx_clip.language.values import CONSTANTS
from sonnx_clip.root.terminal import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COMPARISONS = ("<", "<=", ">", ">=", "==")
_INFIX = (*COMPARISONS, "and", "or", "implies", "iff")
_DEEPEST = 50  # nested expressions: a person writes far fewer, and deeper trees exhaust the stack
_LONGEST = 500  # tokens

KEYWORDS = frozenset({"and", "or", "not", "implies", "iff", "if", "then", "else"})
# Numbers of examples may be signalling NaNs; conditions ask for them by `is_signalling`.
CONSTANT_NAMES = CONSTANTS["float"] - {"snan"}
_TOKEN = re.compile(
    r"\s*(?:"
    r"(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    # Longer marks first, since the first alternative that fits is taken.
    r"|(?P<mark><=|>=|==|<|>|\(|\)|\[|\]|,|-)"
    r"|(?P<end>\Z)"
    r"|(?P<wrong>!=|=|\S)"
    r")"
)
_HINTS = {
    (Kind.TENSOR, Kind.ELEMENT): "inside `every(…)`, `X[i]` is an element of the tensor",
    (Kind.ELEMENT, Kind.BOOL): "compare it: a < b, a <= b, a == b, identical(a, b), is_nan(a)",
}
_ARITHMETIC = frozenset("+-*/%^")
_INSTEAD = {"=": "==", "!=": "not a == b", "&": "and", "|": "or", "!": "not"}

# --- Reserved names -----------------------------------------------------------------------------------------

VARIABLES = frozenset({"Y", "A", "Z", "F"})
"""The result, an answer of an implementation, another answer, and a FLOAT: no operand has these names."""
_THEORY_NAMES = """
t le lt eq nan cases clip clip_tensor value entry element shape valid index tensor scalar empty origin
magnitude negative nan_bits le_bits ule ult sle slt bw_and bw_or bw_xor bw_add bw_sub bw_ashr c1 c2 c3 numbers
abstract absurd alias any as assert assume at axiom begin break by check clone coinductive constant continue
diverges do done downto end ensures epsilon exception exists export false float for forall fun function
ghost goal import in inductive invariant label lemma let match meta module mutable old partial predicate
private pure raise raises range reads rec ref requires return returns scope so theory to true try type use val
variant while with writes
"""
THEORY_NAMES = frozenset(_THEORY_NAMES.split())
"""The names and keywords of the theories: an entry of such a name would hide it, and change the meaning."""
RESERVED = {
    **dict.fromkeys(THEORY_NAMES, "a name or keyword of the rendered theories"),
    **dict.fromkeys(VARIABLES, "a variable of the language"),
    **dict.fromkeys(BUILT_IN, "built in of the language"),
    **dict.fromkeys(CONSTANT_NAMES, "a constant of the language"),
    **dict.fromkeys(KEYWORDS, "a keyword of the language"),
}
"""Names that no entry or parameter may have, each with the reason."""


def suggestion(name: str, names: Iterable[str], label: str, other: str = "") -> str:
    """``did you mean `a`, `b`?``, or the list of all names under a label; then what `other` can be done."""
    names = list(names)
    near = nearest(name, names)
    if near:
        matches = " or ".join(f"`{match}`" for match in near)
        question = f"did you mean {matches}?"
        return f"{question} Or {other}" if other else question
    known = f"{label}: {', '.join(names)}"
    return f"{known}; or {other}" if other else known


@dataclass(eq=False)
class LanguageError(Exception):
    """A condition that does not parse, or has the wrong type."""

    offset: int  # of the token in the text
    what: str  # the mistake
    todo: str | None = None  # the remedy


class Token(NamedTuple):
    """A token: its kind (``number``, ``word``, ``keyword``, ``mark``, ``end``), text and offset."""

    kind: str
    text: str
    offset: int


def tokens(text: str) -> list[Token]:
    """The tokens of a condition, the last of kind ``end``; LanguageError at an unknown character."""
    read: list[Token] = []
    for match in _TOKEN.finditer(text):
        group = match.lastgroup or ""
        kind = "keyword" if match[group] in KEYWORDS else group
        token = Token(kind, match[group], match.start(group))
        if kind == "wrong":
            if token.text in _ARITHMETIC:
                raise _arithmetic(token)
            todo = f"write `{_INSTEAD[token.text]}`" if token.text in _INSTEAD else None
            raise LanguageError(token.offset, f"`{token.text}` is not part of the language", todo)
        if len(read) == _LONGEST:
            raise LanguageError(
                token.offset,
                "the condition is too long",
                "name the parts under `definitions`",
            )
        read.append(token)
        if kind == "end":  # behind white space the pattern would match the end once more
            break
    return read


def parse(text: str, scope: Scope, kind: Kind | None = Kind.BOOL) -> Expr:
    """The tree of a condition, of a kind or of any (None); LanguageError with the offset of a wrong token."""
    parser = _Parser(tokens(text), scope)
    expr = parser.expression()
    # An expression ends at the first token that cannot go on with it.
    following = parser.peek
    if following.kind != "end":
        message = f"`{following.text}` is not expected here"
        raise LanguageError(following.offset, message, "the condition could end before it")
    return expr if kind is None else _demand(expr, 0, kind)


@dataclass
class _Parser:
    """Reads tokens from left to right; every nested expression goes through `expression`."""

    tokens: list[Token]
    scope: Scope
    at: int = 0
    inside_every: bool = False
    depth: int = 0

    @property
    def peek(self) -> Token:
        return self.tokens[self.at]

    def next(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, text: str) -> bool:
        is_next = self.peek.text == text
        if is_next:
            self.at += 1
        return is_next

    def require(self, text: str, todo: str) -> None:
        if not self.accept(text):
            raise self.unexpected(f"`{text}`", todo)

    def unexpected(self, wanted: str, todo: str | None = None) -> LanguageError:
        actual = f"`{self.peek.text}` is here" if self.peek.text else "the text ends here"
        return LanguageError(self.peek.offset, f"{actual}, {wanted} is expected", todo)

    def expression(self, loosest: int = LOOSEST, kind: Kind | None = None) -> Expr:
        """An expression whose operators bind at least so tightly, of a kind."""
        start = self.peek.offset
        if self.depth == _DEEPEST:
            raise LanguageError(start, "nested too deeply", "name the parts under `definitions`")
        self.depth += 1
        left = self.prefix(loosest)
        # Behind an operand `-` can only be a difference; before one, `prefix` has read it as a sign.
        if self.peek.text == "-":
            raise _arithmetic(self.peek)
        # By precedence: an operator that binds less is left to the caller, whose operand this is.
        while self.peek.text in _INFIX and FORMS[self.peek.text].level >= loosest:
            operator = self.next().text
            # How tightly the right operand has to bind.
            place = FORMS[operator].places[1]
            if operator in COMPARISONS:
                left = self.comparison(operator, left, start, place)
            else:
                _demand(left, start, Kind.BOOL)
                right = self.expression(place, Kind.BOOL)
                left = tree.Connective(operator, left, right)
        # Not where an error leaves: the parser is of no use then.
        self.depth -= 1
        return left if kind is None else _demand(left, start, kind)

    def prefix(self, loosest: int) -> Expr:
        """An expression up to its first infix operator."""
        token = self.peek
        # It extends as far as it can, so that as an operand it needs parentheses.
        if token.text == "if" and loosest == LOOSEST:
            return self.conditional()
        if token.text == "not" and loosest <= FORMS["not"].level:
            self.next()
            return tree.Not(self.expression(FORMS["not"].places[0], Kind.BOOL))
        if token.kind == "word":
            return self.word(self.next())
        if self.accept("("):
            # A parsed tree has no parentheses: printers put them where the levels require them.
            inner = self.expression()
            self.require(")", "a parenthesis is not closed")
            return inner
        if self.accept("-"):
            if self.peek.kind != "number" and self.peek.text not in CONSTANT_NAMES:
                todo = "`-` is allowed only before these: the language has no arithmetic"
                raise self.unexpected("a number or a constant", todo)
            # The sign is part of the number: -0 is another element than 0.
            return tree.Number(f"-{self.next().text}")
        if token.kind == "number":
            return tree.Number(self.next().text)
        if token.text == "if":
            todo = "put `if _ then _ else _` in parentheses"
            raise LanguageError(token.offset, "`if` is not expected here", todo)
        raise self.unexpected("a name, a number or `(`")

    def conditional(self) -> Expr:
        self.next()
        condition = self.expression(kind=Kind.BOOL)
        whole = "write: if condition then a else b"
        self.require("then", whole)
        then = self.expression()
        self.require("else", whole)
        kind = kind_of(then)  # both are conditions, or both elements
        otherwise = self.expression(kind=kind)
        return tree.If(condition, then, otherwise, kind)

    def comparison(
        self,
        operator: str,
        left: Expr,
        start: int,
        place: int,
    ) -> Expr:
        # What the comparison is of is read from its left operand, and demanded of the right one.
        kind = kind_of(left)
        has_equality = operator == "==" and kind in (Kind.SHAPE, Kind.ELEMENT_TYPE)
        if kind is not Kind.ELEMENT and not has_equality:
            todo = "write `iff` between conditions" if kind is Kind.BOOL else None
            raise LanguageError(start, f"{_a(kind)} cannot be compared by `{operator}`", todo)
        right = self.expression(place, kind)
        if self.peek.text in COMPARISONS:
            todo = "write `a <= b and b <= c`"
            raise LanguageError(self.peek.offset, "comparisons do not chain", todo)
        return tree.Compare(operator, left, right, kind)

    def word(self, token: Token) -> Expr:
        """A variable, a constant, a call, or the use of an entry."""
        name = token.text
        scope = self.scope
        if name in scope.variables:
            return self.variable(token)
        if name in CONSTANT_NAMES:
            return tree.Number(name)
        if name in scope.functions:
            return self.call(token)
        if name in scope.uses:
            return self.use(token, scope.uses[name])
        # Such a name exists, but not for this condition: "not defined" would mislead.
        signature = scope.signature
        of_operator = (*signature.all_ids, signature.second, signature.function)
        if name in RESERVED or name in of_operator:
            message = f"`{name}` cannot be used in {scope.name}"
        else:
            message = f"`{name}` is not defined in {scope.name}"
        names = [*scope.variables, *scope.functions, *scope.uses]
        raise LanguageError(token.offset, message, suggestion(name, names, "it has"))

    def call(self, token: Token) -> Expr:
        name = token.text
        if name == "every":  # it binds the index, which its argument may use
            return self.every(token)
        function = self.scope.functions[name]
        # The operator's own function stands for its cases, which printers and evaluation treat apart.
        is_operator = name == self.scope.signature.function
        node = tree.CasesResult if is_operator else tree.Call
        return node(name, self.arguments(token, function.arguments), function.result)

    def use(self, token: Token, usable: Usable) -> Expr:
        # A condition is false in a family that does not have it; an element would be none.
        lacking = sorted(self.scope.families - usable.families)
        if lacking and usable.kind is Kind.ELEMENT:
            families = " and ".join(lacking)
            raise LanguageError(token.offset, f"`{token.text}` is not defined for {families}")
        if not usable.parameters:
            return tree.Use(token.text, (), usable.kind, self.scope.signature.ids)
        elements = [(Kind.ELEMENT,)] * usable.parameters
        return tree.Use(token.text, self.arguments(token, elements), usable.kind)

    def variable(self, token: Token) -> Expr:
        name = tree.Name(token.text, self.scope.variables[token.text])
        opened = self.peek
        if not self.accept("["):
            return name
        if name.kind is not Kind.TENSOR:
            message = f"`{token.text}` is {_a(name.kind)} and has no entries"
            raise LanguageError(opened.offset, message)
        if self.next().text != "i" or not self.accept("]"):
            raise LanguageError(opened.offset, "the only index is `i`", f"write `{token.text}[i]`")
        if not self.inside_every:
            message = f"`{token.text}[i]` is outside `every(…)`"
            raise LanguageError(token.offset, message, "`every` binds the index")
        return tree.Subscript(name)

    def every(self, token: Token) -> Expr:
        if self.inside_every:
            message = "`every` is inside `every`"
            raise LanguageError(token.offset, message, "there is only one index")
        self.inside_every = True  # so that `X[i]` is allowed in the body
        (body,) = self.arguments(token, [(Kind.BOOL,)])
        self.inside_every = False
        return tree.Every(body)

    def arguments(self, token: Token, kinds: Sequence[tuple[Kind, ...]]) -> tuple[Expr, ...]:
        """The arguments in parentheses, each of one of the kinds for its position."""
        letters = ", ".join("abcdefgh"[: len(kinds)])
        shape = f"write: {token.text}({letters})"
        self.require("(", shape)
        arguments: list[Expr] = []
        offsets: list[int] = []
        while not arguments or self.accept(","):
            offsets.append(self.peek.offset)
            arguments.append(self.expression())
        offsets.append(self.peek.offset)  # of the parenthesis, where one more could stand
        self.require(")", shape)
        expected = len(kinds)
        if len(arguments) != expected:
            plural = "" if expected == 1 else "s"
            message = f"`{token.text}` takes {expected} argument{plural}, not {len(arguments)}"
            # At the first that is too much, or where the next one is missing.
            place = min(expected, len(arguments))
            raise LanguageError(offsets[place], message, shape)
        # Kinds last: that an argument is missing says more than that the wrong one stands there.
        checked: list[Expr] = []
        for expr, offset, allowed in zip(arguments, offsets, kinds, strict=False):
            checked.append(_demand(expr, offset, *allowed))
        return tuple(checked)


def _demand(expr: Expr, offset: int, *kinds: Kind) -> Expr:
    """The expression, if it is of one of the kinds; a number is a FLOAT where one is expected."""
    if kinds == (Kind.FLOAT,) and isinstance(expr, tree.Number):
        return replace(expr, kind=Kind.FLOAT)
    kind = kind_of(expr)
    if kind not in kinds:
        expected = kinds[0]
        message = f"{_a(expected)} is expected here, this is {_a(kind)}"
        raise LanguageError(offset, message, _HINTS.get((kind, expected)))
    return expr


def _arithmetic(token: Token) -> LanguageError:
    """The error for an arithmetic operator."""
    message = f"`{token.text}` is not part of the language, which has no arithmetic"
    todo = "compare elements as they are; `opposite(a)` is the value of the other sign"
    return LanguageError(token.offset, message, todo)


def _a(kind: Kind) -> str:
    return f"{'an' if kind.value.startswith('e') else 'a'} {kind.value}"
