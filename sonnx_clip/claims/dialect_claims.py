"""Claims on dialects in one element type: beside SONNX, without bounds, after the one before; examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.nodes import negation, number, numbers, value
from sonnx_clip.claims.reading_claims import answer_of, in_regions, region
from sonnx_clip.claims.templates import condition, expanded
from sonnx_clip.claims.written_claims import cast_claims, scale_claims
from sonnx_clip.language.show import show
from sonnx_clip.language.tree import Kind
from sonnx_clip.language.values import encode, identical
from sonnx_clip.spec.dialects import ComputedBy, bounds_of, defaults, given_defaults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect, DialectExample

    Pair = tuple[Value, Value]


def of_type(spec: Spec, etype: ElementType) -> tuple[Dialect, ...]:
    """The dialects that take an element type, in the order of the file."""
    return tuple(d for d in spec.dialects if etype.id in d.element_types)


def dialect_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What each dialect does beside SONNX, without bounds and after the one before; then conversions."""
    dialects = of_type(spec, etype)
    for d in dialects:
        reading = spec.reading(d.reading)
        given = {"id": d.id, "word": d.word, "reading": reading.predicate, **_defaults(spec, etype, d)}
        yield from expanded(
            spec, etype, "dialects", **given, **in_regions(spec, etype, reading),
            whatever="whatever its bounds become, " if d.converts_to(etype.id) else "",
            oracle=spec.reading(d.answers).predicate if d.answers != d.reading else None,
            **_printed(etype, d),
        )  # fmt: skip
        given["reads"] = answer_of(spec, reading)
        before = next((p for p in dialects if p.id == d.after), None)
        if before is not None:
            yield from _after(spec, etype, d, before, given)
        if d.equivalence is not None:
            other = spec.reading(d.equivalence.to)
            where = region(spec, d.equivalence.where, etype)
            yield from expanded(
                spec, etype, "equivalence", **given, where=where, other=other.word, other_id=other.id,
                other_reads=answer_of(spec, other, "Z"),
                fails_at=numbers({n: d.equivalence.fails_at[etype.family].texts()[n] for n in "XLM"})
                if where is not None else None,
            )  # fmt: skip
    converting = " ".join(d.id for d in dialects if d.converts_to(etype.id))
    if converting:
        yield from cast_claims(spec, etype, converting)
    scaled = " ".join(d.id for d in dialects if d.scale_bias)
    if scaled and etype.family == "float":
        yield from scale_claims(spec, etype, scaled)


def _defaults(spec: Spec, etype: ElementType, d: Dialect) -> dict[str, Any]:
    """The default bounds of a dialect, for the templates; empty where it has none."""
    found, given = defaults(spec, d, etype), given_defaults(spec, d, etype)
    if found is None or given is None or d.missing is None:
        return {}
    low, high = map(value, found)
    told, converts = _told(found, etype), d.converts_to(etype.id)
    keeps = identical(found[1], encode("inf", etype)) if etype.family == "float" else False
    texts = {
        "low": low, "high": high, "told": told, "float": etype.family == "float",
        "makes": "keeps both infinities" if keeps else f"limits the infinities to {told}",
        "limits": d.missing.of == "element" or not converts,
    }  # fmt: skip
    if converts and d.missing.of == "bound":
        least, greatest = (value(of, Kind.FLOAT) for of in given)
        return {**texts, "least": least, "greatest": greatest}
    return texts


def _printed(etype: ElementType, d: Dialect) -> dict[str, Any]:
    """The default as the page prints it, which is not the greatest number."""
    if d.printed_default is None or etype.id != d.bound_type:
        return {}
    ends = {"low": number(d.printed_default.min), "high": number(d.printed_default.max)}
    return {"printed": d.printed_default.max, "literals": {**ends, "most": number("highest")}}


def _after(
    spec: Spec, etype: ElementType, d: Dialect, before: Dialect, given: dict[str, Any]
) -> Iterator[Claim]:
    """What a newer version changes: with given bounds nothing, without bounds nothing or what it says."""
    theirs = spec.reading(before.reading)
    widens = region(spec, d.widens, etype)
    old = _defaults(spec, etype, before)
    if not old:
        given = {name: of for name, of in given.items() if name != "low"}
    yield from expanded(
        spec, etype, "after another", **given, before=before.word, before_id=before.id,
        before_reading=theirs.predicate, before_reads=answer_of(spec, theirs),
        whatever=", whatever they become" if before.converts_to(etype.id) else "",
        widens=widens, outside=" outside of what it widens" if widens else "",
        not_widened=() if widens is None else (negation(widens),), changed_for=d.changes.get(etype.id),
        changed=None if etype.id not in d.changes else number(d.changes[etype.id]),
        low_before=old.get("low"), high_before=old.get("high"),
    )  # fmt: skip


def _told(bounds: Pair, etype: ElementType) -> str:
    ends = encode("lowest", etype), encode("highest", etype)
    if bounds == ends:
        return f"the least and the greatest number of {etype.id}"
    return f"{show(bounds[0], etype)} and {show(bounds[1], etype)}"


def dialect_example_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The worked examples of the pages of dialects: entry by entry, or for all X."""
    for example in spec.dialect_examples:
        if example.type == etype.id:
            yield from _example(spec, etype, example)


def _example(spec: Spec, etype: ElementType, example: DialectExample) -> Iterator[Claim]:
    low, high = map(value, bounds_of(spec, example))
    reading = spec.reading(spec.dialect(example.dialect).reading).predicate
    if isinstance(example.Y, ComputedBy):
        finite = ("-inf < X", "X < inf") if etype.family == "float" else ()
        rest = {
            "by": example.Y.reading, "computed": spec.reading(example.Y.reading).predicate,
            "L": number(example.Y.L), "M": number(example.Y.M),
            "finite": tuple(condition(spec, etype, text) for text in finite),
        }  # fmt: skip
    else:
        rows = range(len(example.pairs))
        entries = (f"group({reading}(_X{i}, _low, _high, Y) iff identical(Y, _Y{i}))" for i in rows)
        texts = {f"{name}{i}": of for i in rows for name, of in zip("XY", example.pairs[i], strict=True)}
        rest = {"entries": " and ".join(entries), **numbers(texts)}
    yield from expanded(
        spec, etype, "examples of dialects", id=example.id, dialect=example.dialect, reading=reading,
        low=low, high=high, **rest,
    )  # fmt: skip
