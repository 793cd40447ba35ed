"""What is claimed of the dialects: beside SONNX, without bounds, and after the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims import goal_names as named
from sonnx_clip.claims.claim import Binder, Claim, Written
from sonnx_clip.claims.clip_operands import ALL, EVERY, EVERY_TWO, TRIPLE, L, M, X, returns, written_clip
from sonnx_clip.claims.conversion_claims import cast_claims, scale_claims
from sonnx_clip.claims.nodes import (
    Y,
    Z,
    all_of,
    any_of,
    call,
    choose,
    compare,
    iff,
    implies,
    negation,
    number,
    numbers,
    operator_of,
    same_bits,
    same_value,
    value,
)
from sonnx_clip.claims.reading_claims import candidates, region
from sonnx_clip.language.show import show
from sonnx_clip.language.tree import Kind
from sonnx_clip.language.values import encode, identical
from sonnx_clip.spec.dialects import defaults, given_defaults
from sonnx_clip.spec.readings import leaves_values_open

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language.tree import Expr
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect

    Pair = tuple[Value, Value]


def of_type(spec: Spec, etype: ElementType) -> tuple[Dialect, ...]:
    """The dialects that take an element type, in the order of the file."""
    return tuple(d for d in spec.whole_dialects if etype.id in d.element_types)


def dialect_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What each dialect does beside SONNX, without bounds and after the one before; then conversions."""
    dialects = of_type(spec, etype)
    for dialect in dialects:
        yield from beside_sonnx(spec, etype, dialect)
        yield from _decision(spec, etype, dialect)
        yield from without_bounds(spec, etype, dialect)
        yield from _printed(spec, etype, dialect)
        yield from after_another(spec, etype, dialect)
        yield from equivalence(spec, etype, dialect)
    converting = tuple(d.id for d in dialects if d.converts_to(etype.id))
    if converting:
        yield from cast_claims(spec, etype, converting)
    scaled = tuple(d.id for d in dialects if d.scale_bias)
    if scaled and etype.family == "float":
        yield from scale_claims(etype, scaled)


def beside_sonnx(spec: Spec, etype: ElementType, d: Dialect) -> Iterator[Claim]:
    """Where every answer that the words allow is the result of SONNX, for any bounds of the type."""
    reading = spec.reading(d.reading)
    given = "whatever its bounds become, " if d.converts_to(etype.id) else ""
    where, same = region(operator_of(spec), reading.agrees, etype), same_value(Y, written_clip())
    if where is not None and leaves_values_open(spec, etype, reading):
        yield Claim(
            etype.id, named.is_sonnx(d.word), "agrees", "theorem", (d.id,),
            f"{given}{d.id} has the value of SONNX there",
            same, (where, returns(reading)), (EVERY,), aspect="values",
        )  # fmt: skip
        others = (all_of(returns(reading, y=y), negation(same_value(y, written_clip()))) for y in TRIPLE)
        yield Claim(
            etype.id, named.nowhere_else(named.is_sonnx(d.word)), "nowhere else", "theorem", (d.id,),
            f"elsewhere {d.id} allows another value than that of SONNX",
            any_of(*others), (negation(where),), (ALL,), aspect="values",
        )  # fmt: skip
    else:
        yield Claim(
            etype.id, named.is_sonnx(d.word), "agrees", "theorem", (d.id,),
            f"{given}{d.id} has the value of SONNX exactly there",
            same if where is None else iff(same, where), (returns(reading),), (EVERY,), aspect="values",
        )  # fmt: skip
    where = region(operator_of(spec), reading.agrees_bitwise, etype)
    within = () if where is None else (where,)
    yield Claim(
        etype.id, named.is_sonnx(d.word, "bits"), "agrees", "theorem", (d.id,),
        f"{given}{d.id} has the bits of SONNX there",
        same_bits(Y, written_clip()), (*within, returns(reading)), (EVERY,), aspect="bits",
    )  # fmt: skip


def _decision(spec: Spec, etype: ElementType, d: Dialect) -> Iterator[Claim]:
    """What the oracle answers is something that the words allow."""
    if d.answers == d.reading:
        return
    words, chosen = (spec.reading(id_) for id_ in (d.reading, d.answers))
    yield Claim(
        etype.id, f"{d.word}_allows_its_oracle", "allows its oracle", "theorem", (d.id,),
        f"{d.id} allows what its oracle answers", returns(words), (returns(chosen),), (EVERY,),
    )  # fmt: skip


def without_bounds(spec: Spec, etype: ElementType, d: Dialect) -> Iterator[Claim]:
    """What the default bounds are, and what a dialect makes of missing ones."""
    found, given = defaults(spec, d, etype), given_defaults(spec, d, etype)
    if found is None or given is None:
        return
    reading, (low, high) = spec.reading(d.reading), map(value, found)
    if d.converts_to(etype.id) and d.missing is not None and d.missing.of == "bound":
        least, greatest = (value(of, Kind.FLOAT) for of in given)
        yield Claim(
            etype.id, f"{d.word}_defaults_convert", "defaults convert", "theorem", (d.id,),
            f"the default bounds of {d.id} become {_told(found, etype)}",
            all_of(call("becomes", least, low), call("becomes", greatest, high)),
        )  # fmt: skip
    if d.missing is not None and (d.missing.of == "element" or not d.converts_to(etype.id)):
        yield _limits(etype, d, low, high)
    kept = all_of(negation(compare(X, "<", low)), negation(compare(high, "<", X)))
    yield Claim(
        etype.id, named.without(d.word, "bounds"), "without bounds", "theorem", (d.id,),
        f"without bounds {d.id} keeps exactly the X that are not beyond {_told(found, etype)}",
        iff(same_bits(Y, X), kept), (returns(reading, X, low, high),), (Binder(("X", "Y")),),
    )  # fmt: skip
    yield Claim(
        etype.id, named.without(d.word, "min"), "without min", "theorem", (d.id,),
        f"without a lower bound {d.id} applies the upper one alone to what is not below its default",
        same_value(Y, choose(compare(M, "<", X), M, X)),
        (returns(reading, X, low, M), negation(compare(X, "<", low)), negation(compare(M, "<", low))),
        (Binder(("X", "M", "Y")),),
    )  # fmt: skip
    yield Claim(
        etype.id, named.without(d.word, "max"), "without max", "theorem", (d.id,),
        f"without an upper bound {d.id} applies the lower one alone to what is not above its default",
        same_value(Y, choose(compare(X, "<", L), L, X)),
        (returns(reading, X, L, high), negation(compare(high, "<", X)), negation(compare(high, "<", L))),
        (Binder(("X", "L", "Y")),),
    )  # fmt: skip
    if etype.family == "float":
        yield _infinities(spec, etype, d, found)


def _limits(etype: ElementType, d: Dialect, low: Expr, high: Expr) -> Claim:
    """The default bounds are the ends of the type: beyond them there are the infinities alone."""
    if etype.family == "float":
        claim = all_of(
            iff(compare(X, "<", low), same_bits(X, number("-inf"))),
            iff(compare(high, "<", X), same_bits(X, number("inf"))),
        )
    else:
        claim = all_of(compare(low, "<=", X), compare(X, "<=", high))
    return Claim(
        etype.id, f"{d.word}_defaults_are_limits", "defaults are limits", "theorem", (d.id,),
        f"no number of {etype.id} is beyond the default bounds of {d.id}", claim, binders=(Binder(("X",)),),
    )  # fmt: skip


def _infinities(spec: Spec, etype: ElementType, d: Dialect, found: Pair) -> Claim:
    """What the default bounds make of the infinities, in numbers."""
    reading, (low, high) = spec.reading(d.reading), map(value, found)
    makes = "keeps both infinities"
    if not identical(found[1], encode("inf", etype)):
        makes = f"limits the infinities to {_told(found, etype)}"
    return Claim(
        etype.id, named.infinities(d.word), "infinities", "theorem", (d.id,),
        f"without bounds {d.id} {makes}",
        all_of(
            implies(returns(reading, number("inf"), low, high), same_bits(Y, high)),
            implies(returns(reading, number("-inf"), low, high), same_bits(Y, low)),
        ),
        binders=(Binder(("Y",)),),
    )  # fmt: skip


def _printed(spec: Spec, etype: ElementType, d: Dialect) -> Iterator[Claim]:
    """The default as the page prints it is not the greatest number."""
    if d.printed_default is None or etype.id != d.bound_type:
        return
    ends = {"low": number(d.printed_default.min), "high": number(d.printed_default.max)}
    answers = spec.reading(d.reading).predicate
    yield Claim(
        etype.id, named.printed_default(d.word), "printed default", "refutation", (d.id,),
        f"the default as it is printed, {d.printed_default.max}, limits a finite number",
        Written(
            f"lt {{high}} {{most}} /\\ forall y: t. {answers} {{most}} {{low}} {{high}} y -> y = {{high}}",
            {**ends, "most": number("highest")},
        ),
    )  # fmt: skip


def after_another(spec: Spec, etype: ElementType, d: Dialect) -> Iterator[Claim]:
    """What a newer version changes: with given bounds nothing, without bounds nothing or what it says."""
    before = next((p for p in of_type(spec, etype) if p.id == d.after), None)
    if before is None:
        return
    ours, theirs = (spec.reading(p.reading) for p in (d, before))
    given = ", whatever they become" if before.converts_to(etype.id) else ""
    where, shows = region(operator_of(spec), d.widens, etype), (d.id, before.id)
    outside = () if where is None else (negation(where),)
    yield Claim(
        etype.id, named.after(d.word, before.word), "after", "theorem", shows,
        f"with bounds{given}, {d.id} allows no result that {before.id} did not"
        + (" outside of what it widens" if where else ""),
        returns(theirs), (*outside, returns(ours)), (EVERY,),
    )  # fmt: skip
    if where is not None:
        more = (all_of(returns(ours, y=y), negation(returns(theirs, y=y))) for y in TRIPLE)
        yield Claim(
            etype.id, f"{named.after(d.word, before.word)}_widened", "widened", "theorem", shows,
            f"with bounds{given}, {d.id} allows in all that it widens a result that {before.id} did not",
            any_of(*more), (where,), (ALL,),
        )  # fmt: skip
    new, old = defaults(spec, d, etype), defaults(spec, before, etype)
    if new is None or old is None:
        return
    (low, high), (low0, high0) = map(value, new), map(value, old)
    if etype.id not in d.changes:
        yield Claim(
            etype.id, f"{named.after(d.word, before.word)}_without_bounds", "after, without bounds",
            "theorem", shows, f"without bounds, {d.id} allows no result that {before.id} did not",
            returns(theirs, X, low0, high0), (returns(ours, X, low, high),), (Binder(("X", "Y")),),
        )  # fmt: skip
    else:
        text = d.changes[etype.id]
        x = number(text)
        yield Claim(
            etype.id, named.changed(d.word, before.word), "changed", "counterexample", shows,
            f"without bounds, {d.id} does not give the result of {before.id} for {text}",
            negation(same_value(Y, Z)),
            (returns(ours, x, low, high), returns(theirs, x, low0, high0, Z)), (Binder(("Y", "Z")),),
        )  # fmt: skip


def equivalence(spec: Spec, etype: ElementType, d: Dialect) -> Iterator[Claim]:
    """Whether a dialect equals what its page says: it does, or numbers refute it and a region remains."""
    if d.equivalence is None:
        return
    reading, other = spec.reading(d.reading), spec.reading(d.equivalence.to)
    name, shows = named.equals(d.word, other.word), (d.id, other.id)
    both, same = (returns(reading), returns(other, y=Z)), same_value(Y, Z)
    where = region(operator_of(spec), d.equivalence.where, etype)
    if where is None:
        yield Claim(
            etype.id, name, "equals", "theorem", shows, f"{d.id} has the values of {other.id}",
            same, both, (EVERY_TWO,),
        )  # fmt: skip
        return
    apart = any_of(*(
        all_of(returns(reading, y=y), returns(other, y=z), negation(same_value(y, z)))
        for y in TRIPLE
        for z in candidates(operator_of(spec), etype)
        if y != z
    ))  # fmt: skip
    witness = d.equivalence.fails_at[etype.family].texts()
    yield Claim(
        etype.id, named.refuted(name), "refuted", "refutation", shows,
        f"refuted: {d.id} has the values of {other.id}, as its page says", apart,
        witness=numbers({n: witness[n] for n in "XLM"}),
    )  # fmt: skip
    yield Claim(
        etype.id, named.repaired(name), "repaired", "theorem", shows,
        f"in a region {d.id} has the values of {other.id}", same, (where, *both), (EVERY_TWO,),
    )  # fmt: skip
    yield Claim(
        etype.id, named.nowhere_else(name), "nowhere else", "theorem", shows,
        f"outside that region {d.id} and {other.id} allow different values",
        apart, (negation(where),), (ALL,),
    )  # fmt: skip


def _told(bounds: Pair, etype: ElementType) -> str:
    ends = encode("lowest", etype), encode("highest", etype)
    if bounds == ends:
        return f"the least and the greatest number of {etype.id}"
    return f"{show(bounds[0], etype)} and {show(bounds[1], etype)}"
