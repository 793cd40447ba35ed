"""The Python lines that the finding examples-by-np-clip proposes, run in the examples of ONNX's page."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec

PAGE = repo_file("spec/sources/onnx-clip-onnx-doc.rst").read_text(encoding="utf-8")
# The four examples of ONNX's page that np.clip makes, from the bound to the result.
EXAMPLES = re.findall(r"^( +(?:min|max)_val = .*\n.*\n +y = np\.clip\(.*)$", PAGE, re.MULTILINE)
assert len(EXAMPLES) == 4
(PROPOSED,) = (
    finding.proposed for finding in load_spec().findings if finding.id == "examples-by-np-clip"
)


def result(example: str, line: str | None = None, bound: Any = None) -> Any:
    """The result of an example, with another line or another bound in it."""
    code = "\n".join(part.strip() for part in example.splitlines())
    code = re.sub(r"^y = np\.clip\(.*$", line, code, flags=re.MULTILINE) if line else code
    if bound is not None:
        code = re.sub(r"^(\w+_val) = .*$", r"\1 = bound", code, flags=re.MULTILINE)
    names: dict[str, Any] = {"np": np, "bound": bound}
    exec(code.replace("np.random.randn(3, 4, 5)", "np.linspace(-3, 3, 60).reshape(3, 4, 5)"), names)
    return names["y"]


@pytest.mark.parametrize("example", EXAMPLES, ids=range(4))
def test_proposed_line_gives_the_result_of_the_example_but_for_a_nan_bound(example: str) -> None:
    side = "lower" if "min_val" in example else "upper"
    (line,) = re.findall(rf"With an? {side} bound: (y = np\.where\([^)]*\))", PROPOSED)
    theirs, ours = result(example), result(example, line)
    assert np.array_equal(ours, theirs)
    assert ours.dtype == theirs.dtype
    if ours.dtype == np.float32:
        assert np.isnan(result(example, bound=np.float32(np.nan))).all()
        assert not np.isnan(result(example, line, np.float32(np.nan))).any()
