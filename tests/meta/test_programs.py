"""`check --exec`: programs that speak frames, each wrong in one way; nothing of them is left."""

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.runtimes.runtime import Limits
from sonnx_clip.runtimes.runtime_options import RuntimeOptions
from sonnx_clip.runtimes.worker import Worker
from tests.meta.judged import Due, nightly_but, require_due, require_repeated

PLANTED = Path(__file__).with_name("planted_programs.py")
SHORT = Limits(call=0.4, start=2.0)
pytestmark = pytest.mark.usefixtures("brief")


def command(fault, mark):
    return shlex.join([sys.executable, "-S", "-E", str(PLANTED), fault, mark])


def named(fault, mark, *, order="little", stdio=False):
    return RuntimeOptions(exec=command(fault, mark), endian=order, stdio=stdio).name()


def judged(fault, mark, dtype="int16", *, limits=SHORT, **options):
    (report,) = run_campaign(
        CheckOptions(named(fault, mark, **options), [dtype], limits=limits, of=clip_operator())
    ).types
    return report


@pytest.mark.parametrize(
    ("fault", "options"),
    [("none", {}), ("big", {"order": "big"}), ("stdio", {"stdio": True}), ("small", {})],
)
def test_right_program_conforms_however_it_speaks(fault, options, mark):
    report = judged(fault, mark, **options)
    require_due(report, Due("conforms", others="conforms"))
    assert not report.remarks
    assert report.longest == (100 if fault == "small" else 1 << 20)


def request_of(calls, length=1, layout="contiguous"):
    bounds = np.zeros(calls, np.uint16), np.full(calls, 9, np.uint16)
    return Request(layout, length, np.array([1, 20], np.uint16), np.zeros(calls, int), bounds)


def answer_of(fault, mark, request, etype="int16"):
    worker = Worker(named(fault, mark), etype, SHORT, signature=CLIP_SIGNATURE)
    answer = worker.ask(request)
    worker.close()
    return answer


def test_slow_calls_do_not_add_up_to_a_hang(mark):
    answer = answer_of("slow", mark, request_of(30, 2))
    assert answer.died is None
    assert answer.bits.tolist() == [[1, 9]] * 30


# What a program sends that is no frame, and what is said of it.
BAD_FRAMES = {
    "garbage": "bad frame: its reply announces 1,867,130,112 bytes; 8 to",
    "wrong_length": "bad frame: its reply has ",
    "giant_length": "bad frame: its reply announces 4,294,967,295 bytes",
    "exits_mid_frame": " bytes of a reply",
    "short_frame": "(--limit SECONDS allows more): it sent ",
    "says_more": "bad frame: it sent 17 bytes without a request: and another thing",
    "endless_reply": "bad frame: it sent 4,096 bytes or more without a request: more",
}


@pytest.mark.parametrize("fault", BAD_FRAMES)
def test_bad_frame_is_described(fault, mark):
    died = answer_of(fault, mark, request_of(8)).died
    assert died is not None
    assert BAD_FRAMES[fault] in died.words


ONE = {"inverted_ordinary": "violates"}
DEAD = {"inverted_ordinary": "crashed"}
INSIDE = {"inside_ordinary": "conforms"}
FAULTS = {
    "wrong_in_one_class": Due("violates", "", ONE, "conforms"),
    "dies_at_a_triple": Due("crashed", "killed by SIGSEGV", DEAD, "conforms"),
    "hangs_with_children": Due("crashed", "no answer within 0.4 s of its own time"),
    "leaves_a_daemon": Due("conforms"),
    "closes_its_output": Due("crashed", "bad frame: it closed its output without ending, without a reply"),
    "prints": Due("conforms", "it writes on standard output: a line for nobody"),
    "refuses_rank_2": Due("refused", "Refused: rank 2 is too much", INSIDE),
    "rank_1_alone": Due("refused", "Refused: its hello does not list rank 2", INSIDE),
    "refuses_inverted": Due("violates", "Refused: max is less than min", ONE | INSIDE),
    "sees_a_fault": Due(  # nothing was compared in C1
        "unreached", "Fault: it wrote past the end of its result", {"inside_ordinary": "violates"}),
    "wrong_type": Due("violates", "", {"C3": "violates"}),
}  # fmt: skip
FAST = {
    "wrong_in_one_class", "dies_at_a_triple", "leaves_a_daemon", "prints",
    "refuses_rank_2", "rank_1_alone", "sees_a_fault", "wrong_type",
}  # fmt: skip


@pytest.mark.parametrize("fault", nightly_but(FAST, FAULTS))
def test_faulty_program_gets_its_verdict(fault, mark):
    limits = replace(Limits(call=1.5) if fault == "closes_its_output" else SHORT, deaths=4)
    report = judged(fault, mark, limits=limits)
    require_due(report, FAULTS[fault])
    if fault.startswith("hangs"):  # the other lengths are judged
        assert {c.id: c.compared for c in report.classes}["inside_ordinary"] > 100
    if fault == "wrong_in_one_class":
        (first,) = [d for c in report.classes for d in c.deviations if c.verdict == "violates"]
        require_repeated(first)
    if fault == "dies_at_a_triple":
        (first,) = [d for c in report.classes for d in c.deviations if d.kind == "crashed"]
        assert f"{fault} {mark}" in first.reproduce


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            "nothing_at_all",
            "while it was started: no answer within 0.5 s of its own time (--start-limit",
        ),
        ("ends_at_once", "no hello: exited with status 3, without a hello"),
        (
            "ends_with_a_traceback",
            "it writes on standard error: RuntimeError: no board is connected",
        ),
        ("half_a_hello", "exited with status 0, after 10 of 24 bytes of a hello"),
        ("wrong_version", "its hello has version 7; the checker supports version 2"),
        ("big", "its hello is big-endian: use --endian big"),
        ("no_types", "its hello lists no element type"),
        ("strange_types", "its hello lists unknown element types: 0x100000"),
        ("tiny", "its hello allows 8 entries in a request; at least 64 are required"),
        ("long_name", "its hello has a name of 1,000,000 bytes"),
        ("stdio", "exited with status 0, without a hello"),  # it speaks where nobody listens
        ("stdio_text", "its first bytes are not a hello: Loading the model, pleas"),
    ],
)
def test_invalid_hello_is_an_environment_failure(fault, words, mark):
    with pytest.raises(UserError) as raised:
        judged(fault, mark, limits=Limits(call=0.4, start=0.5), stdio=fault == "stdio_text")
    assert raised.value.what.startswith("environment: the runtime exec")
    assert words in raised.value.what
    assert "must first write a hello" in raised.value.todo


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("lies_about_types", "no such type here (its hello lists float32)"),
        ("none", "its hello does not list float32"),
    ],
)
def test_type_that_the_program_lacks_is_unsupported(fault, words, mark):
    report = judged(fault, mark, "float32")
    assert (report.verdict, report.compared, report.words) == (
        "unsupported",
        0,
        f"Unsupported: {words}",
    )
