"""A file of contexts, and what is said of a wrong one; and that every context makes a valid model."""

import re

import numpy as np
import pytest

from sonnx_clip.contexts.candidates import exactly
from sonnx_clip.contexts.context import chosen_contexts, contexts_of_file, standard_contexts
from sonnx_clip.contexts.context_plan import entries_of_x, pairs_of
from sonnx_clip.contexts.graphs import asked_opsets, graphs
from sonnx_clip.contexts.meaning import of_stage
from sonnx_clip.rewrites.terms import operators
from sonnx_clip.root.errors import UserError

onnx = pytest.importorskip("onnx")

OWN = """format: 1
steps:
  - id: times-four
    node: Mul (x, four)
    constants: {four: {values: [4]}}
    computes: {times: 4}
  - id: raise-to-low-again
    nodes: ["is_low = Less (x, A)", "y = Where (is_low, A, x)"]
    chooses: if X < A then A else X
contexts:
  - {id: mine, title: Clip of a product, types: [float32], steps: [times-four, clip, relu]}
"""


def test_a_file_has_its_own_steps_and_those_of_the_project(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(OWN)
    (context,) = contexts_of_file(file)
    assert context.chain == "Mul → Clip → Relu"
    assert chosen_contexts([str(file), "relu-clip"])[1].id == "relu-clip"


WRONG = {
    "steps: [times-four, clip, relu]": ("steps: [times-four, clap]", "clap"),
    "computes: {times: 4}": ("computes: {times: 4, plus: 1}", "times"),
    "node: Mul (x, four)": ("term: mul(X, 2)", "term"),
    "chooses: if X < A then A else X": ("computes: {times: 1}", "chooses"),
    "chooses: if X": ("chooses: of X", "chooses"),
    "format: 1": ("format: 7", "format"),
    "id: times-four": ("id: relu", "relu"),
    "title: Clip of a product": ("titel: Clip of a product", "titel"),
    "types: [float32]": ("types: [float31]", "float31"),
    "{four: {values: [4]}}": ("{four: {values: []}}", "values"),
}


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_file_gets_one_message(tmp_path, line):
    changed, named = WRONG[line]
    file = tmp_path / "mine.yaml"
    file.write_text(OWN.replace(line, changed))
    with pytest.raises(UserError) as caught:
        contexts_of_file(file)
    assert named in str(caught.value)
    assert re.search(r"mine\.yaml:\d+:\d+", str(caught.value))


def test_an_unknown_context_is_named():
    with pytest.raises(UserError, match="relu-clip"):
        chosen_contexts(["relu-clipp"])


@pytest.mark.parametrize("context", standard_contexts(), ids=lambda context: context.id)
def test_every_context_makes_valid_models_in_each_of_its_types(context):
    types = [etype for etype in operators()["clip"].element_types if context.has_type(etype)]
    assert types
    for etype in types:
        bounds = pairs_of(context, etype.id, few=True)[0]
        for opset in asked_opsets(context, etype.id, 21):
            bounds_as = "attributes" if opset == 10 else "initializers"
            found = graphs(context, etype.id, bounds.values, opset, bounds_as)
            for model in (found.whole, *found.parts):
                onnx.checker.check_model(model.proto(), full_check=True)


@pytest.mark.parametrize(
    "id_", ["relu-clip", "clip-clip", "neg-clip-quantise-uint8", "fork", "clip-body"]
)
def test_the_expected_result_is_that_of_the_reference_evaluator(id_):
    """An independent implementation, where nothing is left open."""
    from onnx.reference import ReferenceEvaluator

    (context,) = chosen_contexts([id_])
    for bounds in pairs_of(context, "float32", few=True):
        if bounds.absent:
            continue
        low, high = bounds.values["A"], bounds.values["B"]
        if not (np.isfinite(low) and low <= high and np.isfinite(high)):
            continue  # the evaluator has another reading there
        x = entries_of_x(context.id, "float32", bounds)
        x = x[np.isfinite(x)]
        x = np.resize(x, 128)
        model = graphs(context, "float32", bounds.values, 13).whole.proto()
        with np.errstate(all="ignore"):
            (found,) = ReferenceEvaluator(model).run(None, {"x": x.reshape(1, 16, 2, 4)})
        right = exactly(x)
        for stage in context.stages("float32"):
            right = of_stage(stage, right, bounds.values)
        assert right.allow(found.reshape(-1)[:128]).all()
