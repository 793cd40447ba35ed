"""Probes of user constraints: each sees a broken constraint, and what was not probed is never met."""

import platform
import shutil
import subprocess
import sys

import numpy as np
import pytest

from sonnx_clip.evidence import checkout, user_constraints
from sonnx_clip.evidence.records import read_records
from sonnx_clip.evidence.write_evidence import render
from sonnx_clip.oracle import built
from sonnx_clip.oracle.strict import clip_by_numpy
from sonnx_clip.qualification.kit import load_kit
from sonnx_clip.spec import load_spec
from tests.evidence import made


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return read_records(
        made.write(tmp_path_factory.mktemp("records"), made.proofs()), load_spec(), ()
    )


@pytest.mark.nightly
def test_every_constraint_has_a_status(found, tmp_path):
    evidence, _ = render(found)
    lines, constraints = (
        list(user_constraints.check_constraints(tmp_path, found, evidence)),
        load_kit().constraints,
    )
    assert [line.id for line in lines] == [one.id for one in constraints]
    assert {line.status for line in lines} <= {"met", "not met", "not checked"}
    unprobed = {one.id for one in constraints if not one.probe}
    assert {line.status for line in lines if line.id in unprobed} == {"not checked"}


def test_kernel_that_is_wrong_at_one_vector_is_not_met(found):
    assert user_constraints.numpy_kernels(found)[0] == "met"

    def without_nan(x, low, high):
        right = clip_by_numpy(x, low, high)
        return np.where(right == right, right, right.dtype.type(0))

    status, words = user_constraints._on_vectors(found, without_nan, "kernels")
    assert (status, "nan" in words) == ("not met", True)


def test_flush_to_zero_is_not_met(tmp_path):
    """Libraries linked with -ffast-math by older compilers set the processor so when they are loaded."""
    compiler = shutil.which("gcc")
    if platform.machine() != "x86_64" or compiler is None:
        pytest.skip("needs gcc on x86-64")
    set_bits = "{ __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); }"
    (tmp_path / "fast.c").write_text(
        f"__attribute__((constructor)) static void fast(void) {set_bits}\n"
    )
    library = tmp_path / "fast.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "fast.c"], check=True)
    probe = "from sonnx_clip.evidence.user_constraints import subnormals; print(subnormals()[0])"
    code = f"import ctypes; ctypes.CDLL({str(library)!r})\n{probe}"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, check=True
    )
    assert done.stdout.strip() == b"not met"
    assert user_constraints.subnormals()[0] != "not met"


def test_constraint_is_not_met_by_half_a_probe(monkeypatch):
    monkeypatch.setattr(built, "installed_library", lambda: None)
    assert user_constraints.subnormals()[0] == "not checked"


def test_tool_of_an_untried_version_is_not_met():
    tried = {"Why3": "1.5.1", "Z3": "4.8.12", "cvc5": "1.0.3", "Frama-C": "25.0-beta (Manganese)"}
    assert user_constraints.tools(tried)[0] == "met"
    assert user_constraints.tools(tried | {"Z3": "9.9.9"}) == ("not met", "not tried: Z3 9.9.9")


def test_package_of_another_version_is_not_met(monkeypatch):
    monkeypatch.setattr(user_constraints, "locked_packages", lambda: {"numpy": {"0.0"}})
    status, words = user_constraints.packages()
    assert (status, words.endswith(f"first numpy {np.__version__}")) == ("not met", True)


def test_folder_that_others_can_write_is_not_met(tmp_path):
    folder, file = tmp_path / "build", tmp_path / "build/proofs.json"
    folder.mkdir(mode=0o755)
    file.touch(mode=0o644)
    assert user_constraints.private([folder])[0] == "met"
    file.chmod(0o646)
    assert user_constraints.private([folder]) == ("not met", f"{file} can be written by everybody")
    assert user_constraints.private([tmp_path / "none"])[0] == "not checked"


def test_changed_file_is_not_met(tmp_path, monkeypatch):
    monkeypatch.setattr(checkout, "repo_root", lambda: tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert user_constraints.checkout_state()[0] == "not checked"
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    (tmp_path / "file").write_text("1")
    for words in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "one"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    assert user_constraints.checkout_state()[0] == "met"
    (tmp_path / "file").write_text("2")
    status, words = user_constraints.checkout_state()
    assert (status, words.endswith(": file")) == ("not met", True)
