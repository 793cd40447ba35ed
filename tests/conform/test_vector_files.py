"""`sonnx-clip vectors`: what others read is what is committed, and says which specification it is of."""

from __future__ import annotations

import hashlib
import io
import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from sonnx_clip.conform import vector_files
from sonnx_clip.conform.vector_files import write_vectors
from sonnx_clip.root import files
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.paths import repo_file
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from pathlib import Path

SPEC = load_spec()
TYPES = [etype.id for etype in SPEC.element_types if etype.width is not None]


def committed(type_id: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(repo_file(f"generated/vectors/{type_id}.json").read_text())
    return found


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


@pytest.mark.parametrize("form", ["json", "npz"])
def test_the_manifest_names_every_file(form: str, tmp_path: Path) -> None:
    line = write_vectors(tmp_path / "out", form)  # type: ignore[arg-type]
    told = manifest(tmp_path / "out")
    assert told["spec_sha256"] == SPEC.digest
    assert [entry["type"] for entry in told["files"]] == TYPES
    for entry in told["files"]:
        content = (tmp_path / "out" / entry["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == entry["sha256"]
        assert entry["vectors"] == len(committed(entry["type"])["vectors"])
    total = sum(entry["vectors"] for entry in told["files"])
    assert line == f"{total:,} vectors of {len(TYPES)} element types are in {tmp_path / 'out'}"
    more = {"schema.json", "manifest.json"} if form == "json" else {"manifest.json"}
    assert {p.name for p in (tmp_path / "out").iterdir()} == {e["file"] for e in told["files"]} | more


def test_json_is_what_is_committed_and_meets_the_schema_beside_it(tmp_path: Path) -> None:
    write_vectors(tmp_path, "json", ["float16"])
    assert (tmp_path / "float16.json").read_bytes() == repo_file(
        "generated/vectors/float16.json"
    ).read_bytes()
    schema = json.loads((tmp_path / "schema.json").read_text())
    Draft202012Validator(schema).validate(json.loads((tmp_path / "float16.json").read_text()))


@pytest.mark.parametrize("type_id", TYPES)
def test_arrays_hold_what_is_committed(type_id: str, tmp_path: Path) -> None:
    write_vectors(tmp_path, "npz", [type_id])
    document = committed(type_id)
    with np.load(tmp_path / f"{type_id}.npz", allow_pickle=False) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    width = document["bits"]["width"]
    back = []
    for index, (id_, klass) in enumerate(zip(found["id"], found["class"], strict=True)):
        bits = {n: f"0x{found[n][index]:0{width // 4}x}" for n in ("x", "min", "max", "expected")}
        acceptable = [
            {"latitude": str(found["acceptable_latitude"][row])}
            | (
                {"any_nan": True}
                if found["acceptable_any_nan"][row]
                else {"bits": f"0x{found['acceptable'][row]:0{width // 4}x}"}
            )
            for row in np.flatnonzero(found["acceptable_of"] == index)
        ]
        back.append({"id": str(id_), "class": str(klass), **bits, "acceptable": acceptable})
    wanted = [{k: v for k, v in one.items() if k not in ("case", "comment")} for one in document["vectors"]]
    assert back == wanted
    assert found["x"].dtype == np.dtype(f"u{width // 8}")


def test_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_vectors(tmp_path / name, "npz", ["int8"])
    assert (tmp_path / "a/int8.npz").read_bytes() == (tmp_path / "b/int8.npz").read_bytes()


def test_a_user_reads_float16_back(tmp_path: Path) -> None:
    """The use that the arrays are for: the expected results of NumPy's own type."""
    write_vectors(tmp_path, "npz", ["float16"])
    with np.load(tmp_path / "float16.npz") as arrays:
        ordinary = arrays["class"] == "inside_ordinary"
        x, due = (arrays[name][ordinary].view(np.float16) for name in ("x", "expected"))
    assert len(x) > 3
    assert np.array_equal(x, due)


@pytest.mark.parametrize(
    ("types", "says"), [(["real"], "real has no bit patterns"), (["float8"], "there is no `float8`")]
)
def test_bad_types_are_one_message_and_nothing_is_written(
    types: list[str], says: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=says):
        write_vectors(tmp_path / "out", "json", ["int8", *types])
    assert not (tmp_path / "out").exists()


def test_vectors_of_another_specification_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repo_file("generated/vectors/int8.json").read_text().replace(SPEC.digest, "0" * 64)
    (tmp_path / "int8.json").write_text(other)
    monkeypatch.setattr(vector_files, "repo_file", lambda name: tmp_path / name.rpartition("/")[2])
    with pytest.raises(UserError, match="run `sonnx-clip generate`"):
        write_vectors(tmp_path / "out", "npz", ["int8"])


def test_missing_vectors_are_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_files, "repo_file", lambda name: tmp_path / name)
    with pytest.raises(UserError, match="the vectors cannot be read: No such file"):
        write_vectors(tmp_path / "out", "npz", ["int8"])


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_regular_files_are_written_over(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "out/int8.json"
    file.parent.mkdir()
    if kind == "link":
        file.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.mkdir()
    with pytest.raises(UserError, match="only a regular file is replaced"):
        write_vectors(tmp_path / "out", "json", ["int8"])
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["int8.json"]


def test_all_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = files._write_beside

    def full(file: Path, content: str | bytes, mode: int) -> Path:
        if file.name == "manifest.json":
            raise OSError(28, "No space left on device")
        return right(file, content, mode)

    monkeypatch.setattr(files, "_write_beside", full)
    with pytest.raises(UserError, match="No space left"):
        write_vectors(tmp_path / "out", "npz", ["int8"])
    assert list((tmp_path / "out").iterdir()) == []


def test_written_over_by_a_later_run(tmp_path: Path) -> None:
    write_vectors(tmp_path, "npz", ["int8"])
    (tmp_path / "int8.npz").write_bytes(b"old")
    write_vectors(tmp_path, "npz", ["int8"])
    assert np.load(io.BytesIO((tmp_path / "int8.npz").read_bytes()))["x"].dtype == np.uint8
