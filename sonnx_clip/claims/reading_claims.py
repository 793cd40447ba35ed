"""Claims on readings and dialects in one element type: beside the cases, beside another reading where a
finding contrasts the two, without bounds, after an older version; and the worked examples of dialects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.nodes import number_nodes, values
from sonnx_clip.claims.templates import Listed, expanded
from sonnx_clip.language.convert import beyond
from sonnx_clip.language.printing import unparse
from sonnx_clip.language.show import show
from sonnx_clip.language.tree import Kind, Number
from sonnx_clip.language.values import encode
from sonnx_clip.spec.dialects import ComputedBy, Dialect, bounds_of, defaults, given_defaults
from sonnx_clip.spec.findings import Contrast
from sonnx_clip.spec.readings import leaves_values_open

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec


def reading_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The answers of each reading, and where they are the result of the cases, by value and bit for bit."""
    for reading in spec.readings:
        is_open = leaves_values_open(spec, etype, reading)
        yield from expanded(spec, etype, "readings", reading, open=is_open)


def contrast_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Two readings differ at the numbers of the first finding that contrasts them."""
    # One claim for a pair, however many findings contrast it: its name has the two ids alone.
    first_contrasts: dict[tuple[str, str], Contrast] = {}
    for finding in spec.findings:
        for witness in finding.witnesses:
            if not isinstance(witness, Contrast) or not _has_operands(spec, etype, witness):
                continue
            for pair in _contrasted(spec, witness):
                first_contrasts.setdefault(pair, witness)

    for (first, second), witness in first_contrasts.items():
        yield from expanded(
            spec,
            etype,
            "contrasts",
            spec.reading(first),
            other=spec.reading(second),
            contrasted_at=number_nodes(witness.texts()),
        )


def _has_operands(spec: Spec, etype: ElementType, witness: Contrast) -> bool:
    """Whether a witness has a number of this element type for every operand."""
    if witness.type != etype.id:
        return False
    return witness.texts().keys() >= set(spec.signature.ids)


def _contrasted(spec: Spec, witness: Contrast) -> Iterator[tuple[str, str]]:
    """The pairs of readings that a witness contrasts, each in the order of the file."""
    reading_of = {dialect.id: dialect.reading for dialect in spec.dialects}
    sides: list[str | None] = []
    for side in witness.answers:
        # A side with bounds of its own is no reading of these numbers.
        has_own_bounds = bool(side.texts())
        sides.append(None if has_own_bounds else reading_of.get(side.by, side.by))

    first_side, *others = sides
    for other in others:
        pair = {first_side, other}
        is_of_one_reading = len(pair) == 1  # two dialects may have one reading
        # What differs from the cases is claimed of each reading, by its own witness (`differs_at`).
        if is_of_one_reading or pair & {"cases", None}:
            continue
        # In the order of the file: another finding may contrast the two the other way round.
        first, second = [reading.id for reading in spec.readings if reading.id in pair]
        yield first, second


# --- Dialects -----------------------------------------------------------------------------------------------


def dialect_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each dialect beside SONNX, without bounds and after the one before; then conversions."""
    dialects = [d for d in spec.dialects if etype.id in d.element_types]
    by_id = {d.id: d for d in dialects}
    for d in dialects:
        yield from _of_dialect(spec, etype, d)
        # The version before may lack the element type.
        before = by_id.get(d.after or "")
        if before is not None:
            yield from _after(spec, etype, d, before)
        if d.equivalence is not None:
            yield from expanded(
                spec,
                etype,
                "equivalence",
                d,
                d.equivalence,
                reading=spec.reading(d.reading),
                other=spec.reading(d.equivalence.to),
            )
    yield from _conversions(spec, etype, dialects)


def _conversions(spec: Spec, etype: ElementType, dialects: Sequence[Dialect]) -> Iterator[Claim]:
    """Claims on converted bounds, and on X scaled and biased, once for all dialects that have them."""
    # The claims do not depend on the dialect: an obligation for each would be the same task again.
    converting = [d.id for d in dialects if d.converts_to(etype.id)]
    ids = " ".join(converting)
    if converting and etype.family == "int":
        # Between these FLOATs, strictly, truncation gives a number of the type.
        low, high = beyond(etype, spec.element_type("float32"))
        ends = values({"low": low, "high": high}, Kind.FLOAT)
        yield from expanded(spec, etype, "conversion to integers", id=ids, **ends)
    elif converting:
        is_wider = etype.id == "float64"  # of which every FLOAT is a number: nothing is rounded
        yield from expanded(spec, etype, "conversion to floats", id=ids, is_wider=is_wider)

    scaling = [d.id for d in dialects if d.scale_bias]
    if scaling and etype.family == "float":
        # The counterexample on cast scales has numbers of float16.
        is_float16 = etype.id == "float16"
        ids = " ".join(scaling)
        yield from expanded(spec, etype, "scale and bias", id=ids, is_float16=is_float16)


def _of_dialect(spec: Spec, etype: ElementType, d: Dialect) -> Iterator[Claim]:
    """A dialect beside SONNX and without bounds."""
    reading = spec.reading(d.reading)
    placeholders = _defaults(spec, etype, d)
    default = d.printed_default
    # What the page prints is in the type of the bounds: in other types it is another number.
    if default is not None and etype.id == d.bound_type:
        placeholders["printed"] = default.max
        placeholders["at_least"] = Number(default.min)
        placeholders["at_most"] = Number(default.max)
    yield from expanded(
        spec,
        etype,
        "dialects",
        d,
        reading,
        **placeholders,
        reading=reading,
        open=leaves_values_open(spec, etype, reading),
        whatever="for all converted bounds, " if d.converts_to(etype.id) else "",
        oracle=spec.reading(d.answers) if d.answers != d.reading else None,
    )


def _defaults(spec: Spec, etype: ElementType, d: Dialect) -> dict[str, Any]:
    """The default bounds of a dialect; empty where it has none."""
    as_used = defaults(spec, d, etype)
    as_given = given_defaults(spec, d, etype)
    if as_used is None or as_given is None or d.missing is None:
        return {}
    low, high = as_used
    if as_used == (encode("lowest", etype), encode("highest", etype)):
        bounds_in_words = f"the least and the greatest number of {etype.id}"
    else:
        bounds_in_words = f"{show(low, etype)} and {show(high, etype)}"
    keeps_infinities = etype.family == "float" and high == encode("inf", etype)
    placeholders = {
        **values({"low": low, "high": high}),
        "told": bounds_in_words,
        "limits": True,
        "keeps_infinities": keeps_infinities,
    }
    # Limits of FLOAT, where a bound is one: converted, they may not be the limits of the type.
    if d.converts_to(etype.id) and d.missing.of == "bound":
        least, greatest = as_given
        placeholders |= values({"least": least, "greatest": greatest}, Kind.FLOAT)
        placeholders["limits"] = False
    return placeholders


def _after(
    spec: Spec,
    etype: ElementType,
    d: Dialect,
    before: Dialect,
) -> Iterator[Claim]:
    """A newer version changes nothing with given bounds; without bounds nothing but what it lists."""
    placeholders = _defaults(spec, etype, d)
    old_defaults = _defaults(spec, etype, before)
    if placeholders and old_defaults:
        placeholders["low_before"] = old_defaults["low"]
        placeholders["high_before"] = old_defaults["high"]
    if etype.id in d.changes:
        changed = d.changes[etype.id]
        placeholders |= {"changed_for": changed, "changed": Number(changed)}
    outside = ""
    if etype.family in d.widens:
        outside = f" unless {unparse(d.widens[etype.family])}"
    yield from expanded(
        spec,
        etype,
        "after another",
        d,
        **placeholders,
        before=before,
        reading=spec.reading(d.reading),
        before_reading=spec.reading(before.reading),
        whatever=" of any converted value" if before.converts_to(etype.id) else "",
        outside=outside,
    )


def dialect_example_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The worked examples of the pages of dialects: entry by entry, or for all X."""
    for example in spec.dialect_examples:
        if example.type != etype.id:
            continue
        low, high = bounds_of(spec, example)
        dialect = spec.dialect(example.dialect)
        reading = spec.reading(dialect.reading)
        bounds = values({"low": low, "high": high})
        placeholders: dict[str, Any] = {"reading": reading, **bounds}
        if isinstance(example.Y, ComputedBy):  # the page gives a formula in place of numbers
            placeholders["by"] = example.Y.reading
            placeholders["computed"] = spec.reading(example.Y.reading)
            placeholders |= number_nodes(example.Y.texts())
        else:
            entries: list[str] = []
            texts: dict[str, str] = {}
            for row, (x, y) in enumerate(example.pairs):
                texts[f"X{row}"] = x
                texts[f"Y{row}"] = y
                answers = f"{reading.predicate}(_X{row}, _low, _high, Y)"
                entries.append(f"group({answers} iff identical(Y, _Y{row}))")
            placeholders["entries"] = Listed(entries)
            placeholders |= number_nodes(texts)
        yield from expanded(spec, etype, "examples of dialects", example, **placeholders)
