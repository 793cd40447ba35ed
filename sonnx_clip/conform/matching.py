"""Which readings of Clip allow the answers that a runtime gave, and the lines of a report that say so."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.check_report import FAILING, ReadingMatch
from sonnx_clip.conform.explanations import BUT_OF_RANK_0, explained
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import encode
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type
from sonnx_clip.runtimes.layouts import OF_RANK_0

if TYPE_CHECKING:
    from sonnx_clip.conform.check_report import Report
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.conform.expected import Table
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.runtimes.calls import Request


_FAST = 1  # of zlib
KEPT = 256
"""Entries of a request that are kept, and as many of its deviations."""


class Observed:
    """Answers of one element type, to be compared with the readings."""

    def __init__(self, etype: ElementType, of: CheckedOperator) -> None:
        self._etype, self._of = etype, of
        self._special = np.array(special_patterns(etype), bits_type(etype.id))
        self._parts: list[tuple[Array, ...]] = []  # bits of the operands and of the answer; the class; rank 0

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
        if not len(rows):
            return
        places = columns if indices is None else indices[rows, columns]
        operands = request.operands_at(rows, places)
        of_rank_0 = np.full(len(rows), request.layout == OF_RANK_0.id, np.int8)
        self._parts.append((*operands, got[rows, columns], expected.classes[rows, columns], of_rank_0))

    def packed(self) -> str:
        """All that was kept, each answer once, as a text; empty if nothing was."""
        if not self._parts:
            return ""
        bits, *more = self._joined()
        columns = [np.ascontiguousarray(part).tobytes() for part in (*bits, *more)]
        return base64.b64encode(zlib.compress(b"".join(columns), _FAST)).decode("ascii")

    def unpack(self, text: str) -> None:
        """Keep also what `packed` has made a text."""
        if not text:
            return
        bits, number = bits_type(self._etype.id), self._of.tensors + self._of.scalars + 1
        data = zlib.decompress(base64.b64decode(text))
        count, left = divmod(len(data), number * bits.itemsize + 2)
        if left:
            raise ValueError("these are no answers of the element type")
        size = count * bits.itemsize
        columns = [np.frombuffer(data, bits, count, n * size) for n in range(number)]
        more = [np.frombuffer(data, np.int8, count, number * size + n * count) for n in range(2)]
        self._parts.append((*columns, *more))

    def _joined(self) -> tuple[list[Array], Array, Array]:
        *bits, classes, of_rank_0 = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        return _different(bits, classes, of_rank_0)

    def match(self, class_ids: tuple[str, ...]) -> ReadingMatch | None:
        """What the readings say to all that was kept; None if nothing was, or there are none."""
        readings = self._of.oracle.READINGS[self._etype.family]
        if not self._parts or not readings:
            return None
        bits, classes, of_rank_0 = self._joined()
        dtype = numpy_type(self._etype.id)
        *operands, got = (part.view(dtype) for part in bits)
        allowed = {id_: np.asarray(allows(*operands, got)) for id_, allows in readings.items()}
        allows_all = tuple(id_ for id_, where in allowed.items() if where.all())
        others = [part.view(dtype) for part in (*bits[:-1], *self._nans(len(got)))]
        exactly = tuple(
            id_
            for id_ in allows_all
            if not any(
                np.any(readings[id_](*operands, y) & (y.view(bits[-1].dtype) != bits[-1])) for y in others
            )
        )
        nearest = max(allowed, key=lambda id_: int(allowed[id_].sum()))
        left = ~allowed[nearest]
        return ReadingMatch(
            answers=len(got),
            allowed_by=allows_all,
            exactly=exactly,
            nearest=None if allows_all else nearest,
            left=0 if allows_all else int(left.sum()),
            left_in=tuple(class_ids[index] for index in np.unique(classes[left])),
            explained_by=None if allows_all else self._explained(operands, got, of_rank_0 == 1),
        )

    def _explained(self, operands: list[Array], got: Array, of_rank_0: Array) -> str | None:
        """What gives all the answers, or all but those to an X of rank 0, where a program may differ."""
        if not self._of.is_clip:
            return None
        others = ~of_rank_0
        found = explained(self._of, self._etype, operands, got)
        if found is not None or others.all() or not others.any():
            return found
        found = explained(self._of, self._etype, [part[others] for part in operands], got[others])
        return None if found is None else found + BUT_OF_RANK_0

    def _nans(self, count: int) -> list[Array]:
        if self._etype.family != "float":
            return []
        patterns = [int(encode(text, self._etype)) for text in ("nan", "-nan")]
        return [np.full(count, pattern, bits_type(self._etype.id)) for pattern in patterns]


def evenly(number: int, count: int) -> Array:
    """At most so many of the indices below a number, spread evenly."""
    return np.arange(number) if number <= count else np.arange(count) * number // count


def _different(bits: list[Array], classes: Array, of_rank_0: Array) -> tuple[list[Array], Array, Array]:
    """Each answer once: the columns of bits, the classes, and whether it came with rank 0 alone."""
    order = np.lexsort([of_rank_0, *bits])  # the first key is the last one that decides
    ordered = [part[order] for part in bits]
    new = np.ones(len(order), bool)
    new[1:] = np.any([part[1:] != part[:-1] for part in ordered], axis=0)
    return [part[new] for part in ordered], classes[order][new], of_rank_0[order][new]


# --- The lines of a report that say which readings of Clip allow the answers of a runtime -------------------
#
# `sonnx-clip check` prints them, and the page of evidence.


def behaviour(report: Report) -> list[str]:
    """One line if the same readings fit every type, otherwise a line for each group of types.

    Where a reading allows the answers and no others, readings that leave more open are left out.
    """
    found = {one.type: one.readings for one in report.types if one.readings is not None}
    if not found:
        return []
    every = next(iter(found.values())).allowed_by
    common = tuple(id_ for id_ in every if all(id_ in match.allowed_by for match in found.values()))
    exact = tuple(id_ for id_ in common if all(id_ in match.exactly for match in found.values()))
    common = exact or common
    if common:
        line = _behaves(report.runtime_version, common, list(found.values()), list(found))
        return [line + _beside(report, common, list(found))]
    groups: dict[tuple[str, ...], list[str]] = {}
    for etype, match in found.items():
        no_reading = ("", match.explained_by or "", match.nearest or "", *match.left_in)
        key = match.exactly or match.allowed_by or no_reading
        groups.setdefault(key, []).append(etype)
    return [
        _behaves(report.runtime_version, key, [found[t] for t in types], types) + _beside(report, key, types)
        for key, types in groups.items()
    ]


def _beside(report: Report, readings: tuple[str, ...], types: list[str]) -> str:
    """What fails although every value is that of the cases, as the end of a line; empty if nothing does."""
    if readings[0] == "" or "cases" not in readings:
        return ""
    failing = [(found, c) for found in report.types if found.type in types for c in found.classes]
    words = next((c.words or found.words or c.verdict for found, c in failing if c.verdict in FAILING), None)
    return "" if words is None else f"; what fails is not a value that was compared: {words}"


def _behaves(runtime: str, readings: tuple[str, ...], found: list[ReadingMatch], types: list[str]) -> str:
    subject, number = f"{runtime}, {', '.join(types)}", f"{sum(match.answers for match in found):,}"
    if readings[0] == "":
        left = f"{sum(match.left for match in found):,}"
        return (
            f"{subject}: no reading allows all {number} answers kept; the nearest, {readings[2]},"
            f" does not allow {left} of them, in {', '.join(readings[3:])}"
            f"{f'; but all {number} follow from {readings[1]}' if readings[1] else ''}"
        )
    several = len(readings) > 1
    named = f"readings {', '.join(readings[:-1])} and {readings[-1]}" if several else f"reading {readings[0]}"
    if all(id_ in match.exactly for id_ in readings for match in found):
        required = "require" if several else "requires"
        return f"{subject}: all {number} answers kept are those that the {named} {required}, bit for bit"
    allow, leave = ("allow", "leave") if several else ("allows", "leaves")
    return f"{subject}: the {named} {allow} all {number} answers kept, and {leave} some answers open"
