"""The generated C with this machine's compilers: silent, right on every vector, clean under sanitizers."""

import shutil
from pathlib import Path

import pytest

from sonnx_clip.backends.c_reference import machine_types
from sonnx_clip.spec import load_spec
from tests.c import targets
from tests.c.table import vectors
from tests.c.targets import (
    NATIVE,
    SANITIZERS,
    STANDARDS,
    UNSAFE,
    compiled,
    count,
    kernels,
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


def test_every_type_has_its_kernel_and_its_vectors():
    types = {etype.id for etype in machine_types(load_spec())}
    assert {path.rpartition("sonnx_clip_")[2] for path in kernels()} == {f"{name}.c" for name in types}
    assert targets.vectors().keys() == types


@pytest.mark.parametrize("standard", STANDARDS)
def test_the_compiler_is_silent_and_every_vector_agrees(native, tmp_path, standard):
    found = ran(native, compiled(native, tmp_path, "-O2", standard))
    assert found.fine, found
    assert found.agree == count()


def test_no_sanitizer_complains(native, tmp_path):
    found = ran(native, compiled(native, tmp_path, "-O1", "-g", *SANITIZERS))
    assert found.fine, found


@pytest.mark.parametrize("flag", UNSAFE)
def test_unsafe_arithmetic_is_refused_or_does_no_harm(native, tmp_path, flag):
    assert survives(native, tmp_path, flag) in ("refused", "harmless")


def test_fast_math_is_refused(native, tmp_path):
    assert survives(native, tmp_path, "-ffast-math") == "refused"


# --- planted mistakes


def planted(tmp_path, name, old, new):
    """The sources with one mistake in one of them."""
    sources = []
    for path in map(Path, kernels()):
        text = path.read_text()
        if path.name == f"sonnx_clip_{name}.c":
            assert old in text
            text = text.replace(old, new)
        copy = tmp_path / path.name
        copy.write_text(text)
        sources.append(str(copy))
    return sources


MISTAKES = {
    "strict comparison": ("float32", "if (x <= min) {", "if (x < min) {"),
    "no inverted bounds": ("int8", "if (max < min) {", "if (max > min) {"),
    "negated": ("float64", "if (x >= max) {", "if (!(x < max)) {"),
    "wrong infinity": ("bfloat16", "0xFF00", "0xFF01"),
    "last one forgotten": ("uint16", "while (i < n) {", "while (i + 1 < n) {"),
    "one too many": ("int64", "while (i < n) {", "while (i <= n) {"),
    "written into x": ("uint8", "y[i] = ", "((uint8_t *)(uintptr_t)x)[i] = y[i] = "),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_planted_mistake_is_found(first, tmp_path, name):
    type_id, old, new = MISTAKES[name]
    found = ran(first, compiled(first, tmp_path, sources=planted(tmp_path, type_id, old, new)))
    assert not found.fine
    assert found.words.startswith(f"wrong: {type_id}, ")


def test_a_program_that_compared_nothing_fails(first, tmp_path, monkeypatch):
    monkeypatch.setattr(targets, "vectors", lambda: {"int8": vectors()["int8"]})
    found = ran(first, compiled(first, tmp_path))
    assert found.status == 1  # eleven types were not tried
    assert not found.fine
