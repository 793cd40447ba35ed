"""Implementations of Clip with one mistake each, which a report must name by its cause, after public reports.

Functions of x, l and m are for `check --runtime`, functions of a model for `check --onnx`.
"""

import ml_dtypes
import numpy as np

from tests.meta import planted_forms, planted_openers
from tests.meta.planted import bits, chosen, ignores_upper, right

__version__ = "6"


# --- Bounds in use, for which a runtime or a converter has a case of its own


def relu6_as_relu(x, l, m):
    """TensorRT issue 4606, MMdnn issue 72: Clip(0, 6) becomes a Relu without an upper bound."""
    return ignores_upper(x, l, m) if l == 0 and m == 6 else right(x, l, m)


def zero_min_drops_max(x, l, m):
    """TensorRT issue 4606: where min is 0, Clip becomes a Relu whatever max is."""
    return ignores_upper(x, l, m) if l == 0 and m > 0 else right(x, l, m)


def zero_min_as_relu6(x, l, m):
    """MNN issue 794, OpenCV issue 14902: where min is 0, Clip becomes a ReLU6 whatever max is."""
    return right(x, l, x.dtype.type(6)) if l == 0 and m > 0 else right(x, l, m)


def wrong_for_constants(mistake):
    """A runtime of models with a mistake where the bounds are constants: converters see their values."""

    def answer(seen, x, l, m):
        return right(x, l, m) if seen.bounds == "inputs" else mistake(x, l, m)

    return planted_openers.opener(planted_forms.runtime(answer))


constant_relu6_as_relu = wrong_for_constants(relu6_as_relu)
constant_zero_min_drops_max = wrong_for_constants(zero_min_drops_max)
constant_zero_min_as_relu6 = wrong_for_constants(zero_min_as_relu6)
# onnx-tensorrt issue 586, hidet issue 97: bounds must be constants, and TensorRT issue 4606 is in them.
constants_only_zero_min_drops_max = planted_openers.with_constants_only(constant_zero_min_drops_max)


# --- What is computed in the place of Clip


def zero_without_sign(x, l, m):
    """PyTorch issues 181801 and 185354: which zero is returned depends on the back end; here +0."""
    y = right(x, l, m)
    return chosen(y == 0, np.zeros_like(y), y)


def _without_subnormals(a):
    is_subnormal = np.abs(a) < ml_dtypes.finfo(a.dtype).smallest_normal
    return chosen(is_subnormal, np.copysign(np.zeros_like(a), a), a)


def flushes_subnormals(x, l, m):
    """clspv issue 1631, LLVM issue 219295: subnormal operands count as zeros of their sign."""
    with np.errstate(invalid="ignore"):
        return right(_without_subnormals(x), _without_subnormals(l), _without_subnormals(m))


def _through(dtype, x, l, m):
    with np.errstate(over="ignore", invalid="ignore"):
        return right(x.astype(dtype), l.astype(dtype), m.astype(dtype))


def _saturated(y, dtype):
    """Floats as integers: what is out of range becomes the nearest integer."""
    info = np.iinfo(dtype)
    numbers = [min(max(int(value), info.min), info.max) for value in y.ravel().tolist()]
    return np.array(numbers, dtype).reshape(y.shape)


def int32_through_float32(x, l, m):
    """coremltools issue 2839: int32 is computed in float32."""
    return _saturated(_through(np.float32, x, l, m), x.dtype)


def int64_through_float64(x, l, m):
    """coremltools issue 2839, for 64 bits: int64 is computed in float64, as in a language of doubles."""
    return _saturated(_through(np.float64, x, l, m), x.dtype)


def int64_by_low_32_bits(x, l, m):
    """coremltools issue 2839, TensorRT: int64 is cast to int32, and the high bits are lost."""
    return _through(np.int32, x, l, m).astype(x.dtype)


def _compared_as(dtype, x, l, m):
    return right(x.view(dtype), l.view(dtype), m.view(dtype)).view(x.dtype)


def uint8_compared_as_int8(x, l, m):
    """torch-mlir issue 4568: unsigned integers are compared as signed."""
    return _compared_as(np.int8, x, l, m)


def int16_compared_as_uint16(x, l, m):
    """torch-mlir issue 4568, the other way round: signed integers are compared as unsigned."""
    return _compared_as(np.uint16, x, l, m)


def float32_through_float16(x, l, m):
    """PyTorch issue 181801, TensorRT with FP16: float32 is computed in float16."""
    return _through(np.float16, x, l, m).astype(x.dtype)


def float64_through_float32(x, l, m):
    """coremltools issue 2839, for floats: float64 is computed in float32."""
    return _through(np.float32, x, l, m).astype(x.dtype)


def infinite_bounds_made_finite(x, l, m):
    """onnxruntime-qnn issue 761: a back end without infinite bounds gets the greatest finite number."""
    info = ml_dtypes.finfo(x.dtype)
    ends = {-np.inf: info.min, np.inf: info.max}
    low, high = (np.asarray(ends.get(float(bound), bound), x.dtype) for bound in (l, m))
    return right(x, low, high)


def bounds_limited_to_int32(x, l, m):
    """onnx-tensorrt issue 586: bounds of int64 are clamped to the range of int32."""
    info = np.iinfo(np.int32)
    low, high = (np.clip(bound, info.min, info.max).astype(x.dtype) for bound in (l, m))
    return right(x, low, high)


def bounds_swapped(x, l, m):
    """MNN issue 794: min and max are taken in the wrong order."""
    return right(x, m, l)


def inverted_bounds_swapped(x, l, m):
    """OpenVINO issue 5087: bounds in the wrong order are put in order."""
    return right(x, m, l) if m < l else right(x, l, m)


def nan_becomes_zero(x, l, m):
    """Triton issue 10333: a NaN is lost; here it becomes 0."""
    y = right(x, l, m)
    return chosen(x != x, np.zeros_like(x), y)


def numbers_before_nan(x, l, m):
    """Triton issue 10333, gpuweb issue 5192, TileLang issue 3024: maximumNumber and minimumNumber on GPUs."""
    with np.errstate(invalid="ignore"):
        v = chosen((x != x) | (x < l), l, x)
        v = chosen(l != l, x, v)
        y = chosen((v != v) | (m < v), m, v)
        return chosen(m != m, v, y)


# --- Places in a call


def first_lane_for_four(x, l, m):
    """Rust's portable-simd issue 253: the comparison of the first lane decides for its group of four."""
    flat, y = x.ravel(), right(x, l, m).ravel()
    for at in range(0, flat.size - 3, 4):
        if flat[at] < l:
            y[at : at + 4] = l
        elif m < flat[at]:
            y[at : at + 4] = m
        else:
            y[at : at + 4] = flat[at : at + 4]
    return y.reshape(x.shape)


def tail_of_16_not_written(x, l, m):
    """IRON issue 198: the loop ends at the last multiple of 16; the tail of the result stays 0."""
    y = right(x, l, m).ravel()
    y[x.size // 16 * 16 :] = 0
    return y.reshape(x.shape)


def wrong_from_entry_1024(x, l, m):
    """LLVM issue 219295, a buffer of 1,024 entries: entries after it have no upper bound."""
    y = right(x, l, m).ravel()
    y[1024:] = ignores_upper(x.ravel()[1024:], l, m)
    return y.reshape(x.shape)


def wrong_from_length_33(x, l, m):
    """IRON issue 198, a kernel for vectors of 32: a call of more entries has no upper bound."""
    return ignores_upper(x, l, m) if x.size > 32 else right(x, l, m)


def wrong_in_rank_3(x, l, m):
    """OpenCV issue 22100: X of three dimensions has another code path, here without an upper bound."""
    return ignores_upper(x, l, m) if x.ndim == 3 else right(x, l, m)


def wrong_for_0_d(x, l, m):
    """onnxruntime issue 21957: X of rank 0 has another code path, here without an upper bound."""
    return ignores_upper(x, l, m) if x.ndim == 0 else right(x, l, m)


# --- More than one cause, and none


def two_mistakes_above_max(x, l, m):
    """hidet issue 97: above max, odd X are returned, and even ones become min."""
    is_above = (l < m) & (m < x)
    wrong = chosen(x % 2 == 1, x, np.broadcast_to(l, x.shape))
    return chosen(is_above, wrong, right(x, l, m))


def scrambled_above_max(x, l, m):
    """An uninitialised result: above max, the answer is a hash of the operands, the same in every run."""
    mixed = (bits(x) * 40503 + bits(l) * 30011 + bits(m) * 20011 + 12345).astype(bits(x).dtype)
    is_above = (l < m) & (m < x)
    return chosen(is_above, (mixed ^ (mixed >> 7)).view(x.dtype), right(x, l, m))


# --- Refused calls


def refusing(condition, reason):
    """A right runtime that refuses the calls for which a condition holds."""

    def function(x, l, m):
        if condition(x, l, m):
            raise ValueError(reason)
        return right(x, l, m)

    function.__doc__ = reason
    return function


# OpenVINO issue 5087: equal and inverted bounds are refused, and NaN bounds pass.
refuses_max_at_most_min = refusing(lambda _, l, m: m <= l, "max must be greater than min")
# WebNN issue 396: what is not min < max is refused, NaN bounds too.
refuses_bounds_out_of_order = refusing(lambda _, l, m: not l < m, "min must be less than max")
# onnxruntime-qnn issue 761
refuses_infinite_bounds = refusing(lambda _, l, m: np.isinf(l) or np.isinf(m), "infinite bounds")
# NNAPI, which has activations with min 0 only (onnxruntime issue 5427)
refuses_negative_min = refusing(lambda _, l, _m: l < 0, "min must not be negative")
# A runtime that traps invalid operations
refuses_nan_in_x = refusing(lambda x, _l, _m: np.isnan(x).any(), "NaN in the input")
refuses_nan_in_strided_x = refusing(
    lambda x, _l, _m: not x.flags.c_contiguous and np.isnan(x).any(), "NaN in the input"
)
# MNN issue 794, NNAPI (onnxruntime issue 5427)
serves_relu6_only = refusing(lambda _, l, m: not (l == 0 and m == 6), "only ReLU6 is supported")
# IRON issue 198: the tile memory has a limit.
refuses_more_than_1000_entries = refusing(lambda x, _l, _m: x.size > 1000, "X does not fit")
