"""Renders generated/vectors/<type>.json: triples in bits with the expected results, and their schema."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

from sonnx_clip.backends.templating import header_lines, template
from sonnx_clip.language import encode, show, show_bits
from sonnx_clip.language.special import special_patterns, spread_choices
from sonnx_clip.language.types import FloatBits
from sonnx_clip.language.values import is_nan
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.bounds_in_use import bounds_in_use, values_at
from sonnx_clip.spec.dialects import bounds_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Evaluator, Spec
    from sonnx_clip.spec.entries import ValueClass

    Values = tuple[int, ...]  # of the operands, in bits


SCHEMA_PATH = "generated/vectors/schema.json"


def schema_text(spec: Spec) -> str:
    """The JSON Schema of the files, draft 2020-12. It is closed: what it does not name is not there."""
    machine_types = [etype for etype in spec.element_types if etype.width is not None]
    families = dict.fromkeys(etype.family for etype in machine_types)
    text = template("vectors_schema.json.j2").render(
        header=header_lines(spec),
        spec=spec,
        types=[etype.id for etype in machine_types],
        families=list(families),
        operands=spec.signature.keys,
    )
    return json.dumps(json.loads(text), indent=2) + "\n"


# --- Vectors --------------------------------------------------------------------------------------------
#
# Expected results are computed by `sonnx_clip.spec.evaluate`, which shares nothing with the NumPy oracle.

PER_CLASS = 12
_SAMPLE = 3000  # tried beyond those of the core values

# All of these together are tried, so that no class depends on the luck of the sample.
_CORE = {
    "int": ("lowest", "0", "1", "2", "10", "highest"),
    "uint": ("lowest", "1", "2", "10", "highest"),
    "float": (
        "nan", "-nan", "-inf", "-1", "-0", "0", "smallest_subnormal", "1", "2", "highest", "inf",
    ),
}  # fmt: skip

# Kernels that limit floats as integers treat zeros apart: each pair of bounds about zero is code of its own.
_ZERO_BOUNDS = (
    ("-0", "0"), ("0", "-0"), ("-0", "-0"), ("0", "0"), ("0", "1"), ("-0", "1"), ("-1", "-0"), ("-1", "0"),
    ("0", "-smallest_subnormal"), ("-smallest_subnormal", "0"), ("-smallest_subnormal", "-0"),
)  # fmt: skip
_ABOUT_ZERO = (
    "-inf", "-1", "-smallest_subnormal", "-0", "0", "smallest_subnormal", "1", "inf", "nan", "-nan",
)  # fmt: skip


def render_vectors(spec: Spec) -> dict[str, str]:
    """The text of each file of the target, by its path in the repository."""
    files = {SCHEMA_PATH: schema_text(spec)}
    for etype in spec.element_types:
        if etype.width is not None:
            files[f"generated/vectors/{etype.id}.json"] = type_text(spec, etype)
    return files


def type_text(spec: Spec, etype: ElementType) -> str:
    """The file of an element type: one vector a line, so that a change of one is a change of one line."""
    latitude = {}
    for entry in spec.latitude:
        latitude[entry.id] = {"reason": entry.reason, "always": entry.always}
    classes = {}
    for c in spec.classes_of(etype.family):
        classes[c.id] = {"title": c.title, "matters": c.matters}
    head: dict[str, Any] = {
        "$schema": "schema.json",
        "generated": header_lines(spec),
        "operator": spec.operator,
        "type": etype.id,
        "family": etype.family,
        "bits": _format(etype),
        "latitude": latitude,
        "classes": classes,
    }
    opened = json.dumps(head, indent=2).removesuffix("\n}")
    lines = [f"    {json.dumps(vector)}" for vector in _vectors(spec, etype)]
    vectors = ",\n".join(lines)
    return f'{opened},\n  "vectors": [\n{vectors}\n  ]\n}}\n'


def _format(etype: ElementType) -> dict[str, Any]:
    """How the hex texts of a file are read."""
    if isinstance(etype.bits, FloatBits):
        return {
            "width": etype.width,
            "encoding": "IEEE 754, significand with the hidden bit",
            "exponent": etype.bits.exponent,
            "significand": etype.bits.significand,
        }
    assert etype.bits is not None
    encoding = "two's complement" if etype.bits.signed else "unsigned"
    return {"width": etype.width, "encoding": encoding}


def _vectors(spec: Spec, etype: ElementType) -> Iterator[dict[str, Any]]:
    """The vectors of each class: some of the candidates, those that a text names, those added later.

    A vector is numbered within its class, and users name it by that number.
    """
    evaluate = evaluator(spec, etype)
    candidates = _by_class(evaluate, _candidates(spec, etype))
    added_later = _by_class(evaluate, _added_later(spec, etype))
    named = list(_named(spec, etype))
    for klass in spec.classes_of(etype.family):
        candidates_of_class = candidates[klass.id]
        chosen = _spread(list(candidates_of_class))
        # Named ones are candidates too, which `_spread` may have left out.
        chosen += [values for values in named if values in candidates_of_class]
        chosen += added_later[klass.id]
        distinct = dict.fromkeys(chosen)
        for number, values in enumerate(distinct, 1):
            yield vector_of(evaluate, klass, number, values)


def _by_class(
    evaluate: Evaluator,
    candidates: Iterable[Values],
) -> dict[str, dict[Values, None]]:
    """The candidates in each class, each once and in their order."""
    by_class: dict[str, dict[Values, None]] = {}
    for klass in evaluate.spec.classes_of(evaluate.etype.family):
        by_class[klass.id] = {}  # also of a class that no candidate is in
    for values in candidates:
        # Outside the domain of the operator there is no expected result.
        if not evaluate.is_defined(*values):
            continue
        for klass in evaluate.classes(*values):
            by_class[klass.id][values] = None
    return by_class


def _added_later(spec: Spec, etype: ElementType) -> Iterator[Values]:
    """Values whose vectors come last in each class, so that no other vector is renumbered."""
    yield from _about_zero(spec, etype)
    yield from _of_dialects(spec, etype, cited=True)
    yield from _in_use(spec, etype)


def _about_zero(spec: Spec, etype: ElementType) -> Iterator[Values]:
    """Floats about zero, two scalars as bounds about zero; nothing for integers."""
    if etype.family != "float":
        return
    roles = [operand.role for operand in spec.signature.operands]
    if roles == ["tensor", "scalar", "scalar"]:
        for pair in _ZERO_BOUNDS:
            for x in _ABOUT_ZERO:
                yield _encoded(etype, (x, *pair))
    else:
        # Other operators have no pair of bounds: all combinations.
        for texts in product(_ABOUT_ZERO, repeat=len(roles)):
            yield _encoded(etype, texts)


def _in_use(spec: Spec, etype: ElementType) -> Iterator[Values]:
    """Values at the bounds in use, of an operator with one tensor; X is the value beside each choice."""
    if len(spec.signature.tensors) != 1:  # bounds are scalars beside the one tensor
        return
    for used in bounds_in_use(spec, etype):
        if not used.is_whole:
            continue  # a vector has a value for each operand
        bounds = tuple(side for side in used.sides if side is not None)
        for x in values_at(bounds, etype):
            yield (x, *bounds)


def _encoded(etype: ElementType, texts: Iterable[str]) -> Values:
    return tuple(int(encode(text, etype)) for text in texts)


def _named(spec: Spec, etype: ElementType) -> Iterator[Values]:
    """The worked examples of the YAML, and the numbers that refute a property."""
    yield from _of_dialects(spec, etype, cited=False)
    for example in spec.examples:
        if example.family != etype.family or etype.id in example.not_representable_in:
            continue
        for texts in example.given:
            yield _encoded(etype, texts)
    for claim in spec.properties:
        witness = claim.refuted_for.get(etype.family)
        if witness is not None:
            by_operand = witness.texts()
            # It may have another entry of X (X2), which is no operand.
            yield _encoded(etype, [by_operand[name] for name in spec.signature.ids])


def _of_dialects(spec: Spec, etype: ElementType, *, cited: bool) -> Iterator[Values]:
    """The examples of dialects: those of texts that are kept, or that are cited."""
    for example in spec.dialect_examples:
        page = spec.page(example.source.page)
        is_cited = page.cites is not None
        if example.type != etype.id or is_cited != cited:
            continue
        low, high = bounds_of(spec, example)
        for x, _ in example.pairs:
            yield int(encode(x, etype)), int(low), int(high)


def _candidates(spec: Spec, etype: ElementType) -> Iterator[Values]:
    """Witnesses and named values, each special value beside the witnesses, core values, a sample of all."""
    special = special_patterns(etype)
    count = len(spec.signature.operands)
    # Each class has one, so that no class is without vectors.
    witnesses = []
    for klass in spec.classes_of(etype.family):
        texts = klass.inhabited_by.texts()
        witnesses.append(_encoded(etype, texts.values()))
    # First: `_spread` takes the first of each class, which so is its witness.
    yield from witnesses
    yield from _named(spec, etype)
    for _, *others in witnesses:
        for x in special:
            yield (x, *others)
    # All combinations of special values would be too many: of these there is a sample below.
    core = _encoded(etype, _CORE[etype.family])
    yield from product(core, repeat=count)
    for places in spread_choices(len(special), count, _SAMPLE):
        yield tuple(special[place] for place in places)


def _spread(candidates: list[Values]) -> list[Values]:
    """The first, which is the witness of the YAML, and others evenly from the rest."""
    if len(candidates) <= PER_CLASS:
        return list(candidates)
    last = len(candidates) - 1
    # From 0 to the last in equal steps, both ends included.
    places = [index * last // (PER_CLASS - 1) for index in range(PER_CLASS)]
    return [candidates[place] for place in places]


def vector_of(
    evaluate: Evaluator,
    klass: ValueClass,
    number: int,
    values: Values,
) -> dict[str, Any]:
    """A vector as in a file: bits of operands in a class, the expected result, and acceptable ones."""
    etype = evaluate.etype
    spec = evaluate.spec
    case = evaluate.case(*values)
    expected = int(evaluate.result(*values))
    shown = ", ".join(show(value, etype) for value in values)
    call = f"{spec.signature.function}({shown})"
    operands = {}
    for operand, value in zip(spec.signature.operands, values, strict=True):
        operands[operand.key] = show_bits(value, etype)
    return {
        "id": f"{etype.id}.{klass.id}.{number}",
        "class": klass.id,
        "case": case.id,
        **operands,
        "expected": show_bits(expected, etype),
        "acceptable": list(_acceptable(evaluate, values, expected)),
        "comment": f"{call} is {case.result_text} = {show(expected, etype)}",
    }


def _acceptable(evaluate: Evaluator, values: Values, expected: int) -> Iterator[dict[str, Any]]:
    """The results other than `expected` that a latitude accepts; a latitude accepts all NaNs or none."""
    etype = evaluate.etype
    numbers, nans = _answers(etype)
    for nan in nans[:1]:  # one stands for all; integers have none
        for latitude in evaluate.latitudes(values, nan):
            yield {"latitude": latitude.id, "any_nan": True}
    for answer in numbers:
        if answer == expected:
            continue
        for latitude in evaluate.latitudes(values, answer):
            yield {"latitude": latitude.id, "bits": show_bits(answer, etype)}


@cache
def _answers(etype: ElementType) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The special values of a float type, numbers and NaNs; integers have no latitude."""
    # Memoised, since every vector of a type asks for them.
    if not isinstance(etype.bits, FloatBits):
        return (), ()
    numbers = []
    nans = []
    for value in special_patterns(etype):
        if is_nan(value, etype):
            nans.append(value)
        else:
            numbers.append(value)
    return tuple(numbers), tuple(nans)
