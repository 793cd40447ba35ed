"""JUnit from `check`: planted runtimes show up as exactly the failures that they are."""

import xml.etree.ElementTree as ET
from collections import Counter
from functools import cache

import pytest
from typer.testing import CliRunner

from sonnx_clip.cli import app
from sonnx_clip.conform.check_report import FAILING
from sonnx_clip.conform.report_formats import to_junit
from sonnx_clip.conform.reproduce import command_line
from tests.meta.judged import judged as judged_anew

pytestmark = pytest.mark.usefixtures("brief")

COUNTS = {"name", "tests", "failures", "errors", "skipped"}
OUTCOMES = {"failure": "failures", "error": "errors", "skipped": "skipped"}


@cache
def judged(runtime, dtype, require=()):
    return judged_anew(runtime, dtype, require=require)


def read_junit(text):
    """(type, name) -> (outcome, element), as a strict reader of the form of Jenkins finds it."""
    root = ET.fromstring(text)
    assert (root.tag, set(root.attrib)) == (
        "testsuites",
        COUNTS | {"time"},
    )
    found, total = {}, Counter()
    for suite in root:
        assert (suite.tag, set(suite.attrib)) == (
            "testsuite",
            {"name", "tests", "failures", "errors", "skipped"},
        )
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


RUNTIMES = [
    ("planted:right", "int16"), ("planted:ignores_upper", "int16"), ("planted:loses_payload", "float32"),
    ("planted_forms:right", "int16"), ("planted_forms:wrong_with_initializers", "int16"),
    ("planted_forms:refuses_rank_4_and_is_wrong", "int16"), ("planted_forms:refuses_everything", "int16"),
    ("planted_forms:loses_payloads_unoptimised", "float32"), ("planted_forms:lacks_memory", "int16"),
    ("planted_forms:dies_of_a_constant_nan", "float32"), ("planted_forms:serves_constants_wrongly", "int16"),
]  # fmt: skip


@pytest.mark.parametrize(("runtime", "dtype"), RUNTIMES)
def test_a_case_fails_exactly_where_a_verdict_does(runtime, dtype):
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


def test_the_reproducer_is_in_the_text():
    report, classes = judged("planted:ignores_upper", "int16")
    junit = read_junit(to_junit(report))
    line = classes["high_ordinary"].deviations[0].reproduce
    outcome, element = junit["int16", "high_ordinary"]
    assert outcome == "failure"
    assert command_line(line) in element.text.splitlines()


def test_deviation_in_one_form_names_the_form_with_a_reproducer():
    report, _ = judged("planted_forms:wrong_with_initializers", "int16")
    _, element = read_junit(to_junit(report))["int16", "high_ordinary"]
    assert "forms of a model: initializers, " in element.text
    assert "t.wrong_with_initializers." in element.text


def test_nothing_compared_is_an_error_and_no_green_suite():
    report, _ = judged("planted:refuses_everything", "int16")
    assert report.compared == 0
    junit = read_junit(to_junit(report))
    assert junit["report", "compared"][0] == "error"
    assert {outcome for (etype, _), (outcome, _) in junit.items() if etype == "int16"} == {"skipped"}


def test_unsupported_required_type_is_a_failure():
    report, classes = judged("planted:refuses_everything", "int16", require=("int16",))
    junit = read_junit(to_junit(report))
    assert [outcome for (etype, _), (outcome, _) in junit.items() if etype == "int16"] == ["failure"] * len(
        classes
    )
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


def test_the_command_writes_it_with_its_exit_status(tmp_path):
    file = tmp_path / "clip.out"
    given = ["check", "--runtime", "tests.meta.planted:ignores_upper", "--dtype", "int8", "--format", "junit"]
    given += ["--build", str(tmp_path)]
    printed = CliRunner().invoke(app.app, given)
    assert printed.exit_code == 1
    written = CliRunner().invoke(app.app, [*given, "-o", str(file)])
    assert (written.exit_code, written.stdout) == (1, "")
    assert "1 violates of 1 type" in written.stderr
    found = read_junit(file.read_text(encoding="utf-8"))
    assert len(found) >= 2
    to_stdout = CliRunner().invoke(app.app, [*given, "-o", "-"])
    for other in (printed, to_stdout):
        assert len(read_junit(other.stdout)) == len(found)
