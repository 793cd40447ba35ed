"""A report claims what its run shows: headline, signs, blind spots, and what fails beside values."""

import io
import subprocess
import sys
from xml.etree.ElementTree import fromstring

import pytest
from rich.console import Console

from sonnx_clip.conform.report_formats import to_junit
from sonnx_clip.conform.report_text import behaviour, print_report
from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.root.folders import repo_root
from tests.meta.judged import few_calls
from tests.meta.judged import judged as judged_by

pytestmark = pytest.mark.usefixtures("brief")


def printed(report):
    console = Console(file=io.StringIO(), width=200)
    print_report(report, console)
    return console.file.getvalue()


def test_overwritten_bound_is_no_violation_of_shape_or_type():
    for name in ("writes_into_min", "writes_into_min_of_an_empty_x"):
        report, classes = judged_by(f"planted_memory:{name}", "int16", few_calls)
        assert report.types[0].verdict == "violates"
        assert classes["C1"].verdict == classes["C3"].verdict == "conforms"
        assert "min" in next(c.words for c in classes.values() if c.verdict == "violates")


def test_right_values_of_a_runtime_that_fails_are_not_all_that_is_reported():
    report, _ = judged_by("planted_memory:writes_into_min", "float32")
    (line,) = behaviour(report)
    assert "requires, bit for bit" in line
    assert "it wrote into its input min" in line


def test_blind_spots_are_named_beside_a_violation():
    report, _ = judged_by("planted:ignores_upper", "int16")
    text = printed(report)
    assert "Not seen: " in text
    assert "with other bounds than the few of its calls" in text
    assert "ranks above 4" in text


def test_bits_are_shown_where_texts_are_equal():
    _, classes = judged_by("planted:changes_payload", "float32", few_calls)
    (first,) = classes["inside_nan_and_nan_bound"].deviations
    assert first.shown.count("nan (0x") == 2
    assert f"({first.got})" in first.shown
    assert f"({first.expected})" in first.shown


def test_acceptable_deviation_is_no_headline_of_a_violation():
    report, classes = judged_by("planted:nan_of_x_becomes_another", "float32", few_calls)
    found = classes["inside_nan_and_nan_bound"]
    assert [one.kind for one in found.deviations] == ["violates", "acceptable"]
    (case,) = fromstring(to_junit(report)).findall(".//testcase[@name='inside_nan_and_nan_bound']")
    assert case.find("failure").get("message") == f"violates: {found.deviations[0].shown}"


def test_refused_bounds_hide_no_wrong_value():
    report, classes = judged_by("planted:refuses_min_zero_and_is_wrong", "float32", few_calls)
    verdicts = " ".join(printed(report).partition("\n\n")[0].split())
    raises, _, violates = verdicts.partition(" violates ")
    assert "inside_ordinary" in raises
    assert "inside_zero" in violates
    assert classes["inside_zero"].deviations[0].got is not None
    (case,) = fromstring(to_junit(report)).findall(".//testcase[@name='inside_zero']")
    assert "got 1" in case.find("failure").get("message")


def test_flushing_of_subnormals_is_described_without_contradiction():
    report, classes = judged_by("planted:flushes_all_subnormals", "float32", few_calls)
    assert classes["inside_subnormal"].verdict == classes["low_tie"].verdict == "violates"
    assert classes["inside_ordinary"].verdict == classes["inside_nan"].verdict == "conforms"
    assert {d.got for d in classes["inside_subnormal"].deviations} <= {"0x00000000", "0x80000000"}
    (line,) = behaviour(report)
    assert "no reading allows" in line
    assert "requires, bit for bit" not in line
    assert "all answers" not in printed(report)


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
    report, classes = judged_by(name, "int16")
    line = classes["high_ordinary"].deviations[0].reproduce
    command = command_line(line)
    assert command in printed(report) or command in to_junit(report).replace("&quot;", '"')
    assert command.startswith(sys.executable)
    done = subprocess.run(command, shell=True, cwd=repo_root(), capture_output=True, text=True, check=True)
    assert shown in done.stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("planted_memory:is_wrong_in_call_300", "no line of Python shows it"),
        ("planted_memory:reads_past_x", "it reads past the end of X"),
    ],
)
def test_deviation_that_no_line_shows_is_repeated_by_all_calls(name, words):
    report, classes = judged_by(name, "int16")
    found = [d for c in classes.values() for d in c.deviations]
    assert found
    assert {d.reproduce for d in found} == {""}
    assert words in found[0].words
    command = f"sonnx-clip check --runtime tests.meta.{name} --dtype int16 --again"
    assert command in found[0].words
    assert command in printed(report)
    assert " -c " not in printed(report)
