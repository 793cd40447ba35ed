"""Checks of the dialects: nothing is forgotten in silence, and what a row claims of another is so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.errors import UserError
from sonnx_clip.spec.dialect_defaults import bound_type, defaults
from sonnx_clip.spec.dialects import ALWAYS, sayings, taken_over
from sonnx_clip.spec.finding import Finding
from sonnx_clip.spec.names import suggestion
from sonnx_clip.spec.readings import answers
from sonnx_clip.spec.values import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sonnx_clip.spec.dialects import Aspect, Dialect, DialectRow
    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.model import Spec

_NEEDED = (
    "system", "page", "element_types", "ranks", "bounds", "bound_type", "missing", "reading", "answers",
    "scale_bias", "in_place",
)  # fmt: skip


def check_dialects(spec: Spec) -> Iterator[Finding]:
    """Findings about rows that refer to what is not there, or leave something out."""
    known: dict[str, DialectRow] = {}
    for index, row in enumerate(spec.dialects):
        way = ("dialects", index)
        if row.after is not None and row.after not in known:
            what = f"no earlier row is called `{row.after}`"
            yield Finding((*way, "after"), what, suggestion(row.after, known, "before it stand"))
            return
        known[row.id] = row
        yield from _ids(spec, way, row)
        lacking = [key for key in _NEEDED if taken_over(row, key, known) is None]
        for key in lacking:
            yield Finding(
                (*way, "id"), f"neither `{row.id}` nor a row before it says `{key}`", f"add `{key}: …`"
            )
        if not lacking:
            yield from _aspects(way, row, known)
            yield from _names(spec, way, row, known)


def _ids(spec: Spec, way: Way, row: DialectRow) -> Iterator[Finding]:
    types = [etype.id for etype in spec.element_types]
    readings = [reading.id for reading in spec.readings]
    pages = [page.id for page in spec.sources]
    for position, id_ in enumerate(row.element_types or ()):
        yield from _known((*way, "element_types", position), id_, types, "element type")
    for key, name, ids, sort in (
        ("reading", row.reading, readings, "reading"),
        ("answers", row.answers, readings, "reading"),
        ("page", row.page, pages, "source"),
    ):
        if name is not None:
            yield from _known((*way, key), name, ids, sort)


def _known(way: Way, id_: str, ids: Iterable[str], sort: str) -> Iterator[Finding]:
    ids = list(ids)
    if id_ not in ids:
        yield Finding(way, f"there is no {sort} `{id_}`", suggestion(id_, ids, "there are"))


def _aspects(way: Way, row: DialectRow, known: Mapping[str, DialectRow]) -> Iterator[Finding]:
    """Every aspect is said, with its words, or said to be unsaid."""
    for aspect in row.says:
        if aspect in row.unsaid:
            what = f"`{aspect}` is under `says` and under `unsaid`"
            yield Finding((*way, "unsaid", aspect), what, "it is one or the other", of_key=True)
    said, unsaid = sayings(row, known)
    converts = taken_over(row, "bound_type", known) != "tensor"
    scaled = bool(taken_over(row, "scale_bias", known))
    wanted: list[Aspect] = [*ALWAYS]
    wanted += ["casts"] if converts else []
    wanted += ["scale_bias", "scale_bias_precision"] if scaled else []
    for aspect in wanted:
        if aspect not in said and aspect not in unsaid:
            what = f"`{row.id}` says nothing of `{aspect}`"
            yield Finding(
                (*way, "id"),
                what,
                "quote the page under `says`, or state under `unsaid` what the oracle does",
            )
    if taken_over(row, "in_place", known) and "in_place" not in said:
        yield Finding((*way, "id"), "execution in place is allowed, and no quotation says so", "quote them")
    printed = row.printed_default
    if printed and not all(
        any(n in words.quote for words in row.says.values()) for n in (printed.min, printed.max)
    ):
        yield Finding((*way, "printed_default"), "no quotation of this row has these numbers", "quote them")


def _names(spec: Spec, way: Way, row: DialectRow, known: Mapping[str, DialectRow]) -> Iterator[Finding]:
    """A type that a system has no name for is none that it takes."""
    system = taken_over(row, "system", known)
    for position, id_ in enumerate(row.element_types or ()):
        etype = next((etype for etype in spec.element_types if etype.id == id_), None)
        if etype is not None and getattr(etype, str(system)) is None:
            what = f"{system} has no name for {id_}"
            yield Finding((*way, "element_types", position), what, f"add it to the element type: {system}: …")


def check_dialect_numbers(spec: Spec) -> Iterator[Finding]:
    """Findings about defaults that are no numbers, and about changes that are none."""
    for index, (row, dialect) in enumerate(zip(spec.dialects, spec.whole_dialects, strict=True)):
        way = ("dialects", index)
        try:
            for id_ in dialect.element_types:
                defaults(spec, dialect, spec.element_type(id_))
            yield from _printed(spec, dialect)
            yield from _changes(spec, way, row, dialect)
        except UserError as error:
            yield Finding((*way, "id"), f"{row.id}: {error.what}", error.todo)


def _printed(spec: Spec, dialect: Dialect) -> Iterator[Finding]:
    for id_ in dialect.element_types if dialect.printed_default else ():
        assert dialect.printed_default is not None
        of = bound_type(spec, dialect, spec.element_type(id_))
        encode(dialect.printed_default.min, of)
        encode(dialect.printed_default.max, of)
    yield from ()


def _changes(spec: Spec, way: Way, row: DialectRow, dialect: Dialect) -> Iterator[Finding]:
    """Without bounds, the result differs from that of the row before exactly for the types that say so."""
    before = next((other for other in spec.whole_dialects if other.id == dialect.after), None)
    for id_ in row.changes:
        if before is None or id_ not in before.element_types or id_ not in dialect.element_types:
            yield Finding((*way, "changes", id_), f"the row before does not take {id_}", of_key=True)
    for id_ in dialect.element_types:
        if before is None or id_ not in before.element_types:
            continue
        etype = spec.element_type(id_)
        ours, theirs = defaults(spec, dialect, etype), defaults(spec, before, etype)
        if ours is None or theirs is None:
            continue
        if ours == theirs and id_ in row.changes:
            what = f"without bounds, nothing changes for {id_} against {before.id}"
            yield Finding((*way, "changes", id_), what, of_key=True)
        if ours != theirs and id_ not in row.changes:
            what = f"without bounds, {dialect.id} is not {before.id} for {id_}"
            yield Finding((*way, "id"), what, f"add to `changes`: {{{id_}: an X for which they differ}}")
        if ours != theirs and id_ in row.changes:
            x, reading = encode(row.changes[id_], etype), spec.reading(dialect.answers)
            mine, others = (answers(spec, etype, reading, (x, *bounds)) for bounds in (ours, theirs))
            if mine == others:
                what = f"for X = {row.changes[id_]} {dialect.id} and {before.id} answer alike"
                yield Finding((*way, "changes", id_), what, "give an X for which they differ")
