"""What a runtime may take for a missing bound instead of what its dialect says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.dtypes import bits_type, numpy_type
from sonnx_clip.language.convert import convert
from sonnx_clip.language.values import encode, integer_range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.conform.dialects.asked import AskedForm
    from sonnx_clip.conform.dtypes import Array
    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec


@dataclass(frozen=True)
class OtherBounds:
    """Other bounds for the calls of a form.

    Args:
        id: the name of the explanation.
        words: what the runtime does, after "the runtime".
        lower: min, shape (p, 1), of the element type.
        upper: max, likewise.
    """

    id: str
    words: str
    lower: Array
    upper: Array


def other_bounds(spec: Spec, asked: AskedForm) -> Iterator[OtherBounds]:
    """No bound at all first, then the limits of other types; nothing where no bound is missing."""
    missing = [name for name in ("min", "max") if name not in asked.form.given]
    if not missing:
        return
    etype = asked.etype
    if etype.family == "float":
        none = int(encode("-inf", etype)), int(encode("inf", etype))
        yield _put(asked, missing, none, "no-bound", "takes a missing bound as no bound")
    for other in spec.element_types:
        if other.family == etype.family and other.id != etype.id and (ends := _limits(other, etype)):
            words = f"takes the limits of {other.id} for missing bounds"
            yield _put(asked, missing, ends, f"limits-of-{other.id}", words)


def _limits(other: ElementType, etype: ElementType) -> tuple[int, int] | None:
    """The limits of another type, if they are finite numbers of this one."""
    if etype.family == "int":
        (low, high), (least, most) = integer_range(other), integer_range(etype)
        fits = least <= low and high <= most
        return (low % (most - least + 1), high % (most - least + 1)) if fits else None
    limits = [convert(encode(text, other), other, etype) for text in ("lowest", "highest")]
    if limits[1] is None or limits[1] == encode("inf", etype):
        return None
    return int(limits[0] or 0), int(limits[1])


def _put(asked: AskedForm, missing: list[str], ends: tuple[int, int], id_: str, words: str) -> OtherBounds:
    dtype, bits = numpy_type(asked.etype.id), bits_type(asked.etype.id)
    columns = [np.full(asked.lower.shape, end, bits).view(dtype) for end in ends]
    lower = columns[0] if "min" in missing else asked.lower
    upper = columns[1] if "max" in missing else asked.upper
    return OtherBounds(id_, words, lower, upper)
