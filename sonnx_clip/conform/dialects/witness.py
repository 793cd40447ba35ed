"""One disagreement, in numbers and bits, for the record and for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.dialects.comparison_record import AnswerNotAllowed
from sonnx_clip.conform.dtypes import bits_type, hex_bits
from sonnx_clip.language.show import show
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from sonnx_clip.conform.dialects.asked import AskedForm
    from sonnx_clip.conform.dtypes import Array


def witness(asked: AskedForm, rows: Array, got: Array, where: Array) -> AnswerNotAllowed:
    """The first answer of some.

    Args:
        asked: the calls.
        rows: which of them were answered, shape (k,).
        got: their answers, shape (k, n).
        where: the answers to choose from, shape (k, n).
    """
    row, column = (int(index[0]) for index in np.nonzero(where))
    call = int(rows[row])
    bits = bits_type(asked.etype.id)
    x, answered, due = (
        int(part.view(bits)) for part in (asked.x[column], got[row, column], asked.due[call, column])
    )
    name = asked.etype.id
    shown = (
        f"X = {show(x, asked.etype)}, {_bounds_shown(asked, call)}: got {show(answered, asked.etype)},"
        f" expected {show(due, asked.etype)}"
    )
    return _made(
        asked, call, shown, x=hex_bits(x, name), got=hex_bits(answered, name), due=hex_bits(due, name)
    )


def failure_witness(asked: AskedForm, call: int, words: str) -> AnswerNotAllowed:
    """A call without a result."""
    return _made(asked, call, f"{_bounds_shown(asked, call)}: no result", words=words)


def _made(
    asked: AskedForm, call: int, shown: str, *,
    x: str | None = None, got: str | None = None, due: str | None = None, words: str | None = None,
) -> AnswerNotAllowed:  # fmt: skip
    kind = _bound_type(asked)
    lower, upper = (
        hex_bits(pattern, kind) if pattern is not None else None
        for pattern in (_given(asked, call, name) for name in ("min", "max"))
    )
    return AnswerNotAllowed(
        opset=asked.opset, type=asked.etype.id, form=asked.form.id, bound_type=kind,
        x=x, min=lower, max=upper, got=got, due=due, shown=shown, words=words,
    )  # fmt: skip


def _bound_type(asked: AskedForm) -> str:
    return "float32" if asked.dialect.row["bounds"] == "attributes" else asked.etype.id


def _given(asked: AskedForm, call: int, name: str) -> int | None:
    if name not in asked.given:
        return None
    return int(asked.given[name].view(bits_type(_bound_type(asked)))[call])


def _bounds_shown(asked: AskedForm, call: int) -> str:
    of = load_spec().element_type(_bound_type(asked))
    texts = []
    for name in ("min", "max"):
        pattern = _given(asked, call, name)
        texts.append(f"no {name}" if pattern is None else f"{name} = {show(pattern, of)}")
    return ", ".join(texts)
