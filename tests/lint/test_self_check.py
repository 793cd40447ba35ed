"""The self-check of normalise: which differences it finds, and its reason where nothing could be compared."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.lint.self_check import SelfCheck, self_check
from tests.lint.build import parsed

if TYPE_CHECKING:
    from pathlib import Path


def checked(folder: Path, before: str, after: str | None = None, **options: object) -> SelfCheck:
    """The comparison of two models, by default of a model with itself."""
    pair = parsed(before), parsed(after or before)
    return self_check(*pair, folder, **options)  # type: ignore[arg-type]


def chain(number: str, operator: str = "Mul") -> str:
    head = f"main (float[2,3] X) => (float[2,3] Y) <float k = {{{number}}}>"
    return f"{head} {{ A = Neg(X) B = {operator}(A, k) Y = Neg(B) }}"


def clipped(low: str, high: str, dtype: str = "float", shape: str = "[2,3]") -> str:
    head = f"main ({dtype}{shape} X) => ({dtype}{shape} Y)"
    return f"{head} <{dtype} L = {{{low}}}, {dtype} M = {{{high}}}> {{ Y = Clip(X, L, M) }}"


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (chain("2.0"), chain("2.0000002"), "output 'Y' differs"),
        (clipped("0.0", "1.0"), clipped("-0.0", "1.0"), "output 'Y' differs"),
    ],
    ids=["last bit", "sign of zero"],
)
def test_difference_is_reported_with_its_output(
    tmp_path: Path, before: str, after: str, what: str
) -> None:
    found = checked(tmp_path, before, after)
    assert found.outcome == "different"
    assert what in found.what


def test_bound_that_limits_infinities_alone_is_found_in_one_element(tmp_path: Path) -> None:
    plain = "main (float16[1] X) => (float16[1] Y) { Y = Identity(X) }"
    limited = clipped(
        "64511", "31743", "float16", "[1]"
    )  # the bits of the lowest and the highest number
    assert checked(tmp_path, plain, limited).outcome == "different"
    assert checked(tmp_path, plain, limited, finite=True).outcome == "equal"


def test_open_sizes_are_tried_until_the_model_runs(tmp_path: Path) -> None:
    weights = f"<float[48,3] w = {{{', '.join(['1'] * 144)}}}>"
    text = f"main (float[N,C] X) => (float[N,3] Y) {weights} {{ Y = MatMul(X, w) }}"
    assert checked(tmp_path, text).outcome == "equal"


FOREVER = (
    "main (float[2,3] X) => (float[2,3] Y) <bool go = {1}> { all = Loop (, go) <body = body (int64 n, bool c)"
    " => (bool d, bool e) { d = Identity(c) e = Identity(c) }> Y = Neg(X) }"
)
NEG = "main (float{0} X) => (float{0} Y) {{ Y = Neg(X) }}"
RANDOM = "main (float[2,3] X) => (float[2,3] Y) { R = RandomNormalLike(X) Y = Add(X, R) }"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (NEG.format("[1099511627776]"), "too many to try"),
        (NEG.format("[]"), "has no shape; --input-shape"),
        (RANDOM, "change from run to run"),
        (FOREVER, "no answer within 0.7 s"),
    ],
    ids=["huge", "no shape", "random", "endless"],
)
def test_model_that_cannot_be_compared_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    monkeypatch.setattr("sonnx_clip.lint.self_check.SECONDS", 0.7 if text == FOREVER else 60.0)
    found = checked(tmp_path, text)
    assert found.outcome == "not run"
    assert reason in found.what
    assert found.not_known


def test_result_without_a_kernel_is_not_run(tmp_path: Path) -> None:
    """onnxruntime has no kernel for Clip in int16, which says nothing of the result."""
    plain = "main (int16[2] X) => (int16[2] Y) { Y = Identity(X) }"
    assert checked(tmp_path, plain, clipped("0", "6", "int16", "[2]")).outcome == "not run"


def test_result_that_the_runtime_does_not_load_is_rejected(tmp_path: Path) -> None:
    found = checked(tmp_path, chain("2.0"), chain("2.0", "Own"))
    assert found.outcome == "rejected"
    assert "loads the model, but not the result" in found.what


def test_sizes_with_which_the_model_no_longer_loads_are_rejected(tmp_path: Path) -> None:
    head = "main (float[{n}] X) => (float[M] Y) <float[3,2] w = {{1, 1, 1, 1, 1, 1}}>"
    text = f"{head} {{{{ Y = MatMul(X, w) }}}}"
    with_sizes, as_read = parsed(text.format(n=16)), parsed(text.format(n="N"))
    found = self_check(with_sizes, with_sizes, tmp_path, as_read=as_read)
    assert found.outcome == "rejected"
    assert "not with the sizes of --input-shape" in found.what


COUNTED = (
    "main (int64 trips, float[2] X) => (float[2] Y) <bool go = {1}> { Y = Loop (trips, go, X) <body = body"
    " (int64 n, bool c, float[2] a) => (bool d, float[2] b) { d = Identity(c) b = Neg(a) }> }"
)


def test_number_of_rounds_of_a_loop_stays_small(tmp_path: Path) -> None:
    assert checked(tmp_path, COUNTED).outcome == "equal"


def test_crash_of_the_runtime_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnxruntime.InferenceSession", lambda *_, **__: os.abort())
    assert checked(tmp_path, chain("2.0")).what == "its process ended: killed by SIGABRT"
