"""Mistakes in a NumPy kernel or its planner, and the obligation that each makes fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Bug:
    """A text of `sonnx_clip.oracle` that is replaced, the obligations that fail, and some that still hold."""

    name: str
    module: Literal["float_formats", "kernels", "plan"]
    old: str
    new: str
    caught_by: tuple[str, ...]
    holds: tuple[str, ...] = ()


def _both(etype: str, kernel: str) -> tuple[str, str]:
    return f"{etype}.numpy_{kernel}_in_place", f"{etype}.numpy_{kernel}_out_of_place"


PROBED = """    if _has_nan(x):
        limited = keys.clip(lower, upper)
        _write_but_nan(x, limited.view(UINT16), out)
    else:
        results = out.view(INT16)
        keys.clip(lower, upper, out=results)
"""

BUGS = [
    Bug("the repair of zeros is dropped, upper bound +0", "kernels",
        "    x.clip(lower, upper, out=out)\n    form = FORMATS[x.dtype]\n"
        "    _make_zeros_plus(x, out.view(form.unsigned))\n",
        "    x.clip(lower, upper, out=out)\n", _both("float32", "limit_by_plus_zero")),
    Bug("the repair of zeros is dropped, a bound -0", "kernels",
        "    x.clip(lower, upper, out=out)\n    form = FORMATS[x.dtype]\n"
        "    _make_zeros_minus(x, out.view(form.unsigned))\n",
        "    x.clip(lower, upper, out=out)\n", _both("float64", "limit_by_minus_zero")),
    Bug("the repair of zeros is dropped in 16 bits", "kernels",
        "    limit_across_zero(x, lower, upper, out)\n    bits = out.view(UINT16)\n"
        "    _make_zeros_plus(x, bits)\n",
        "    limit_across_zero(x, lower, upper, out)\n", _both("bfloat16", "limit_up_to_plus_zero")),
    Bug("inverted bounds give min", "kernels", "    np.copyto(out, upper)\n", "    np.copyto(out, lower)\n",
        (*_both("int8", "fill"), *_both("float64", "fill"))),
    Bug("a wrong constant for infinity", "float_formats",
        "(np.dtype(np.float16), 0x7C00)", "(np.dtype(np.float16), 0x7BFF)",
        _both("float16", "limit_between_plus"), _both("bfloat16", "limit_between_plus")),
    Bug("a NaN bound becomes the lowest number", "plan",
        "lower.dtype.type(-np.inf)", "lower.dtype.type(-65504.0)", _both("float32", "limit")),
    Bug("no probe for NaN", "kernels", PROBED, "    keys.clip(lower, upper, out=out.view(INT16))\n",
        _both("float16", "limit_between_plus"), _both("float16", "limit_between_minus")),
    Bug("the bounds are not swapped where both have a minus sign", "kernels",
        "keys.clip(upper, lower, out=results)", "keys.clip(lower, upper, out=results)",
        _both("bfloat16", "limit_between_minus")),
    Bug("a mask is taken after the first write", "kernels", "    kept = np.subtract(entries, form.one)\n",
        "    x.clip(lower, upper, out=out)\n    kept = np.subtract(entries, form.one)\n",
        ("float32.numpy_limit_to_minus_and_plus_zero_in_place",),
        ("float32.numpy_limit_to_minus_and_plus_zero_out_of_place",)),
    Bug("one NaN loses its payload", "float_formats", "_constant(infinity + 1, unsigned)",
        "_constant(infinity + 2, unsigned)", _both("float16", "limit_across_zero")),
    Bug("a NaN loses its sign", "kernels",
        "    if greatest > form.sign:\n        _make_zeros_plus(x, bits)\n    elif greatest == form.sign:\n",
        "    if greatest >= form.sign:\n", _both("float64", "limit_from_plus_zero")),
    Bug("the lower bound is forgotten across zero", "kernels",
        "    keys.clip(form.least, lower, out=keys)\n", "    keys.clip(form.least, keys, out=keys)\n",
        _both("float16", "limit_across_zero")),
    Bug("bounds with minus signs are inverted the other way round", "plan",
        "kernels.fill_16 if low < high else", "kernels.fill_16 if high < low else",
        (*_both("float16", "fill_16"), *_both("float16", "limit_between_minus"))),
    Bug("integers are compared with the bounds exchanged", "kernels",
        'are neither NaN nor zero."""\n    x.clip(lower, upper, out=out)',
        'are neither NaN nor zero."""\n    x.clip(upper, lower, out=out)',
        (*_both("uint8", "limit"), *_both("int64", "limit"))),
]  # fmt: skip
