"""The formats npz and json: named arrays of bits, and documents with a schema."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.expected import class_ids
from sonnx_clip.export.suite import OPERANDS, TABLES, granted, vectors_text
from sonnx_clip.root.dtypes import hex_bits
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.export.suite import TypeSuite

_SCHEMA, _CALLS_SCHEMA = "schema.json", "calls.schema.json"
_BITS = ("pool", "min", "max", "expected")


def npz_files(suites: Sequence[TypeSuite]) -> Iterator[tuple[str, bytes]]:
    """TYPE.npz for each type; the same bytes each time."""
    for one in suites:
        arrays = {
            "id": np.array([vector["id"] for vector in one.vectors]),
            "class": np.array([vector["class"] for vector in one.vectors]),
            **dict(zip(OPERANDS, one.operands, strict=True)),
            "also": one.also,
            "classes": np.array(class_ids(one.etype.family)),
            "tables": np.array(TABLES),
        }
        for name, table in zip(TABLES, one.tables, strict=True):
            arrays |= {f"{name}_{key}": part for key, part in table.parts.items()}
        arrays["call_table"] = np.array([call.table for call in one.calls], np.uint8)
        arrays["call_layout"] = np.array([call.layout for call in one.calls])
        for key in ("pair", "length", "start"):
            arrays[f"call_{key}"] = np.array([getattr(call, key) for call in one.calls], np.int64)
        content = io.BytesIO()
        np.savez_compressed(content, allow_pickle=False, **arrays)
        yield f"{one.etype.id}.npz", content.getvalue()


def json_files(suites: Sequence[TypeSuite]) -> Iterator[tuple[str, bytes]]:
    """TYPE.json of generated/vectors and TYPE.calls.json for each type, and a schema for both kinds.

    A bit pattern is hex text with all its digits: ``0x7fc00000``.
    """
    for one in suites:
        yield f"{one.etype.id}.json", one.text.encode()
        yield f"{one.etype.id}.calls.json", _calls(one).encode()
    yield _SCHEMA, vectors_text(_SCHEMA).encode()
    yield _CALLS_SCHEMA, (json.dumps(_calls_schema(), indent=1) + "\n").encode()


def _calls(one: TypeSuite) -> str:
    """TYPE.calls.json: a table or a call a line."""
    head = {
        "$schema": _CALLS_SCHEMA, "spec_sha256": load_spec().digest, "type": one.etype.id,
        "classes": list(class_ids(one.etype.family)),
    }  # fmt: skip
    tables = [
        {"id": name, **{key: _values(one, key, part.tolist()) for key, part in table.parts.items()}}
        for name, table in zip(TABLES, one.tables, strict=True)
    ]
    calls = [{**asdict(call), "table": TABLES[call.table]} for call in one.calls]
    return f"{json.dumps(head, indent=1)[:-2]},\n{_rows('tables', tables)},\n{_rows('calls', calls)}\n}}\n"


def _rows(name: str, rows: Sequence[dict[str, Any]]) -> str:
    lines = ",\n  ".join(map(json.dumps, rows))
    return f' "{name}": [\n  {lines}\n ]'


def _values(one: TypeSuite, key: str, values: Any) -> Any:
    """Numbers as they are, bits in hexadecimal digits; in lists of lists likewise."""
    if isinstance(values, list):
        return [_values(one, key, value) for value in values]
    return hex_bits(values, one.etype.id) if key in _BITS else values


def _calls_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12, of TYPE.calls.json, which has nothing else."""
    spec = load_spec()
    bits = {"type": "string", "pattern": "^0x([0-9a-f]{2}|[0-9a-f]{4}|[0-9a-f]{8}|[0-9a-f]{16})$"}
    index = {"type": "integer", "minimum": 0}
    also = {**index, "maximum": sum(one.flag for one in granted()), "description": "See the manifest."}
    rows = {"description": "For each pair of bounds, for each value of the pool."}
    table = _closed({
        "id": {"enum": list(TABLES)}, "pool": _list(bits), "min": _list(bits), "max": _list(bits),
        "expected": {**_list(_list(bits)), **rows},
        "class": {**_list(_list(index)), "description": "As `expected`: an index into `classes`."},
        "also": {**_list(_list(also)), "description": "As `expected`: flags of what else is acceptable."},
    })  # fmt: skip
    call = _closed({
        "table": {"enum": list(TABLES)},
        "pair": {**index, "description": "Of bounds: an index into min and max of the table."},
        "layout": {"enum": [layout.id for layout in LAYOUTS]},
        "length": index,
        "start": {**index, "description": "X[i] is pool[(start + i) % the length of the pool]."},
    })  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Calls of {spec.operator} in the SONNX profile",
        **_closed({
            "$schema": {"const": _CALLS_SCHEMA},
            "spec_sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "type": {"enum": [etype.id for etype in spec.element_types if etype.width is not None]},
            "classes": _list({"enum": [c.id for c in spec.classes]}),
            "tables": _list(table),
            "calls": _list(call),
        }),
    }  # fmt: skip


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object", "additionalProperties": False, "required": list(properties),
        "properties": properties,
    }  # fmt: skip


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": items}
