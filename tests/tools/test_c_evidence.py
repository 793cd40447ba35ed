"""`make c-evidence` reports deviations without a reason, branches that no vector takes, missing tools."""

from __future__ import annotations

import shutil

import pytest

from tools import c_evidence


def test_kernel_that_no_vector_covers_is_reported(tmp_path, monkeypatch):
    if not (shutil.which("gcc") and shutil.which("gcov")):
        pytest.skip("needs gcc and gcov")
    kernels = tmp_path / "c"
    shutil.copytree(c_evidence.KERNELS, kernels)
    file = kernels / "sonnx_clip_int8.c"
    text = file.read_text()
    assert "size_t i;\n" in text
    file.write_text(
        text.replace("size_t i;\n", "size_t i;\n  if (n == 12345) {\n    return;\n  }\n", 1)
    )
    monkeypatch.setattr(c_evidence, "KERNELS", kernels)
    (tmp_path / "work").mkdir()
    part = c_evidence.coverage(tmp_path / "work")
    assert part.failed
    for name in ("coverage of statements", "coverage of branches"):
        hit, of = dict(part.rows)[name].split(" of ")
        assert int(hit) == int(of) - 1


def test_misra_deviation_without_a_reason_fails(tmp_path, monkeypatch):
    printed = f"{tmp_path}/a.c:3: misra-c2012-15.5\n{tmp_path}/a.c:4: misra-c2012-17.2\n"
    monkeypatch.setattr(
        c_evidence, "run", lambda command, _: "Cppcheck 2" if "--version" in command else printed
    )
    part = c_evidence.misra(tmp_path)
    assert part.failed
    assert ("MISRA C:2012 rule 17.2", "1 deviations. NO REASON GIVEN") in part.rows
    assert "a.c:4: rule 17.2\n" in part.details


def test_c_that_cppcheck_does_not_read_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr(c_evidence, "run", lambda *_: "a.c:0: noValidConfiguration")
    with pytest.raises(RuntimeError, match="did not read the C"):
        c_evidence.misra(tmp_path)
