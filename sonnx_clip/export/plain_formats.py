"""The formats npz and json: named arrays of bits, and documents of hex text."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.export.suite import NUMBERS, schema_of_vectors
from sonnx_clip.root.dtypes import hex_bits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.export.suite import GrantedTable, TypeSuite

_SCHEMA = "schema.json"


def npz_files(suites: Sequence[TypeSuite]) -> Iterator[tuple[str, bytes]]:
    """TYPE.npz for each type; the same bytes each time."""
    for suite in suites:
        arrays = {
            "id": np.array([vector["id"] for vector in suite.vectors]),
            "class": np.array([vector["class"] for vector in suite.vectors]),
            **suite.columns,
            "also": suite.also,
            "classes": np.array(suite.classes),
            "tables": np.array([table.id for table in suite.tables]),
        }
        for table in suite.tables:
            for key, part in table.parts.items():
                arrays[f"{table.id}_{key}"] = part

        calls = suite.calls
        arrays |= {
            "call_table": np.array([call.table for call in calls], np.uint8),
            "call_layout": np.array([call.layout.id for call in calls]),
            "call_pair": np.array([call.pair for call in calls], np.int64),
            "call_length": np.array([call.length for call in calls], np.int64),
            "call_start": np.array([call.start for call in calls], np.int64),
        }
        content = io.BytesIO()
        np.savez_compressed(content, allow_pickle=False, **arrays)
        yield f"{suite.etype.id}.npz", content.getvalue()


def json_files(operator: Operator, suites: Sequence[TypeSuite]) -> Iterator[tuple[str, bytes]]:
    """TYPE.json, the file of vectors, with its schema, and TYPE.calls.json with tables and calls."""
    for suite in suites:
        yield f"{suite.etype.id}.json", suite.text.encode()
        calls = []
        for call in suite.calls:
            names = {"table": suite.tables[call.table].id, "layout": call.layout.id}
            calls.append(asdict(call) | names)
        document = {
            "spec_sha256": operator.spec.digest,
            "type": suite.etype.id,
            "classes": suite.classes,
            "tables": [_table_fields(table, suite.etype.id) for table in suite.tables],
            "calls": calls,
        }
        yield f"{suite.etype.id}.calls.json", f"{json.dumps(document)}\n".encode()
    yield _SCHEMA, schema_of_vectors(operator).encode()


def _table_fields(table: GrantedTable, type_id: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": table.id}
    for key, part in table.parts.items():
        values = part.tolist()
        fields[key] = values if key in NUMBERS else _hex(values, type_id)
    return fields


def _hex(values: Any, type_id: str) -> Any:
    """Bits as hex text with all digits; in lists of lists likewise."""
    if isinstance(values, list):
        return [_hex(value, type_id) for value in values]
    return hex_bits(values, type_id)
