"""ONNX models: which restrictions of the SONNX profile their Clip nodes meet.

Source: the tables "Restrictions" and the sections "Inputs" of the SONNX page, as spec/clip.yaml quotes them.
"""

from sonnx_clip.lint.lint import lint_model
from sonnx_clip.lint.report import json_parts, to_text
from sonnx_clip.lint.sarif import to_sarif
from sonnx_clip.lint.verdict import run_each

__all__ = ["json_parts", "lint_model", "run_each", "to_sarif", "to_text"]
