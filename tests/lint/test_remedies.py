"""Every command that lint prints for a model is run, and does what the report says it does."""

from __future__ import annotations

import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli import app
from sonnx_clip.lint import lint_model, to_text
from sonnx_clip.lint.verdict import NORMALISE

MODELS = Path(__file__).parent.parent / "models"
RAPIDOCR = find_spec("rapidocr_onnxruntime")
FOLDERS = [MODELS, *([Path(RAPIDOCR.origin).parent] if RAPIDOCR and RAPIDOCR.origin else [])]
REFUSED = {"ext_bo", "ext_no", "ext_tl"}  # their external data is not where they say
FOUND = [path for folder in FOLDERS for path in sorted(folder.rglob("*.onnx"))]
REAL = [path for path in FOUND if path.stem not in REFUSED]


@pytest.mark.parametrize("model", REAL, ids=lambda path: path.stem)
def test_the_printed_command_settles_what_it_is_for(tmp_path: Path, model: Path) -> None:
    path = tmp_path / model.name
    shutil.copyfile(model, path)
    report = lint_model(path)
    if report.command is None:
        assert "to normalise:" not in to_text(report)
        return
    assert f"  to normalise: {report.command}\n" in to_text(report)
    program, *arguments = shlex.split(report.command, comments=True)
    done = CliRunner().invoke(app.app, arguments)
    assert program == "sonnx-clip"
    assert done.exit_code in (0, 1), done.output
    after = lint_model(path.with_name(f"{path.stem}.normalised.onnx"))
    assert len(after.nodes) == len(report.nodes)
    settles_shapes = all(cause.option for cause in report.causes)
    for old, new in zip(report.nodes, after.nodes, strict=True):
        promised = {
            (judgement.id, problem.argument)
            for judgement in old.findings.judgements
            for problem in judgement.problems
            if problem.remedy.startswith(NORMALISE) or (problem.open and settles_shapes)
        }
        left = {
            (judgement.id, problem.argument)
            for judgement in new.findings.judgements
            for problem in judgement.problems
        }
        assert promised.isdisjoint(left)
