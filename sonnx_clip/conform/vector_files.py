"""`sonnx-clip vectors`: the vectors of generated/vectors, written into a folder for the tests of others.

As JSON they are the generated files and their schema. As .npz they are arrays of bits, so that no reader
needs a number format that NumPy lacks: for the n vectors of an element type

- ``id``, ``class``: text, shape (n,);
- ``x``, ``min``, ``max``, ``expected``: bit patterns, unsigned and as wide as the type, shape (n,);
- ``acceptable_of``, ``acceptable``, ``acceptable_any_nan``, ``acceptable_latitude``, shape (k,): to which
  vector a further acceptable result belongs, its bits, whether any NaN is meant instead, and which latitude
  grants it.

A manifest names the files with their digests and says which specification they are of.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

import sonnx_clip
from sonnx_clip.root.counts import counted
from sonnx_clip.root.digest import digest_of
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_together
from sonnx_clip.root.paths import repo_file
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

VectorFormat: TypeAlias = Literal["json", "npz"]

FOLDER = "generated/vectors"
MANIFEST = "manifest.json"
_SCHEMA = "schema.json"


def write_vectors(folder: Path, form: VectorFormat, types: Sequence[str] = ()) -> str:
    """Write vectors and a manifest, all files or none; returns a line that says what was written.

    Args:
        folder: where to; it is made if it is not there.
        form: ``json`` or ``npz``.
        types: ids of element types; all that have bit patterns, if empty.

    Raises:
        UserError: a type is not known or has no bit patterns, the vectors are missing or of another
            specification, or a file cannot be written.
    """
    spec = load_spec()
    etypes = [spec.element_type(id_) for id_ in dict.fromkeys(types)] or [
        etype for etype in spec.element_types if etype.width is not None
    ]
    files: dict[str, bytes] = {}
    entries = []
    total = 0
    for etype in etypes:
        if etype.width is None:
            raise UserError(f"{etype.id} has no bit patterns, so there are no vectors of it")
        text = _text(f"{FOLDER}/{etype.id}.json")
        document = json.loads(text)
        if document["spec_sha256"] != spec.digest:
            raise UserError("generated/ is not that of spec/clip.yaml", todo="run `sonnx-clip generate`")
        name = f"{etype.id}.{form}"
        files[name] = text.encode() if form == "json" else _arrays(document)
        count = len(document["vectors"])
        total += count
        entries.append({"file": name, "type": etype.id, "vectors": count, "sha256": digest_of(files[name])})
    if form == "json":
        files[_SCHEMA] = _text(f"{FOLDER}/{_SCHEMA}").encode()
    manifest = {
        "generated": f"sonnx-clip {sonnx_clip.__version__}",
        "operator": spec.operator,
        "spec_sha256": spec.digest,
        "format": form,
        "files": entries,
        "latitude": {one.id: {"reason": one.reason, "always": one.always} for one in spec.latitude},
    }
    files[MANIFEST] = (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode()
    write_together({folder / name: content for name, content in files.items()})
    return f"{total:,} vectors of {counted(len(etypes), 'element type')} are in {folder}"


def _text(relative: str) -> str:
    path = repo_file(relative)
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        what = f"the vectors cannot be read: {error.strerror}"
        raise UserError(what, str(path), "run `sonnx-clip generate`") from error


def _arrays(document: Mapping[str, Any]) -> bytes:
    """The vectors of one element type as the content of an .npz file; the same bytes each time."""
    unsigned = np.dtype(f"u{document['bits']['width'] // 8}")
    vectors = document["vectors"]
    granted = [(index, one) for index, vector in enumerate(vectors) for one in vector["acceptable"]]
    arrays = {
        "id": np.array([vector["id"] for vector in vectors]),
        "class": np.array([vector["class"] for vector in vectors]),
        **{
            name: np.array([int(vector[name], 16) for vector in vectors], unsigned)
            for name in ("x", "min", "max", "expected")
        },
        "acceptable_of": np.array([index for index, _ in granted], np.int64),
        "acceptable": np.array(
            [0 if "any_nan" in one else int(one["bits"], 16) for _, one in granted], unsigned
        ),
        "acceptable_any_nan": np.array(["any_nan" in one for _, one in granted], np.bool_),
        "acceptable_latitude": np.array([one["latitude"] for _, one in granted], np.str_),
    }
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    return content.getvalue()
