"""Records of what runtimes answer, and the page of findings: a planted difference is named.

tests/spec/mistakes_of_findings.py and test_yaml_mistakes.py plant mistakes in the findings themselves.
"""

from dataclasses import replace

import pytest

from sonnx_clip.backends.pages import render_findings
from sonnx_clip.explain import measure as measuring
from sonnx_clip.explain.measured_record import PATH, read_measured
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec

PAGE = "docs/findings.md"


def test_witness_without_a_measured_answer_is_reported(bench):
    page = render_findings(load_spec())[PAGE]
    assert all(f"`{finding.id}`" in page for finding in load_spec().findings)
    bench.plant(
        "spec/clip.yaml", "X: 5, L: nan, M: 9, refutes: C2", "X: 6, L: nan, M: 9, refutes: C2"
    )
    with pytest.raises(UserError) as caught:
        render_findings(load_spec())
    message = str(caught.value)
    assert message.startswith(f"{PATH}: no answer of onnxruntime to clip-13 float32 X=0x40c00000")
    assert "run: sonnx-clip findings --measure" in message


def test_record_with_another_answer_is_reported(bench):
    pytest.importorskip("onnxruntime")
    lines = (bench.root / PATH).read_text(encoding="utf-8").splitlines()
    (line,) = [
        line for line in lines
        if '"operands":{"X":"0xff800000"}' in line and '"clip-12"' in line and '"onnxruntime"' in line
    ]  # fmt: skip
    bench.plant(PATH, line, line.replace('"0xff7fffff"', '"0xff800000"'))
    spec = load_spec()
    now = measuring.measure(spec, measuring.installed_runtimes(spec))
    different = [str(a) for a, b in zip(read_measured(spec).answers, now, strict=True) if a != b]
    assert different == ["clip-12 float32 X=0xff800000"]


def test_runtime_that_has_changed_is_reported():
    spec = load_spec()
    numpy = measuring.installed_runtimes(spec)["numpy"]
    wrong = replace(numpy, open=lambda etype: lambda *operands: abs(numpy.open(etype)(*operands)))
    known = read_measured(spec).answers
    found = [
        str(answer) for answer in measuring.measure(spec, {"numpy": wrong}) if answer not in known
    ]
    assert [line for line in found if line.startswith("call float32 X=0x80000000")]
