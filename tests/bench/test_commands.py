"""`bench.commands`: a figure that misses once is measured again, and one that misses twice is a failure."""

import sys

from bench.commands import START, WHOLE, Cost, Row, cost_of, judge, measured

ROW = Row("command", ("command",), 0.4)


class Costs:
    """A run costs what is next in the list."""

    def __init__(self, *cpu: float) -> None:
        self.cpu = list(cpu)
        self.commands: list[tuple[str, ...]] = []

    def __call__(self, command: tuple[str, ...]) -> Cost:
        self.commands.append(tuple(command))
        return Cost(self.cpu.pop(0), 9.0)


def test_the_first_run_does_not_count():
    assert measured(ROW, 3, Costs(5.0, 0.1, 0.2, 0.3)) == 0.2


def test_what_is_not_ours_is_taken_off():
    row = Row("command", ("command",), 0.4, besides=("import",))
    costs = Costs(5.0, 0.25, 0.5)
    assert measured(row, 1, costs) == 0.25
    assert costs.commands == [("command",), ("import",), ("command",)]


def test_a_row_by_the_clock_counts_the_clock():
    assert measured(Row("all", ("all",), 15, unit="s"), 1, Costs(1.0, 1.0)) == 9.0


def test_what_misses_once_is_measured_again(capsys):
    assert judge(ROW, 1, 0.1, Costs(0.0, 0.5, 0.0, 0.3))
    assert capsys.readouterr().out == "command: 0.50 and 0.30 CPU-s, 3.0 x import numpy (at most 0.4): met\n"


def test_what_misses_twice_has_missed(capsys):
    assert not judge(ROW, 1, 0.1, Costs(0.0, 0.5, 0.0, 0.6))
    assert capsys.readouterr().out.endswith("missed twice\n")


def test_a_process_is_measured():
    cost = cost_of([sys.executable, "-c", "sum(range(10**6)); raise SystemExit(1)"])
    assert 0 < cost.cpu < 60
    assert cost.wall > 0


def test_every_command_of_the_table_is_there():
    assert [row.name for row in (*START, *WHOLE)] == [
        "explain", "dialect", "readings", "findings", "lint, beside import onnx", "sonnx-clip all, unchanged",
    ]  # fmt: skip
