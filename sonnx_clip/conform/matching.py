"""Which readings of Clip allow the answers that a runtime gave."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.check_report import ReadingMatch
from sonnx_clip.conform.explanations import explained
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type

if TYPE_CHECKING:
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.calls import Request


_FAST = 1  # of zlib
KEPT = 256
"""Entries of a request that are kept, and as many of its deviations."""


class Observed:
    """Answers of one element type, to be compared with the readings.

    A row is the bits of the operands and of the answer, and the class.
    """

    def __init__(self, etype: ElementType, of: CheckedOperator) -> None:
        self._etype, self._of, self._bits = etype, of, bits_type(etype.id)
        self._special = np.array(special_patterns(etype), self._bits)
        self._width = of.tensors + of.scalars + 2
        self._parts: list[Array] = []  # of shape (columns, n)

    def add(
        self,
        request: Request,
        indices: Array | None,
        answered: Array,
        got: Array,
        expected: Table,
        deviating: Array,
    ) -> None:
        """Keep some answers to a request.

        Args:
            request: the calls.
            indices: where in the pools their entries are, shape (p, n); None if each call has all in order.
            answered: which results can be compared, shape (p, n).
            got: bits of the answers, shape (p, n).
            expected: of these calls.
            deviating: some answers whose bits are not expected, as indices of all.
        """
        if not got.size:
            return
        if indices is None and np.array_equal(request.pool, self._special):
            chosen = np.arange(got.size)  # each triple of special values, once
        else:
            chosen = evenly(got.size, KEPT)
        rows, columns = np.divmod(np.concatenate([chosen, deviating]), got.shape[1])
        there = answered[rows, columns]
        rows, columns = rows[there], columns[there]
        places = columns if indices is None else indices[rows, columns]
        given = *request.operands_at(rows, places), got[rows, columns], expected.classes[rows, columns]
        self._parts.append(np.array([part.astype(self._bits) for part in given]))

    def packed(self) -> str:
        """All that was kept, each answer once, as a text; empty if nothing was."""
        found = self._different().tobytes()
        return base64.b64encode(zlib.compress(found, _FAST)).decode("ascii") if found else ""

    def unpack(self, text: str) -> None:
        """Keep also what `packed` has made a text; ValueError if it was of another element type."""
        if text:
            found = np.frombuffer(zlib.decompress(base64.b64decode(text)), self._bits)
            self._parts.append(found.reshape(self._width, -1))

    def _different(self) -> Array:
        """Each answer once, shape (columns, n)."""
        if not self._parts:
            return np.zeros((self._width, 0), self._bits)
        return np.unique(np.concatenate(self._parts, axis=1), axis=1)

    def match(self, class_ids: tuple[str, ...]) -> ReadingMatch | None:
        """What the readings say to all that was kept; None if nothing was, or there are none."""
        readings = self._of.oracle.READINGS[self._etype.family]
        *bits, classes = self._different()
        if not len(classes) or not readings:
            return None
        dtype = numpy_type(self._etype.id)
        *operands, got = (part.view(dtype) for part in bits)
        allowed = {id_: np.asarray(allows(*operands, got)) for id_, allows in readings.items()}
        allows_all = tuple(id_ for id_, where in allowed.items() if where.all())
        nans = [int(encode(text, self._etype)) for text in ("nan", "-nan") if self._etype.family == "float"]
        others = [*operands, *(np.full(len(got), nan, self._bits).view(dtype) for nan in nans)]

        def allows_another(id_: str) -> bool:
            differ = ((y, y.view(self._bits) != bits[-1]) for y in others)
            return any(np.any(readings[id_](*operands, y) & other) for y, other in differ)

        match = ReadingMatch(
            answers=len(got),
            allowed_by=allows_all,
            exactly=tuple(id_ for id_ in allows_all if not allows_another(id_)),
        )
        if allows_all:
            return match
        nearest = max(allowed, key=lambda id_: int(allowed[id_].sum()))
        left = ~allowed[nearest]
        left_in = tuple(class_ids[index] for index in np.unique(classes[left]))
        words = explained(self._of, self._etype, operands, got) if self._of.is_clip else None
        update = {"nearest": nearest, "left": int(left.sum()), "left_in": left_in, "explained_by": words}
        return match.model_copy(update=update)


def evenly(number: int, count: int) -> Array:
    """At most so many of the indices below a number, spread evenly."""
    return np.arange(number) if number <= count else np.arange(count) * number // count
