"""The formats npz and json: named arrays of bits, and documents of hex text."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.export.suite import OPERANDS, TABLES, vectors_text
from sonnx_clip.root.dtypes import hex_bits
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.export.suite import TypeSuite

_SCHEMA = "schema.json"
_BITS = ("pool", "min", "max", "expected")


def npz_files(suites: Sequence[TypeSuite]) -> Iterator[tuple[str, bytes]]:
    """TYPE.npz for each type; the same bytes each time."""
    for one in suites:
        arrays = {
            "id": np.array([vector["id"] for vector in one.vectors]),
            "class": np.array([vector["class"] for vector in one.vectors]),
            **dict(zip(OPERANDS, one.operands, strict=True)),
            "also": one.also,
            "classes": np.array(clip_operator().class_ids(one.etype.family)),
            "tables": np.array(TABLES),
        }
        for name, table in zip(TABLES, one.tables, strict=True):
            arrays |= {f"{name}_{key}": part for key, part in table.parts.items()}
        arrays["call_table"] = np.array([call.table for call in one.calls], np.uint8)
        arrays["call_layout"] = np.array([call.layout.id for call in one.calls])
        for key in ("pair", "length", "start"):
            arrays[f"call_{key}"] = np.array([getattr(call, key) for call in one.calls], np.int64)
        content = io.BytesIO()
        np.savez_compressed(content, allow_pickle=False, **arrays)
        yield f"{one.etype.id}.npz", content.getvalue()


def json_files(suites: Sequence[TypeSuite]) -> Iterator[tuple[str, bytes]]:
    """TYPE.json of generated/vectors with its schema, and TYPE.calls.json with tables and calls."""
    for one in suites:
        yield f"{one.etype.id}.json", one.text.encode()
        tables = [
            {
                "id": name,
                **{key: _values(one, key, part.tolist()) for key, part in table.parts.items()},
            }
            for name, table in zip(TABLES, one.tables, strict=True)
        ]
        calls = [
            {**asdict(call), "table": TABLES[call.table], "layout": call.layout.id}
            for call in one.calls
        ]
        document = {
            "spec_sha256": load_spec().digest, "type": one.etype.id,
            "classes": clip_operator().class_ids(one.etype.family), "tables": tables, "calls": calls,
        }  # fmt: skip
        yield f"{one.etype.id}.calls.json", f"{json.dumps(document)}\n".encode()
    yield _SCHEMA, vectors_text(_SCHEMA).encode()


def _values(one: TypeSuite, key: str, values: Any) -> Any:
    """Indices and flags as they are, bits as hex text with all digits; in lists of lists likewise."""
    if isinstance(values, list):
        return [_values(one, key, value) for value in values]
    return hex_bits(values, one.etype.id) if key in _BITS else values
