"""Reports on planted runtimes, as text and as JUnit: they claim what their run shows."""

import io
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from functools import cache

import pytest
from rich.console import Console

from sonnx_clip.conform.junit import to_junit
from sonnx_clip.conform.report_text import behaviour, print_report
from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.conform.verdict_table import FAILING
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec import load_spec
from tests.command import run
from tests.meta.judged import few_calls, require_repeated, three_layouts
from tests.meta.judged import judged as judged_anew

pytestmark = pytest.mark.usefixtures("brief")


@cache
def judged(runtime, dtype, plan=three_layouts, require=()):
    return judged_anew(runtime, dtype, plan, require=require)


def printed(report):
    console = Console(file=io.StringIO(), width=200)
    print_report(report, console, load_spec())
    return console.file.getvalue()


# --- As text ------------------------------------------------------------------------------------------------


def test_overwritten_bound_is_no_violation_of_shape_or_type():
    for name in ("writes_into_min", "writes_into_min_of_an_empty_x"):
        report, classes = judged(f"planted_memory:{name}", "int16", few_calls)
        assert report.types[0].verdict == "violates"
        assert classes["C1"].verdict == classes["C3"].verdict == "conforms"
        assert "min" in next(c.words for c in classes.values() if c.verdict == "violates")
    (line,) = behaviour(report)
    assert "bit for bit; the failure is not in a compared value" in line  # its values are right
    assert "it wrote into its input min" in line


def test_acceptable_deviation_is_no_headline_of_a_violation():
    report, classes = judged("planted:nan_of_x_becomes_another", "float32", few_calls)
    found = classes["inside_nan_and_nan_bound"]
    assert [one.kind for one in found.deviations] == ["violates", "acceptable"]
    _, element = read_junit(to_junit(report))["float32", "inside_nan_and_nan_bound"]
    assert element.get("message") == f"violates: {found.deviations[0].shown}"


def test_refused_bounds_hide_no_wrong_value():
    report, classes = judged("planted:refuses_min_zero_and_is_wrong", "float32")
    assert report.types[0].refusal.condition == "L == 0"
    assert "refused float32: where L == 0: ValueError: min must not be 0" in printed(report)
    # No answer of this class is wrong, but some are missing.
    assert classes["inside_ordinary"].verdict == "violates"
    assert {d.kind for d in classes["inside_ordinary"].deviations} == {"raises"}
    assert classes["inside_zero"].verdict == "violates"
    assert classes["inside_zero"].deviations[0].got is not None
    _, element = read_junit(to_junit(report))["float32", "inside_zero"]
    assert "got 1" in element.get("message")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("planted:masks_everything", "MaskedArray"),
        ("planted:returns_nothing", "NoneType"),
        ("planted_memory:writes_into_x", "x is unchanged: False"),
        ("planted:ignores_upper", "expected:"),
    ],
)
def test_printed_reproducer_shows_its_deviation(name, shown):
    report, classes = judged(name, "int16")
    line = classes["high_ordinary"].deviations[0].reproduce
    command = command_line(line)
    assert command in printed(report) or command in to_junit(report).replace("&quot;", '"')
    assert command.startswith(sys.executable)
    done = subprocess.run(
        command, shell=True, cwd=repo_root(), capture_output=True, text=True, check=True
    )
    assert shown in done.stdout


RIGHT_ALONE = {
    # runtime and class: entries of the shortest call, and why it needs them
    ("planted:first_lane_decides", "low_ordinary"): (4, "the triple alone is right"),
    ("planted_forms:first_lane_decides", "low_ordinary"): (4, "the triple alone is right"),
    ("planted:ignores_upper_in_lanes_of_eight", "high_ordinary"): (8, "wrong at length 8"),
    ("planted:wrong_where_not_aligned", "high_ordinary"): (65, "wrong in the layout unaligned"),
}


@pytest.mark.parametrize(
    ("name", "class_id"),
    [
        pytest.param(*planted, marks=pytest.mark.nightly)
        if planted == ("planted:first_lane_decides", "low_ordinary")  # also planted in a form
        else planted
        for planted in RIGHT_ALONE
    ],
)
def test_triple_that_is_right_alone_has_the_shortest_call_and_the_reason(name, class_id):
    report, _ = judged(name, "int16", few_calls)
    length, words = RIGHT_ALONE[name, class_id]
    first = next(d for _, id_, _, d in report.deviations if id_ == class_id)
    assert first.length == length
    assert first.alone_is_right
    assert words in first.words
    assert words in printed(report)
    assert words in to_junit(report)
    require_repeated(first)


def test_triple_that_is_wrong_alone_is_not_called_right():
    report, _ = judged("planted:ignores_upper", "int16")
    every = [d for *_, d in report.deviations]
    assert {d.length for d in every} == {1}
    assert not any(d.alone_is_right for d in every)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("planted_memory:is_wrong_in_call_300", "no single call reproduces it"),
        ("planted_memory:reads_past_x", "it reads past the end of X"),
    ],
)
def test_deviation_that_no_line_shows_is_repeated_by_all_calls(name, words):
    report, classes = judged(name, "int16")
    assert report.types[0].verdict == "violates"
    found = [d for c in classes.values() for d in c.deviations]
    assert found
    assert {d.reproduce for d in found} == {""}
    assert words in found[0].words
    command = f"sonnx-clip check --runtime tests.meta.{name} --dtype int16 --again"
    assert command in found[0].words
    assert command in printed(report)
    assert " -c " not in printed(report)


# --- As JUnit -----------------------------------------------------------------------------------------------

COUNTS = {"name", "tests", "failures", "errors", "skipped"}
OUTCOMES = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def read_junit(text):
    """(type, name) -> (outcome, element), as a strict reader of the form of Jenkins finds it."""
    root = ET.fromstring(text)
    assert (root.tag, set(root.attrib)) == ("testsuites", COUNTS | {"time"})
    found, total = {}, Counter()
    for suite in root:
        assert (suite.tag, set(suite.attrib)) == ("testsuite", COUNTS)
        properties, *cases = suite
        assert properties.tag == "properties"
        assert {(p.tag, *sorted(p.attrib)) for p in properties} == {("property", "name", "value")}
        counts = Counter()
        for case in cases:
            assert (case.tag, set(case.attrib)) == ("testcase", {"name", "classname"})
            children = [child.tag for child in case]
            assert children in ([], ["system-out"], *([tag] for tag in OUTCOMES))
            outcome = children[0] if children and children != ["system-out"] else "passed"
            if outcome != "passed":
                assert set(case[0].attrib) == {"message", "type"}
                assert case[0].get("message").startswith(case[0].get("type"))
            counts[outcome] += 1
            assert (suite.get("name"), case.get("name")) not in found
            found[suite.get("name"), case.get("name")] = outcome, case[0] if children else None
        assert int(suite.get("tests")) == counts.total() > 0
        assert all(int(suite.get(name)) == counts[tag] for tag, name in OUTCOMES.items())
        total += counts
    assert int(root.get("tests")) == total.total() > 0
    assert all(int(root.get(name)) == total[tag] for tag, name in OUTCOMES.items())
    return found


@pytest.mark.parametrize(
    ("runtime", "dtype"),
    [
        ("planted:ignores_upper", "int16"), ("planted:loses_payload", "float32"),
        ("planted_forms:refuses_rank_4_and_is_wrong", "int16"), ("planted_forms:lacks_memory", "int16"),
        ("planted_forms:refuses_everything", "int16"),
    ],
)  # fmt: skip
def test_case_fails_exactly_where_a_verdict_does(runtime, dtype):
    report, classes = judged(runtime, dtype)
    (one,) = report.types
    junit = read_junit(to_junit(report))
    wanted = {(dtype, id_): c.verdict for id_, c in classes.items()}
    for form in one.forms or ():
        for id_ in classes:
            whole = form.verdict in ("refused", "environment")
            verdict = form.verdict if whole else form.classes.get(id_, "conforms")
            wanted[dtype, f"{id_} [{form.form}]"] = verdict
    tags = dict.fromkeys(FAILING, "failure") | dict.fromkeys(["refused", "unsupported"], "skipped")
    tags |= {"environment": "error"}
    every = {key: tags.get(verdict, "passed") for key, verdict in wanted.items()}
    if runtime.endswith("refuses_everything"):
        every[dtype, "compared"] = "error"
    assert {key: outcome for key, (outcome, _) in junit.items()} == every
    assert report.failed == bool({"failure", "error"} & set(every.values()))


def test_failure_has_its_form_and_its_reproducer():
    report, classes = judged("planted:ignores_upper", "int16")
    outcome, element = read_junit(to_junit(report))["int16", "high_ordinary"]
    assert outcome == "failure"
    assert (
        command_line(classes["high_ordinary"].deviations[0].reproduce) in element.text.splitlines()
    )
    report, _ = judged("planted_forms:wrong_with_initializers", "int16")
    _, element = read_junit(to_junit(report))["int16", "high_ordinary"]
    assert "forms of a model: initializers, " in element.text
    assert "t.wrong_with_initializers." in element.text


def test_comparing_nothing_is_an_error_and_a_required_type_a_failure():
    report, _ = judged("planted:refuses_everything", "int16")
    assert report.compared == 0
    junit = read_junit(to_junit(report))
    assert junit["report", "compared"][0] == "error"
    assert {outcome for (etype, _), (outcome, _) in junit.items() if etype == "int16"} == {
        "skipped"
    }
    report, classes = judged("planted:refuses_everything", "int16", require=("int16",))
    junit = read_junit(to_junit(report))
    outcomes = [outcome for (etype, _), (outcome, _) in junit.items() if etype == "int16"]
    assert outcomes == ["failure"] * len(classes)
    assert "the type is required" in junit["int16", "C1"][1].text


def test_words_that_are_no_text_do_not_break_the_xml():
    report, _ = judged("planted:ignores_upper", "int16")
    odd = "a\x00b\x1b\ud800\ufffe\U0001ffff<&>\"'\t\u00e9"
    one = report.types[0]
    first = one.classes[0].model_copy(update={"verdict": "refused", "words": odd})
    types = (one.model_copy(update={"classes": (first, *one.classes[1:])}),)
    text = to_junit(report.model_copy(update={"types": types}))
    _, element = read_junit(text)["int16", first.id]
    assert element.text.startswith("a\\u0000b\\u001b\\ud800\\ufffe\U0001ffff<&>\"'\t\u00e9")


def test_command_writes_junit_with_its_exit_status(tmp_path):
    file = tmp_path / "clip.out"
    given = (
        "--runtime",
        "tests.meta.planted:ignores_upper",
        "--dtype",
        "int16",
        "--format",
        "junit",
    )
    given += ("--build", str(tmp_path), "-o")
    written = run("check", *given, str(file), cwd=repo_root())
    assert (written.returncode, written.stdout) == (1, "")
    assert "1 of 1 type violates" in written.stderr
    found = read_junit(file.read_text(encoding="utf-8"))
    assert read_junit(run("check", *given, "-", cwd=repo_root()).stdout).keys() == found.keys()
