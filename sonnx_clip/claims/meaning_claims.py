"""Claims on encodings, cases and classes, properties, latitude and worked examples, in one element type."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from sonnx_clip.claims.nodes import all_of, any_of, call, element, group, numbers, value, variables_of
from sonnx_clip.claims.templates import Listed, expanded
from sonnx_clip.language.values import encode, float_bits, infinity, sign_bit
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.evaluate import readings_of_latitude

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.claims.claim import Claim
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Property

WRITTEN = frozenset({"Clip"})
"""The operators of which a person wrote theories and kernels."""


def encoding_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What the symbols of the element type mean, in bits; the named constants are what they say."""
    if etype.family == "int":
        yield from expanded(spec, etype, "encoding of integers", etype)
    elif etype.family == "float":
        form = float_bits(etype)
        bits = {"zero": 0, "normal": 1 << (form.significand - 1), "infinity": infinity(form)}
        literals = {name: value(pattern) for name, pattern in bits.items()}
        known = {definition.id: True for definition in spec.definitions}
        yield from expanded(spec, etype, "encoding of floats", etype, **literals, **known)


def integer_route_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """That floats can be limited as integers: lemmas of a float format; other types have none."""
    if etype.family == "float":
        sign, most = sign_bit(float_bits(etype)), infinity(float_bits(etype))
        bits = {"plus_zero": 0, "minus_zero": sign, "infinity": most, "n": most + 1}
        bits |= {"minus_infinity": sign | most, "magnitude": sign - 1}
        literals = {name: value(pattern) for name, pattern in bits.items()}
        yield from expanded(spec, etype, "integer route", etype, **literals)


def _parts(ids: list[str]) -> dict[str, Any]:
    """The ids of cases or classes, and that no two of them hold, for the templates."""
    return {
        "ids": Listed(ids),
        "no_two_of": Listed(f"not ({a} and {b})" for a, b in combinations(ids, 2)),
    }


def case_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The cases are complete, disjoint and inhabited, and mean what a person wrote of Clip."""
    result = f"{spec.head.function}({', '.join(spec.head.operands)})"
    yield from expanded(
        spec, etype, "cases", **_parts([case.id for case in spec.cases]), by_hand=spec.operator in WRITTEN,
        results=Listed(f"({c.id} implies identical({result}, {c.result}))" for c in spec.cases),
    )  # fmt: skip
    for case in spec.cases:
        yield from expanded(spec, etype, "inhabited", case)


def class_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The classes part each case, and each is inhabited."""
    for case in spec.cases:
        classes = spec.classes_of(etype.family, case.id)
        yield from expanded(spec, etype, "classes", case, **_parts([c.id for c in classes]))
        for c in classes:
            yield from expanded(spec, etype, "inhabited", c)


def property_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each property: proved, or refuted at its witness and proved under its condition."""
    for p in spec.properties:
        if etype.family in p.families:
            met_at = _numbers_that_meet(spec, etype, p) if etype.family in p.refuted_for else None
            bound = " ".join(variables_of(spec.head, p.claim))
            yield from expanded(spec, etype, "properties", p, bound=bound, met_at=met_at)


def _numbers_that_meet(spec: Spec, etype: ElementType, p: Property) -> dict[str, Any]:
    """The last of the classes' witnesses that meets the condition under which a property holds."""
    ask = evaluator(spec, etype)
    for c in reversed(spec.classes_of(etype.family)):
        texts = c.inhabited_by.texts()
        texts[spec.head.second] = texts[spec.head.operands[0]]
        if ask(p.repaired[etype.family], {name: encode(text, etype) for name, text in texts.items()}):
            return numbers(texts)
    what = f"no witness of a class meets the condition of {p.id} for {etype.family}: it may be empty"
    raise UserError(what, spec.file, "weaken the condition")


def _narrow(spec: Spec) -> str:
    """What latitude may accept at all: the value of the result, or the NaN of the first operand."""
    return f"A == Y or is_nan(A) and is_nan(Y) or is_nan(A) and is_nan({spec.head.operands[0]})"


def latitude_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """Each latitude is used by some answer that differs from the cases, and accepts no other value."""
    for entry in spec.latitude if etype.family == "float" else ():
        yield from expanded(spec, etype, "latitude", entry, narrow=_narrow(spec))


def latitude_reading_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """What the latitude of a float type has to do with the readings; the other types have none."""
    if etype.family != "float":
        return
    asked = ", ".join((*spec.head.operands, "A"))
    for entry in spec.latitude:
        given = Listed(f"{spec.reading(id_).predicate}({asked})" for id_ in entry.given_by)
        yield from expanded(spec, etype, "latitude and readings", entry, given=given)
    granted = (group(all_of(group(entry.when), group(entry.accepts))) for entry in spec.latitude)
    accepted = any_of(call("identical", element("A"), element("Y")), *granted)
    all_of_it = {"accepted": accepted, "latitude": Listed(entry.id for entry in spec.latitude)}
    for reading in readings_of_latitude(spec):
        yield from expanded(spec, etype, "readings and latitude", reading, narrow=_narrow(spec), **all_of_it)


def example_claims(spec: Spec, etype: ElementType) -> Iterator[Claim]:
    """The worked examples of the page, entry by entry."""
    for example in spec.examples:
        if example.family == etype.family and etype.id not in example.not_representable_in:
            head, entries, texts = spec.head, list[str](), dict[str, str]()
            for row, given in enumerate(example.given):
                at = {name: f"_{name}{row}" if name in head.tensors else name for name in head.operands}
                entries.append(f"identical({head.function}({', '.join(at.values())}), _Y{row})")
                texts |= {f"{name}{row}": text for name, text in zip(at, given, strict=True)}
                texts[f"Y{row}"] = example.Y[row]
            scalars = numbers({name: getattr(example, name) for name in head.scalars})
            every = Listed(entries)
            yield from expanded(
                spec, etype, "examples", example, entries=every, scalars=scalars, **numbers(texts)
            )
