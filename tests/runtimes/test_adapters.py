"""The adapters of runtimes: those whose packages are installed return what plain values ask for."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.find_runtime import find_runtime
from sonnx_clip.runtimes.runtime import ADAPTERS, EXTRAS
from tests.command import run

PACKAGES = {
    "onnxruntime-threads": "onnxruntime",
    "torch-numbers": "torch",
    "litert": "ai_edge_litert",
}

UNSUPPORTED = {("onnxruntime-threads", "bfloat16"), ("tract", "bfloat16")}


def missing(name):
    return importlib.util.find_spec(PACKAGES.get(name, name)) is None


@pytest.mark.parametrize("etype", ["int32", "bfloat16", "float32"])
@pytest.mark.parametrize("name", ADAPTERS)
def test_adapter_clips_plain_values(name, etype):
    if missing(name):
        pytest.skip("its package is not installed")
    if (name, etype) in UNSUPPORTED:
        pytest.skip("it does not support the type")
    clip, dtype = find_runtime(name, CLIP_SIGNATURE).open(etype), numpy_type(etype)
    lower, upper = np.array(-2, dtype), np.array(3, dtype)
    for shape in ((2, 3), (6,), (1, 2, 1, 3)):  # one function serves all
        x = np.arange(-3, 3).astype(dtype).reshape(shape)
        x.flags.writeable = False
        found = clip(x[..., ::-1], lower, upper)
        assert (found.dtype, found.shape) == (dtype, shape)
        assert np.array_equal(found, np.clip(x[..., ::-1], lower, upper))
    assert clip(np.array(7, dtype), lower, upper).shape == ()


def test_missing_package_is_named_with_its_extra():
    name = next((name for name in ADAPTERS if missing(name)), None)
    if name is None:
        pytest.skip("all are installed")
    done = run("check", "--runtime", name, "--dtype", "int8", cwd=Path.cwd())
    assert done.returncode == 2
    assert "No module named" in done.stderr
    assert f"pip install '.[{EXTRAS[name]}]'" in " ".join(done.stderr.split())
