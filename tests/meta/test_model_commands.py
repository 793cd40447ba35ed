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

from sonnx_clip.conform import campaign, judge
from sonnx_clip.conform.call_plan import FEW_LENGTHS, LONG, few_calls
from sonnx_clip.conform.extent import scope
from sonnx_clip.conform.form_plan import form_plan
from sonnx_clip.conform.operator import clip_operator, machine_types
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.root.folders import repo_root
from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.calls import EndedError
from sonnx_clip.runtimes.model_command import NoOutput, TooMuchOutput, opened
from sonnx_clip.runtimes.model_forms import base, text_of_form
from sonnx_clip.runtimes.program import Refused
from sonnx_clip.runtimes.runtime import LIMITS, Limits
from tests.meta.judged import (
    Due,
    carriers,
    first_of_each,
    nightly_but,
    require_due,
    require_repeated,
    wait_until,
)

PLANTED = Path(__file__).with_name("planted_commands.py")
X = np.int16([-3, 1, 9])


def command(fault, mark=""):
    return shlex.join(
        [sys.executable, "-S", "-E", str(PLANTED), fault, "{model}", "{in}", "{out}", mark]
    )


def named(fault, mark=""):
    return f"onnx-cmd:{command(fault, mark)}"


# --- The calls ----------------------------------------------------------------------------------------------


def entries(request):
    indices = (request.starts[:, None] + np.arange(request.length)) % len(request.pool)
    return np.arange(request.count)[:, None], indices


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
def test_few_calls_reach_every_class_shape_and_x_of_16_bits(dtype):
    (etype,) = machine_types([dtype], clip_operator())
    seen, calls, lengths = set(), 0, set()
    for request, table in few_calls(etype, clip_operator()):
        seen |= set(table.classes[entries(request)].ravel().tolist())
        calls += request.count
        lengths.add(request.length)
    assert seen == set(range(len(clip_operator().class_ids(etype.family))))
    assert calls < 160
    assert {0, 1, LONG, *FEW_LENGTHS} <= lengths
    if etype.width == 16:
        request = next(
            some
            for some, _ in few_calls(etype, clip_operator())
            if some.purpose == "few long calls"
        )
        assert len(request.pool) == 2**16 < request.length


def _beside_bounds_in_use(etype):
    """Few calls that reach every class."""
    return (
        (request, table)
        for request, table in few_calls(etype, clip_operator())
        if request.purpose != "bounds in use"
    )


# --- In the process of a runtime ----------------------------------------------------------------------------


def run(fault, x=X, lower=0, upper=5, mark=""):
    """The output of a program for a model, whose bounds are inputs."""
    etype = x.dtype.name
    model = onnx.parser.parse_model(
        text_of_form(etype, base(CLIP_SIGNATURE), CLIP_SIGNATURE)
    ).SerializeToString()
    bounds = {"l": np.array(lower, x.dtype), "m": np.array(upper, x.dtype)}
    return opened(named(fault, mark))(model)({"x": x, **bounds})


@pytest.mark.parametrize("fault", ["none", "elsewhere", "leaves_a_child"])
def test_model_is_run_and_its_output_read(fault, mark, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = run(fault, mark=mark)
    assert (found.dtype, found.tolist()) == (np.int16, [0, 1, 5])
    assert not [*tmp_path.iterdir()]
    wait_until(lambda: not carriers(mark))


FLOATS = np.float32([1, 2])
WORDS = [
    ("refuses_int16", {}, Refused, "status 3: no kernel for int16"),
    (
        "refuses_rank_4",
        {"x": X.reshape(1, 1, 1, 3)},
        Refused,
        "status 1: its standard error is empty",
    ),
    ("nothing", {}, NoOutput, r"ended with status 0 without writing output_0\.pb$"),
    ("other_name", {}, NoOutput, r"without writing output_0\.pb; there is y\.pb"),
    ("garbage", {}, NoOutput, r"its output_0\.pb is not a readable tensor: "),
    ("huge", {}, TooMuchOutput, r"it wrote a file of more than 16,777,216 bytes"),
    ("dies_of_nan_bounds", {"x": FLOATS, "lower": np.nan}, EndedError, "killed by SIGSEGV$"),
    (
        "dies_in_a_shell",
        {"x": FLOATS, "lower": 9},
        EndedError,
        r"killed by SIGSEGV \(exit status 139",
    ),
]


@pytest.mark.parametrize(
    ("fault", "operands", "error", "words"), WORDS, ids=[fault for fault, *_ in WORDS]
)
def test_run_without_an_output_is_described(fault, operands, error, words, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(error, match=words):
        run(fault, **operands)
    assert not [*tmp_path.iterdir()]


# --- Verdicts -----------------------------------------------------------------------------------------------


@pytest.fixture
def brief(monkeypatch):
    """Few calls, and few forms: what the whole plan holds is tested by itself."""
    layouts = ("contiguous", "rank-2", "rank-4")
    monkeypatch.setattr(
        judge, "few_calls", lambda etype, _: first_of_each(_beside_bounds_in_use(etype), layouts)
    )
    monkeypatch.setattr(judge, "known_opsets", lambda *_: (13,))
    # Each pair of constant bounds is a program of its own.
    monkeypatch.setattr(
        judge,
        "form_plan",
        lambda *args, **kwargs: (
            call for call in form_plan(*args, **kwargs) if call[0].purpose == "special values"
        ),
    )
    covering = judge.covering
    monkeypatch.setattr(judge, "covering", lambda forms: covering(forms)[:2])


def judged(fault, mark, dtype="int16", *, limits=LIMITS):
    (report,) = campaign.run_campaign(
        CheckOptions(named(fault, mark), [dtype], limits=limits, of=clip_operator())
    ).types
    return report


@pytest.mark.usefixtures("brief")
def test_right_program_conforms(mark):
    report = judged("none", mark)
    require_due(report, Due("conforms", others="conforms"))
    assert not report.remarks
    assert report.few
    compared, unseen = scope([report], clip_operator())
    assert "in one call under each chosen pair of bounds" in compared
    assert "every triple" not in compared
    assert "any other pair of bounds" in unseen


INVERTED = {"inverted_ordinary": "violates"}
INSIDE = {"inside_ordinary": "conforms"}
NAN_BOUNDS = (
    "low_max_nan", "high_min_nan", "inside_nan_and_nan_bound", "inside_min_nan", "inside_max_nan",
    "inside_both_nan",
)  # fmt: skip
FAULTS = {
    "wrong": Due("violates", "", INVERTED, "conforms"),
    "wrong_with_constants": Due("depends", "", {"high_ordinary": "depends"}),
    "refuses_int16": Due("unsupported", "Refused: status 3: no kernel for int16"),
    "hangs": Due("crashed", "no answer within 1 s of its own time (--limit SECONDS allows more)"),
    "dies_of_nan_bounds": Due("crashed", "", dict.fromkeys(NAN_BOUNDS, "crashed"), "conforms"),
}


@pytest.mark.parametrize("fault", nightly_but({"wrong", "refuses_int16"}, FAULTS))
@pytest.mark.usefixtures("brief")
def test_faulty_program_gets_its_verdict(fault, mark):
    limits = Limits(call=1.0) if fault == "hangs" else replace(LIMITS, deaths=30)
    report = judged(fault, mark, "float32" if "nan" in fault else "int16", limits=limits)
    require_due(report, FAULTS[fault])
    if fault == "wrong":
        (first,) = [d for c in report.classes for d in c.deviations]
        require_repeated(first)
    if fault == "dies_of_nan_bounds":
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
    (report,) = campaign.run_campaign(CheckOptions(name, ["int8"], of=clip_operator())).types
    assert report.verdict == "conforms", report.words


def test_killed_check_leaves_no_program_and_no_file(mark, tmp_path):
    line = [sys.executable, "-m", "sonnx_clip", "check", "--dtype", "int16"]
    process = subprocess.Popen(
        [*line, "--onnx-cmd", command("hangs", mark)],
        cwd=repo_root(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    wait_until(lambda: sum(line[-1] == mark for line in carriers(mark)) > 1)
    wait_until(lambda: [*tmp_path.glob("sonnx-clip-*/*/in/input_0.pb")])
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    wait_until(lambda: not carriers(mark) and not [*tmp_path.glob("sonnx-clip-*")])
