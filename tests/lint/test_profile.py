"""generated/profile.json: its facts are those of NumPy, ONNX and the obligations; a broken one is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx import TensorProto, helper

from sonnx_clip.lint.operator_versions import inputs, inputs_since, schema, versions
from sonnx_clip.lint.profile import profile, read_profile
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from pathlib import Path


def test_limits_are_those_of_the_machine_types() -> None:
    for etype in profile().element_types:
        if etype.onnx == "BFLOAT16":  # NumPy has none
            assert (etype.lowest.hex(), etype.highest.hex()) == ("7fff", "7f7f")
            continue
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(etype.onnx)))
        limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
        for number, stored in ((limits.min, etype.lowest), (limits.max, etype.highest)):
            assert np.frombuffer(stored, dtype)[0] == number


def test_theorems_are_obligations_that_show_their_property() -> None:
    rows = json.loads(repo_file("generated/why3/obligations.json").read_text(encoding="utf-8"))["obligations"]
    known = {row["id"]: row for row in rows}
    kinds = {"holds": "theorem", "repaired": "theorem", "refuted": "refutation", "written": "equivalence"}
    cases = [case.id for case in load_spec().cases]
    for etype in profile().element_types:
        assert len(etype.theorems) == 6
        for property_id, by_role in etype.theorems.items():
            assert by_role
            for role, id_ in by_role.items():
                assert (known[id_]["subject"], known[id_]["kind"]) == (etype.id, kinds[role])
                assert known[id_]["shows"] == (cases if property_id == "cases" else [property_id])
                assert etype.shown_by(property_id, role) == id_
    with pytest.raises(ValueError, match="no obligation shows that C1 of int8 is refuted"):
        profile().element_types[0].shown_by("C1", "refuted")


def test_operands_are_those_of_the_specification_and_of_onnx() -> None:
    spec, head = load_spec(), profile()
    assert head.operator == spec.operator
    assert [(one.id, one.onnx, one.role) for one in head.operands] == [
        (operand.id, operand.onnx, operand.role) for operand in spec.operands
    ]
    assert (head.result.id, head.result.onnx) == (spec.result.id, spec.result.onnx)
    names = tuple(one.onnx for one in head.operands)
    since = inputs_since(head)
    assert since == 11
    for version in versions(head.operator):
        taken = inputs(head.operator, version)
        assert taken == (names if version >= since else names[:1])
        assert set(schema(head.operator, version).attributes).isdisjoint(names) == (version >= since)


def test_unusable_profile_is_one_message(tmp_path: Path) -> None:
    file = tmp_path / "profile.json"
    for text in (None, "", "[]", "{", "\xff"):
        if text is not None:
            file.write_text(text, encoding="latin-1")
        with pytest.raises(UserError, match="cannot be read") as raised:
            read_profile(file)
        assert "run: sonnx-clip generate" in str(raised.value)
    document = json.loads(repo_file("generated/profile.json").read_text(encoding="utf-8"))
    for key in ("operator", "operands", "result", "restrictions", "element_types"):
        file.write_text(json.dumps({name: document[name] for name in document if name != key}))
        with pytest.raises(UserError, match=f"the profile has no entry '{key}'") as raised:
            read_profile(file)
        assert "run: sonnx-clip generate" in str(raised.value)


def test_judging_imports_neither_the_specification_nor_a_runtime() -> None:
    code = (
        "import sys, sonnx_clip.lint, sonnx_clip.lint.normalise\n"
        "sonnx_clip.lint.profile.profile()\n"
        "print([n for n in ('sonnx_clip.spec', 'pydantic', 'onnxruntime') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
