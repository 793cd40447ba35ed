"""generated/profile.json: its facts are those of NumPy, ONNX and the obligations; a broken one is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx import TensorProto, helper

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
