"""One call of a dialect explained, for `sonnx-clip dialect`: bounds, result, what else is allowed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.language import encode, show, show_bits
from sonnx_clip.oracle.dialect import named
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.root.errors import DialectError, UserError
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.terminal import hanging
from sonnx_clip.spec import load_spec, result_value
from sonnx_clip.spec.readings import answers_told

if TYPE_CHECKING:
    from sonnx_clip.language import ElementType, Value
    from sonnx_clip.oracle.dialect import DialectOracle as Oracle
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.dialects import Dialect
    from sonnx_clip.spec.readings import Triple

_NAMES = ("min", "max", "scale", "bias")


class ShownNumber(Stored):
    """A number of an element type, as text and as bits."""

    number: str
    bits: str | None


class Applied(Stored):
    """A call of a dialect.

    Args:
        dialect: its id.
        title: its name.
        type: the element type of X.
        x: X.
        given: the other operands as they were given, by name.
        bounds: the two bounds in the element type, given or missing.
        result: what the oracle answers.
        allowed: what the words allow, of the operands; any NaN besides if `any_nan`.
        any_nan: whether they allow any NaN.
        sonnx: the result of SONNX for X and these bounds.
        unsaid: what the page leaves open.
    """

    dialect: str
    title: str
    type: str
    x: ShownNumber
    given: dict[str, ShownNumber]
    bounds: tuple[ShownNumber, ShownNumber]
    result: ShownNumber
    allowed: tuple[ShownNumber, ...]
    any_nan: bool
    sonnx: ShownNumber
    unsaid: dict[str, str]


def apply(id_: str, type_id: str, x: str, **given: str | None) -> Applied:
    """Call a dialect with one entry.

    Args:
        id_: a dialect, for example ``onnx-6``.
        type_id: the element type of X.
        x: X as decimal, hex float, bit pattern or constant.
        given: min, max, scale and bias likewise, or None; FLOATs where the dialect takes such.

    Raises:
        UserError: no such dialect or type, a text that is no number, or what the dialect refuses.
    """
    oracle, spec = named(id_), load_spec()
    dialect, etype = spec.dialect(id_), spec.element_type(type_id)
    float_type = spec.element_type("float32")
    of = dict.fromkeys(("scale", "bias"), float_type)
    of |= dict.fromkeys(("min", "max"), etype if dialect.bound_type == "tensor" else float_type)
    values = {"x": _encoded("--x", x, etype)}
    values |= {
        name: _encoded(f"--{name}", text, of[name])
        for name in _NAMES
        if (text := given.get(name)) is not None
    }
    operands = {name: _operand(value, of.get(name, etype)) for name, value in values.items()}
    try:
        result, triple, others = _called(oracle, operands, etype, dialect.ranks.least)
    except DialectError as error:
        raise UserError(str(error), f"sonnx-clip dialect {id_} {type_id}") from error
    allowed, any_nan = _allowed(spec, dialect, etype, triple, others)
    return Applied(
        dialect=id_,
        title=dialect.title,
        type=type_id,
        x=_told(values["x"], etype),
        given={name: _told(values[name], of[name]) for name in _NAMES if name in values},
        bounds=(_told(triple[1], etype), _told(triple[2], etype)),
        result=_told(result, etype),
        allowed=tuple(_told(y, etype) for y in allowed),
        any_nan=any_nan,
        sonnx=_told(result_value(spec, etype, *triple), etype),
        unsaid=dict(dialect.unsaid),
    )


def _allowed(
    spec: Spec, dialect: Dialect, etype: ElementType, triple: Triple, others: tuple[Value, ...]
) -> tuple[tuple[Value, ...], bool]:
    """What the words allow for X as the oracle scales it, and as they let it be scaled otherwise."""
    reading = spec.reading(dialect.reading)
    told = [answers_told(spec, etype, reading, (x, *triple[1:])) for x in (triple[0], *others)]
    any_nan = any(one for _, one in told)
    return tuple(dict.fromkeys(y for numbers, _ in told for y in numbers)), any_nan


def _encoded(option: str, text: str, etype: ElementType) -> Value:
    try:
        return encode(text, etype)
    except UserError as error:
        raise UserError(error.what, option, error.todo) from error


def _operand(value: Value, etype: ElementType) -> Any:
    """A NumPy scalar, or a Fraction of `real`."""
    if isinstance(value, Fraction):
        return value
    return np.array(value, bits_type(etype.id)).view(numpy_type(etype.id))[()]


def _called(
    oracle: Oracle, operands: dict[str, Any], etype: ElementType, rank: int
) -> tuple[Value, Triple, tuple[Value, ...]]:
    """The result of a call with one entry; X (scaled), L and M as it saw them; X if scaled otherwise."""
    x, bounds = operands["x"], (operands.get("min"), operands.get("max"))
    if etype.family == "real":
        entry = np.full((1,) * rank, x, object)
        (result,) = oracle(entry, *bounds).flat
        return result, (x, operands["min"], operands["max"]), ()  # a missing bound was refused
    entry = np.full((1,) * rank, x)
    scaling = operands.get("scale"), operands.get("bias")
    result = oracle(entry, *bounds, scale=scaling[0], bias=scaling[1])
    scaled, *others = (_bits(way) for way in oracle.scaled_ways(entry, *scaling))
    lower, upper = oracle.bounds(entry.dtype, *bounds)
    return _bits(result), (scaled, _bits(lower), _bits(upper)), tuple(others)


def _bits(array: Any) -> int:
    found = np.ascontiguousarray(array)
    return int(found.view(f"u{found.dtype.itemsize}").reshape(-1)[0])


def _told(value: Value, etype: ElementType) -> ShownNumber:
    bits = show_bits(value, etype) if etype.width is not None else None
    return ShownNumber(number=show(value, etype), bits=bits)


def applied_text(told: Applied, width: int | None = None) -> str:
    """A call as lines of text, wrapped at `width` columns or whole."""
    shown = ", ".join(told.given[name].number if name in told.given else "missing" for name in ("min", "max"))
    lines = [f"{told.dialect}, {told.type}: clip({told.x.number}, {shown}) = {told.result.number}"]
    lines.append(f"  X        {_both(told.x)}")
    for name, bound in zip(("min", "max"), told.bounds, strict=True):
        as_given = _both(told.given[name]) if name in told.given else "missing"
        becomes = "" if told.given.get(name) == bound else f", which is {_both(bound)} in {told.type}"
        lines.append(f"  {name:<8} {as_given}{becomes}")
    lines += [f"  {name:<8} {_both(told.given[name])}" for name in ("scale", "bias") if name in told.given]
    lines.append(f"  result   {_both(told.result)}")
    allowed = [*(_both(one) for one in told.allowed), *(["any NaN"] if told.any_nan else [])]
    lines.append(f"  allowed  {' or '.join(allowed)}")
    lines.append(
        f"  SONNX    {_both(told.sonnx)}{'' if told.sonnx == told.result else ', a different result'}"
    )
    lines += [f"  silent   {aspect.replace('_', ' ')}: {what}" for aspect, what in told.unsaid.items()]
    return "\n".join(hanging(line, width, indent=9) for line in lines)


def _both(told: ShownNumber) -> str:
    return f"{told.number}  {told.bits}" if told.bits else told.number
