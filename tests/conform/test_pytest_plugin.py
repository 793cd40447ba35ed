"""The plugin for pytest: a test for each class, type and form of planted runtimes; out of the way else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy.ma
import pytest

from sonnx_clip.conform import judge, pytest_items
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.conform.report_lines import cases
from sonnx_clip.conform.reproduce import command_line
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file, repo_root
from tests.meta.judged import judged, three_layouts

if TYPE_CHECKING:
    from pathlib import Path

pytest_plugins = ["pytester"]

LOADED = ("-p", "sonnx_clip.pytest_plugin")  # also where an older install has no entry point for it
MINE = """
from sonnx_clip import clip


def right(x, l, m):
    return clip(x, l, m)


def no_upper(x, l, m):
    y = clip(x, l, m)
    y[y > l] = x[y > l] if x.ndim and l <= m else y[y > l]
    return y
"""


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """Import all that a campaign does: a session within this process forgets what it imports first.

    A module of C++ that is imported twice aborts, and a second server of processes would be left behind.
    """
    assert numpy.ma
    judged("planted_forms:right", "int8", three_layouts)


@pytest.fixture(autouse=True)
def few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "chosen", three_layouts)
    monkeypatch.setenv("PYTHONPATH", str(repo_root()))


def run(
    pytester: pytest.Pytester, runtime: str, *more: str, types: str = "int8"
) -> pytest.RunResult:
    """A session with the plugin, in this process."""
    return pytester.runpytest_inprocess(
        *LOADED, "-p", "no:cacheprovider", "-p", "no:xdist", f"--sonnx-clip-runtime={runtime}",
        f"--sonnx-clip-types={types}", *more,
    )  # fmt: skip


def planted(name: str) -> str:
    return f"tests.meta.planted:{name}"


def failed(result: pytest.RunResult) -> set[str]:
    return set(re.findall(r"^(?:FAILED|ERROR) (\S+)", result.stdout.str(), re.MULTILINE))


def test_right_runtime_passes_in_each_class_of_each_type(pytester: pytest.Pytester) -> None:
    result = run(pytester, planted("right"), "-v", types="int8, float16")
    result.assert_outcomes(
        passed=len(clip_operator().class_ids("int")) + len(clip_operator().class_ids("float")) + 4
    )
    wanted = [f"sonnx-clip::{t}::{c}" for t, f in (("int8", "int"), ("float16", "float"))
              for c in (*clip_operator().class_ids(f), "C1", "C3")]  # fmt: skip
    assert re.findall(r"^(sonnx-clip::\S+) PASSED", result.stdout.str(), re.MULTILINE) == wanted
    assert result.ret == 0


def test_wrong_runtime_fails_where_check_says_so_with_a_reproducer(
    pytester: pytest.Pytester,
) -> None:
    result = run(pytester, planted("ignores_upper"))
    report, classes = judged("planted:ignores_upper", "int8")
    assert failed(result) == {
        f"sonnx-clip::int8::{c.id}" for c in cases(report) if c.outcome == "failed"
    }
    assert result.ret == 1
    text = result.stdout.str()
    assert "Traceback" not in text
    assert re.search(r"^FAILED sonnx-clip::int8::high_ordinary - violates: X=", text, re.MULTILINE)
    assert f"repeat it:\n{command_line(classes['high_ordinary'].deviations[0].reproduce)}\n" in text


def test_file_beside_the_tests_is_judged(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(mine=MINE, test_own="def test_own(): pass")
    run(pytester, "./mine.py:right").assert_outcomes(passed=12)
    result = run(
        pytester, "mine:no_upper", "-k", "sonnx-clip and inside"
    )  # found from where pytest runs
    result.assert_outcomes(passed=2, deselected=10)


def test_each_form_of_a_model_has_its_test(pytester: pytest.Pytester) -> None:
    result = run(
        pytester, "tests.meta.planted_forms:through_float_with_constants", "-v", types="int32"
    )
    forms = set(re.findall(r"\[(\S+)\] (?:PASSED|FAILED)", result.stdout.str()))
    wrong = failed(result)
    assert len(forms) > 10
    assert all(re.fullmatch(r"\S+-\S+-rank_\d-opset_\d+-(not_)?optimised", form) for form in forms)
    in_forms = {id_ for id_ in wrong if "[" in id_}
    assert in_forms
    assert all("[initializers-" in id_ or "[Constant_nodes-" in id_ for id_ in in_forms)
    assert {id_.partition("[")[0] for id_ in in_forms} <= wrong  # the class depends on the form


def test_unsupported_types_are_skipped_and_comparing_nothing_fails(
    pytester: pytest.Pytester,
) -> None:
    line = "sonnx-clip::bfloat16::inside_nan drops it\n"
    result = expecting(pytester, line, planted("refuses_bfloat16"), "-rsfE", types="bfloat16")
    result.assert_outcomes(failed=2, skipped=26)
    assert "bfloat16 is not supported" in result.stdout.str()
    assert failed(result) == {"sonnx-clip::report::compared", "sonnx-clip::bfloat16::inside_nan"}
    assert "a deviation is expected, but nothing was compared" in result.stdout.str()


@pytest.mark.nightly
def test_workers_of_xdist_share_it(pytester: pytest.Pytester) -> None:
    log, logs = pytester.path / "log", []
    pytester.makepyfile(
        mine=f"open({str(log)!r}, 'a').write('x')\n{MINE}", test_own="def test_own(): pass"
    )
    for options in (("-n", "2"), ("-p", "no:xdist")):
        result = pytester.runpytest_subprocess(
            *LOADED, *options, "--sonnx-clip-runtime=./mine.py:no_upper", "--sonnx-clip-types=uint8"
        )
        assert result.parseoutcomes()["passed"] > 3
        assert "sonnx-clip::uint8::high_ordinary" in failed(result)
        logs.append(log.read_text())
        log.unlink()
    assert logs[0] == logs[1] != ""


def expecting(
    pytester: pytest.Pytester, text: str, runtime: str, *more: str, types: str = "int8"
) -> pytest.RunResult:
    (pytester.path / "expected.txt").write_text(text)
    return run(pytester, runtime, "--sonnx-clip-xfail=expected.txt", *more, types=types)


def test_expected_deviations_do_not_fail_and_others_do(pytester: pytest.Pytester) -> None:
    report, _ = judged("planted:ignores_upper", "int8")
    first, *others = (f"sonnx-clip::int8::{c.id}" for c in cases(report) if c.outcome == "failed")
    assert others
    lines = "\n".join(f"{id_} our unit has no upper bound" for id_ in others)
    result = expecting(
        pytester, f"# why we live with it\n\n{lines}\n", planted("ignores_upper"), "-rxfE"
    )
    result.assert_outcomes(xfailed=len(others), passed=10 - len(others), failed=1)
    assert failed(result) == {first}
    assert "our unit has no upper bound" in result.stdout.str()


def test_the_file_of_the_page(pytester: pytest.Pytester) -> None:
    """Its id is one, of a type that is not judged here; and where it is, NumPy does deviate so."""
    page = repo_file("docs/integrations.md").read_text()
    (line,) = re.findall(r"^    (sonnx-clip::float32::.*)$", page, re.MULTILINE)
    result = expecting(pytester, line, "numpy", types="float32")
    assert result.parseoutcomes()["xfailed"] == 1
    assert failed(result)


def test_expected_deviation_that_does_not_happen_fails(pytester: pytest.Pytester) -> None:
    text = "sonnx-clip::int8::C1 flattens\nsonnx-clip::float32::C1 of a type that is not judged\n"
    result = expecting(pytester, text, planted("right"))
    assert failed(result) == {"sonnx-clip::int8::C1"}
    assert "XPASS(strict)" in result.stdout.str()
    assert "flattens" in result.stdout.str()


def test_environment_failure_is_no_expected_deviation(pytester: pytest.Pytester) -> None:
    lacks = "tests.meta.planted_environment:runs_out_of_memory"
    text = "sonnx-clip::int16::high_ordinary no upper bound\n"
    result = expecting(pytester, text, lacks, types="int8,int16")
    assert "sonnx-clip::int16::high_ordinary" in failed(result)
    assert result.parseoutcomes().get("xfailed", 0) == 0


def test_unreadable_file_of_expected_deviations_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "expected.txt"
    with pytest.raises(UserError, match="cannot be read: No such file"):
        pytest_items.read_expected(file)
    twice = "expected.txt:2: `sonnx-clip::int8::C1` is already in line 1"
    for content, words in ((b"sonnx-clip::int8::C1 a\n" * 2, twice), (b"\xff", "not UTF-8 text")):
        file.write_bytes(content)
        with pytest.raises(UserError, match=words):
            pytest_items.read_expected(file)


def usage(result: pytest.RunResult) -> str:
    """What is printed of a wrong use, without a traceback; each line of it begins with ERROR."""
    text = result.stderr.str() + result.stdout.str()
    assert result.ret == pytest.ExitCode.USAGE_ERROR, text
    assert "Traceback" not in text
    assert "INTERNALERROR" not in text
    return text


def test_wrong_uses_are_one_message(pytester: pytest.Pytester) -> None:
    right = planted("right")
    words = usage(expecting(pytester, "\nsonnx-clip::int8::inside_ordinry slow\n", right))
    assert "expected.txt:2: no test has the id `sonnx-clip::int8::inside_ordinry`" in words
    assert "did you mean `sonnx-clip::int8::inside_ordinary`?" in words
    assert "has no reason" in usage(expecting(pytester, "sonnx-clip::int8::C1\n", right))
    assert "there is no `int9`" in usage(run(pytester, right, types="int9"))
    assert "no such file" in usage(run(pytester, "./none.py:clip"))
    alone = pytester.runpytest_inprocess(*LOADED, "--sonnx-clip-types=int8")
    assert "need --sonnx-clip-runtime" in usage(alone)


def test_plugin_without_a_runtime_loads_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import sys
        def test_modules(request):
            own = {name for name in sys.modules if name.startswith("sonnx_clip")}
            doors = {"sonnx_clip", "sonnx_clip.root", "sonnx_clip.root.errors"}
            assert own == {*doors, "sonnx_clip.pytest_plugin"}
            assert "numpy" not in sys.modules
            assert not request.config.pluginmanager.has_plugin("sonnx-clip-tests")
    """)
    result = pytester.runpytest_subprocess(
        *LOADED, "-p", "no:slipcover", "-p", "no:hypothesispytest"
    )
    result.assert_outcomes(passed=1)
