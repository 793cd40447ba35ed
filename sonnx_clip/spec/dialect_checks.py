"""Checks of the dialects: nothing is forgotten in silence, and what a row claims of another is so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.show import show
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.dialects import defaults
from sonnx_clip.spec.document import Diagnostic
from sonnx_clip.spec.evaluate import evaluator
from sonnx_clip.spec.readings import answers, same_value, triples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.dialects import Dialect, DialectRow
    from sonnx_clip.spec.document import Way
    from sonnx_clip.spec.entries import Conditions
    from sonnx_clip.spec.model import Spec
    from sonnx_clip.spec.readings import Triple


def check_dialect_numbers(spec: Spec) -> Iterator[Diagnostic]:
    """Findings about defaults that are no numbers, and about changes that are none."""
    for index, (row, dialect) in enumerate(zip(spec.dialects, spec.whole_dialects, strict=True)):
        way = ("dialects", index)
        try:
            yield from _changes(spec, way, row, dialect)
            yield from _widens(spec, way, dialect)
            yield from _equivalence(spec, way, dialect)
        except UserError as error:
            yield Diagnostic((*way, "id"), f"{row.id}: {error.what}", error.todo)


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
