"""Models of real exporters that Python packages ship: lint reads them, normalise changes no bit.

The packages are not among the project's: install them into a folder, and name it.

    pip install --no-deps --target FOLDER rapidocr-onnxruntime==1.4.4 magika silero-vad
    SONNX_CLIP_EXPORTERS=FOLDER pytest -m exhaustive tests/lint/test_exporters.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sonnx_clip.lint import lint_model
from sonnx_clip.lint.normalise import NormaliseOptions, normalise
from sonnx_clip.lint.self_check import SelfCheckOutcome

pytestmark = pytest.mark.exhaustive

FOLDER = os.environ.get("SONNX_CLIP_EXPORTERS")
MODELS = sorted(Path(FOLDER).rglob("*.onnx")) if FOLDER else []
PACKAGES = ("rapidocr_onnxruntime", "magika", "silero_vad")


@pytest.fixture(autouse=True)
def _packages() -> None:
    if FOLDER is None:
        pytest.skip("SONNX_CLIP_EXPORTERS names no folder with the packages; see the top of this file")


def test_every_package_is_there() -> None:
    found = {path.relative_to(FOLDER or "").parts[0] for path in MODELS}
    assert set(PACKAGES) <= found


@pytest.mark.parametrize("path", MODELS or [Path()], ids=lambda path: path.name)
def test_a_model_keeps_its_bits_or_is_left_alone(path: Path) -> None:
    before = lint_model(path)
    found = normalise(path, None, NormaliseOptions(assume_finite=True)).report
    assert len(found.nodes) == len(before.nodes)
    if found.changed:
        assert found.self_check.outcome is SelfCheckOutcome.EQUAL
