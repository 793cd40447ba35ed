"""The generated C with this machine's compilers: silent, right on every vector, clean under sanitizers."""

import shutil

import pytest

from tests.c.targets import (
    NATIVE,
    SANITIZERS,
    STANDARDS,
    UNSAFE,
    call,
    compiled,
    planted,
    ran,
    survives,
)


@pytest.fixture(params=NATIVE, ids=lambda target: target.compiler)
def native(request):
    if not shutil.which(request.param.compiler):
        pytest.skip(f"{request.param.compiler} is not installed")
    return request.param


@pytest.fixture
def first():
    """The first compiler that is there."""
    found = [target for target in NATIVE if shutil.which(target.compiler)]
    return found[0] if found else pytest.skip("no C compiler is installed")


@pytest.mark.parametrize(
    "flags", [*[("-O2", standard) for standard in STANDARDS], ("-O1", "-g", *SANITIZERS)]
)
def test_no_compiler_or_sanitizer_complains_and_every_vector_agrees(native, tmp_path, flags):
    found = ran(native, compiled(native, tmp_path, *flags))
    assert found.fine, found


def test_unsafe_arithmetic_is_refused_or_harmless(native, tmp_path):
    for flag in UNSAFE:
        (tmp_path / flag).mkdir()
        found = survives(native, tmp_path / flag, flag)
        assert found == "refused" or (found == "harmless" and flag != "-ffast-math"), flag


MISTAKES = {
    "float32": ("if (x <= min) {", "if (x < min) {"),
    "int8": ("if (max < min) {", "if (max > min) {"),
    "float64": ("if (x >= max) {", "if (!(x < max)) {"),
    "bfloat16": ("0xFF00", "0xFF01"),
    "uint16": ("while (i < n) {", "while (i + 1 < n) {"),
    "int64": ("while (i < n) {", "while (i <= n) {"),
    "uint8": ("y[i] = ", "((uint8_t *)(uintptr_t)x)[i] = y[i] = "),
}
"""One in each of seven types: comparisons, a NaN, an infinity, the last entry, writes beside y and into x."""


def test_vectors_find_each_planted_mistake(first, tmp_path):
    program = compiled(first, tmp_path, sources=planted(tmp_path, MISTAKES))
    assert not ran(first, program).fine
    lines = call([str(program)]).stdout.splitlines()
    assert {line.split()[1].rstrip(",") for line in lines if line.startswith("wrong: ")} == set(
        MISTAKES
    )
