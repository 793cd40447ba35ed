"""`assert_clip` and the strategies, as tests of others use them: right passes, planted mistakes do not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from sonnx_clip import RestrictionError, clip, strategies
from sonnx_clip.asserting import assert_clip
from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.spec import load_spec
from tests.meta import planted

if TYPE_CHECKING:
    from pathlib import Path

PAGE = repo_file("docs/integrations.md").read_text()
TYPES = [etype.id for etype in load_spec().element_types if etype.numpy is not None]

FOUND = [
    ("swapped_bounds", "uint8"), ("low_before_inverted", "float64"), ("ignores_upper", "int32"),
    ("nan_min_propagates", "float32"), ("nan_max_propagates", "bfloat16"), ("nan_becomes_min", "float16"),
    ("clears_sign_of_zero", "float32"), ("through_float64", "int64"),
    ("unsigned_comparison", "int16"), ("tail_of_seven", "float32"), ("wider_type", "float32"),
    ("wrong_shape", "float32"), ("returns_nothing", "int16"),
]  # fmt: skip


def holds(function: Any, dtype: str, examples: int = 300, **options: Any) -> None:
    """A test of a function as on the page, always with the same draws; what is found is not made shorter."""

    @settings(
        derandomize=True, database=None, max_examples=examples, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(strategies.arrays_and_bounds(dtype))
    def test(operands: Any) -> None:
        with np.errstate(all="ignore"):
            assert_clip(*operands, function(*operands), **options)

    test()


@pytest.mark.parametrize("dtype", TYPES)
def test_right_functions_pass_and_draws_have_the_type(dtype: str) -> None:
    drawn = []

    def noted(x: Any, low: Any, high: Any) -> Any:
        drawn.append((x.dtype, x.ndim, low.shape, high.shape))
        return clip(x, low, high)

    holds(noted, dtype, 20, policy="strict")
    assert set(drawn) == {(numpy_type(dtype), 1, (), ())}
    holds(planted.right, dtype, 10)


@pytest.mark.parametrize(("name", "dtype"), FOUND)
def test_planted_mistake_is_found(name: str, dtype: str) -> None:
    with pytest.raises(AssertionError, match=r"wrong|C1|C3|not an array"):
        holds(getattr(planted, name), dtype)


@pytest.mark.parametrize("name", ["strict_comparison", "max_zero_from_x", "max_of_tied_bounds"])
def test_latitude_is_granted_by_default_alone(name: str) -> None:
    holds(getattr(planted, name), "float16", 50)
    with pytest.raises(AssertionError, match=r"zero|equal_bounds"):
        holds(getattr(planted, name), "float16", policy="strict")


def test_payload_is_never_required() -> None:
    holds(planted.loses_payload, "float16", 100, policy="strict")


def test_the_message_of_the_page() -> None:
    x, low, high = np.array([1, np.nan], np.float32), np.float32(1), np.float32(0)
    with pytest.raises(AssertionError) as caught:
        assert_clip(x, low, high, np.array([0, np.nan], np.float32), policy="strict")
    assert f"    {caught.value}\n" in PAGE


def _overwrites(x: Any, low: Any, high: Any) -> Any:
    """Wrong for nearly all numbers; whoever asks afterwards what the clip of `x` is takes it for right."""
    x[...] = min(low, high)
    return x


@pytest.mark.parametrize("strategy", [strategies.triples, strategies.arrays_and_bounds])
def test_drawn_arrays_are_read_only(strategy: Any) -> None:
    @settings(derandomize=True, database=None, max_examples=10)
    @given(strategy("int16"))
    def test(operands: Any) -> None:
        assert not any(part.flags.writeable for part in operands)
        assert_clip(*operands, _overwrites(*operands))

    with pytest.raises(ValueError, match="read-only"):
        test()


def test_result_in_the_memory_of_an_operand_is_refused() -> None:
    x, low, high = np.array([1, 5, 9], np.int16), np.array(2, np.int16), np.array(7, np.int16)
    before = x.copy()
    with pytest.raises(AssertionError, match="memory with x, which the call may have changed"):
        assert_clip(x, low, high, _overwrites(x, low, high))
    with pytest.raises(AssertionError, match=r"clip\(5, 2, 7\) is 2"):
        assert_clip(before, low, high, x)
    with pytest.raises(AssertionError, match="memory with min"):
        assert_clip(low.copy(), low, high, low)
    before.flags.writeable = False
    assert_clip(before, np.int16(0), np.int16(9), before)


def test_only_arrays_and_scalars_of_numpy_are_results() -> None:
    assert_clip(np.float32(3), np.float32(0), np.float32(2), np.float32(2))
    x = np.array([1, 5], np.int16)
    masked = np.ma.masked_array(np.array([1, 2], np.int16), mask=[False, True])
    for result, name in ((masked, "MaskedArray"), ([1, 2], "list")):
        with pytest.raises(AssertionError, match=f"the result is {name}, not an array"):
            assert_clip(x, np.int16(0), np.int16(2), result)
    with pytest.raises(RestrictionError):
        assert_clip(np.ones(1, np.float32), 0.0, np.float32(2), np.ones(1, np.float32))
    with pytest.raises(ValueError, match="the policy is default or strict, not 'foo'"):
        assert_clip(x, np.int16(0), np.int16(2), masked.data, policy="foo")


@pytest.mark.parametrize("wrong", ["real", "float31", None, 5, np.complex64, str])
def test_strategies_refuse_what_no_array_of_the_profile_has(wrong: Any) -> None:
    for make in (strategies.triples, strategies.arrays_and_bounds):
        with pytest.raises(UserError, match=r"there is no|real has no arrays"):
            make(wrong)


def test_the_example_of_the_page_passes_and_finds_a_wrong_implementation(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (text,) = (block for block in blocks if "assert_clip" in block)
    strict = text.replace("my_clip(*operands))", 'my_clip(*operands), policy="strict")')
    assert strict != text
    for name, code in (("right", text), ("strict", strict)):
        (tmp_path / f"test_{name}.py").write_text(code)
    always = "deadline=None, derandomize=True, max_examples=500"  # the same inputs in every run
    profile = f'settings.register_profile("always", {always})\nsettings.load_profile("always")\n'
    (tmp_path / "conftest.py").write_text(f"from hypothesis import settings\n{profile}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "-p", "no:xdist", "."],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(repo_root())},
    )  # fmt: skip
    assert "PASSED test_right.py" in done.stdout, done.stdout
    assert "FAILED test_strict.py" in done.stdout
    assert done.returncode == 1
