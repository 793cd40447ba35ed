"""The bench of lint: what it measures, and that it says when a limit is not kept."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from bench import lint
from bench.lint import Cost, Limits, large_model, measure

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 2_000_000
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")


def test_the_bench_measures_a_process_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(large_model(SIZE).SerializeToString())
    cost = measure("data = Path(sys.argv[1]).read_bytes() * 20", path, 1)
    assert isinstance(cost, Cost)
    idle = measure("pass", path, 1)
    assert cost.peak - idle.peak > 10 * SIZE
    assert cost.seconds > idle.seconds


@pytest.mark.parametrize(("limits", "status"), [((0.5, 3.0), 0), ((0.4, 3.0), 1), ((0.5, 2.9), 1)])
def test_the_status_says_whether_the_limits_are_kept(
    capsys: pytest.CaptureFixture[str], limits: tuple[float, float], status: int
) -> None:
    idle, load, cost = Cost(0.0, 10), Cost(2.0, 900), Cost(1.0, 300)
    assert lint.judge(idle, load, cost, 100, Limits(*limits)) == status
    out = capsys.readouterr().out
    assert "lint takes 0.50 x onnx.load" in out
    assert "lint peaks at 3.00 x the file" in out
    assert "0.10 x are the" in out
    assert "peaks at 9.00 x" in out


def test_the_other_figures_stand_beside_their_goals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    costs = {lint._LOAD: Cost(2.0, 900), lint._LINT: Cost(1.0, 300)}
    costs |= {lint._NORMALISE.format(check): Cost(3.0, 300) for check in (False, True)}
    costs |= {lint._JSON: Cost(4.0, 300), lint._SELF_CHECK: Cost(5.0, 300)}
    lint.chains(tmp_path, 1, 1_000_000, lambda work, *_: costs[work])
    out = capsys.readouterr().out
    assert "lint, 100,000 Clip nodes: 0.5 x onnx.load and shape inference (goal 2)" in out
    assert "as JSON 4.0 s" in out
    assert "lint, 20 functions calling doubly: 1.00 s (goal 1)" in out
    assert "normalise, 500 MB, its self-check: 5.0 s, 0.00 x the file (goal 2.5)" in out
    assert "normalise, a chain of 10000: 3.0 s; with the self-check 3.0 s (goal 10)" in out


def test_the_commands_on_a_small_model_are_whole_processes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lint.small(tmp_path, 1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all(float(line.split()[-2]) > 0 for line in lines)
