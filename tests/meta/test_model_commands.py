"""`check --onnx-cmd`: programs that run one model and end, each wrong in one way; nothing of them is left."""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

from sonnx_clip.conform import campaign, local_judge
from sonnx_clip.conform.checked_operator import machine_types
from sonnx_clip.conform.expected import class_ids
from sonnx_clip.conform.extent import scope
from sonnx_clip.conform.options import CheckOptions
from sonnx_clip.conform.plan import FEW_LENGTHS, LONG, few_calls, form_plan
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_root
from sonnx_clip.runtimes.board import Board
from sonnx_clip.runtimes.calls import Caller, EndedError, Request, read_answer
from sonnx_clip.runtimes.find_runtime import find_runtime
from sonnx_clip.runtimes.model_command import NoOutput, opened
from sonnx_clip.runtimes.model_forms import base, text_of_form
from sonnx_clip.runtimes.program import Refused
from sonnx_clip.runtimes.runtime import LIMITS, Limits
from tests.meta.judged import Due, carriers, require_due, require_repeated, wait_until

PLANTED = Path(__file__).with_name("planted_commands.py")
X = np.int16([-3, 1, 9])
BOUNDS = {"l": np.array(0, np.int16), "m": np.array(5, np.int16)}


def model_of(etype):
    return onnx.parser.parse_model(text_of_form(etype, base())).SerializeToString()


def command(fault, mark=""):
    return shlex.join([sys.executable, "-S", "-E", str(PLANTED), fault, "{model}", "{in}", "{out}", mark])


def named(fault, mark=""):
    return f"onnx-cmd:{command(fault, mark)}"


@pytest.fixture
def brief(monkeypatch):
    """Few calls, and few forms: what the whole plan holds is tested by itself."""
    whole = few_calls
    wanted = {"contiguous", "rank-2", "rank-4"}

    def calls(etype):
        left = set(wanted)
        for request, table in whole(etype):
            if request.layout in left:
                left -= {request.layout}
                yield request, table

    monkeypatch.setattr(local_judge, "few_calls", calls)
    forms = "sonnx_clip.conform.judge_forms"
    monkeypatch.setattr(f"{forms}.opsets_of_this_clip", lambda: (13,))
    whole_forms = local_judge.judge_forms.__globals__["covering"]
    monkeypatch.setattr(f"{forms}.covering", lambda forms: whole_forms(forms)[:2])


def judged(fault, mark, dtype="int16", *, limits=LIMITS):
    (report,) = campaign.run_campaign(CheckOptions(named(fault, mark), [dtype], limits=limits)).types
    return report


# --- The calls ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
def test_few_calls_reach_every_class_and_shape(dtype):
    (etype,) = machine_types([dtype])
    seen, calls, lengths = set(), 0, set()
    for request, table in few_calls(etype):
        indices = (request.starts[:, None] + np.arange(request.length)) % len(request.pool)
        rows = np.arange(request.count)[:, None]
        seen |= set(table.classes[rows, indices].ravel().tolist())
        calls += request.count
        lengths.add(request.length)
        assert request.scalars[0].tolist() == table.scalars[0].tolist()
    assert seen == set(range(len(class_ids(etype.family))))
    assert calls < 130
    assert {0, 1, LONG, *FEW_LENGTHS} <= lengths


def test_every_x_of_16_bits_is_in_a_call():
    (etype,) = machine_types(["float16"])
    request, _ = next(few_calls(etype))
    assert len(request.pool) == 2**16 < request.length


@pytest.mark.parametrize("dtype", ["int16", "int64", "float32"])
def test_few_calls_of_a_form_reach_what_many_reach(dtype):
    (etype,) = machine_types([dtype])

    def classes(form, **options):
        found, calls = set(), 0
        for request, table in form_plan(etype, form, **options):
            indices = (request.starts[:, None] + np.arange(request.length)) % len(request.pool)
            found |= set(table.classes[np.arange(len(indices))[:, None], indices].ravel().tolist())
            calls += len(indices)
        return found, calls

    rank_0 = base().__class__("inputs", "static", 0, 13, optimised=True)
    for form in (base(), rank_0):
        many, few_ = classes(form), classes(form, few=True)
        assert few_[0] == many[0]
        assert few_[1] < min(40, many[1])


# --- In the process of a runtime ---------------------------------------------------------------------------


def run(fault):
    return opened(named(fault))(model_of("int16"))({"x": X, **BOUNDS})


def test_a_model_is_run_and_its_output_read():
    found = run("none")
    assert (found.dtype, found.tolist()) == (np.int16, [0, 1, 5])


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        ("refuses_int16", Refused, "status 3: no kernel for int16"),
        ("dies_in_a_shell", None, ""),
        ("nothing", NoOutput, r"ended with status 0 and wrote no output_0\.pb$"),
        ("other_name", NoOutput, r"wrote no output_0\.pb; there is y\.pb"),
        ("folder", NoOutput, r"wrote no output_0\.pb; there is output_0\.pb"),
        ("garbage", NoOutput, r"its output_0\.pb is no tensor that can be read: "),
        ("empty", NoOutput, r"its output_0\.pb is no tensor that can be read: "),
        ("huge", NoOutput, r"its output_0\.pb has 134,217,728 bytes"),
        ("elsewhere", None, ""),
    ],
)
def test_missing_output_is_reported(fault, error, words):
    if error is None:
        assert run(fault).tolist() == [0, 1, 5]
        return
    with pytest.raises(error, match=words):
        run(fault)


def test_silent_exit_is_reported_with_its_status():
    model = model_of("int16")
    with pytest.raises(Refused, match="status 1: it writes nothing on standard error"):
        opened(named("refuses_rank_4"))(model)({"x": X.reshape(1, 1, 1, 3), **BOUNDS})


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("dies_of_nan_bounds", "killed by SIGSEGV"),
        ("dies_in_a_shell", "killed by SIGSEGV, as status 139 of a shell says"),
    ],
)
def test_death_of_a_program_is_reported(fault, words, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    bounds = {"l": np.float32(np.nan).reshape(()), "m": np.float32(0).reshape(())}
    if fault == "dies_in_a_shell":
        bounds["l"] = np.float32(1).reshape(())
    given = {"x": np.float32([1, 2]), **bounds}
    model = model_of("float32")
    with pytest.raises(EndedError, match=words):
        opened(named(fault))(model)(given)
    assert not [*tmp_path.iterdir()]


def test_a_program_that_leaves_a_child_does_not_wait_for_it(mark):
    found = opened(named("leaves_a_child", mark))(model_of("int16"))
    assert found({"x": X, **BOUNDS}).tolist() == [0, 1, 5]
    wait_until(lambda: not carriers(mark))


def test_calls_of_a_request_leave_no_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    board = Board()
    runtime = find_runtime(named("none"))
    assert (runtime.few, runtime.strides) == (True, False)
    bounds = np.zeros(2, np.uint16), np.full(2, 5, np.uint16)
    request = Request("rank-2", 63, X.view(np.uint16), np.zeros(2, int), bounds)
    Caller(runtime.open("int16"), "int16")(request, board)
    bits = board.bits(request)
    assert bits.view(np.int16).tolist() == [[0, 1, 5] * 21] * 2
    assert not read_answer(board, request).failures
    assert not [*tmp_path.iterdir()]
    assert list(runtime.run_texts) == [True]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("onnx-cmd:./no-such {model} {in} {out}", "./no-such cannot be started: there is none"),
        ("onnx-cmd:./README.md {model} {in} {out}", "it is no program that may be executed"),
    ],
)
def test_a_name_that_is_none(name, words, monkeypatch):
    monkeypatch.chdir(repo_root())
    with pytest.raises(UserError) as raised:
        opened(name)
    assert words in raised.value.what


# --- Verdicts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int16", "float32"])
@pytest.mark.usefixtures("brief")
def test_right_program_conforms(dtype, mark):
    report = judged("none", mark, dtype)
    require_due(report, Due("conforms", others="conforms"))
    assert not report.remarks
    assert report.few
    compared, unseen = scope([report])
    assert "in one call under each chosen pair of bounds" in compared
    assert "every triple" not in compared
    assert "any other pair of bounds" in unseen


INVERTED = {"inverted_ordinary": "violates"}
INSIDE = {"inside_ordinary": "conforms"}
FAULTS = {
    "wrong": Due("violates", "", INVERTED, "conforms"),
    "wrong_with_constants": Due("depends", "", {"high_ordinary": "depends"}),
    "refuses_int16": Due("unsupported", "Refused: status 3: no kernel for int16"),
    "hangs": Due("crashed", "no answer within 1 s of its own time (--limit SECONDS allows more)"),
    "nothing": Due("unreached", "wrote no output_0.pb", {"inside_ordinary": "violates"}),
    "wrong_shape": Due("violates", "it returned shape (1, ", {"C1": "violates"}),
    "refuses_rank_4": Due("refused", "status 1", INSIDE),
    "refuses_inverted": Due("violates", "", INVERTED | INSIDE),
}
NIGHTLY = {"refuses_rank_4", "refuses_inverted"}


@pytest.mark.parametrize(
    "fault", [pytest.param(name, marks=[pytest.mark.nightly] * (name in NIGHTLY)) for name in FAULTS]
)
@pytest.mark.usefixtures("brief")
def test_faulty_program_gets_its_verdict(fault, mark):
    report = judged(fault, mark, limits=Limits(call=1.0) if fault == "hangs" else LIMITS)
    require_due(report, FAULTS[fault])
    if fault == "wrong":
        (first,) = [d for c in report.classes for d in c.deviations]
        require_repeated(first)


@pytest.mark.nightly
@pytest.mark.usefixtures("brief")
def test_death_is_of_its_classes_in_every_form(mark):
    limits = replace(LIMITS, deaths=30)  # in a form; there are more in all
    report = judged("dies_of_nan_bounds", mark, "float32", limits=limits)
    dead = (
        "low_max_nan", "high_min_nan", "inside_nan_and_nan_bound", "inside_min_nan", "inside_max_nan",
        "inside_both_nan",
    )  # fmt: skip
    require_due(report, Due("crashed", "", dict.fromkeys(dead, "crashed"), "conforms"))
    assert [form.verdict for form in report.forms] == ["crashed"] * 2
    assert all(form.compared for form in report.forms)


@pytest.mark.nightly
@pytest.mark.usefixtures("brief")
def test_the_program_of_the_page_is_judged(monkeypatch):
    monkeypatch.chdir(repo_root())
    page = Path("docs/integrations.md").read_text(encoding="utf-8")
    (line,) = (line for line in page.splitlines() if "check --onnx-cmd 'python" in line)
    arguments = shlex.split(line)
    words = shlex.split(arguments[arguments.index("--onnx-cmd") + 1])
    assert words[0] == "python"
    name = f"onnx-cmd:{shlex.join([sys.executable, *words[1:]])}"
    (report,) = campaign.run_campaign(CheckOptions(name, ["int8"])).types
    assert report.verdict == "conforms", report.words


# --- The command -------------------------------------------------------------------------------------------


def test_an_interrupted_check_leaves_no_program_and_no_file(mark, tmp_path):
    assert tempfile.gettempdir() != str(tmp_path)
    line = [sys.executable, "-m", "sonnx_clip", "check", "--dtype", "int16"]
    process = subprocess.Popen(
        [*line, "--onnx-cmd", command("hangs", mark)],
        cwd=repo_root(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    started = f"\0{mark}\0".encode()
    wait_until(lambda: sum(line.endswith(started) for line in carriers(mark)) > 1)
    wait_until(lambda: [*tmp_path.glob("sonnx-clip-*/*/in/input_0.pb")])
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    wait_until(lambda: not carriers(mark) and not [*tmp_path.glob("sonnx-clip-*")])
