"""One call of a dialect, for `sonnx-clip dialect`: converted bounds, the result, and what else is allowed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.explain.triple import WrittenNumber, encoded, written
from sonnx_clip.oracle.dialect import named
from sonnx_clip.root.dtypes import from_bits
from sonnx_clip.root.errors import DialectError, UserError
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.terminal import hanging
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.readings import answers_told

if TYPE_CHECKING:
    from sonnx_clip.language import ElementType, Value
    from sonnx_clip.oracle.dialect import DialectOracle as Oracle
    from sonnx_clip.spec import Spec
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
    dialect, etype = spec.dialect(id_), spec.element_type(type_id)
    float_type = spec.element_type("float32")
    of_bounds = etype if dialect.bound_type == "tensor" else float_type
    types = {
        "x": etype,
        "min": of_bounds,
        "max": of_bounds,
        "scale": float_type,
        "bias": float_type,
    }
    texts = {"x": x, **{name: given.get(name) for name in _NAMES}}
    values = encoded({name: (text, types[name]) for name, text in texts.items()})
    operands = {  # NumPy scalars, or Fractions of `real`
        name: value if isinstance(value, Fraction) else from_bits(value, types[name].id)[()]
        for name, value in values.items()
    }
    try:
        result, triple, others = _called(oracle, operands, etype, dialect.ranks.least)
    except DialectError as error:
        raise UserError(str(error), f"sonnx-clip dialect {id_} {type_id}") from error
    reading = spec.reading(dialect.reading)
    allowed = [
        answers_told(spec, etype, reading, (one, *triple[1:])) for one in (triple[0], *others)
    ]
    return Applied(
        dialect=id_,
        title=dialect.title,
        type=type_id,
        x=written(values["x"], etype),
        given={name: written(values[name], types[name]) for name in _NAMES if name in values},
        bounds=(written(triple[1], etype), written(triple[2], etype)),
        result=written(result, etype),
        allowed=tuple(
            written(y, etype) for y in dict.fromkeys(y for numbers, _ in allowed for y in numbers)
        ),
        any_nan=any(any_nan for _, any_nan in allowed),
        sonnx=written(evaluator(spec, etype).result(*triple), etype),
        unsaid=dict(dialect.unsaid),
    )


def _called(
    oracle: Oracle, operands: dict[str, Any], etype: ElementType, rank: int
) -> tuple[Value, Triple, tuple[Value, ...]]:
    """The result of a call with one entry; X (scaled), L and M as used; X if scaled in other ways."""
    x, bounds = operands["x"], (operands.get("min"), operands.get("max"))
    if etype.family == "real":
        (result,) = oracle(np.full((1,) * rank, x, object), *bounds).flat
        return result, (x, operands["min"], operands["max"]), ()  # a missing bound was rejected
    entry = np.full((1,) * rank, x)
    scaling = operands.get("scale"), operands.get("bias")
    result = oracle(entry, *bounds, scale=scaling[0], bias=scaling[1])
    scaled, *others = (_bits(way) for way in oracle.scaled_ways(entry, *scaling))
    lower, upper = oracle.bounds(entry.dtype, *bounds)
    return _bits(result), (scaled, _bits(lower), _bits(upper)), tuple(others)


def _bits(array: Any) -> int:
    found = np.ascontiguousarray(array)
    return int(found.view(f"u{found.dtype.itemsize}").reshape(-1)[0])


def applied_text(call: Applied, width: int | None = None) -> str:
    """A call as lines of text, wrapped at `width` columns or whole."""
    shown = ", ".join(
        call.given[name].decimal if name in call.given else "missing" for name in ("min", "max")
    )
    lines = [
        f"{call.dialect}, {call.type}: clip({call.x.decimal}, {shown}) = {call.result.decimal}",
        f"  X        {call.x}",
    ]
    for name, bound in zip(("min", "max"), call.bounds, strict=True):
        becomes = "" if call.given.get(name) == bound else f", which is {bound} in {call.type}"
        lines.append(f"  {name:<8} {call.given.get(name, 'missing')}{becomes}")
    lines += [f"  {name:<8} {call.given[name]}" for name in ("scale", "bias") if name in call.given]
    differs = "" if call.sonnx == call.result else ", a different result"
    given = "" if {"min", "max"} <= call.given.keys() else " with these numbers as bounds"
    lines += [
        f"  result   {call.result}",
        f"  allowed  {' or '.join([*map(str, call.allowed), *(['any NaN'] if call.any_nan else [])])}",
        f"  SONNX    {call.sonnx}{given}{differs}",
        *(f"  silent   {aspect.replace('_', ' ')}: {what}" for aspect, what in call.unsaid.items()),
    ]
    return "\n".join(hanging(line, width, indent=9) for line in lines)
