"""A report claims what its run shows: headline, signs, blind spots, and what fails beside values."""

import io
from xml.etree.ElementTree import fromstring

import pytest
from rich.console import Console

from sonnx_clip.conform.matching import behaviour
from sonnx_clip.conform.report_formats import to_junit
from sonnx_clip.conform.report_text import print_report
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
    signs = dict(line.split() for line in printed(report).splitlines() if line.startswith("inside_"))
    assert signs["inside_zero"] == "X"
    assert signs["inside_ordinary"] == "x"
    assert classes["inside_zero"].deviations[0].got is not None
    (case,) = fromstring(to_junit(report)).findall(".//testcase[@name='inside_zero']")
    assert "got 1" in case.find("failure").get("message")


def test_stopped_guardian_is_a_crash():
    report, _ = judged_by("planted_deaths:stops_its_parent", "int16")
    assert report.types[0].verdict == "crashed"
    assert "SIGSTOP" in report.types[0].words
