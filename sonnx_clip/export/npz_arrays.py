"""The NPZ form of an export: TYPE.npz with named arrays of bits, so that no reader needs a number format.

A bit pattern is an unsigned integer as wide as the type: bfloat16 is uint16, which
``.view(ml_dtypes.bfloat16)`` reads. Of n vectors, tables of k values under p pairs, and c calls:

- ``id``, ``class``: text, shape (n,); ``x``, ``min``, ``max``, ``expected``: bits, shape (n,); ``also``: the
  flags of what else is acceptable, uint8, shape (n,);
- for each table, as ``special_pool``: ``pool``, shape (k,), ``min``, ``max``, shape (p,), ``expected``,
  ``class``, an index into ``classes``, and ``also``, shape (p, k);
- ``call_table``, an index into ``tables``, ``call_pair``, ``call_layout``, ``call_length``, ``call_start``:
  shape (c,).
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.chosen_triples import class_ids
from sonnx_clip.conform.dtypes import bits_type
from sonnx_clip.export.suite import TABLES, flags

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.conform.dtypes import Array
    from sonnx_clip.export.suite import TypeSuite

_OPERANDS = ("x", "min", "max", "expected")


def npz_files(suites: Sequence[TypeSuite]) -> Iterator[tuple[str, bytes]]:
    """A file for each type, with its name; the same bytes each time."""
    for one in suites:
        content = io.BytesIO()
        np.savez_compressed(content, allow_pickle=False, **_arrays(one))
        yield f"{one.etype.id}.npz", content.getvalue()


def vector_operands(one: TypeSuite) -> tuple[Array, ...]:
    """x, min, max and what is expected of all vectors, as bits, each of shape (n,)."""
    bits = bits_type(one.etype.id)
    return tuple(np.array([int(v[name], 16) for v in one.vectors], bits) for name in _OPERANDS)


def _arrays(one: TypeSuite) -> dict[str, Array]:
    operands = vector_operands(one)
    found = {
        "id": np.array([vector["id"] for vector in one.vectors]),
        "class": np.array([vector["class"] for vector in one.vectors]),
        **dict(zip(_OPERANDS, operands, strict=True)),
        "also": flags(one.etype, *operands),
        "classes": np.array(class_ids(one.etype.family)),
        "tables": np.array(TABLES),
    }
    for name, table in zip(TABLES, one.tables, strict=True):
        parts = {"pool": table.pool, "min": table.scalars[0], "max": table.scalars[1], "expected": table.due}
        parts |= {"class": table.classes, "also": table.also}
        found |= {f"{name}_{key}": part for key, part in parts.items()}
    found["call_table"] = np.array([call.table for call in one.calls], np.uint8)
    found["call_layout"] = np.array([call.layout for call in one.calls])
    for key in ("pair", "length", "start"):
        found[f"call_{key}"] = np.array([getattr(call, key) for call in one.calls], np.int64)
    return found
