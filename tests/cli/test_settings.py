"""[tool.sonnx-clip] of pyproject.toml and sonnx-clip.toml: read strictly, and below the command line."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.lint.lint import lint_model
from tests.command import run
from tests.lint.build import clip, graph, model, value
from tests.lint.normalised import MODELS

if TYPE_CHECKING:
    from pathlib import Path

REASON = "shapes are set when the model is deployed"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a model that breaks R4, and settings that ignore it."""
    (tmp_path / "pyproject.toml").write_text(
        f'[tool.other]\nkey = 1\n[tool.sonnx-clip.lint.ignore]\nR4 = "{REASON}"\n'
    )
    shutil.copy(MODELS / "relu6_op13.onnx", tmp_path / "model.onnx")
    return tmp_path


def not_judged(folder: Path, *options: str) -> dict[str, str]:
    ended = run("lint", "--json", *options, "model.onnx", cwd=folder)
    ignored: dict[str, str] = json.loads(ended.stdout)["ignored"]
    return ignored


def test_rules_are_ignored_with_their_reason(project: Path) -> None:
    assert not_judged(project) == {"R4": REASON}
    assert f"R4 ({REASON})" in run("lint", "model.onnx", cwd=project).stdout


def test_command_line_wins(project: Path) -> None:
    assert "R4" not in not_judged(project, "--select", "R4")


def test_nearest_file_counts(project: Path) -> None:
    nested = project / "nested"
    nested.mkdir()
    shutil.move(project / "model.onnx", nested / "model.onnx")
    (nested / "pyproject.toml").write_text("[tool.other]\n")  # without settings
    assert not_judged(nested) == {"R4": REASON}
    (nested / "sonnx-clip.toml").write_text('lint.ignore.R5 = "types are inferred"\n')
    assert not_judged(nested) == {"R5": "types are inferred"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("biuld = 'b'", ["unknown key biuld", "did you mean build?"]),
        ("[lint]\nignored = {}", ["unknown key lint.ignored", "did you mean ignore?"]),
        ("[lint.ignore]\nR4 = ' '", ["lint.ignore.R4", "reason"]),
        ("[lint.ignore]\nR4 = true", ["lint.ignore.R4", "reason"]),
        ("[lint]\nignore = ['R4']", ["lint.ignore"]),
        ("[lint.ignore]\nR44 = 'why'", ["R44", "did you mean R4?"]),
        ("runtimes = 'numpy'", ["runtimes"]),
        ("input-shapes.x = [1, 0]", ["input-shapes.x"]),
        ("build = 1", ["build"]),
        ("build = ", ["not TOML"]),
    ],
)
def test_wrong_settings_are_one_message(project: Path, text: str, message: list[str]) -> None:
    (project / "sonnx-clip.toml").write_text(text)
    ended = run("lint", "model.onnx", cwd=project)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "sonnx-clip.toml" in ended.stderr
    assert all(words in ended.stderr for words in message), ended.stderr
    assert len(ended.stderr.splitlines()) <= 2


@pytest.mark.parametrize("text", ["input-shapes.x = [1, 0]", "runtimes = ['numpy', 1]"])
def test_keys_of_another_table_are_not_suggested(project: Path, text: str) -> None:
    (project / "sonnx-clip.toml").write_text(text)
    assert "the keys here" not in run("lint", "model.onnx", cwd=project).stderr


def test_key_of_pyproject_is_named_with_its_table(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.sonnx-clip]\nbuilds = 'b'")
    assert "unknown key tool.sonnx-clip.builds" in run("lint", "model.onnx", cwd=project).stderr


def test_wrong_settings_do_not_hide_the_help(project: Path) -> None:
    (project / "sonnx-clip.toml").write_text("build = 1")
    assert run("prove", "--help", cwd=project).returncode == 0


def test_shapes_of_inputs_are_set_where_the_model_has_them(tmp_path: Path) -> None:
    dynamic = [value(name, ["N", 3]) for name in "XY"]
    proto = model(graph(clip(), inputs=dynamic[:1], outputs=dynamic[1:]))
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    (tmp_path / "sonnx-clip.toml").write_text("[input-shapes]\nX = [4, 3]\nimage = [1, 3]\n")
    options = ["normalise", "model.onnx", "-o"]
    assert run(*options, "four.onnx", cwd=tmp_path).returncode == 0
    assert lint_model(tmp_path / "four.onnx").exit_status == 0
    ended = run(*options, "five.onnx", "--input-shape", "X=5,3", "--json", cwd=tmp_path)
    assert "became [5, 3]" in ended.stdout


def test_runtimes_and_build_folder_are_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "sonnx-clip.toml").write_text('runtimes = ["numpy", "sonnx"]\nbuild = "out"\n')
    ended = run("check", "--dtype", "int8", "--brief", cwd=tmp_path)
    assert "numpy" in ended.stdout
    assert "sonnx" in ended.stdout
    assert (tmp_path / "out").is_dir()
    missing = run("evidence", cwd=tmp_path)
    assert "out/proofs.json" in missing.stderr
    named = run("check", "--runtime", "sonnx", "--dtype", "int8", "--brief", cwd=tmp_path)
    assert "numpy 2" not in named.stdout


def test_report_of_several_runtimes_in_one_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sonnx-clip.toml").write_text('runtimes = ["numpy", "sonnx"]\n')
    ended = run("check", "--dtype", "int8", "-o", "report.json", cwd=tmp_path)
    assert ended.returncode == 2
    assert not (tmp_path / "report.json").exists()
