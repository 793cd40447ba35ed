"""Runtimes that touch what is not theirs, or raise odd things: verdict and words, and the run goes on."""

import pytest

from tests.meta.judged import Due, nightly_but, repeated, require_due
from tests.meta.judged import judged as judged_by

pytestmark = pytest.mark.usefixtures("brief")


def judged(name):
    report, _ = judged_by(f"planted_memory:{name}", "int16")
    return report.types[0]


INSIDE = {"inside_ordinary": "violates"}
FAULTS = {
    "writes_into_x": Due("violates", "it wrote into its input X"),
    "writes_and_restores": Due("violates", "it writes to its input X, without changing it"),
    "writes_past_x": Due("violates", "it wrote past the end of X"),
    "writes_before_x": Due("violates", "it wrote before the start of X"),
    "reads_past_x": Due("violates", "it reads past the end of X"),
    "reads_before_x": Due("violates", "it reads before the start of X"),
    "writes_into_min": Due("violates", "it wrote into its input min"),
    "writes_past_max": Due("violates", "it wrote past the end of max"),
    "interrupts": Due("violates", "KeyboardInterrupt", INSIDE),
    "recurses": Due("violates", "RecursionError: maximum recursion depth exceeded", INSIDE),
    "leaves": Due("violates", "SystemExit: bye", INSIDE),
    "raises_a_giant": Due("violates", "(50,000,000 characters)", INSIDE),
    "raises_no_text": Due("violates", "_NoText (its text is not available: ValueError)", INSIDE),
    "raises_what_is_no_text": Due(
        "violates", "ValueError: bad \\ud800 text \\x1b[31m red \\x00", INSIDE
    ),
    "returns_x": Due("conforms", "its result is the memory of X itself"),
    "prints": Due("conforms", "it writes on standard output: spam \\x1b[31m"),
    "writes_on_every_descriptor": Due("conforms"),
    "closes_every_descriptor": Due("conforms"),
    "forks": Due("conforms"),
}
FAST = {
    "writes_into_x", "reads_past_x", "writes_into_min", "leaves", "raises_no_text", "returns_x",
    "prints", "closes_every_descriptor", "forks",
}  # fmt: skip


@pytest.mark.parametrize("name", nightly_but(FAST, FAULTS))
def test_harmful_runtime_gets_its_verdict(name):
    report = judged(name)
    require_due(report, FAULTS[name])
    inside = next(found for found in report.classes if found.id == "inside_ordinary")
    assert inside.compared > 1000  # the run goes on
    assert len(report.model_dump_json().encode("utf-8")) < 100_000
    if name == "prints":
        assert "it writes on standard error: careful" in report.remarks


def test_touched_memory_hides_no_wrong_value():
    report = judged("writes_into_x_and_is_wrong")
    assert {found.id: found.violating for found in report.classes}["high_ordinary"] > 1000


def test_deviation_that_depends_on_earlier_calls_is_repeated_by_them():
    (first,) = [d for found in judged("is_wrong_in_call_3").classes for d in found.deviations]
    assert first.words.startswith("it depends on earlier calls: this line makes 64")
    assert "'0x2a'" in repeated(first.reproduce)
