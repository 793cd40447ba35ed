"""One call of a dialect, for `sonnx-clip dialect`: converted bounds, the result, and what else is allowed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sonnx_clip.explain.triple import WrittenNumber, encoded_options, written_number
from sonnx_clip.oracle.dialect import named
from sonnx_clip.root.dtypes import from_bits
from sonnx_clip.root.errors import DialectError, UserError
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.terminal import hanging
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.readings import answers_told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language import ElementType, Value
    from sonnx_clip.oracle.dialect import DialectOracle as Oracle
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.readings import Triple

_NAMES = ("min", "max", "scale", "bias")


class Applied(Stored):
    """A call of a dialect.

    `given` are the operands beside X, by name; `bounds` are min and max in the type of X, given or missing;
    `result` is what the oracle answers, `allowed` what the page allows (any NaN besides if `any_nan`), and
    `sonnx` the result of SONNX for X and these bounds. `unsaid` is what the page leaves open.
    """

    dialect: str
    title: str
    type: str
    x: WrittenNumber
    given: dict[str, WrittenNumber]
    bounds: tuple[WrittenNumber, WrittenNumber]
    result: WrittenNumber
    allowed: tuple[WrittenNumber, ...]
    any_nan: bool
    sonnx: WrittenNumber
    unsaid: dict[str, str]


def apply(spec: Spec, id_: str, type_id: str, x: str, **given: str | None) -> Applied:
    """Call a dialect of Clip, for example ``onnx-6``, with one entry of X of an element type.

    X is a decimal, hex float, bit pattern or constant; so are min, max, scale and bias, or None. UserError
    for an unknown dialect or type, a text that is no number, and what the dialect rejects.
    """
    oracle = named(id_)
    dialect = spec.dialect(id_)
    etype = spec.element_type(type_id)
    float_type = spec.element_type("float32")
    # Bounds that are not of the type of X are FLOAT, as attributes or members of a structure.
    bound_type = etype if dialect.bound_type == "tensor" else float_type
    types = {
        "x": etype,
        "min": bound_type,
        "max": bound_type,
        "scale": float_type,
        "bias": float_type,
    }
    options: dict[str, tuple[str | None, ElementType]] = {"x": (x, etype)}
    for name in _NAMES:
        options[name] = (given.get(name), types[name])
    values = encoded_options(options)

    operands: dict[str, Any] = {}  # NumPy scalars, or Fractions of `real`
    for name, value in values.items():
        if isinstance(value, Fraction):
            operands[name] = value
        else:
            # A scalar of NumPy, and no array of rank 0.
            operands[name] = from_bits(value, types[name].id)[()]
    try:
        # X has one entry in the least rank that the dialect takes: the rank does not matter.
        call = _called(oracle, operands, etype, dialect.ranks.least)
    except DialectError as error:
        raise UserError(str(error), f"sonnx-clip dialect {id_} {type_id}") from error

    written = {}
    for name in _NAMES:
        if name in values:
            written[name] = written_number(values[name], types[name])
    allowed, any_nan = _allowed(spec, etype, dialect, call)
    # SONNX has no scale: it is asked for the X that the dialect has scaled, and for bounds of its type.
    own_result = evaluator(spec, etype).result(*call.triple)
    _, low, high = call.triple
    return Applied(
        dialect=id_,
        title=dialect.title,
        type=type_id,
        x=written_number(values["x"], etype),
        given=written,
        bounds=(written_number(low, etype), written_number(high, etype)),
        result=written_number(call.result, etype),
        allowed=tuple(written_number(number, etype) for number in allowed),
        any_nan=any_nan,
        sonnx=written_number(own_result, etype),
        unsaid=dict(dialect.unsaid),
    )


class _Call(NamedTuple):
    """A call with one entry: its result, X (scaled), L and M as used, and X if scaled in other ways."""

    result: Value
    triple: Triple
    other_x: tuple[Value, ...] = ()


def _allowed(
    spec: Spec, etype: ElementType, dialect: Dialect, call: _Call
) -> tuple[list[Value], bool]:
    """The numbers that the page allows for X scaled in any way, each once; whether it allows any NaN."""
    reading = spec.reading(dialect.reading)
    x_as_used, *bounds = call.triple
    allowed: list[Value] = []
    any_nan = False
    for x in (x_as_used, *call.other_x):
        numbers, allows_nan = answers_told(spec, etype, reading, (x, *bounds))
        for number in numbers:
            # As bits, so that zeros of both signs are two answers.
            if number not in allowed:
                allowed.append(number)
        any_nan = any_nan or allows_nan
    return allowed, any_nan


def _called(oracle: Oracle, operands: dict[str, Any], etype: ElementType, rank: int) -> _Call:
    """Call a dialect with one entry of X; DialectError for what it rejects."""
    x = operands["x"]
    lower = operands.get("min")
    upper = operands.get("max")
    shape = (1,) * rank
    if etype.family == "real":
        real_entry = np.full(shape, x, object)
        (real_result,) = oracle(real_entry, lower, upper).flat
        # The oracle has rejected a missing bound.
        return _Call(real_result, (x, operands["min"], operands["max"]))

    entry = np.full(shape, x)
    scale = operands.get("scale")
    bias = operands.get("bias")
    result = oracle(entry, lower, upper, scale=scale, bias=bias)

    # The first of the ways that the words allow is that of the oracle.
    ways = oracle.scaled_ways(entry, scale, bias)
    scaled, *other_x = map(_bits, ways)
    used_bounds = oracle.bounds(entry.dtype, lower, upper)
    low, high = map(_bits, used_bounds)
    return _Call(
        result=_bits(result),
        triple=(scaled, low, high),
        other_x=tuple(other_x),
    )


def _bits(array: Any) -> int:
    """The pattern of the first entry."""
    entries = np.ascontiguousarray(array)
    patterns = entries.view(f"u{entries.dtype.itemsize}")
    return int(patterns.reshape(-1)[0])


def applied_text(call: Applied, width: int | None = None) -> str:
    """A call as lines of text, wrapped at `width` columns or whole."""
    return "\n".join(hanging(line, width, indent=9) for line in _applied_lines(call))


def _applied_lines(call: Applied) -> Iterator[str]:
    # The bounds as they were given; the lines below show what the dialect makes of them.
    arguments = [call.x.decimal]
    for name in ("min", "max"):
        bound = call.given.get(name)
        arguments.append("missing" if bound is None else bound.decimal)
    text = f"clip({', '.join(arguments)}) = {call.result.decimal}"
    yield f"{call.dialect}, {call.type}: {text}"

    yield f"  X        {call.x}"
    for name, used in zip(("min", "max"), call.bounds, strict=True):
        bound = call.given.get(name)
        # Of a missing bound too: its default is a number of the type.
        becomes = "" if bound == used else f", which is {used} in {call.type}"
        yield f"  {name:<8} {bound or 'missing'}{becomes}"
    for name in ("scale", "bias"):
        if name in call.given:
            yield f"  {name:<8} {call.given[name]}"
    yield f"  result   {call.result}"

    allowed = [str(number) for number in call.allowed]
    if call.any_nan:
        allowed.append("any NaN")
    yield f"  allowed  {' or '.join(allowed)}"

    # SONNX has no call without bounds: its result is for the numbers that stand for a missing one.
    has_both = "min" in call.given and "max" in call.given
    with_bounds = "" if has_both else " with these numbers as bounds"
    differs = "" if call.sonnx == call.result else ", a different result"
    yield f"  SONNX    {call.sonnx}{with_bounds}{differs}"

    for aspect, meaning in call.unsaid.items():
        aspect_in_words = aspect.replace("_", " ")
        yield f"  silent   {aspect_in_words}: {meaning}"
