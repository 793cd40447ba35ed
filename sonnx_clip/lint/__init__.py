"""ONNX models: which restrictions of the SONNX profile their Clip nodes meet.

Source: the tables "Restrictions" and the sections "Inputs" of the SONNX page, as spec/clip.yaml quotes them.
"""

from __future__ import annotations

from importlib.util import find_spec

from sonnx_clip.root.errors import UserError

if find_spec("onnx") is None:
    raise UserError(
        "the Python package onnx, which reads ONNX models, is not installed",
        todo='install it: pip install "sonnx-clip[onnx]"',
    )

from sonnx_clip.lint.lint import lint_model
from sonnx_clip.lint.report import json_parts, to_text
from sonnx_clip.lint.sarif import to_sarif
from sonnx_clip.lint.verdict import run_each

__all__ = ["json_parts", "lint_model", "run_each", "to_sarif", "to_text"]
