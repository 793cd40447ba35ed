"""harness/frames.c: our kernels conform through it in every type, and planted mistakes in the C are found."""

import re
import shutil

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.options import CheckOptions
from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.frames import TYPES
from tests.c.harness import CONFORM, SMALL, built, judged, named
from tests.c.targets import NATIVE, OTHERS, SANITIZERS
from tests.c.test_native import first, planted  # noqa: F401 - a fixture
from tests.meta.conftest import brief  # noqa: F401 - likewise

HARNESS = repo_file("harness/frames.c")


def report_on(target, folder, types, *flags, **options):
    return run_campaign(CheckOptions(named(target, built(target, folder, *flags, **options)), types))


def test_it_has_150_lines_and_calls_nothing_but_read_and_write():
    text = HARNESS.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    included = set(re.findall(r"#include [<\"](.*)[>\"]", text))
    assert included == {"stddef.h", "stdint.h", "sonnx_clip.h", "unistd.h"}


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("flags", [(), SMALL, SANITIZERS], ids=["plain", "small", "sanitizers"])
def test_our_kernels_conform_in_every_type(first, tmp_path, flags):  # noqa: F811
    report = report_on(first, tmp_path, (), *flags)
    assert {found.type: found.verdict for found in report.types} == dict.fromkeys(TYPES, "conforms")
    assert report.runtime_version == "C kernels of sonnx-clip, by frames"
    assert not any(found.remarks for found in report.types)
    assert {found.longest for found in report.types} == {256 if flags == SMALL else 65537}


@pytest.mark.usefixtures("brief")
def test_it_speaks_on_standard_input_and_output(first, tmp_path):  # noqa: F811
    program = built(first, tmp_path, "-DINPUT=0", "-DOUTPUT=1")
    (report,) = run_campaign(CheckOptions(f"exec[stdio]:{program}", ["uint8"])).types
    assert report.verdict == "conforms"


MISTAKES = {
    "one too many": ("int16", "while (i < n) {", "while (i <= n) {", "Fault: it wrote outside of its result"),
    "written into x": (
        "int16", "y[i] = ", "((int16_t *)(uintptr_t)x)[n + i] = y[i] = ", "Fault: it wrote outside of X",
    ),
    "no inverted bounds": ("int16", "if (max < min) {", "if (max < min && x < 0) {", None),
}  # fmt: skip


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("name", MISTAKES)
def test_a_planted_mistake_is_found(first, tmp_path, name):  # noqa: F811
    type_id, old, new, words = MISTAKES[name]
    report = report_on(first, tmp_path, [type_id], sources=planted(tmp_path, type_id, old, new))
    classes = {found.id: found for found in report.types[0].classes}
    assert classes["inverted_ordinary"].verdict == "violates"
    assert classes["inverted_ordinary"].words == words
    if words is None:
        assert classes["high_ordinary"].verdict == "conforms"


@pytest.mark.usefixtures("brief")
def test_a_planted_death_in_c_is_narrowed(first, tmp_path):  # noqa: F811
    dies = planted(tmp_path, "int16", "if (max < min) {", "if (max < min) { *(volatile int *)0 = 1;")
    (report,) = report_on(first, tmp_path, ["int16"], sources=dies).types
    crashed = {found.id for found in report.classes if found.verdict == "crashed"}
    assert crashed == {"inverted_ordinary"}
    assert any(found.deviations[0].reproduce for found in report.classes if found.verdict == "crashed")


def emulated():
    assert all(target.emulator for target in OTHERS)
    return OTHERS


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("target", emulated(), ids=lambda target: target.name)
def test_the_harness_of_the_page_is_judged_by_an_emulator(target, tmp_path):
    if not all(map(shutil.which, (target.compiler, *target.emulator[:1]))):
        pytest.skip(f"{target.compiler} or its emulator is not installed")
    types = ["int64"] if target.bare else ["int8", "int64", "bfloat16", "float64"]
    report = report_on(target, tmp_path, types)
    assert [found.verdict for found in report.types] == ["conforms"] * len(types)


@pytest.mark.nightly
def test_our_kernels_conform_in_every_call_of_every_type():
    target = next(target for target in NATIVE if shutil.which(target.compiler))
    assert judged(target) == CONFORM
    assert judged(target, *SMALL) == CONFORM
