"""The texts that the specification quotes hold the words of their sources, and none of ours."""

from __future__ import annotations

import inspect
import re

import numpy as np
import onnx.defs
import onnx.printer

from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.texts import fold

BODIES = tuple(
    f"test_clip{name}_expanded"
    for name in ("", "_default_min", "_default_max", "_default_inbounds")
)
SCHEMAS = (("Where", 9), ("Where", 16), ("Less", 13))


def _text(name: str) -> str:
    return repo_file(f"spec/sources/{name}").read_text(encoding="utf-8")


def test_the_bodies_are_those_of_the_tests_of_onnx() -> None:
    import onnx.backend.test.case.node.clip  # registers its tests
    from onnx.backend.test.case.node import (
        _NodeTestCases,
    )  # collect_testcases would import all operators

    tests = {test.name: test.model for test in _NodeTestCases}
    printed = "\n\n".join(f"{name}\n\n{onnx.printer.to_text(tests[name])}" for name in BODIES)
    assert _text("onnx-clip-body.txt") == f"{printed}\n"


def test_the_types_of_the_operators_of_the_body_are_those_of_their_schemas() -> None:
    parts = []
    for name, version in SCHEMAS:
        schema = onnx.defs.get_schema(name, version)
        assert schema.since_version == version
        parts += [f"{name} - {version}"]
        parts += [f"This version of the operator has been available since version {version}."]
        parts += ["Type Constraints"]
        for constraint in schema.type_constraints:
            types = ", ".join(sorted(constraint.allowed_type_strs))
            parts.append(
                f"{constraint.type_param_str} in ( {types} ): {fold(constraint.description)}"
            )
    assert fold(_text("onnx-where.txt")) == fold(" ".join(parts))


def test_facts_that_are_cited_are_those_of_the_installed_packages() -> None:
    assert "``np.minimum(a_max, np.maximum(a, a_min))``" in fold(inspect.getdoc(np.clip) or "")
    for name in ("minimum", "maximum"):
        assert "NaNs are propagated" in fold(inspect.getdoc(getattr(np, name)) or "")
    for name in ("Max", "Min"):
        words = fold(onnx.defs.get_schema(name, 13).doc)
        assert words.startswith(f"Element-wise {name.lower()} of each of the input tensors")
        assert not re.search("nan|zero", words, re.IGNORECASE)
