"""Clip as other definitions have it: ONNX by operator set, DirectML by feature level and with ScaleBias,
SONNX by chapter.

>>> clip = named("onnx-6")
>>> clip(np.array([np.inf, 7.0], np.float16), max=np.float32(6))
array([6., 6.], dtype=float16)

What a dialect takes, and its default for a missing bound, is rendered from ``dialects`` of spec/clip.yaml.
What a dialect does not take is refused in its own words; what its source leaves undefined is refused as that.
Reals have no bits: `sonnx_clip.spec.readings` answers for them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.errors import DialectError, UndefinedByDialectError, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.root.dtypes import Array


def named(id_: str) -> DialectOracle:
    """The oracle of a dialect by its id, for example ``onnx-6``; UserError if it is unknown."""
    rows = load_oracle().DIALECTS
    if id_ not in rows:
        raise UserError(f"unknown dialect `{id_}`", todo=f"there are: {', '.join(rows)}")
    return DialectOracle(id_, rows[id_])


class DialectOracle:
    """A versioned definition of Clip that can be called, from its row in the generated oracle.

    All methods raise DialectError for what the dialect does not take, and UndefinedByDialectError where its
    source does not define the result.
    """

    def __init__(self, id_: str, row: Mapping[str, Any]) -> None:
        self.id = id_
        self.row = row

    def __call__(
        self,
        x: Array,
        min: Any = None,
        max: Any = None,
        *,
        scale: np.float32 | None = None,
        bias: np.float32 | None = None,
    ) -> Array:
        """Clip as this dialect defines it: a new array with the shape and element type of `x`.

        Args:
            x: array of an element type and a rank that the dialect takes.
            min: the lower bound, or None: an array of shape () or NumPy scalar of the type of `x` where
                bounds are inputs; a FLOAT (np.float32) where they are attributes or members.
            max: the upper bound, likewise.
            scale: a FLOAT by which `x` is multiplied first, where the dialect has ScaleBias.
            bias: a FLOAT that is added then; both are given, or neither.
        """
        self._check(x)
        lower, upper = self.bounds(x.dtype, min, max)
        return self.answer(self.scaled_ways(x, scale, bias)[0], lower, upper)

    def bounds(self, dtype: np.dtype[Any], min: Any = None, max: Any = None) -> tuple[Array, Array]:
        """The two bounds as arrays of shape () of an element type: given or missing, and converted."""
        defaults = self.row["missing"][dtype.name] if self.row["missing"] else (None, None)
        found = []
        for name, value, default in zip(("min", "max"), (min, max), defaults, strict=True):
            if value is not None:
                found.append(self._bound(name, np.asarray(value), dtype))
            elif default is None:
                raise self.missing(name)
            elif self.row["missing_of"] == "element":
                found.append(np.array(default, f"u{dtype.itemsize}").view(dtype))
            else:
                found.append(self._converted(name, np.uint32(default).view(np.float32), dtype))
        return found[0], found[1]

    def scaled_ways(self, x: Array, scale: Any = None, bias: Any = None) -> tuple[Array, ...]:
        """What may be clipped, in each way that the words allow: first the way of the oracle."""
        if scale is None and bias is None:
            return (x,)
        if not self.row["scale_bias"]:
            raise self._refused("scale_bias", "it has no ScaleBias")
        if scale is None or bias is None:
            raise self._refused("scale_bias", "scale and bias need each other")
        if load_oracle().FAMILY_OF[x.dtype.name] != "float":
            raise self._undefined("scale_bias_precision", f"ScaleBias of {x.dtype.name}")
        return ways(x, scale, bias)

    def answer(self, x: Array, lower: Array, upper: Array) -> Array:
        """The result for bounds of the element type of `x` that broadcast against it.

        It is the operand that the deciding reading allows: one of X, L and M always is, which is proved.
        """
        oracle = load_oracle()
        allows = oracle.READINGS[oracle.FAMILY_OF[x.dtype.name]][self.row["answers"]]
        operands = [np.broadcast_to(np.asarray(operand), x.shape) for operand in (upper, lower, x)]
        bits = f"u{x.dtype.itemsize}"
        result = np.ascontiguousarray(operands[0]).view(bits).copy()
        for operand in operands[1:]:
            chosen = np.ascontiguousarray(operand)
            result = np.where(allows(x, lower, upper, chosen), chosen.view(bits), result)
        return result.view(x.dtype).reshape(x.shape)

    def _check(self, x: Array) -> None:
        types, (least, most) = self.row["element_types"], self.row["ranks"]
        if x.dtype.name not in types or not x.dtype.isnative:
            raise self._refused("element_types", f"x is {x.dtype.name}; it takes {', '.join(types)}")
        if x.ndim < least or (most is not None and x.ndim > most):
            raise self._refused("ranks", f"x has {x.ndim} dimensions; it takes {self.row['ranks_told']}")

    def _bound(self, name: str, bound: Array, dtype: np.dtype[Any]) -> Array:
        is_tensor = self.row["bound_type"] == "tensor"
        if bound.dtype != (dtype if is_tensor else np.float32) or bound.ndim:
            kind = f"a scalar tensor of {dtype.name}" if is_tensor else "a FLOAT"
            what = f"{name} must be {kind}, not {bound.dtype.name} of shape {bound.shape}"
            raise self._refused("scalar_bounds" if bound.ndim else "bounds", what)
        return bound if is_tensor else self._converted(name, np.float32(bound), dtype)

    def _converted(self, name: str, value: np.float32, dtype: np.dtype[Any]) -> Array:
        """A FLOAT in the element type: to a float to nearest, ties to even; to an integer toward zero."""
        if load_oracle().FAMILY_OF[dtype.name] == "float":
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                return np.asarray(value.astype(dtype))
        ends = np.iinfo(dtype)
        if not np.isfinite(value) or not ends.min <= math.trunc(float(value)) <= ends.max:
            raise self._undefined("cast_of_no_number", f"{name} = {value} has no {dtype.name} toward zero")
        return np.array(math.trunc(float(value)), dtype)

    def missing(self, name: str) -> DialectError:
        """The error that a bound must be given, in the words of the source."""
        aspect = "missing_max" if name == "max" and "missing_max" in self.row["says"] else "missing_bounds"
        return self._refused(aspect, f"{name} must be given")

    def _refused(self, aspect: str, what: str) -> DialectError:
        return DialectError(self.id, aspect, what, self.row["says"].get(aspect))

    def _undefined(self, aspect: str, what: str) -> UndefinedByDialectError:
        return UndefinedByDialectError(
            self.id, aspect, f"{what}: undefined by the source", self.row["unsaid"].get(aspect)
        )


# --- ScaleBias ------------------------------------------------------------------------------------------


def ways(x: Array, scale: np.float32, bias: np.float32) -> tuple[Array, ...]:
    """What x * scale + bias may be, of float16 or float32, way by way; first as the oracle computes it."""
    with np.errstate(all="ignore"):
        by, plus = scale.astype(x.dtype), bias.astype(x.dtype)
        wide = x.astype(np.float32)
        return (
            np.asarray(np.add(np.multiply(x, by), plus)),  # cast, rounded twice
            fused(x, by, plus, x.dtype),  # cast, rounded once
            np.asarray(np.add(np.multiply(wide, scale), bias)).astype(x.dtype),  # in FLOAT, rounded twice
            fused(x, scale, bias, np.dtype(np.float32)).astype(x.dtype),  # in FLOAT, rounded once
            fused(x, scale, bias, x.dtype),  # rounded once to the element type
        )


def fused(x: Array, scale: np.floating[Any], bias: np.floating[Any], to: np.dtype[Any]) -> Array:
    """What x * scale + bias is, of float16 or float32 operands, rounded once to float16 or float32.

    The product is exact in float64. A sum that is not exact there is rounded to the neighbour whose last bit
    is 1, which leaves the second rounding what a single one would be.
    """
    with np.errstate(all="ignore"):
        product = np.asarray(x, np.float64) * np.float64(scale)
        plus = np.float64(bias)
        total = np.asarray(product + plus)
        virtual = total - product
        error = (product - (total - virtual)) + (plus - virtual)
        even = (np.ascontiguousarray(total).view(np.uint64).reshape(total.shape) & np.uint64(1)) == 0
        off = np.isfinite(total) & (error != 0) & even
        odd = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
        return np.asarray(np.where(off, odd, total)).astype(to)
