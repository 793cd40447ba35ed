"""Programs that speak frames, each wrong in one way: the right verdict, a clear message, no process left."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.options import CheckOptions
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_root
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.runtimes.limits import Limits
from sonnx_clip.runtimes.program import ProgramName
from sonnx_clip.runtimes.worker import Worker
from tests.command import run

PLANTED = Path(__file__).with_name("planted_programs.py")
SHORT = Limits(call=0.4, start=2.0)
pytestmark = pytest.mark.usefixtures("brief")


@pytest.fixture
def mark():
    """A word that no other process carries; nothing that carries it may be left at the end."""
    word = str(uuid.uuid4().int)
    yield word
    assert not carriers(word)


def carriers(word):
    """The processes of whose command line a word is part."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = file.read_bytes()
        except OSError:
            continue
        if word.encode() in line and int(file.parent.name) != os.getpid():
            found.append(line)
    return found


def named(fault, mark, **options):
    command = shlex.join([sys.executable, "-S", "-E", str(PLANTED), fault, mark])
    return str(ProgramName(command, **options))


def judged(fault, mark, dtype="int16", *, limits=SHORT, **options):
    (report,) = run_campaign(CheckOptions(named(fault, mark, **options), [dtype], limits=limits)).types
    return report, {found.id: found for found in report.classes}


@pytest.mark.parametrize(
    ("fault", "options"),
    [
        ("none", {}), ("big", {"order": "big"}),
        ("stdio", {"stdio": True}), ("small", {}),
    ],
)  # fmt: skip
def test_a_right_program_conforms_however_it_speaks(fault, options, mark):
    report, classes = judged(fault, mark, **options)
    assert report.verdict == "conforms", (report.words, report.remarks)
    assert {found.verdict for found in classes.values()} == {"conforms"}
    assert not report.remarks
    assert report.longest == (100 if fault == "small" else 1 << 20)


def test_slow_calls_do_not_hang_however_many_a_frame_could_hold(mark):
    worker = Worker(named("slow", mark), "int16", SHORT)
    bounds = np.zeros(30, np.uint16), np.full(30, 9, np.uint16)
    answer = worker.ask(Request("contiguous", 2, np.array([1, 20], np.uint16), np.zeros(30, int), bounds))
    worker.close()
    assert answer.died is None
    assert answer.bits.tolist() == [[1, 9]] * 30


def test_a_wrong_class_is_found_with_a_line_that_repeats_it(mark):
    report, classes = judged("wrong_in_one_class", mark)
    assert report.verdict == "violates"
    assert [id_ for id_, found in classes.items() if found.verdict == "violates"] == ["inverted_ordinary"]
    first = classes["inverted_ordinary"].deviations[0]
    done = subprocess.run(
        [sys.executable, "-c", first.reproduce], check=True, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(repo_root())},
    )  # fmt: skip
    assert done.stdout.startswith("int16 (")
    assert first.got in {f"0x{int(bits, 16):04x}" for bits in re.findall("'(0x[0-9a-f]+)'", done.stdout)}
    assert f"expected: {first.expected}" in done.stdout


def test_mixed_byte_orders_are_wrong_values(mark):
    report, classes = judged("mixes_orders", mark)
    assert report.verdict == "violates"
    assert classes["inside_ordinary"].violating > 0


@pytest.mark.parametrize(
    ("fault", "words"),
    [("dies_at_a_triple", "killed by SIGSEGV"), ("exits_at_a_triple", "exited with status 5")],
)
def test_a_death_is_narrowed_to_its_class_and_the_rest_is_judged(fault, words, mark):
    report, classes = judged(fault, mark)
    assert report.verdict == "crashed"
    assert [id_ for id_, found in classes.items() if found.verdict == "crashed"] == ["inverted_ordinary"]
    first = next(d for d in classes["inverted_ordinary"].deviations if d.kind == "crashed")
    assert first.words.startswith(words)
    assert f"{fault} {mark}" in first.reproduce
    assert classes["inside_ordinary"].compared > 100
    assert {found.verdict for id_, found in classes.items() if id_ != "inverted_ordinary"} == {"conforms"}


@pytest.mark.parametrize("fault", ["hangs", "hangs_and_computes", "hangs_with_children"])
def test_hanging_runtime_is_stopped_and_reported(fault, mark):
    report, classes = judged(fault, mark)
    assert report.verdict == "crashed"
    assert "no answer within 0.4 s of its own time (--limit SECONDS allows more)" in report.words
    assert classes["inside_ordinary"].compared > 100  # of other lengths


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("garbage", "bad frame: its reply says that 1,867,130,112 bytes follow; it can be 8 to"),
        ("another_request", "bad frame: it replied to request "),
        ("wrong_length", "bad frame: its reply has "),
        ("too_few_results", "bad frame: its reply has 0 calls; the request had 1"),
        ("giant_length", "bad frame: its reply says that 4,294,967,295 bytes follow"),
        ("exits_mid_frame", " bytes of a reply"),
        ("short_frame", "(--limit SECONDS allows more): it sent "),
        ("says_more", "bad frame: it sent 17 bytes that nobody had asked for: and another thing"),
        ("endless_reply", "bad frame: it sent 4,096 bytes or more that nobody had asked for: more and more"),
        ("strange_status", "bad frame: its reply says 9, which means nothing"),
        ("closes_its_output", "bad frame: it closed its output and went on, without a reply"),
    ],
)
def test_a_bad_frame_is_a_death_with_its_reason(fault, words, mark):
    limits = replace(Limits(call=1.5) if fault == "closes_its_output" else SHORT, deaths=4)
    report, _ = judged(fault, mark, limits=limits)
    assert report.verdict == "crashed"
    assert words in report.words or any(words in (c.words or "") for c in report.classes), report.words


def test_an_empty_result_of_an_impossible_shape_is_no_refusal(mark):
    worker = Worker(named("impossible_shape", mark), "int16", SHORT)
    bounds = np.zeros(1, np.uint16), np.full(1, 9, np.uint16)
    answer = worker.ask(Request("length-0", 0, np.array([1], np.uint16), np.zeros(1, int), bounds))
    worker.close()
    assert answer.died is not None
    assert answer.died.words.startswith("bad frame: its reply has shape (0, 4294967295, 4294967295, ")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("nothing_at_all", "while it was started: no answer within 0.5 s of its own time (--start-limit"),
        ("ends_at_once", "before its hello was read: exited with status 3, without a hello"),
        (
            "ends_with_a_traceback",
            "without a hello; it writes on standard error: RuntimeError: no board is connected",
        ),
        (
            "ends_with_words",
            "without a hello; it writes on standard error: planted: cannot open libplanted.so.1",
        ),
        ("dies_at_once", "before its hello was read: killed by SIGSEGV, without a hello"),
        ("half_a_hello", "exited with status 0, after 10 of 28 bytes of a hello"),
        ("wrong_version", "its hello has version 7; the checker speaks version 1"),
        ("big", "its hello is big-endian: give --endian big"),
        ("no_types", "its hello lists no element type"),
        ("strange_types", "its hello lists element types that there are not: 0x100000"),
        ("no_batch", "its hello allows no call in a request"),
        ("tiny", "its hello takes 8 entries in a request; at least 64 are due"),
        ("long_name", "its hello has a name of 1,000,000 bytes"),
        ("stdio", "exited with status 0, without a hello"),  # it speaks where nobody listens
    ],
)
def test_invalid_greeting_is_no_runtime(fault, words, mark):
    with pytest.raises(UserError) as raised:
        judged(fault, mark, limits=Limits(call=0.4, start=0.5))
    assert raised.value.what.startswith("environment: the runtime exec:")
    assert words in raised.value.what
    assert "docs/integrations.md" in raised.value.todo


def test_text_before_the_hello_on_standard_output(mark):
    with pytest.raises(UserError, match="its first bytes are no hello: Loading the model, please wa"):
        judged("stdio_text", mark, stdio=True)


def test_text_on_standard_output_beside_the_frames_is_noticed(mark):
    report, _ = judged("prints", mark)
    assert report.verdict == "conforms"
    assert "it writes on standard output: a line for nobody" in report.remarks


def test_a_hello_that_lies_about_types_is_unsupported_in_its_words(mark):
    report, _ = judged("lies_about_types", mark, "float32")
    assert (report.verdict, report.compared) == ("unsupported", 0)
    assert report.words == "Unsupported: no such type here (its hello lists float32)"
    report, _ = judged("none", mark, "float32")
    assert (report.verdict, report.words) == ("unsupported", "Unsupported: its hello does not list float32")


def test_a_refused_rank_hides_no_value(mark):
    said = {
        "refuses_rank_2": "Refused: rank 2 is too much",
        "rank_1_alone": "Refused: its hello lists no rank 2",
    }
    for fault, words in said.items():
        report, classes = judged(fault, mark)
        assert report.verdict == "refused"
        assert report.refused_layouts == {"rank-2": words}
        assert classes["inside_ordinary"].verdict == "conforms"


def test_refusing_some_calls_of_a_form_is_a_violation(mark):
    report, classes = judged("refuses_inverted", mark)
    assert report.verdict == "violates"
    assert classes["inverted_ordinary"].words == "Refused: max is less than min"
    assert classes["inside_ordinary"].verdict == "conforms"


def test_a_fault_that_the_program_saw_is_a_violation(mark):
    _, classes = judged("sees_a_fault", mark)
    assert classes["inside_ordinary"].verdict == "violates"
    assert classes["inside_ordinary"].words == "Fault: it wrote past the end of its result"


@pytest.mark.parametrize(("fault", "tag"), [("wrong_type", "C3"), ("wrong_shape", "C1")])
def test_type_and_shape_of_a_reply_are_judged(fault, tag, mark):
    _, classes = judged(fault, mark)
    assert classes[tag].verdict == "violates"


def check(*arguments):
    return run("check", *arguments, cwd=repo_root())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "no runtime is named"),
        (("--runtime", "numpy", "--exec", "x"), "--runtime and --exec are both given"),
        (("--runtime", "numpy", "--endian", "big"), "--endian is about a program"),
        (("--runtime", "numpy", "--stdio"), "--stdio is about a program"),
        (("--exec", ""), "--exec names no program"),
        (("--exec", "'x"), "No closing quotation"),
        (("--exec", "./no-such-harness"), "./no-such-harness cannot be started: No such file or directory"),
        (("--exec", "./README.md"), "./README.md cannot be started: Permission denied"),
    ],
)
def test_a_wrong_command_line_is_one_message(arguments, words):
    done = check("--dtype", "int16", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ")


def test_an_interrupted_check_ends_its_program(mark):
    command = shlex.join([sys.executable, "-S", "-E", str(PLANTED), "slow", mark])
    process = subprocess.Popen(
        [sys.executable, "-m", "sonnx_clip", "check", "--exec", command, "--dtype", "int16"],
        cwd=repo_root(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    started = f"planted_programs.py\0slow\0{mark}".encode()
    for _ in range(200):
        if any(started in line for line in carriers(mark)):
            break
        time.sleep(0.05)
    else:
        pytest.fail("the program was never started")
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    for _ in range(100):
        if not carriers(mark):
            break
        time.sleep(0.05)
    assert not carriers(mark)


def test_the_report_names_the_command(mark):
    found = run_campaign(CheckOptions(named("none", mark), ["uint8"], limits=SHORT))
    assert found.runtime_version == "planted"
    assert json.loads(found.model_dump_json())["runtime"].endswith(f"none {mark}")
    assert "how X lies in memory" in found.scope[1]
