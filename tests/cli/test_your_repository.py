"""docs/your-repository.md: settings, the hook and the action that a user copies."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import yaml

from sonnx_clip.root.folders import repo_file
from tests.command import run
from tests.lint.normalised import MODELS

if TYPE_CHECKING:
    from pathlib import Path


def test_commands_of_the_page_lint_a_folder(tmp_path: Path) -> None:
    page = repo_file("docs/your-repository.md").read_text()
    commands = re.findall(r"^    sonnx-clip (lint .*)$", page, re.MULTILINE)
    shutil.copy(MODELS / "relu6_op13.onnx", tmp_path / "model.onnx")
    statuses = [run(*shlex.split(line), cwd=tmp_path).returncode for line in commands]
    assert statuses == [1, 0, 1]


def test_settings_of_the_page_are_read(tmp_path: Path) -> None:
    page = repo_file("docs/your-repository.md").read_text()
    settings, _ = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(settings)
    shutil.copy(MODELS / "relu6_op13.onnx", tmp_path / "model.onnx")
    document = json.loads(run("lint", "--json", "model.onnx", cwd=tmp_path).stdout)
    assert list(document["ignored"]) == ["R4"]


def test_entry_of_the_hook_lints_files(tmp_path: Path) -> None:
    (hook,) = yaml.safe_load(repo_file(".pre-commit-hooks.yaml").read_text())
    program, *arguments = shlex.split(hook["entry"])
    assert program == "sonnx-clip"
    assert re.search(hook["files"], "models/model.onnx")
    shutil.copy(MODELS / "relu6_op13.onnx", tmp_path / "model.onnx")
    ended = run(*arguments, "model.onnx", cwd=tmp_path)
    assert ended.returncode == 1
    assert "R4" in ended.stdout


def test_lint_step_of_the_action_reports_and_writes_sarif(tmp_path: Path) -> None:
    action = yaml.safe_load(repo_file("action.yml").read_text())
    step = action["runs"]["steps"][-1]
    binaries = tmp_path / "sonnx-clip/bin"
    binaries.mkdir(parents=True)
    command = binaries / "sonnx-clip"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m sonnx_clip "$@"\n')
    command.chmod(0o755)
    shutil.copy(MODELS / "relu6_op13.onnx", tmp_path / "model.onnx")
    values = {"MODELS": "*.onnx", "ARGUMENTS": "--accept-inferred", "SARIF": "log.sarif"}
    assert values.keys() == step["env"].keys()
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path,
        env=os.environ | values | {"RUNNER_TEMP": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "model.onnx" in done.stdout
    (log,) = json.loads((tmp_path / "log.sarif").read_text())["runs"]
    assert log["results"]


def test_workflow_runs_what_must_pass() -> None:
    workflow = yaml.safe_load(repo_file(".github/workflows/ci.yml").read_text())
    steps = [step.get("run") for job in workflow["jobs"].values() for step in job["steps"]]
    assert ".ci/run" in steps


def test_pytest_judges_the_runtime_of_its_settings(tmp_path: Path) -> None:
    page = repo_file("docs/your-repository.md").read_text()
    _, settings = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(settings)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
