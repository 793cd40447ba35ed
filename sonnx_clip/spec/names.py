"""Checks on the names in a condition: do they exist, and does every family have them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from sonnx_clip.spec.lexer import CONSTANT_NAMES, KEYWORDS, LanguageError, Token
from sonnx_clip.spec.scope import BUILT_IN, Scope, Usable
from sonnx_clip.spec.values import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Iterable

VARIABLES = frozenset({"X", "L", "M", "Y", "X2", "A"})
RESERVED = {
    **dict.fromkeys(VARIABLES, "a variable"),
    **dict.fromkeys(BUILT_IN, "built in"),
    **dict.fromkeys(CONSTANT_NAMES, "a constant"),
    **dict.fromkeys(KEYWORDS, "a word of the language"),
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
    if token.text in RESERVED:
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
