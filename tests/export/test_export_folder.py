"""The folder of an export: new or empty, and written whole or not at all."""

import os
from functools import partial
from pathlib import Path

import pytest

from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.export.write_export import write_export
from sonnx_clip.root.errors import UserError
from tests.command import run

export = partial(write_export, clip_operator(), "npz", types=["int8"])


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_empty_folder_is_filled_and_another_is_refused_and_kept(tmp_path):
    export(tmp_path)
    assert names(tmp_path) == ["int8.npz", "manifest.json"]
    for file in tmp_path.iterdir():
        file.unlink()
    (tmp_path / ".hidden").write_text("mine")
    with pytest.raises(UserError, match="not empty"):
        export(tmp_path)
    assert names(tmp_path) == [".hidden"]


def test_anything_but_a_folder_is_refused_and_kept(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    for out in sorted(tmp_path.iterdir()):
        before = out.lstat().st_ino
        with pytest.raises(UserError, match="is not a folder"):
            export(out)
        assert out.lstat().st_ino == before


@pytest.mark.parametrize("at", range(3))
def test_failed_write_leaves_nothing(at, tmp_path, monkeypatch):
    """The disk is full at some file, or another program puts a file into the folder meanwhile."""
    right, count = Path.write_bytes, iter(range(9))

    def write(self, data):
        if (number := next(count)) == at:
            raise OSError(28, "No space left on device")
        if number == 1:
            (tmp_path / "out").mkdir()
            (tmp_path / "out/late").write_text("mine")
        return right(self, data)

    monkeypatch.setattr(Path, "write_bytes", write)
    with pytest.raises(UserError, match="cannot be written"):
        export(tmp_path / "out")
    assert names(tmp_path) == ([] if at < 2 else ["out", "out/late"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["npz", "-o", "no-folder.txt/out"], "is not a folder"),
        (["npz", "-o", "-"], "standard output"),
        (["npz", "-o", "out", "--dtype", "int8", "--dtype", "float8"], "there is no `float8`"),
        (["json", "-o", "out", "--dtype", "real"], "real has no bit patterns"),
        (["onnx-backend", "-o", "out", "--opset", "7"], "operator set 7"),
        (["yaml", "-o", "out"], "onnx-backend"),
    ],
)
def test_bad_input_is_one_message(arguments, says, tmp_path):
    (tmp_path / "no-folder.txt").write_text("")
    done = run("export", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert names(tmp_path) == ["no-folder.txt"]
