"""The forms of an export that are plain data: TYPE.npz with named arrays of bits, TYPE.json as it is, and
TYPE.calls.json with its schema.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.conform.expected import class_ids
from sonnx_clip.export.suite import TABLES, flags, granted, vectors_text
from sonnx_clip.root.dtypes import bits_type, hex_bits
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.export.suite import TypeSuite
    from sonnx_clip.root.dtypes import Array


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


# ------------------------------------------------------------------------------------------------------------
# The JSON form of an export: TYPE.json of generated/vectors as it is, and TYPE.calls.json with its schema
#
# A bit pattern is hex text with all its digits, as in generated/vectors: ``0x7fc00000``.


_SCHEMA = "schema.json"
_CALLS_SCHEMA = "calls.schema.json"
_FLAGS = "The flags of what else is acceptable; 0 where there is nothing. See `latitude` of the manifest."


def json_files(suites: Sequence[TypeSuite]) -> Iterator[tuple[str, bytes]]:
    """The files, each with its name: vectors and calls of each type, and a schema for both."""
    for one in suites:
        yield f"{one.etype.id}.json", one.text.encode()
        yield f"{one.etype.id}.calls.json", _calls(one).encode()
    yield _SCHEMA, vectors_text(_SCHEMA).encode()
    yield _CALLS_SCHEMA, (json.dumps(calls_schema(), indent=1) + "\n").encode()


def _calls(one: TypeSuite) -> str:
    """A table or a call a line, so that a change of one is a change of one line."""
    head = {"$schema": _CALLS_SCHEMA, "spec_sha256": load_spec().digest, "type": one.etype.id}
    head["classes"] = list(class_ids(one.etype.family))  # type: ignore[assignment]
    tables = []
    for name, table in zip(TABLES, one.tables, strict=True):
        told: dict[str, Any] = {"id": name}
        for key, part in (("pool", table.pool), ("min", table.scalars[0]), ("max", table.scalars[1])):
            told[key] = _hex(part, one)
        told["expected"] = [_hex(row, one) for row in table.due]
        told["class"] = table.classes.tolist()
        told["also"] = table.also.tolist()
        tables.append(json.dumps(told))
    calls = [
        json.dumps(
            {
                "table": TABLES[c.table],
                "pair": c.pair,
                "layout": c.layout,
                "length": c.length,
                "start": c.start,
            }
        )
        for c in one.calls
    ]
    body = f',\n "tables": [\n  {_lines(tables)}\n ],\n "calls": [\n  {_lines(calls)}\n ]\n}}\n'
    return json.dumps(head, indent=1)[:-2] + body


def _lines(texts: list[str]) -> str:
    return ",\n  ".join(texts)


def _hex(patterns: Array, one: TypeSuite) -> list[str]:
    return [hex_bits(pattern, one.etype.id) for pattern in patterns.tolist()]


def calls_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12, of TYPE.calls.json. It is closed: what it does not name is not there."""
    spec = load_spec()
    bits = {"type": "string", "pattern": "^0x([0-9a-f]{2}|[0-9a-f]{4}|[0-9a-f]{8}|[0-9a-f]{16})$"}
    index = {"type": "integer", "minimum": 0}
    flags = {"type": "integer", "minimum": 0, "maximum": sum(one.flag for one in granted())}
    table = _closed(
        id={"enum": list(TABLES)},
        pool=_list(bits),
        min=_list(bits),
        max=_list(bits),
        expected={
            **_list(_list(bits)),
            "description": "For each pair of bounds, for each value of the pool.",
        },
        **{"class": {**_list(_list(index)), "description": "As `expected`: an index into `classes`."}},
        also={**_list(_list(flags)), "description": f"As `expected`. {_FLAGS}"},
    )
    call = _closed(
        table={"enum": list(TABLES)},
        pair={**index, "description": "Of bounds: an index into min and max of the table."},
        layout={"enum": [layout.id for layout in LAYOUTS]},
        length=index,
        start={**index, "description": "X[i] is pool[(start + i) % the length of the pool]."},
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Calls of {spec.operator} in the SONNX profile",
        **_closed(
            **{"$schema": {"const": _CALLS_SCHEMA}},
            spec_sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"},
            type={"enum": [etype.id for etype in spec.element_types if etype.width is not None]},
            classes={"type": "array", "minItems": 1, "items": {"enum": [c.id for c in spec.classes]}},
            tables=_list(table),
            calls=_list(call),
        ),
    }


def _closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": items}
