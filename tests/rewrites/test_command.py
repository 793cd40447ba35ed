"""`sonnx-clip rewrites`: the list, one rewrite, and decisions with their exit statuses."""

import json

import pytest

from sonnx_clip.rewrites.rewrite import known_rewrites
from sonnx_clip.root.folders import repo_root
from tests.command import run

DISJOINT = ("clip-clip-by-max-min", "float32", "--A", "0", "--B", "1", "--C", "2", "--D", "3")


def rewrites(*arguments):
    return run("rewrites", *arguments, cwd=repo_root())


def test_all_rewrites_are_listed():
    shown = json.loads(rewrites("--json").stdout)["rewrites"]
    assert [rewrite["id"] for rewrite in shown] == [rewrite.id for rewrite in known_rewrites()]
    assert "clip-relu-by-max-of-min" in rewrites().stdout


def test_a_test_that_lets_wrong_constants_pass_is_reported():
    told = " ".join(rewrites("max-of-min-as-clip").stdout.split())
    assert "openvino 2026.4.1 ClampFusion (only where A <= B)" in told
    assert "report: onnxscript 0.7.2 FuseMinMaxToClip (only where not (B < A)) rewrites" in told
    assert "That is wrong for float32, A = 0, B = nan" in told
    assert "report: onnxscript 0.7.2" in rewrites("clip-clip-by-max-min").stdout


def test_a_test_for_all_wrong_constants_is_not_reported():
    (shown,) = json.loads(rewrites("max-of-min-as-clip", "--json").stdout)["rewrites"]
    assert len(shown["reports"]) == 1
    assert "openvino" not in shown["reports"][0]


def test_a_theorem_about_functions_is_shown():
    found = json.loads(rewrites("clip-dropped-before-saturation", "--json").stdout)
    assert found["rewrites"] == []
    assert found["theorems"][0]["after"] == "f(X)"


def test_a_wrong_rewrite_has_a_witness_and_a_sentence_for_a_report():
    told = rewrites("clip-clip-by-max-min").stdout
    assert "wrong for float32, A = 0, B = 0, C = 1, D = 1, X = 0" in told
    assert "before gives 1 (0x3f800000), after gives 0 (0x00000000)" in told
    assert "It is legal only where C <= B" in told


def test_constants_are_decided():
    done = rewrites(*DISJOINT)
    assert done.returncode == 1
    assert "before gives 2 (0x40000000), after gives 1 (0x3f800000)" in done.stdout
    overlapping = rewrites(
        "clip-clip-by-max-min", "int8", "--A", "0", "--B", "3", "--C", "2", "--D", "9"
    )
    assert overlapping.returncode == 0


def test_only_the_sign_of_a_zero_is_no_failure():
    done = rewrites("clip-from-zero-to-infinity-as-relu", "float16", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert set(found["differs"]) == {"bits"}
    assert found["differs"]["bits"]["x"]["bits"] == "0x8000"


def test_another_rewrite_is_decided(monkeypatch):
    monkeypatch.setenv("PATH", "")
    terms = ("--before", "min(max(X, A), B)", "--after", "clip(X, A, B)")
    assert rewrites("float32", *terms, "--A", "0", "--B", "6").returncode == 0
    done = rewrites("float32", *terms, "--A", "nan", "--B", "1")
    assert done.returncode == 1
    assert "argued, not proved (Why3 is not installed)" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["clip-dropped-before-saturation", "float32"], "no constants to decide"),
        (["clip-clip-by-maxmin"], "did you mean `clip-clip-by-max-min`"),
        (["clip-relu"], "did you mean `clip-relu-by-max-of-min` or `clip-relu-by-max-of-both`"),
        ([*DISJOINT[:-2]], "the constant --D is missing"),
        ([*DISJOINT, "--E", "1"], "there is no constant E"),
        ([*DISJOINT[:-1], "three"], "`three`"),
        (["clip-clip-by-max-min", "float33"], "float33"),
        (
            ["relu-dropped-after-clip", "uint8", "--A", "0", "--B", "1"],
            "relu has no element type uint8",
        ),
        (["infinite-bounds-dropped", "int8"], "int8 has no `inf`"),
        (["clip-clip-by-max-min", "--A", "0"], "without an element type"),
        (["float32", "--before", "clip(X, A)", "--after", "X"], "`clip` takes 3 arguments, not 2"),
        (["float32", "--before", "conv(X, A)", "--after", "X"], "`conv` is not defined"),
        (["float32", "--before", "X"], "two terms and one element type"),
    ],
)
def test_a_wrong_request_gets_one_message(arguments, words):
    done = rewrites(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
