"""Checks on the names in a condition: do they exist, and does every family have them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from sonnx_clip.language.lexer import CONSTANT_NAMES, KEYWORDS, LanguageError, Token
from sonnx_clip.language.scope import BUILT_IN, Scope, Usable
from sonnx_clip.language.values import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The names most like a given one, best first; upper and lower case count as alike."""
    folded = {known.lower(): known for known in names}
    return [folded[match] for match in get_close_matches(name.lower(), folded, n=3, cutoff=0.6)]


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
