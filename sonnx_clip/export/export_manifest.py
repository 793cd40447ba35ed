"""manifest.json of an export: what it holds, of which specification, and how results are compared."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

import sonnx_clip
from sonnx_clip.conform.expected import class_ids
from sonnx_clip.export.suite import TABLES, granted
from sonnx_clip.language.printing import unparse
from sonnx_clip.language.tree import Use, subtrees
from sonnx_clip.root.files import digest_of
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sonnx_clip.export.suite import TypeSuite
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.runtimes.layouts import Layout
    from sonnx_clip.spec.entries import Definition

MANIFEST = "manifest.json"
KIND = "sonnx-clip export"
VERSION = 1

_COMPARE = (
    "A result is right if it has the bits of `expected`. Where `also` is not 0, an answer that one of its"
    " flags grants is acceptable: see `latitude`. The strict policy counts the flags alone that are `always`"
    " granted."
)


def manifest(
    form: str, suites: Sequence[TypeSuite], files: Mapping[str, bytes], more: Mapping[str, Any]
) -> bytes:
    """The manifest of files (content by path) as JSON, with the fields of the format in `more`."""
    spec = load_spec()
    classes = [c for c in spec.classes if {one.etype.family for one in suites} & set(c.families)]
    document = {
        "kind": KIND,
        "version": VERSION,
        "format": form,
        "generated": f"sonnx-clip {sonnx_clip.__version__}",
        "operator": spec.operator,
        "spec_sha256": spec.digest,
        **more,
        "latitude": [
            {"flag": g.flag, "id": g.id, "accepts": g.accepts, "always": g.always, "reason": g.reason}
            for g in granted()
        ],
        "cases": [
            {"id": c.id, "title": c.title, "when": unparse(c.when), "result": c.result} for c in spec.cases
        ],
        "classes": [
            {
                "id": c.id,
                "title": c.title,
                "matters": c.matters,
                "case": c.case,
                "when": unparse(c.when),
                "example": {"X": c.inhabited_by.X, "min": c.inhabited_by.L, "max": c.inhabited_by.M},
                "types": [s.etype.id for s in suites if s.etype.family in c.families],
            }
            for c in classes
        ],
        "definitions": [
            {"id": d.id, "title": d.title, "is": unparse(d.is_)} for d in _used([c.when for c in classes])
        ],
        "files": [{"file": name, "bytes": len(c), "sha256": digest_of(c)} for name, c in files.items()],
    }
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def calls_fields(suites: Sequence[TypeSuite]) -> dict[str, Any]:
    """Fields of formats with all vectors and calls: how results are judged, layouts, counts by type."""
    return {
        "compare": _COMPARE,
        "layouts": [layout_fields(layout) for layout in LAYOUTS],
        "tables": list(TABLES),
        "types": [_type_fields(one) for one in suites],
    }


def _type_fields(one: TypeSuite) -> dict[str, Any]:
    """The counts: of vectors and calls, and by class of vectors and of the entries of results."""
    ids = class_ids(one.etype.family)
    vectors = Counter(vector["class"] for vector in one.vectors)
    results = np.zeros(len(ids), int)
    for call in one.calls:
        found = one.tables[call.table].classes[call.pair][one.entries(call)]
        results += np.bincount(found, minlength=len(ids))
    counts = {id_: {"vectors": vectors[id_], "results": int(results[n])} for n, id_ in enumerate(ids)}
    return {
        "type": one.etype.id, "bits": one.document["bits"], "vectors": len(one.vectors),
        "calls": len(one.calls), "classes": counts,
    }  # fmt: skip


def layout_fields(layout: Layout) -> dict[str, Any]:
    """How the entries lie in memory, for any language; a shape of null is one dimension, the call's length.

    `strides` and `first_entry` are in entries, from the start of memory that is aligned, and
    `misaligned_bytes` come on top. Where it `repeats`, all entries are the first one.
    """
    array = layout.arrange(np.zeros(layout.length or 0, np.uint32))
    base = array if array.base is None else array.base
    memory = base if isinstance(base, np.ndarray) else np.frombuffer(base, np.uint8)
    entry, rest = divmod(array.ctypes.data - memory.ctypes.data, array.itemsize)
    return {
        "id": layout.id,
        "shape": None if layout.plain else list(array.shape),
        "strides": [1] if layout.plain else [stride // array.itemsize for stride in array.strides],
        "first_entry": entry,
        "misaligned_bytes": rest,
        "repeats": layout.repeats,
        "numpy": layout.text,
    }


def _used(conditions: list[Expr]) -> list[Definition]:
    """The definitions that conditions need, in the order of the specification."""
    spec, found = load_spec(), set[str]()
    while conditions:
        for part in subtrees(conditions.pop()):
            if isinstance(part, Use) and part.id not in found:
                found.add(part.id)
                conditions.append(spec.definition(part.id).is_)
    return [one for one in spec.definitions if one.id in found]
