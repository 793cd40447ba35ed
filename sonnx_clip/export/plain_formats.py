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
    from sonnx_clip.export.suite import GrantedTable, SuiteCall, TypeSuite
    from sonnx_clip.root.dtypes import Array

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
        # An archive is flat, so that the names of a table's arrays begin with its id.
        for table in suite.tables:
            for key, part in table.parts.items():
                arrays[f"{table.id}_{key}"] = part
        arrays |= _call_arrays(suite.calls)
        content = io.BytesIO()
        # Without pickles, which a reader would have to trust.
        np.savez_compressed(content, allow_pickle=False, **arrays)
        yield f"{suite.etype.id}.npz", content.getvalue()


def _call_arrays(calls: Sequence[SuiteCall]) -> dict[str, Array]:
    """The fields of calls as arrays, an entry for each call."""
    tables = []
    layouts = []
    places = []
    for call in calls:
        tables.append(call.table)
        layouts.append(call.layout.id)
        places.append((call.pair, call.length, call.start))
    # Three columns even where there are no calls.
    pairs, lengths, starts = np.array(places, np.int64).reshape(-1, 3).T
    return {
        "call_table": np.array(tables, np.uint8),
        "call_layout": np.array(layouts),
        "call_pair": np.ascontiguousarray(pairs),
        "call_length": np.ascontiguousarray(lengths),
        "call_start": np.ascontiguousarray(starts),
    }


def json_files(operator: Operator, suites: Sequence[TypeSuite]) -> Iterator[tuple[str, bytes]]:
    """TYPE.json, the file of vectors, with its schema, and TYPE.calls.json with tables and calls."""
    for suite in suites:
        yield f"{suite.etype.id}.json", suite.text.encode()
        type_id = suite.etype.id
        calls = []
        for call in suite.calls:
            # By their names: a reader of JSON need not count tables and layouts.
            fields = asdict(call)
            fields["table"] = suite.tables[call.table].id
            fields["layout"] = call.layout.id
            calls.append(fields)
        document = {
            "spec_sha256": operator.spec.digest,
            "type": type_id,
            "classes": suite.classes,
            "tables": [_table_fields(table, type_id) for table in suite.tables],
            "calls": calls,
        }
        text = json.dumps(document) + "\n"
        yield f"{type_id}.calls.json", text.encode()
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
