"""Clip as other definitions have it: ONNX by operator set, DirectML by feature level and with ScaleBias,
SONNX by chapter.

>>> clip = dialect("onnx", version=6)
>>> clip(np.array([np.inf, 7.0], np.float16), max=6.0)
array([6., 6.], dtype=float16)

What a dialect takes, and its default for a missing bound, is rendered from ``dialects`` of spec/clip.yaml.
What a dialect does not take is refused in its own words; what its source leaves undefined is refused as that.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.errors import DialectError, UndefinedByDialectError, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.oracle.float_formats import Array


def dialect(system: str, version: str | int) -> DialectOracle:
    """The oracle of a dialect.

    Args:
        system: ``onnx``, ``directml`` or ``sonnx``.
        version: of ONNX 1, 6, 11, 12 or 13; of DirectML ``1.0``, ``2.1``, ``3.0`` or ``5.0``; of SONNX
            ``real``, ``int`` or ``float``, the chapters of the review copy, or the edition ``2026-01``.

    Raises:
        UserError: there is no such dialect.
    """
    return named(f"{system}-{version}")


def named(id_: str) -> DialectOracle:
    """The oracle of a dialect by its id, for example ``onnx-6``; UserError if it is unknown."""
    rows = load_oracle().DIALECTS
    if id_ not in rows:
        raise UserError(f"unknown dialect `{id_}`", todo=f"there are: {', '.join(rows)}")
    return DialectOracle(id_, rows[id_])


class DialectOracle:
    """A versioned definition of Clip that can be called, from its row in the generated oracle."""

    def __init__(self, id_: str, row: Mapping[str, Any]) -> None:
        self.id = id_
        self.row = row

    def __repr__(self) -> str:
        return f"<{self.row['title']}: {self.id}>"

    def __call__(
        self,
        x: object,
        min: object = None,
        max: object = None,
        *,
        scale: object = None,
        bias: object = None,
        out: Array | None = None,
    ) -> Array:
        """Clip as this dialect defines it.

        Args:
            x: array of an element type and a rank that the dialect takes; of Fractions for reals.
            min: the lower bound, or None: an array of shape () or NumPy scalar of the type of `x` where
                bounds are inputs (a Fraction for reals); a FLOAT (np.float32, or a Python number,
                rounded to one) where they are attributes or members.
            max: the upper bound, likewise.
            scale: a FLOAT by which `x` is multiplied first, where the dialect has ScaleBias.
            bias: a FLOAT that is added then; both are given, or neither.
            out: where to write, `x` itself too, where the dialect allows execution in place.

        Returns:
            `out`, or a new array with the shape and element type of `x`.

        Raises:
            DialectError: the dialect does not take this.
            UndefinedByDialectError: its source does not define the result. Both are raised by all methods.
        """
        types = self.row["element_types"]
        holds_fractions = isinstance(x, np.ndarray) and x.dtype == object
        # A dialect of reals alone refuses anything else in its own words.
        if types == ("real",) or ("real" in types and holds_fractions):
            return self._real(x, min, max)
        tensor = self._tensor(x)
        lower, upper = self.bounds(tensor.dtype, min, max)
        tensor, *_ = self.scaled_ways(tensor, scale, bias)
        result = self.answer(tensor, lower, upper)
        if out is None:
            return result
        if not self.row["in_place"]:
            raise self._refused("in_place", "it does not work in place: omit `out`")
        if out.shape != tensor.shape or out.dtype != tensor.dtype:
            raise self._refused("result", "`out` must have the shape and the element type of x")
        out[...] = result
        return out

    def bounds(
        self,
        dtype: np.dtype[Any],
        min: object = None,
        max: object = None,
    ) -> tuple[Array, Array]:
        """The two bounds as arrays of shape () of an element type: given or missing, and converted."""
        lower_default = None
        upper_default = None
        defaults = self.row["missing"]  # empty where both bounds are required
        if defaults:
            lower_default, upper_default = defaults[dtype.name]
        lower = self._given_or_default("min", min, lower_default, dtype)
        upper = self._given_or_default("max", max, upper_default, dtype)
        return lower, upper

    def _given_or_default(
        self,
        name: str,
        value: object,
        default: int | None,
        dtype: np.dtype[Any],
    ) -> Array:
        """A bound; `default` has the bits of an element or of a FLOAT, or is None where it is required."""
        if value is not None:
            return self._bound(name, value, dtype)
        if default is None:
            raise self._missing(name)
        if self.row["missing_of"] == "element":
            pattern = np.array(default, f"u{dtype.itemsize}")
            return pattern.view(dtype)
        default_float = np.uint32(default).view(np.float32)
        return self._converted(name, default_float, dtype)

    def allows(
        self,
        x: Array,
        y: Array,
        min: object = None,
        max: object = None,
        *,
        scale: object = None,
        bias: object = None,
    ) -> Array:
        """Whether the words of the dialect allow each entry of `y`: array of bool of the shape of `x`.

        They may allow more than the answer of the oracle: with scale and bias, each of the `ways`.
        """
        tensor = self._tensor(x)
        lower, upper = self.bounds(tensor.dtype, min, max)
        oracle = load_oracle()
        family = oracle.FAMILY_OF[tensor.dtype.name]
        reading = oracle.READINGS[family][self.row["reading"]]
        allowed = np.zeros(tensor.shape, bool)
        for scaled in self.scaled_ways(tensor, scale, bias):
            allowed = allowed | reading(scaled, lower, upper, y)
        return np.asarray(allowed)

    def scaled_ways(
        self,
        x: Array,
        scale: object = None,
        bias: object = None,
    ) -> tuple[Array, ...]:
        """What may be clipped, in each way that the words allow: first the way of the oracle."""
        if scale is None and bias is None:
            return (x,)
        if not self.row["scale_bias"]:
            raise self._refused("scale_bias", "it has no ScaleBias")
        if scale is None or bias is None:
            raise self._refused("scale_bias", "scale and bias need each other")
        factor = self._float("scale", scale)
        summand = self._float("bias", bias)
        # The source does not say what a FLOAT times an integer is rounded to.
        if load_oracle().FAMILY_OF[x.dtype.name] != "float":
            raise self._undefined("scale_bias_precision", f"ScaleBias of {x.dtype.name}")
        return tuple(ways(x, factor, summand).values())

    def answer(self, x: Array, lower: Array, upper: Array) -> Array:
        """The result for bounds of the element type of `x` that broadcast against it.

        It is the operand that the deciding reading allows: one of X, L and M always is, which is proved.
        """
        oracle = load_oracle()
        family = oracle.FAMILY_OF[x.dtype.name]
        allows = oracle.READINGS[family][self.row["answers"]]
        # By bits, so that every NaN keeps its payload.
        bits = f"u{x.dtype.itemsize}"

        def of_shape(operand: Array) -> Array:
            broadcast = np.broadcast_to(np.asarray(operand), x.shape)
            return np.ascontiguousarray(broadcast)

        # X last: where it is allowed it is the answer, though a bound may be equal to it.
        result = of_shape(upper).view(bits).copy()
        for operand in (of_shape(lower), of_shape(x)):
            is_allowed = allows(x, lower, upper, operand)
            result = np.where(is_allowed, operand.view(bits), result)
        # `ascontiguousarray` makes an array of shape (1,) of one of shape ().
        return result.view(x.dtype).reshape(x.shape)

    def _tensor(self, x: object) -> Array:
        """The first operand, if it is an array of a type and a rank that the dialect takes."""
        if not isinstance(x, np.ndarray):
            kind = type(x).__name__
            raise self._refused("element_types", f"x must be a NumPy array, not {kind}")
        types = self.row["element_types"]
        name = x.dtype.name
        if name not in types or not x.dtype.isnative:
            listed = ", ".join(types)
            raise self._refused("element_types", f"x is {name}; it takes {listed}")
        least, most = self.row["ranks"]
        if x.ndim < least or (most is not None and x.ndim > most):
            ranks = self.row["ranks_told"]
            raise self._refused("ranks", f"x has {x.ndim} dimensions; it takes {ranks}")
        return x

    def _bound(self, name: str, value: object, dtype: np.dtype[Any]) -> Array:
        """A bound that is given, of shape () and of the element type."""
        if self.row["bound_type"] != "tensor":
            number = self._float(name, value)
            return self._converted(name, number, dtype)
        required = f"{name} must be a scalar tensor of {dtype.name}"
        if not isinstance(value, np.ndarray | np.generic):
            kind = type(value).__name__
            raise self._refused("bounds", f"{required}, not {kind}")
        bound = np.asarray(value)
        actual = f"{bound.dtype.name} of shape {bound.shape}"
        if bound.dtype != dtype:
            raise self._refused("bounds", f"{required}, not {actual}")
        if bound.ndim:
            # Some sources have words of their own for the shape of a bound.
            aspect = "scalar_bounds" if "scalar_bounds" in self.row["says"] else "bounds"
            raise self._refused(aspect, f"{required}, not {actual}")
        return bound

    def _float(self, name: str, value: object) -> np.float32:
        """A FLOAT as an attribute or a member holds it."""
        if isinstance(value, np.float32):
            return value
        # A bool is an int of Python, and np.float64 a float.
        is_other_number = isinstance(value, bool | np.generic)
        if is_other_number or not isinstance(value, int | float):
            kind = type(value).__name__
            raise self._refused("bounds", f"{name} must be a FLOAT, not {kind}")
        with np.errstate(over="ignore"):
            rounded = np.float32(value)
        # A finite bound that became infinite would bound nothing.
        if np.isinf(rounded) and not math.isinf(value):
            message = f"{name} = {value} is not a FLOAT: write inf for infinity"
            raise self._refused("bounds", message)
        return rounded

    def _converted(self, name: str, value: np.float32, dtype: np.dtype[Any]) -> Array:
        """A FLOAT in the element type: to a float to nearest, ties to even; to an integer toward zero."""
        family = load_oracle().FAMILY_OF[dtype.name]
        if family == "float":
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                return np.asarray(value.astype(dtype))
        limits = np.iinfo(dtype)
        if np.isfinite(value):
            # As a Python integer, which is exact; NumPy's cast would wrap around.
            integer = math.trunc(float(value))
            if limits.min <= integer <= limits.max:
                return np.array(integer, dtype)
        message = f"{name} = {value} has no {dtype.name} toward zero"
        raise self._undefined("cast_of_no_number", message)

    def _real(self, x: object, min: object, max: object) -> Array:
        """Reals have no bits: fractions, one by one, by the deciding reading, which has one answer."""
        from sonnx_clip.spec.operators import DEFAULT_OPERATOR, specification
        from sonnx_clip.spec.readings import answers

        if not isinstance(x, np.ndarray) or not all(map(_is_exact, x.flat)):
            raise self._refused("element_types", "x must be an array of Fraction")
        lower = self._fraction("min", min)
        upper = self._fraction("max", max)

        # The generated oracle has no reals, so the specification itself is evaluated.
        spec = specification(DEFAULT_OPERATOR)
        real = spec.element_type("real")
        reading = spec.reading(self.row["answers"])
        result = np.empty(x.shape, object)
        for place, value in np.ndenumerate(x):
            triple = (Fraction(value), lower, upper)
            (answer,) = answers(spec, real, reading, triple)
            result[place] = answer
        return result

    def _fraction(self, name: str, bound: object) -> Fraction:
        if bound is None:
            raise self._missing(name)
        if not isinstance(bound, Fraction | int):
            kind = type(bound).__name__
            raise self._refused("bounds", f"{name} must be a Fraction, not {kind}")
        return Fraction(bound)

    def _missing(self, name: str) -> DialectError:
        aspect = "missing_bounds"
        # Some sources have words of their own for max.
        if name == "max" and "missing_max" in self.row["says"]:
            aspect = "missing_max"
        return self._refused(aspect, f"{name} must be given")

    def _refused(self, aspect: str, problem: str) -> DialectError:
        """The error for an aspect, with the words of the source on it if there are any."""
        rule = self.row["says"].get(aspect)
        return DialectError(self.id, aspect, problem, rule)

    def _undefined(self, aspect: str, problem: str) -> UndefinedByDialectError:
        """The error for an aspect on which the source is silent, with what is noted on that."""
        message = f"{problem}: undefined by the source"
        reason = self.row["unsaid"].get(aspect)
        return UndefinedByDialectError(self.id, aspect, message, reason)


def _is_exact(number: object) -> bool:
    return isinstance(number, Fraction | int)


# --- ScaleBias ------------------------------------------------------------------------------------------


def ways(x: Array, scale: np.float32, bias: np.float32) -> dict[str, Array]:
    """What x * scale + bias may be, of float16 or float32, way by way; first as the oracle computes it."""
    with np.errstate(all="ignore"):
        # In the element type, into which scale and bias are cast.
        scale_cast = scale.astype(x.dtype)
        bias_cast = bias.astype(x.dtype)
        product = np.multiply(x, scale_cast)
        cast_twice = np.add(product, bias_cast)
        cast_once = fused(x, scale_cast, bias_cast, x.dtype)

        # In FLOAT, to which X is widened; the result is rounded to the element type in the end.
        wide = x.astype(np.float32)
        wide_product = np.multiply(wide, scale)
        float_twice = np.asarray(np.add(wide_product, bias))
        float_once = fused(x, scale, bias, np.dtype(np.float32))
        return {
            "cast, rounded twice": np.asarray(cast_twice),
            "cast, rounded once": cast_once,
            "in FLOAT, rounded twice": float_twice.astype(x.dtype),
            "in FLOAT, rounded once": float_once.astype(x.dtype),
            "rounded once to the element type": fused(x, scale, bias, x.dtype),
        }


def fused(
    x: Array,
    scale: np.floating[Any],
    bias: np.floating[Any],
    to: np.dtype[Any],
) -> Array:
    """What x * scale + bias is, of float16 or float32 operands, rounded once to float16 or float32.

    The product is exact in float64. A sum that is not exact there is rounded to the neighbour whose last bit
    is 1, which leaves the second rounding what a single one would be.
    """
    with np.errstate(all="ignore"):
        product = np.asarray(x, np.float64) * np.float64(scale)
        summand = np.float64(bias)
        total = np.asarray(product + summand)

        # Knuth's TwoSum: the exact sum is total + error.
        virtual = total - product
        error_of_product = product - (total - virtual)
        error_of_summand = summand - virtual
        error = error_of_product + error_of_summand

        bits = np.ascontiguousarray(total).view(np.uint64).reshape(total.shape)
        is_even = (bits & np.uint64(1)) == 0
        is_inexact = np.isfinite(total) & (error != 0)
        direction = np.where(error > 0, np.inf, -np.inf)
        odd_neighbour = np.nextafter(total, direction)
        rounded = np.where(is_inexact & is_even, odd_neighbour, total)
        return np.asarray(rounded).astype(to)
