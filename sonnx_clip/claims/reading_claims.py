"""Claims on readings and dialects in one element type: beside the cases, beside another reading where a
finding contrasts the two, without bounds, after an older version; and the worked examples of dialects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.nodes import numbers, values
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
    from collections.abc import Iterator

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
    reading_of = {dialect.id: dialect.reading for dialect in spec.dialects}
    found: dict[tuple[str, ...], Contrast] = {}
    for witness in (
        w for finding in spec.findings for w in finding.witnesses if isinstance(w, Contrast)
    ):
        if witness.type == etype.id and witness.texts().keys() >= set(spec.signature.ids):
            # A side with bounds of its own is no reading of these numbers.
            sides = [
                None if side.texts() else reading_of.get(side.by, side.by)
                for side in witness.answers
            ]
            for pair in ({sides[0], other} for other in sides[1:]):
                if len(pair) == 2 and not pair & {"cases", None}:
                    found.setdefault(tuple(r.id for r in spec.readings if r.id in pair), witness)
    for (one, other), witness in found.items():
        given = {"other": spec.reading(other), "contrasted_at": numbers(witness.texts())}
        yield from expanded(spec, etype, "contrasts", spec.reading(one), **given)


# --- Dialects -----------------------------------------------------------------------------------------------


def dialect_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each dialect beside SONNX, without bounds and after the one before; then conversions."""
    dialects = [d for d in spec.dialects if etype.id in d.element_types]
    for d in dialects:
        yield from _of_dialect(spec, etype, d)
        before = next((p for p in dialects if p.id == d.after), None)
        if before is not None:
            yield from _after(spec, etype, d, before)
        if d.equivalence is not None:
            pair = {"reading": spec.reading(d.reading), "other": spec.reading(d.equivalence.to)}
            yield from expanded(spec, etype, "equivalence", d, d.equivalence, **pair)
    converting = " ".join(d.id for d in dialects if d.converts_to(etype.id))
    if converting and etype.family == "int":
        low, high = beyond(etype, spec.element_type("float32"))
        ends = values({"low": low, "high": high}, Kind.FLOAT)
        yield from expanded(spec, etype, "conversion to integers", id=converting, **ends)
    elif converting:
        is_wider = etype.id == "float64"
        yield from expanded(spec, etype, "conversion to floats", id=converting, is_wider=is_wider)
    scaled = " ".join(d.id for d in dialects if d.scale_bias)
    if scaled and etype.family == "float":
        yield from expanded(
            spec, etype, "scale and bias", id=scaled, is_float16=etype.id == "float16"
        )


def _of_dialect(spec: Spec, etype: ElementType, d: Dialect) -> Iterator[Claim]:
    """A dialect beside SONNX and without bounds."""
    reading, printed = spec.reading(d.reading), {}
    if d.printed_default is not None and etype.id == d.bound_type:
        least, most = d.printed_default.min, d.printed_default.max
        printed = {"printed": most, "at_least": Number(least), "at_most": Number(most)}
    yield from expanded(
        spec, etype, "dialects", d, reading, **_defaults(spec, etype, d), **printed,
        reading=reading, open=leaves_values_open(spec, etype, reading),
        whatever="for all converted bounds, " if d.converts_to(etype.id) else "",
        oracle=spec.reading(d.answers) if d.answers != d.reading else None,
    )  # fmt: skip


def _defaults(spec: Spec, etype: ElementType, d: Dialect) -> dict[str, Any]:
    """The default bounds of a dialect; empty where it has none."""
    found, given = defaults(spec, d, etype), given_defaults(spec, d, etype)
    if found is None or given is None or d.missing is None:
        return {}
    told = f"the least and the greatest number of {etype.id}"
    if found != (encode("lowest", etype), encode("highest", etype)):
        told = f"{show(found[0], etype)} and {show(found[1], etype)}"
    placeholders = {**values({"low": found[0], "high": found[1]}), "told": told, "limits": True}
    placeholders["keeps_infinities"] = etype.family == "float" and found[1] == encode("inf", etype)
    if d.converts_to(etype.id) and d.missing.of == "bound":
        placeholders |= {
            **values({"least": given[0], "greatest": given[1]}, Kind.FLOAT),
            "limits": False,
        }
    return placeholders


def _after(spec: Spec, etype: ElementType, d: Dialect, before: Dialect) -> Iterator[Claim]:
    """A newer version changes nothing with given bounds; without bounds nothing but what it lists."""
    given, old = _defaults(spec, etype, d), _defaults(spec, etype, before)
    if given and old:
        given |= {"low_before": old["low"], "high_before": old["high"]}
    if etype.id in d.changes:
        given |= {"changed_for": d.changes[etype.id], "changed": Number(d.changes[etype.id])}
    yield from expanded(
        spec, etype, "after another", d, **given, before=before,
        reading=spec.reading(d.reading), before_reading=spec.reading(before.reading),
        whatever=" of any converted value" if before.converts_to(etype.id) else "",
        outside=f" unless {unparse(d.widens[etype.family])}" if etype.family in d.widens else "",
    )  # fmt: skip


def dialect_example_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The worked examples of the pages of dialects: entry by entry, or for all X."""
    for example in (e for e in spec.dialect_examples if e.type == etype.id):
        low, high = bounds_of(spec, example)
        reading = spec.reading(spec.dialect(example.dialect).reading)
        rest: dict[str, Any]
        if isinstance(example.Y, ComputedBy):
            computed = spec.reading(example.Y.reading)
            rest = {"by": example.Y.reading, "computed": computed, **numbers(example.Y.texts())}
        else:
            rows, word = range(len(example.pairs)), reading.predicate
            entries = (
                f"group({word}(_X{i}, _low, _high, Y) iff identical(Y, _Y{i}))" for i in rows
            )
            texts = {
                f"{name}{i}": example.pairs[i][of] for i in rows for of, name in enumerate("XY")
            }
            rest = {"entries": Listed(entries), **numbers(texts)}
        rest |= {"reading": reading, **values({"low": low, "high": high})}
        yield from expanded(spec, etype, "examples of dialects", example, **rest)
