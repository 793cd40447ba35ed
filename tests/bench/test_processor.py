"""Measuring without what is beyond AVX2: everybody is limited, or the run stops."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from bench import kernels, processor
from bench.report import Machine
from sonnx_clip.oracle import c_build
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_root

here = pytest.mark.skipif(
    not processor._features()[0].get("AVX2"), reason="this processor has no AVX2 to be limited to"
)


@pytest.fixture
def limited(monkeypatch):
    """As in the process that `limit` starts."""
    monkeypatch.setenv(processor._DONE, "avx2")
    monkeypatch.setattr(c_build, "THIS_PROCESSOR", c_build.THIS_PROCESSOR)
    cpu = SimpleNamespace(get_cpu_capability=lambda: "AVX2")
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(backends=SimpleNamespace(cpu=cpu)))


def numpy_uses(monkeypatch, **features):
    """Have NumPy say that it chooses among these features, and which of them it uses."""
    said = SimpleNamespace(__cpu_features__=features, __cpu_dispatch__=[*features])
    monkeypatch.setitem(sys.modules, "numpy._core._multiarray_umath", said)


def test_as_it_is_nothing_is_limited():
    assert processor.limit("this", []) == {}
    assert processor._C != c_build.THIS_PROCESSOR


def test_a_new_process_is_started_with_the_switches(monkeypatch):
    asked = []
    monkeypatch.delenv(processor._DONE, raising=False)
    numpy_uses(monkeypatch, AVX2=True, X86_V4=True, AVX512_ICL=False)

    def execve(program, words, environment):
        asked.append((program, words, environment))
        raise SystemExit

    monkeypatch.setattr(os, "execve", execve)
    with pytest.raises(SystemExit):
        kernels.main(["--quick", "--processor", "avx2"])
    ((program, words, environment),) = asked
    assert (program, words[1:]) == (sys.executable, ["-m", "bench.kernels", "--quick", "--processor", "avx2"])
    assert environment["NPY_DISABLE_CPU_FEATURES"] == "X86_V4 AVX512_ICL"
    assert environment["ATEN_CPU_CAPABILITY"] == "avx2"


def test_what_does_not_keep_to_the_limit_stops_the_run(limited, monkeypatch, capsys, tmp_path):
    numpy_uses(monkeypatch, AVX2=True, X86_V4=True)
    assert kernels.main(["--quick", "--processor", "avx2", "--output", str(tmp_path)]) == 2
    assert "NumPy still uses X86_V4" in capsys.readouterr().err
    numpy_uses(monkeypatch)
    with pytest.raises(UserError, match="has no AVX2"):
        processor._beyond()


@here
def test_numpy_keeps_to_the_switch():
    if not processor._beyond():
        pytest.skip("this NumPy chooses nothing beyond AVX2")
    environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(processor._beyond())}
    code = "from bench import processor; print(processor._numpy())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment, cwd=repo_root(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "AVX512" not in done.stdout
    assert "X86_V4" not in done.stdout


def test_the_caption_says_who_was_limited_to_what():
    limits = {"NumPy": "X86_V3", "onnxruntime": "all that the processor has: it has no switch"}
    said = Machine("Made Up", 2, "Linux", {}, "cc -O3", 0.5, 0.7, limits).sentence()
    assert said.startswith("Made Up, limited in this run (NumPy: X86_V3; onnxruntime: all that")
