"""A proposed line of Python is run where it would stand: it names what is there, and gives what was there."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec

SPEC = load_spec()
LINE = re.compile(r"^ *y = np\.clip\(.*$", re.MULTILINE)
OLD = "y = np.where(x < min_val, min_val, x); y = np.where(max_val < y, max_val, y)"


def examples() -> list[str]:
    """The four examples of ONNX's page that np.clip makes, from the bound to the result."""
    text = repo_file("spec/sources/onnx-clip-onnx-doc.rst").read_text(encoding="utf-8")
    return re.findall(r"^( +(?:min|max)_val = .*\n.*\n +y = np\.clip\(.*)$", text, re.MULTILINE)


def proposed() -> dict[str, str]:
    """The lines that are proposed, by the bound that they are for."""
    (finding,) = (f for f in SPEC.findings if f.id == "examples-by-np-clip")
    lines = re.findall(r"With an? (lower|upper) bound: (y = np\.where\([^)]*\))", finding.proposed)
    return {"min_val": dict(lines)["lower"], "max_val": dict(lines)["upper"]}


def run(example: str, line: str | None = None, bound: Any = None) -> Any:
    """The result of an example, with another line or another bound in it."""
    code = "\n".join(part.strip() for part in example.splitlines())
    code = LINE.sub(line, code) if line else code
    if bound is not None:
        code = re.sub(r"^(\w+_val) = .*$", r"\1 = bound", code, flags=re.MULTILINE)
    code = code.replace("np.random.randn(3, 4, 5)", "np.linspace(-3, 3, 60).reshape(3, 4, 5)")
    names: dict[str, Any] = {"np": np, "bound": bound}
    exec(code, names)
    return names["y"]


def of(example: str) -> str:
    return "min_val" if "min_val" in example else "max_val"


@pytest.mark.parametrize("index", range(4))
def test_a_proposed_line_gives_the_result_of_the_example(index: int) -> None:
    example = examples()[index]
    assert len(examples()) == 4
    mended = run(example, proposed()[of(example)])
    assert np.array_equal(mended, run(example))
    assert mended.dtype == run(example).dtype


@pytest.mark.parametrize("index", range(2))
def test_a_nan_for_the_bound_does_not_limit_as_the_function_body_has_it(index: int) -> None:
    example = examples()[index]
    nan = np.float32(np.nan)
    assert np.isnan(run(example, bound=nan)).all()
    assert not np.isnan(run(example, proposed()[of(example)], bound=nan)).any()


@pytest.mark.parametrize("index", range(4))
def test_a_line_with_a_bound_that_the_example_does_not_have_is_found(index: int) -> None:
    with pytest.raises(NameError):
        run(examples()[index], OLD)
