"""`sonnx-clip generate`: everything or nothing, and what is not fresh is named."""

from pathlib import Path

import pytest

from sonnx_clip.backends import generate
from sonnx_clip.backends.drivers import PATH as REPLAY
from sonnx_clip.backends.generate import differences, render_all, write
from sonnx_clip.backends.theory import Generated
from sonnx_clip.claims import evaluation
from sonnx_clip.spec import load_spec

MADE = {"generated/why3/a.mlw": "a\n", "generated/b.txt": "b\n", REPLAY: "#!/bin/sh\n"}
SOME = Generated(MADE, ())


def test_difference_is_named(tmp_path):
    assert write(SOME, tmp_path) == list(MADE)
    assert differences(SOME, tmp_path) == []
    assert write(SOME, tmp_path) == []
    (tmp_path / "generated/b.txt").write_text("c\n")
    (tmp_path / "generated/why3/a.mlw").unlink()
    (tmp_path / "generated/why3/old.mlw").write_text("")
    (tmp_path / "generated/__pycache__").mkdir()
    (tmp_path / "generated/__pycache__/b.pyc").write_text("")
    assert differences(SOME, tmp_path) == [
        "generated/why3/a.mlw is missing",
        "generated/b.txt differs from the rendering of spec/clip.yaml",
        "generated/why3/old.mlw is not a generated file",
    ]
    assert differences(SOME, tmp_path, ("generated/numpy",))[-1].startswith("generated/b.txt")
    changed = ["generated/why3/a.mlw", "generated/b.txt", "generated/why3/old.mlw"]
    assert write(SOME, tmp_path) == changed
    assert differences(SOME, tmp_path) == []


def test_other_line_ends_are_a_difference_and_only_the_script_can_be_run(tmp_path):
    """A lone CR begins a new line for Python, and hides what follows it from a shell's comment."""
    write(SOME, tmp_path)
    (tmp_path / "generated/b.txt").write_bytes(b"b\r")
    assert write(SOME, tmp_path) == ["generated/b.txt"]
    modes = {path: (tmp_path / path).stat().st_mode & 0o777 for path in MADE}
    assert modes == {"generated/why3/a.mlw": 0o644, "generated/b.txt": 0o644, REPLAY: 0o755}


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    write(SOME, tmp_path)
    (tmp_path / "generated/b.txt").write_text("as it was\n")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(SOME, tmp_path)
    assert (tmp_path / "generated/b.txt").read_text() == "as it was\n"
    assert sorted(path.name for path in (tmp_path / "generated").iterdir()) == [
        "b.txt",
        "replay.sh",
        "why3",
    ]


@pytest.mark.nightly
def test_the_command(bench):
    bench.monkeypatch.setattr(generate, "render_vectors", lambda _: {})  # they take longest
    first = bench.command("generate")
    assert first.status == 0
    assert "written: generated/replay.sh" in first.out
    count = len(render_all(load_spec()).files)
    bench.monkeypatch.setattr(evaluation, "check_claims", lambda _: None)  # once is enough
    assert bench.command("generate", "--check").out == f"{count} generated files are fresh\n"
    oracle = bench.root / "generated/numpy/clip_oracle.py"
    oracle.write_text("")
    (bench.root / "generated/profile.json").unlink()
    ended = bench.command("generate", "--check")
    assert ended.status == 1
    differs = "generated/numpy/clip_oracle.py differs from the rendering of spec/clip.yaml\n"
    assert ended.out.startswith(f"{differs}generated/profile.json is missing\n")
    assert oracle.read_text() == ""  # a check changes nothing
