"""`check --contexts` finds planted optimisers and fused kernels, and says nothing of right ones."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sonnx_clip.conform.check_report import Report
from sonnx_clip.contexts.context import chosen_contexts
from sonnx_clip.contexts.context_judge import ContextJudge
from sonnx_clip.rewrites.terms import operators
from sonnx_clip.root.folders import repo_root
from sonnx_clip.runtimes.model_runs import ModelWorker
from sonnx_clip.runtimes.runtime import LIMITS, Limits
from tests.command import COMMAND, run

pytest.importorskip("onnxruntime")
HERE = "tests.contexts.planted_optimisers"


def judged(name, contexts, etype="float32", limits=LIMITS, *, few=False):
    """The reports on contexts, by their ids."""
    worker = ModelWorker(name, limits)
    try:
        judge = ContextJudge(worker, etype, few=few)
        element_type = operators()["clip"].element_type(etype)
        chosen = [one for one in chosen_contexts(contexts) if one.has_type(element_type)]
        return {context.id: judge.judge(context) for context in chosen}
    finally:
        worker.close()


def optimised(name, *contexts, etype="float32", **how):
    return judged(f"optimised[onnxruntime]:{HERE}:{name}", contexts, etype, **how)


SELECTIONS = ("relu-clip", "clip-relu", "clip-clip", "max-min", "neg-clip-neg", "identity-clip")
WRONG = {
    # optimiser: context, rewrite, X, got and expected
    "drops_relu": ("relu-clip", "relu-dropped-before-clip"),
    "drops_relu_after": ("clip-relu", "relu-dropped-after-clip"),
    "merges_clips": ("clip-clip", "clip-clip-by-max-min"),
    "drops_second_clip": ("clip-clip", "second-clip-dropped"),
    "merges_zeros": ("beside-plus-zero", "zeros-merged"),
    "drops_casts": ("cast-float16", ""),
    "loses_attributes": ("relu-clip", ""),
    "loses_max_behind_matmul": ("matmul-clip", ""),
    "swaps_max_and_min": ("max-min", ""),
    "drops_clip_before_quantise": ("neg-clip-quantise-uint8", "clip-dropped-before-saturation"),
    "moves_neg": ("neg-clip-neg", ""),
    "drops_clip_before_cast": ("clip-to-int8", ""),
    "divides_bounds_by_factor": ("times-minus-two-clip", ""),
    "drops_bounds_of_constant_nodes": ("identity-clip", ""),
    "reads_absent_min_as_zero": ("clip-relu", ""),
    "takes_then_branch": ("else-clip-relu", ""),
    "moves_clip_behind_pad": ("clip-pad", ""),
    "clips_first_input_of_concat": ("concat-clip", ""),
    "takes_first_entry_of_vector": ("max-vector-clip", ""),
    "turns_loop_once": ("loop-neg-clip-relu", ""),
    "takes_computed_for_absent": ("relu-clip", ""),
}


OF_ALL_CALLS = ("takes_computed_for_absent",)  # few calls have no bounds that nodes compute


@pytest.mark.parametrize("name", ["nothing", "names_nodes", "relu_into_clip", "removes_identity"])
def test_right_optimiser_conforms(name):
    found = optimised(name, *SELECTIONS)
    assert {one.verdict for one in found.values()} == {"conforms"}
    assert all(one.compared > 5000 for one in found.values())


@pytest.mark.parametrize("name", WRONG)
def test_wrong_optimiser_is_found_by_few_calls_and_its_rewrite_is_named(name):
    context, rewrite = WRONG[name]
    report = optimised(name, context, few=name not in OF_ALL_CALLS)[context]
    assert report.verdict == "context"
    first = report.deviations[0]
    assert first.got != first.expected
    assert first.one_by_one == first.plain == first.expected
    if rewrite:
        assert rewrite in {deviation.rewrite for deviation in report.deviations}


OTHER_CAUSES = {
    # optimiser: context, and what the report names
    "bypasses_relu": ("fork", "relu-dropped-before-clip"),
    "drops_add_of_zero": ("plus-zero-clip", "plus-zero"),
    "loses_max_behind_matmul": ("matmul-clip", "upper bound"),
    "takes_inputs_for_absent": ("relu-clip", "upper bound"),
}


@pytest.mark.parametrize("name", OTHER_CAUSES)
def test_what_a_wrong_optimiser_did_is_named(name):
    context, cause = OTHER_CAUSES[name]
    report = optimised(name, context)[context]
    assert report.verdict == "context"
    for deviation in report.deviations:
        assert cause in f"{deviation.rewrite} {deviation.legal_when}"


def test_bounds_that_are_inputs_are_asked():
    report = optimised("takes_inputs_for_absent", "clip-relu")["clip-relu"]
    assert {deviation.bounds_as for deviation in report.deviations} == {"inputs"}


FEW_FORMS = {
    # optimiser: context, and the form in which it is wrong
    "loses_attributes": ("relu-clip", "attributes"),
    "takes_inputs_for_absent": ("relu-clip", "inputs"),
    "drops_bounds_of_constant_nodes": ("identity-clip", "Constant nodes"),
}


@pytest.mark.parametrize("name", FEW_FORMS)
def test_few_calls_find_bounds_that_are_lost_in_one_form(name):
    context, form = FEW_FORMS[name]
    report = optimised(name, context, few=True)[context]
    assert {deviation.bounds_as for deviation in report.deviations} == {form}


@pytest.mark.nightly
@pytest.mark.parametrize("name", WRONG)
def test_all_calls_find_every_wrong_optimiser(name):
    context, rewrite = WRONG[name]
    report = optimised(name, context)[context]
    assert report.verdict == "context"
    assert not rewrite or rewrite in {deviation.rewrite for deviation in report.deviations}


def test_nodes_of_one_step_that_an_optimiser_joined_are_wrong_in_context():
    report = optimised("where_into_max", "clip-body", few=True)["clip-body"]
    assert report.verdict == "context"
    first = report.deviations[0]
    assert first.expected == first.one_by_one == first.plain != first.got


def test_right_optimiser_is_not_blamed_for_its_runtime():
    """The Where of onnxruntime loses the sign of -0."""
    report = optimised("nothing", "clip-body", few=True)["clip-body"]
    assert report.verdict in ("alone", "conforms")
    assert not report.deviations


def test_bounds_divided_by_a_positive_factor_are_right():
    found = optimised("divides_bounds_by_factor", "times-two-clip")
    assert found["times-two-clip"].verdict == "conforms"


def test_a_wrong_optimiser_is_right_beside_other_neighbours():
    found = optimised("drops_relu", "clip-relu", "clip-clip", "conv-clip")
    assert {one.verdict for one in found.values()} == {"conforms"}


@pytest.mark.parametrize("etype", ["int8", "uint8", "float16", "float64"])
def test_every_kind_of_type_finds_merged_clips(etype):
    report = optimised("merges_clips", "clip-clip", etype=etype, few=True)["clip-clip"]
    assert report.verdict == "context"
    assert report.deviations[0].rewrite == "clip-clip-by-max-min"


def test_fused_kernel_of_a_runtime_is_found():
    found = judged(f"onnx:{HERE}:open_fused", ["matmul-clip", "gemm-clip"])
    assert found["gemm-clip"].verdict in ("conforms", "alone")
    report = found["matmul-clip"]
    assert report.verdict == "context"
    first = report.deviations[0]
    assert "nan" in f"{first.asked}, {first.x.decimal}"
    assert first.expected == first.one_by_one
    assert first.plain is None


HOSTILE = {
    # optimiser: verdict, and what the words name
    "invalid": ("invalid", "not valid"),
    "renames_output": ("invalid", "other"),
    "garbage": ("invalid", "bytes"),
    "none": ("invalid", "NoneType"),
    "raises": ("refused", "pattern not understood"),
    "prints_much": ("conforms", ""),
}


def test_optimiser_that_ends_its_process_has_crashed():
    report = optimised("ends", "relu-clip", few=True)["relu-clip"]
    assert report.verdict == "crashed"
    assert report.served == 0


@pytest.mark.nightly
def test_model_of_128_megabytes_is_invalid():
    report = optimised("huge", "relu-clip", few=True)["relu-clip"]
    assert report.verdict == "invalid"


@pytest.mark.nightly
def test_optimiser_that_hangs_is_ended():
    report = optimised("hangs", "relu-clip", few=True, limits=Limits(call=1))["relu-clip"]
    assert report.verdict == "crashed"
    assert "no answer" in report.refusals[0].words


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_optimiser_ends_with_one_verdict(name):
    verdict, words = HOSTILE[name]
    report = optimised(name, "relu-clip", few=True)["relu-clip"]
    assert report.verdict == verdict
    assert words in "".join(refusal.words for refusal in report.refusals)


def test_a_command_is_an_optimiser(tmp_path, monkeypatch):
    program = tmp_path / "optimise.py"
    program.write_text(
        "import sys, onnx\n"
        "from tests.contexts.planted_optimisers import drops_relu\n"
        "onnx.save(drops_relu(onnx.load(sys.argv[1])), sys.argv[2])\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    command = f"{sys.executable} {program} {{in}} {{out}}"
    report = judged(f"optimised[onnxruntime]:{command}", ["relu-clip"], "int8")["relu-clip"]
    assert report.verdict == "context"
    assert report.deviations[0].rewrite == "relu-dropped-before-clip"


def test_command_that_a_signal_ends_has_crashed():
    command = f"{sys.executable} -c 'import os; os.kill(os.getpid(), 11)' {{in}} {{out}}"
    report = judged(f"optimised[onnxruntime]:{command}", ["relu-clip"], "int8", few=True)[
        "relu-clip"
    ]
    assert report.verdict == "crashed"
    assert "SIGSEGV" in report.refusals[0].words


TWO_GIGABYTES = "head -c 2000000000 /dev/zero"
TOO_MUCH = {
    # what a program does, and what the words name
    f"{TWO_GIGABYTES}; cp {{in}} {{out}}": "standard output",
    f"{TWO_GIGABYTES} >&2; cp {{in}} {{out}}": "standard error",
    f": {{in}}; {TWO_GIGABYTES} > {{out}}": "a file of more than",
    f": {{out}}; exec {TWO_GIGABYTES} > {{in}}": "a file of more than",
}


@pytest.mark.parametrize("script", TOO_MUCH)
def test_command_that_writes_two_gigabytes_is_asked_three_graphs(script):
    command = shlex.join(["sh", "-c", script])
    found = judged(f"optimised[onnxruntime]:{command}", ["relu-clip", "clip-clip"], few=True)
    for report in found.values():
        assert (report.verdict, report.graphs) == ("invalid", 0)
        assert TOO_MUCH[script] in report.refusals[0].words


@pytest.mark.parametrize(
    "name", ["ends", pytest.param("prints_without_end", marks=pytest.mark.nightly)]
)
def test_optimiser_that_dies_for_every_graph_is_asked_three(name):
    found = optimised(name, "relu-clip", "clip-clip", few=True)
    assert {(report.verdict, report.graphs) for report in found.values()} == {("crashed", 0)}


def test_optimiser_that_dies_for_one_pattern_is_asked_all():
    found = optimised("ends_for_relu", "relu-clip", "clip-clip", etype="int8", few=True)
    assert found["clip-clip"].verdict == "conforms"
    assert found["relu-clip"].verdict == "crashed"


def test_reproducer_shows_the_wrong_result_in_a_new_process(tmp_path):
    report = optimised("drops_relu", "relu-clip")["relu-clip"]
    first = report.deviations[0]
    done = subprocess.run(
        [sys.executable, "-c", first.reproduce], capture_output=True, text=True, check=True
    )
    printed = done.stdout.split()
    assert int(printed[-1], 16) == int(first.got.bits, 16)
    assert np.float32(printed[0]) == np.float32(first.got.decimal)


def checked(tmp_path, *words):
    """The exit status of `check`, and its report."""
    file = tmp_path / "report.json"
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "check", *words, "--brief", "-o", str(file)],
        cwd=repo_root(), env={**os.environ, "PYTHONPATH": str(repo_root())}, check=False,
    )  # fmt: skip
    return done.returncode, Report.model_validate_json(file.read_text(encoding="utf-8"))


def test_right_optimiser_conforms_alone_and_in_contexts(tmp_path):
    words = (
        "--optimiser",
        f"{HERE}:nothing",
        "--dtype",
        "int8",
        "--contexts",
        "relu-clip,clip-clip",
    )
    status, report = checked(tmp_path, *words)
    (int8,) = report.types
    assert status == 0
    assert int8.verdict == "conforms"
    assert [context.verdict for context in int8.contexts] == ["conforms", "conforms"]


def test_optimiser_that_refuses_every_model_is_no_success(tmp_path):
    """What its runtime makes of models that were not optimised is no verdict on it."""
    words = ("--optimiser", f"{HERE}:raises", "--dtype", "int8", "--contexts", "clip-clip")
    status, report = checked(tmp_path, *words)
    (int8,) = report.types
    assert status == 1
    assert int8.verdict == "unsupported"


@pytest.mark.nightly
def test_report_says_that_no_context_was_asked():
    words = ("--optimiser", f"{HERE}:garbage", "--dtype", "int8", "--contexts")
    done = run("check", *words, cwd=repo_root())
    assert done.returncode == 1
    assert re.search("not asked: [0-9]+ contexts of int8", done.stdout)
    assert done.stdout.count("it returned bytes") < 5


def test_runtime_that_serves_no_operator_set_of_a_context_is_not_asked():
    """Relu takes int16 from operator set 14 on; a function that opens no model serves none above 13."""
    words = ("--onnx", f"{HERE}:opens_nothing", "--dtype", "int16", "--contexts", "relu-clip")
    done = run("check", *words, cwd=repo_root())
    assert done.returncode == 1
    assert "not asked: 1 context of int16" in done.stdout
    assert "no operator set up to 13" in done.stdout


def test_contexts_of_a_type_without_clip_are_asked(tmp_path):
    words = ("--runtime", "onnxruntime", "--dtype", "int16", "--contexts", "identity-clip")
    status, report = checked(tmp_path, *words)
    (int16,) = report.types
    assert int16.verdict == "unsupported"
    (context,) = int16.contexts
    assert context.refusals[0].when == "always"
    assert status == 1  # nothing was compared
