"""examples/frames.c: our kernels conform through it in all types, and planted mistakes in the C are found."""

import shutil

import pytest

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.units import CheckOptions
from sonnx_clip.runtimes.frames import TYPES
from tests.c.harness import SMALL, built, named
from tests.c.targets import OTHERS, SANITIZERS, planted
from tests.c.test_native import first  # noqa: F401 - a fixture
from tests.meta.conftest import brief  # noqa: F401 - likewise


def report_on(target, folder, types, *flags, **options):
    return run_campaign(
        CheckOptions(
            named(target, built(target, folder, *flags, **options)), types, of=clip_operator()
        )
    )


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize(
    ("flags", "types", "longest"),
    [
        pytest.param(SANITIZERS, TYPES, 65537, marks=pytest.mark.nightly),
        (SMALL, ["int16"], 256),
    ],
    ids=["sanitizers", "small memory"],
)
def test_our_kernels_conform(first, tmp_path, flags, types, longest):  # noqa: F811
    report = report_on(first, tmp_path, list(types), *flags)
    assert {found.type: found.verdict for found in report.types} == dict.fromkeys(types, "conforms")
    assert report.runtime_version == "C kernels of sonnx-clip, by frames"
    assert not any(found.remarks for found in report.types)
    assert {found.longest for found in report.types} == {longest}


@pytest.mark.usefixtures("brief")
def test_it_speaks_on_standard_input_and_output(first, tmp_path):  # noqa: F811
    program = built(first, tmp_path, "-DINPUT=0", "-DOUTPUT=1")
    (report,) = run_campaign(
        CheckOptions(f"exec[stdio]:{program}", ["uint8"], of=clip_operator())
    ).types
    assert report.verdict == "conforms"


MISTAKES = {
    "int16": ("while (i < n) {", "while (i <= n) {"),
    "int32": ("y[i] = ", "((int32_t *)(uintptr_t)x)[n + i] = y[i] = "),
    "int64": ("if (max < min) {", "if (max < min && x < 0) {"),
    "uint16": ("if (max < min) {", "if (max < min) { *(volatile int *)0 = 1;"),
}
"""A write behind Y, one behind X, a wrong class, and a death in that class; each in a type of its own."""


@pytest.mark.usefixtures("brief")
def test_planted_mistakes_are_found_and_a_death_is_narrowed_to_its_class(first, tmp_path):  # noqa: F811
    report = report_on(first, tmp_path, list(MISTAKES), sources=planted(tmp_path, MISTAKES))
    classes = {found.type: {one.id: one for one in found.classes} for found in report.types}
    inverted = {type_id: of_type["inverted_ordinary"] for type_id, of_type in classes.items()}
    assert inverted["int16"].words == "Fault: it wrote outside of its result"
    assert inverted["int32"].words == "Fault: it wrote outside of X"
    assert inverted["int64"].verdict == "violates"
    assert classes["int64"]["high_ordinary"].verdict == "conforms"
    assert {id_ for id_, found in classes["uint16"].items() if found.verdict == "crashed"} == {
        "inverted_ordinary"
    }
    assert inverted["uint16"].deviations[0].reproduce


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("target", OTHERS, ids=lambda target: target.name)
def test_the_harness_of_the_page_is_judged_by_an_emulator(target, tmp_path):
    if not all(map(shutil.which, (target.compiler, *target.emulator[:1]))):
        pytest.skip(f"{target.compiler} or its emulator is not installed")
    types = ["int64"] if target.bare else ["int8", "int64", "bfloat16", "float64"]
    report = report_on(target, tmp_path, types)
    assert [found.verdict for found in report.types] == ["conforms"] * len(types)
