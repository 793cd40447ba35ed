"""Checks of the dialects: nothing is forgotten in silence, and what a row claims of another is so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.parse import suggestion
from sonnx_clip.language.show import show
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.diagnostic import Diagnostic
from sonnx_clip.spec.dialects import ALWAYS, bound_type, defaults, sayings, taken_over
from sonnx_clip.spec.evaluate import evaluator
from sonnx_clip.spec.readings import answers, same_value, triples
from sonnx_clip.spec.sections import unknown_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.dialects import Aspect, Dialect, DialectRow
    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.entries import Conditions
    from sonnx_clip.spec.model import Spec
    from sonnx_clip.spec.readings import Triple

_NEEDED = (
    "system", "page", "element_types", "ranks", "bounds", "bound_type", "missing", "reading", "answers",
    "scale_bias", "in_place",
)  # fmt: skip


def check_dialects(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about rows that refer to what is not there, or leave something out."""
    known: dict[str, DialectRow] = {}
    for index, row in enumerate(spec.dialects):
        way = ("dialects", index)
        if row.after is not None and row.after not in known:
            what = f"no earlier row is called `{row.after}`"
            yield Diagnostic((*way, "after"), what, suggestion(row.after, known, "before it stand"))
            return
        known[row.id] = row
        yield from _ids(spec, way, row)
        lacking = [key for key in _NEEDED if taken_over(row, key, known) is None]
        for key in lacking:
            yield Diagnostic(
                (*way, "id"), f"neither `{row.id}` nor a row before it says `{key}`", f"add `{key}: …`"
            )
        if not lacking:
            yield from _aspects(way, row, known)
            yield from _names(spec, way, row, known)


def _ids(spec: Spec, way: Way, row: DialectRow) -> Iterator[Diagnostic]:
    for position, id_ in enumerate(row.element_types or ()):
        yield from unknown_in(spec, "element_types", (*way, "element_types", position), id_)
    for key, name, section in (
        ("reading", row.reading, "readings"),
        ("answers", row.answers, "readings"),
        ("equivalence", row.equivalence.to if row.equivalence else None, "readings"),
        ("page", row.page, "sources"),
    ):
        if name is not None:
            yield from unknown_in(spec, section, (*way, key), name)


def _aspects(way: Way, row: DialectRow, known: Mapping[str, DialectRow]) -> Iterator[Diagnostic]:
    """Every aspect is said, with its words, or said to be unsaid."""
    for aspect in row.says:
        if aspect in row.unsaid:
            what = f"`{aspect}` is under `says` and under `unsaid`"
            yield Diagnostic((*way, "unsaid", aspect), what, "it is one or the other", of_key=True)
    said, unsaid = sayings(row, known)
    converts = taken_over(row, "bound_type", known) != "tensor"
    scaled = bool(taken_over(row, "scale_bias", known))
    wanted: list[Aspect] = [*ALWAYS]
    wanted += ["casts"] if converts else []
    wanted += ["scale_bias", "scale_bias_precision"] if scaled else []
    for aspect in wanted:
        if aspect not in said and aspect not in unsaid:
            what = f"`{row.id}` says nothing of `{aspect}`"
            yield Diagnostic(
                (*way, "id"),
                what,
                "quote the page under `says`, or state under `unsaid` what the oracle does",
            )
    if row.equivalence is not None and "equivalence" not in row.says:
        yield Diagnostic(
            (*way, "equivalence"), "no quotation says what it is equivalent to", "quote the page"
        )
    if taken_over(row, "in_place", known) and "in_place" not in said:
        yield Diagnostic(
            (*way, "id"), "execution in place is allowed, and no quotation says so", "quote them"
        )
    printed = row.printed_default
    if printed and not all(
        any(n in words.quote for words in row.says.values()) for n in (printed.min, printed.max)
    ):
        yield Diagnostic(
            (*way, "printed_default"), "no quotation of this row has these numbers", "quote them"
        )


def _names(spec: Spec, way: Way, row: DialectRow, known: Mapping[str, DialectRow]) -> Iterator[Diagnostic]:
    """A type that a system has no name for is none that it takes."""
    system = taken_over(row, "system", known)
    for position, id_ in enumerate(row.element_types or ()):
        etype = next((etype for etype in spec.element_types if etype.id == id_), None)
        if etype is not None and getattr(etype, str(system)) is None:
            what = f"{system} has no name for {id_}"
            yield Diagnostic(
                (*way, "element_types", position), what, f"add it to the element type: {system}: …"
            )


def check_dialect_numbers(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about defaults that are no numbers, and about changes that are none."""
    for index, (row, dialect) in enumerate(zip(spec.dialects, spec.whole_dialects, strict=True)):
        way = ("dialects", index)
        try:
            for id_ in dialect.element_types:
                defaults(spec, dialect, spec.element_type(id_))
            yield from _printed(spec, dialect)
            yield from _changes(spec, way, row, dialect)
            yield from _widens(spec, way, dialect)
            yield from _equivalence(spec, way, dialect)
        except UserError as error:
            yield Diagnostic((*way, "id"), f"{row.id}: {error.what}", error.todo)


def _printed(spec: Spec, dialect: Dialect) -> Iterator[Diagnostic]:
    for id_ in dialect.element_types if dialect.printed_default else ():
        assert dialect.printed_default is not None
        of = bound_type(spec, dialect, spec.element_type(id_))
        encode(dialect.printed_default.min, of)
        encode(dialect.printed_default.max, of)
    yield from ()


def _changes(spec: Spec, way: Way, row: DialectRow, dialect: Dialect) -> Iterator[Diagnostic]:
    """Without bounds, the result differs from that of the row before exactly for the types that say so."""
    before = next((other for other in spec.whole_dialects if other.id == dialect.after), None)
    for id_ in row.changes:
        if before is None or id_ not in before.element_types or id_ not in dialect.element_types:
            yield Diagnostic((*way, "changes", id_), f"the row before does not take {id_}", of_key=True)
    for id_ in dialect.element_types:
        if before is None or id_ not in before.element_types:
            continue
        etype = spec.element_type(id_)
        ours, theirs = defaults(spec, dialect, etype), defaults(spec, before, etype)
        if ours is None or theirs is None:
            continue
        if ours == theirs and id_ in row.changes:
            what = f"without bounds, nothing changes for {id_} against {before.id}"
            yield Diagnostic((*way, "changes", id_), what, of_key=True)
        if ours != theirs and id_ not in row.changes:
            what = f"without bounds, {dialect.id} is not {before.id} for {id_}"
            yield Diagnostic((*way, "id"), what, f"add to `changes`: {{{id_}: an X for which they differ}}")
        if ours != theirs and id_ in row.changes:
            x, reading = encode(row.changes[id_], etype), spec.reading(dialect.answers)
            mine, others = (answers(spec, etype, reading, (x, *bounds)) for bounds in (ours, theirs))
            if mine == others:
                what = f"for X = {row.changes[id_]} {dialect.id} and {before.id} answer alike"
                yield Diagnostic((*way, "changes", id_), what, "give an X for which they differ")


def _one_of_each(spec: Spec, dialect: Dialect) -> Iterator[ElementType]:
    """The first type of each family that a dialect takes."""
    for family in spec.families:
        yield from [t for t in spec.types_of(family.id) if t.id in dialect.element_types][:1]


def _holds(spec: Spec, etype: ElementType, regions: Conditions, triple: Triple) -> bool | None:
    """Whether a triple lies in a region; None where the family has none."""
    if etype.family not in regions:
        return None
    ask = evaluator(spec, etype)
    environment = {**dict(zip("XLM", triple, strict=True)), "Y": ask.result(*triple)}
    return bool(ask(regions[etype.family], environment))


def _widens(spec: Spec, way: Way, dialect: Dialect) -> Iterator[Diagnostic]:
    """With bounds given, more is allowed than before exactly where the row says so."""
    before = next((other for other in spec.whole_dialects if other.id == dialect.after), None)
    if before is None or before.reading == dialect.reading:
        for family in dialect.widens:
            yield Diagnostic(
                (*way, "widens", family), "nothing is widened: the reading is the one before", of_key=True
            )
        return
    ours, theirs = spec.reading(dialect.reading), spec.reading(before.reading)
    for etype in _one_of_each(spec, dialect):
        if etype.id not in before.element_types and etype.family not in dialect.widens:
            continue
        for triple in triples(etype):
            old = answers(spec, etype, theirs, triple)
            more = any(y not in old for y in answers(spec, etype, ours, triple))
            if more != bool(_holds(spec, etype, dialect.widens, triple)):
                said = "allows more than" if more else "allows no more than"
                numbers = ", ".join(f"{n} = {show(v, etype)}" for n, v in zip("XLM", triple, strict=True))
                what = f"`{dialect.id}` {said} `{before.id}` for {numbers} ({etype.id})"
                key = (*way, "widens", etype.family) if etype.family in dialect.widens else (*way, "id")
                yield Diagnostic(key, what, "`widens` must hold exactly where more is allowed")
                return


def _equivalence(spec: Spec, way: Way, dialect: Dialect) -> Iterator[Diagnostic]:
    """The values are those of the reading exactly where the row says so, and not those for its numbers."""
    if dialect.equivalence is None:
        return
    ours, theirs = spec.reading(dialect.reading), spec.reading(dialect.equivalence.to)
    where, fails_at = dialect.equivalence.where, dialect.equivalence.fails_at
    if set(where) != set(fails_at):
        what = "`where` and `fails_at` do not name the same families"
        yield Diagnostic((*way, "equivalence"), what, "a family that is not in them agrees everywhere")
        return
    for etype in _one_of_each(spec, dialect):
        found = list(triples(etype))
        if etype.family in fails_at:
            x, l, m = (encode(fails_at[etype.family].texts()[name], etype) for name in "XLM")
            if _holds(spec, etype, where, (x, l, m)):
                what = "the region holds for these numbers"
                yield Diagnostic((*way, "equivalence", "fails_at", etype.family), what, "give others")
            found.append((x, l, m))
        for triple in found:
            mine, its = answers(spec, etype, ours, triple), answers(spec, etype, theirs, triple)
            same = all(same_value(y, z, etype) for y in mine for z in its)
            if same == (_holds(spec, etype, where, triple) is False):
                numbers = ", ".join(f"{n} = {show(v, etype)}" for n, v in zip("XLM", triple, strict=True))
                what = f"for {numbers} ({etype.id}) the values are {'' if same else 'not '}the same"
                yield Diagnostic((*way, "equivalence"), what, "`where` must hold exactly where they are")
                return
