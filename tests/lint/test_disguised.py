"""Clip in disguise: what limits values as Clip does and is another operator is reported, and not judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli import app
from tests.lint.build import lint, parsed

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "main (float[1,1,2,2] X) => (float[1,1,2,2] Y) <float L = {0}, float M = {6}, float[1,1,1,1] w = {1}>"
DISGUISES = {
    "a fused convolution": (
        'Y = com.microsoft.FusedConv <activation = "Clip", activation_params = [0.0, 6.0]> (X, w)',
        "FusedConv of 'com.microsoft' with the activation Clip",
    ),
    "Min over Max": ("A = Max(X, L) Y = Min(A, M)", "Min over Max"),
    "Max over Min": ("A = Min(M, X) Y = Max(A, L)", "Max over Min"),
    "Min over Relu": ("A = Relu(X) Y = Min(A, M)", "Min over Relu"),
    "Relu over Min": ("A = Min(X, M) Y = Relu(A)", "Relu over Min"),
}


@pytest.mark.parametrize("name", DISGUISES)
def test_disguise_is_named(name: str, tmp_path: Path) -> None:
    nodes, words = DISGUISES[name]
    report = lint(tmp_path, parsed(f"{HEAD} {{ {nodes} }}"))
    assert not report.nodes
    assert report.notes == (f"{words}: it limits values as Clip does and was not judged",)


def test_bounds_that_are_not_constant_are_no_disguise(tmp_path: Path) -> None:
    head = "main (float[2] X, float[2] L, float[2] M) => (float[2] Y)"
    assert lint(tmp_path, parsed(f"{head} {{ A = Max(X, L) Y = Min(A, M) }}")).notes == ()


def test_quantised_model_says_that_quantisers_remove_clips(tmp_path: Path) -> None:
    head = "main (float[2] X) => (float[2] Y) <float s = {1}, uint8 z = {0}>"
    nodes = "Q = QuantizeLinear(X, s, z) Y = DequantizeLinear(Q, s, z)"
    (note,) = lint(tmp_path, parsed(f"{head} {{ {nodes} }}")).notes
    assert "quantisers remove a Clip" in note


def test_model_without_clip_has_a_status_of_its_own_if_one_is_required(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(parsed(f"{HEAD} {{ Y = Relu(X) }}").SerializeToString())
    assert CliRunner().invoke(app.app, ["lint", str(path)]).exit_code == 0
    required = CliRunner().invoke(app.app, ["lint", "--require-clip", str(path)])
    assert required.exit_code == 3
    assert "--require-clip" in required.stderr
    path.write_bytes(parsed(f"{HEAD} {{ Y = Clip(X, L, M) }}").SerializeToString())
    assert CliRunner().invoke(app.app, ["lint", "--require-clip", str(path)]).exit_code == 0
