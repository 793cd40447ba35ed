"""The exported test directories, executed by ONNX's own runner on two backends and on planted wrong ones."""

import json
import re
import sys
import unittest
from unittest import mock

import numpy as np
import onnx
import onnxruntime.backend
import pytest
from onnx.backend.base import Backend, BackendRep

from sonnx_clip import clip
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.export.write_export import write_export
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from tests.meta import planted

SPEC = load_spec()
TYPES = ("float32", "int64", "bfloat16")  # the kinds on which the runner behaves differently


def directories(folder):
    """The test directories that the manifest of an export lists."""
    return json.loads((folder / "manifest.json").read_text())["directories"]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("onnx") / "vectors"
    write_export(clip_operator(), "onnx-backend", folder, TYPES)
    return folder


def test_manifest_lists_the_directories_with_their_data_sets(exported):
    listed = directories(exported)
    written = {
        f"sonnx-clip/{folder.name}": len(list(folder.glob("test_data_set_*")))
        for folder in (exported / "sonnx-clip").iterdir()
    }
    assert {one["directory"]: one["data_sets"] for one in listed} == written
    etypes = [SPEC.element_type(id_) for id_ in TYPES]
    classes = {(etype.id, c.id) for etype in etypes for c in SPEC.classes_of(etype.family)}
    assert classes <= {(one["type"], one["about"]) for one in listed}
    assert {(one["type"], one["about"]) for one in listed if one["two_answers"]} == {
        (etype.id, "inverted_nan") for etype in etypes if etype.family == "float"
    }


def test_every_model_passes_the_checker_of_onnx(exported):
    for directory in directories(exported):
        model = exported / directory["directory"] / "model.onnx"
        onnx.checker.check_model(onnx.load(model), full_check=True)


def test_onnxruntime_passes_in_the_runner_of_onnx(exported):
    """All but the directories where the specification accepts its answer, too."""
    passed, failed, errors = outcome(onnxruntime.backend, exported, "_float32_")
    two_answers = set()
    every = set()
    for directory in directories(exported):
        if directory["type"] == "float32":
            name = directory["directory"].rpartition("/")[2]
            every.add(name)
            if directory["two_answers"]:
                two_answers.add(name)
    assert failed <= two_answers
    assert not errors
    assert passed | failed == every


def test_default_operator_set_without_onnxruntime_is_the_last_but_one(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.delitem(sys.modules, "sonnx_clip.runtimes.adapters.onnxruntime", raising=False)
    write_export(clip_operator(), "onnx-backend", tmp_path / "vectors", ["int8"])
    opsets = {directory["form"]["opset"] for directory in directories(tmp_path / "vectors")}
    assert max(opsets) == onnx.defs.onnx_opset_version() - 1


class Rep(BackendRep):
    """A model of one Clip with its constants, whose Clip is a function."""

    calls = 0

    def __init__(self, model, function):
        nodes = {n.output[0]: n.attribute[0].t for n in model.graph.node if n.op_type == "Constant"}
        tensors = {t.name: t for t in model.graph.initializer} | nodes
        self.constants = {name: onnx.numpy_helper.to_array(t) for name, t in tensors.items()}
        self.names, self.function = [i.name for i in model.graph.input], function

    def run(self, inputs, **_):
        Rep.calls += 1
        values = self.constants | dict(zip(self.names, inputs, strict=True))
        return (self.function(*(values[name] for name in "xlm")),)


def backend(function):
    class Ours(Backend):
        @classmethod
        def prepare(cls, model, *_, **__):
            return Rep(model, function)

        @classmethod
        def supports_device(cls, device):
            return device == "CPU"

    return Ours


def outcome(of, folder, *patterns):
    """The directories that pass, fail and end in an error, of those whose names match a pattern."""
    page = repo_file("docs/integrations.md").read_text()
    (text,) = (
        block
        for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        if "ClipTests" in block
    )
    found = {"__name__": __name__}
    exec(text, found)
    with mock.patch("onnx.backend.test.runner.load_model_tests", return_value=[]):
        tests = found["ClipTests"](
            of, folder
        )  # without ONNX's tests of its operators, which take seconds
    for pattern in patterns:
        tests.include(pattern)
    passed = set()

    class Result(unittest.TestResult):
        def addSuccess(self, test):
            passed.add(name(test))

    def name(test):
        return test.id().rpartition(".")[2].removesuffix("_cpu")

    result = Result()
    with np.errstate(all="ignore"):
        tests.test_suite.run(result)
    return (
        passed,
        {name(test) for test, _ in result.failures},
        {name(test) for test, _ in result.errors},
    )


@pytest.mark.nightly
def test_the_runner_of_the_page_executes_every_data_set(tmp_path):
    write_export(clip_operator(), "onnx-backend", tmp_path)
    Rep.calls = 0
    passed, failed, errors = outcome(backend(clip), tmp_path)
    assert not failed | errors
    assert passed == {one["directory"].rpartition("/")[2] for one in directories(tmp_path)}
    assert Rep.calls == sum(one["data_sets"] for one in directories(tmp_path))


@pytest.mark.parametrize(
    ("name", "type_id", "failing"),
    [
        ("low_before_inverted", "int64", {"inverted_ordinary", "bounds"}),
        ("tail_of_seven", "float32", {"lengths", "layouts_rank1"}),
        ("rank_2_by_columns", "float32", {"layouts_rank2"}),
        ("refuses_nan_bounds", "float32", {"inside_both_nan"}),
    ],
)
def test_wrong_backend_fails(name, type_id, failing, exported):
    passed, failed, errors = outcome(backend(getattr(planted, name)), exported, f"_{type_id}_")
    found = {one.removeprefix(f"test_sonnx_clip_{type_id}_") for one in failed | errors}
    assert failing <= found
    assert len(passed) + len(found) > 30


def test_wrong_answer_in_one_form_alone_fails_there(exported):
    def wrong(x, l, m):
        return planted.ignores_upper(x, l, m) if x.ndim == 4 else clip(x, l, m)

    _, failed, _ = outcome(backend(wrong), exported, "_int64_")
    assert {name for name in failed if "_form_" in name}
    assert all("_rank4" in name for name in failed)


def test_latitude_for_inverted_bounds_is_excluded_by_its_name(exported):
    def body(x, l, m):
        right = clip(x, l, m)
        return np.where(x != x, x, right) if x.dtype.kind == "f" and l == l and m == m else right

    _, failed, errors = outcome(backend(body), exported, "_float32_")
    assert failed | errors == {"test_sonnx_clip_float32_inverted_nan"}
