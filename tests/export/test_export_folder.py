"""The folder of an export: whole or not at all, and nothing that something else wrote is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli import app
from sonnx_clip.export import write_export as exporting
from sonnx_clip.export.write_export import check_folder, write_export, write_folder
from sonnx_clip.root.errors import UserError


def export(folder: Path) -> None:
    write_export("npz", folder, ["int8"])


def there(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_an_earlier_export_is_replaced_whatever_its_format(tmp_path: Path) -> None:
    export(tmp_path / "out")
    write_export("json", tmp_path / "out", ["uint8"])
    assert there(tmp_path) == [
        "out", "out/calls.schema.json", "out/manifest.json", "out/schema.json", "out/uint8.calls.json",
        "out/uint8.json",
    ]  # fmt: skip


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    export(tmp_path / "out")
    assert there(tmp_path / "out") == ["int8.npz", "manifest.json"]


def changed_manifest(out: Path) -> None:
    told = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(told | {"operator": "Relu"}))


FOREIGN: dict[str, Any] = {
    "a file of the user": lambda out: (out / "mine.txt").write_text("mine"),
    "a folder of the user": lambda out: (out / "mine").mkdir(),
    "a changed file": lambda out: (out / "int8.npz").write_bytes(b"mine"),
    "a changed manifest": changed_manifest,
    "a manifest of another program": lambda out: (out / "manifest.json").write_text('{"kind": "other"}'),
    "a manifest that is no JSON": lambda out: (out / "manifest.json").write_text("{"),
    "a link for a file": lambda out: (
        (out / "int8.npz").unlink(),
        (out.parent / "other.npz").write_bytes(b"other"),
        (out / "int8.npz").symlink_to(out.parent / "other.npz"),
    ),
    "a pipe": lambda out: os.mkfifo(out / "pipe"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_no_export_wrote_is_never_replaced(what: str, tmp_path: Path) -> None:
    export(tmp_path / "out")
    FOREIGN[what](tmp_path / "out")
    before = {name: _state(tmp_path / "out" / name) for name in there(tmp_path / "out")}
    with pytest.raises(UserError, match="not as an export wrote it, and is not replaced"):
        export(tmp_path / "out")
    assert {name: _state(tmp_path / "out" / name) for name in there(tmp_path / "out")} == before
    assert {path.name for path in tmp_path.iterdir()} <= {"out", "other.npz"}
    assert not (tmp_path / "other.npz").exists() or (tmp_path / "other.npz").read_bytes() == b"other"


def _state(path: Path) -> tuple[int, ...]:
    """What a file is, but for when it was read."""
    found = path.lstat()
    return found.st_mode, found.st_ino, found.st_nlink, found.st_size, found.st_mtime_ns


def test_a_folder_without_a_manifest_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(UserError, match=r"`manifest.json` in it is not as an export wrote it"):
        export(tmp_path)


@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_what_is_no_folder_is_refused(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    if kind == "file":
        out.write_text("mine")
    elif kind == "link":
        (tmp_path / "there").mkdir()
        out.symlink_to(tmp_path / "there")
    else:
        os.mkfifo(out)
    with pytest.raises(UserError, match="an export is a folder"):
        export(out)
    assert out.lstat()


def test_the_folder_of_the_command_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="the one in which the command runs"):
        export(Path())


@pytest.mark.parametrize("at", range(3))
def test_whole_or_not_at_all(at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full at some file, or a rename fails; an earlier export stays as it was."""
    export(tmp_path / "out")
    before = (tmp_path / "out/int8.npz").read_bytes()
    right_bytes, right_replace, count = Path.write_bytes, Path.replace, iter(range(9))

    def full(self: Path, data: bytes) -> int:
        if next(count) == at:
            raise OSError(28, "No space left on device")
        return right_bytes(self, data)

    def busy(self: Path, target: Path) -> Path:
        if self.name.startswith(".") and not self.name.startswith(".out.old"):
            raise OSError(16, "Device or resource busy")
        return right_replace(self, target)

    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(Path, "replace", busy)
    with pytest.raises(UserError, match="No space left" if at < 2 else "resource busy"):
        export(tmp_path / "out")
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out/int8.npz").read_bytes() == before


def test_a_foreign_file_that_comes_while_it_is_written_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = check_folder(tmp_path / "out")
    right = exporting.check_folder

    def late(folder: Path) -> Path:
        (tmp_path / "out").mkdir()
        (tmp_path / "out/mine").write_text("mine")
        return right(folder)

    monkeypatch.setattr(exporting, "check_folder", late)
    with pytest.raises(UserError, match="`mine` in it"):
        write_folder(place, {"a": b"a"})
    assert there(tmp_path) == ["out", "out/mine"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["npz", "-o", "{}/no-folder.txt/out"], "this cannot be read: Not a directory"),
        (["npz", "-o", "-"], "standard output"),
        (["npz", "-o", "{}/out", "--dtype", "float8"], "there is no `float8`"),
        (["onnx-backend", "-o", "{}/out", "--opset", "7"], "operator set 7"),
    ],
)
def test_bad_input_is_one_message(arguments: list[str], says: str, tmp_path: Path) -> None:
    (tmp_path / "no-folder.txt").write_text("")
    found = CliRunner().invoke(app.app, ["export", *(text.format(tmp_path) for text in arguments)])
    assert isinstance(found.exception, UserError)
    assert says in str(found.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["no-folder.txt"]


def test_an_unknown_format_is_one_message() -> None:
    found = CliRunner().invoke(app.app, ["export", "yaml", "-o", "out"])
    assert found.exit_code == 2
    assert "onnx-backend" in found.stderr
