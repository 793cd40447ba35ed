"""The operands of Clip by their names, for what is claimed of Clip alone: its bounds, what is by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.claim import Binder
from sonnx_clip.claims.nodes import Y, call, element, use
from sonnx_clip.language.tree import Call, Expr, Kind, Use

if TYPE_CHECKING:
    from sonnx_clip.spec.entries import Reading

X, L, M = map(element, "XLM")
TRIPLE = (X, L, M)
ALL = Binder(("X", "L", "M"))
EVERY = Binder(("X", "L", "M", "Y"))
EVERY_TWO = Binder(("X", "L", "M", "Y", "Z"))


def written_clip(x: Expr = X, l: Expr = L, m: Expr = M) -> Call:
    """The result of Clip as why3/clip.mlw has it, by hand."""
    return call("written_clip", x, l, m, kind=Kind.ELEMENT)


def returns(reading: Reading, x: Expr = X, l: Expr = L, m: Expr = M, y: Expr = Y) -> Use:
    """A reading allows an answer."""
    return use(reading.predicate, x, l, m, y)
