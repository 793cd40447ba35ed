"""Write an export: the files of a format with their manifest, the whole folder or nothing."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

import sonnx_clip
from sonnx_clip.export.c_header import c_files, compile_line
from sonnx_clip.export.plain_formats import json_files, npz_files
from sonnx_clip.export.suite import granted, suites_of
from sonnx_clip.language.printing import unparse
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of, is_standard_output, require_folder_of
from sonnx_clip.root.terminal import counted
from sonnx_clip.runtimes.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sonnx_clip.conform.operator import Operator
    from sonnx_clip.export.suite import TypeSuite
    from sonnx_clip.runtimes.layouts import Layout
    from sonnx_clip.runtimes.model_forms import Choice
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import ValueClass

ExportFormat: TypeAlias = Literal["onnx-backend", "npz", "c-header", "json", "sonnx"]

MANIFEST = "manifest.json"
_COMPARE = (
    "A result is right if it has the bits of `expected`. Where `also` is not 0, an answer that one of its"
    " flags grants is acceptable: see `latitude`. The strict policy counts the flags alone that are `always`"
    " granted."
)
_TODO = "name a new or empty folder"


@dataclass(frozen=True)
class _Content:
    """The files of a format by their paths, its fields in the manifest, and what they are, in words."""

    files: dict[str, bytes]
    fields: dict[str, Any]
    summary: str


def write_export(
    operator: Operator, form: ExportFormat, folder: Path, types: Sequence[str] = (),
    forms: Choice = "default", newest: int | None = None, build: Path | None = None,
) -> str:  # fmt: skip
    """Write an export, the whole folder or nothing; returns a summary in one line.

    Args:
        operator: whose vectors they are.
        form: the format.
        folder: where to; new or empty.
        types: ids of element types; all that have bit patterns, if empty.
        forms: of models, for ``onnx-backend``: as `check` takes them.
        newest: their newest operator set; the newest that onnxruntime serves, if None.
        build: the folder with proofs.json, for ``sonnx``.

    Raises:
        UserError: an unknown type or operator set, missing or stale vectors, a part that the operator lacks,
            or an unusable folder.
        ModuleNotFoundError: onnx is not installed, for ``onnx-backend``.
    """
    _check_folder(folder)  # before minutes of work
    suites = suites_of(operator, types)
    # Imported where they are needed: other formats neither need onnx nor wait for printers and claims.
    if form == "onnx-backend":
        content = _directories(operator, suites, forms, newest)
    elif form == "sonnx":
        from sonnx_clip.export.sonnx_files import sonnx_files

        files = sonnx_files(operator, suites, build)
        has_cases = any(name.endswith("cases.py") for name in files)
        summary = "the page, the cases and the trace" if has_cases else "the page and the trace"
        content = _Content(files, {}, summary)
    else:
        content = _vectors(operator, suites, form)
    manifest = _manifest(operator, form, suites, content)
    _write_folder(folder, content.files | {MANIFEST: manifest})
    summary = f"{content.summary} of {counted(len(suites), 'element type')} are in {folder}"
    if form != "c-header":  # the only one that can be run as it is
        return summary
    command = compile_line(operator.spec, suites[0].etype)
    return f"{summary}\n  run them on your function there, for example: {command} && ./a.out"


def _directories(
    operator: Operator, suites: Sequence[TypeSuite], forms: Choice, newest: int | None
) -> _Content:
    from sonnx_clip.export.onnx_directories import directory_files

    files, fields = directory_files(operator, suites, forms, newest)
    directories = fields["directories"]
    sets = sum(directory["data_sets"] for directory in directories)
    summary = f"{len(directories):,} test directories with {sets:,} data sets"
    return _Content(files, fields, summary)


def _vectors(
    operator: Operator, suites: Sequence[TypeSuite], form: Literal["npz", "c-header", "json"]
) -> _Content:
    """The vectors, tables and calls in a format that is not ONNX's."""
    types: list[dict[str, Any]] = []  # an object of the manifest for each element type
    vectors = 0
    calls = 0
    for suite in suites:
        vectors += len(suite.vectors)
        calls += len(suite.calls)
        fields = {
            "type": suite.etype.id,
            "vectors": len(suite.vectors),
            "calls": len(suite.calls),
        }
        if form == "c-header":
            fields["compile"] = compile_line(operator.spec, suite.etype)
        types.append(fields)

    layouts = [layout_fields(layout) for layout in LAYOUTS]
    if form == "c-header":
        files = c_files(operator, suites, layouts)
    elif form == "npz":
        files = npz_files(suites)
    else:
        files = json_files(operator, suites)
    manifest = {
        "compare": _COMPARE,
        "layouts": layouts,
        "tables": [table.id for table in suites[0].tables],
        "types": types,
    }
    return _Content(dict(files), manifest, f"{vectors:,} vectors and {calls:,} calls")


def _manifest(
    operator: Operator, form: str, suites: Sequence[TypeSuite], content: _Content
) -> bytes:
    """The manifest of an export as JSON."""
    spec = operator.spec
    cases = []
    for case in spec.cases:
        when = unparse(case.when)
        cases.append({"id": case.id, "title": case.title, "when": when, "result": case.result_text})
    definitions = []
    for definition in spec.definitions:
        is_ = unparse(definition.is_)
        definitions.append({"id": definition.id, "title": definition.title, "is": is_})
    files = []
    for name, data in content.files.items():
        digest = digest_of(data)
        files.append({"file": name, "bytes": len(data), "sha256": digest})
    # Whoever has only the export needs the meaning of its vectors too: cases, classes, latitude.
    document = {
        "kind": "sonnx-clip export",
        "version": 2,
        "format": form,
        "generated": f"sonnx-clip {sonnx_clip.__version__}",
        "operator": spec.operator,
        "spec_sha256": spec.digest,
        **content.fields,
        "latitude": [asdict(latitude) for latitude in granted(operator)],
        **_domain_fields(spec),
        "cases": cases,
        "classes": [_class_fields(spec, klass, suites) for klass in spec.classes],
        "definitions": definitions,
        "files": files,
    }
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _domain_fields(spec: Spec) -> dict[str, Any]:
    """Where the operator is defined, if that is not everywhere: nothing else is exported."""
    domains = {}  # by family
    for family, domain in spec.domain.items():
        domains[family] = {"when": unparse(domain.holds), "reason": domain.reason}
    return {"domain": domains} if domains else {}


def _class_fields(spec: Spec, klass: ValueClass, suites: Sequence[TypeSuite]) -> dict[str, Any]:
    texts = klass.inhabited_by.texts()
    return {
        "id": klass.id,
        "title": klass.title,
        "matters": klass.matters,
        "case": klass.case,
        "when": unparse(klass.when),
        "example": {operand.shown: texts[operand.id] for operand in spec.signature.operands},
        "types": [suite.etype.id for suite in suites if suite.etype.family in klass.families],
    }


def layout_fields(layout: Layout) -> dict[str, Any]:
    """The places of the entries in memory, for any language; a shape of null is one dimension.

    `strides` and `first_entry` are in entries, from the start of memory that is aligned, and
    `misaligned_bytes` come on top. Where it `repeats`, all entries are the first one.
    """
    # Read from an array that the layout has arranged, so that the manifest cannot differ from it.
    array = layout.arrange(np.zeros(layout.length or 0, np.uint32))
    base = array if array.base is None else array.base
    memory = base if isinstance(base, np.ndarray) else np.frombuffer(base, np.uint8)
    # A layout that is misaligned does not begin at a whole entry.
    entry, misaligned_bytes = divmod(array.ctypes.data - memory.ctypes.data, array.itemsize)
    shape = None
    strides = [1]
    if not layout.plain:
        shape = list(array.shape)
        strides = [stride // array.itemsize for stride in array.strides]
    return {
        "id": layout.id,
        "shape": shape,
        "strides": strides,
        "first_entry": entry,
        "misaligned_bytes": misaligned_bytes,
        "repeats": layout.repeats,
        "numpy": layout.text,
    }


def _check_folder(folder: Path) -> None:
    """UserError for standard output, a missing parent, and whatever exists and is no empty folder."""
    if is_standard_output(folder):
        raise UserError(
            "an export is a folder, and cannot be written to standard output", todo=_TODO
        )
    require_folder_of(folder)
    # A link is refused too, even to an empty folder: POSIX renames no folder to it.
    if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir()):
        raise UserError("this exists and is not a folder", str(folder), _TODO)
    try:
        occupied = folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise UserError(
            f"this folder cannot be read: {error.strerror}", str(folder), _TODO
        ) from error
    if occupied:
        raise UserError("this folder is not empty", str(folder), _TODO)


def _write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a temporary folder beside a new or empty one, which it then replaces.

    A file that appears in the folder meanwhile is kept, and UserError raised, as for any failure.
    """
    place = folder.absolute()
    temporary: Path | None = None
    try:
        # Beside the folder, because a rename does not cross file systems.
        temporary = Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}."))
        for name, content in files.items():
            file = temporary / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        temporary.chmod(0o755)  # mkdtemp lets the owner alone in
        # When all files are there, so that nobody sees a part of them. POSIX replaces an empty folder, and
        # nothing else.
        temporary.rename(place)
    except OSError as error:
        message = f"it cannot be written: {error.strerror}"
        todo = "check the folder's permissions, or write elsewhere"
        raise UserError(message, str(folder), todo) from error
    finally:
        # After success it has another name, and there is nothing to remove.
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
