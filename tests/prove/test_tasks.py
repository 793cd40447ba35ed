"""What Why3 prints: tasks without places, with names, for every obligation."""

import subprocess

import pytest

from sonnx_clip.backends.drivers import driver
from sonnx_clip.prove.provers import find_provers
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.prove.tasks import command, goal_options, print_tasks
from sonnx_clip.root.folders import repo_root
from tests.obligations import obligations
from tests.prove.tools import fake

INT8 = "generated/why3/int8.mlw"
FILES = ("why3/tensor.mlw", "generated/why3/uint8.mlw", "why3/kernel.mlw")


def test_tasks_of_files_printed_together_are_those_of_their_obligations(tmp_path, monkeypatch):
    why3 = configure(tmp_path)
    started = tmp_path / "started"
    fake("why3", f'echo "$1" >>{started}; exec "$real" "$@"', tmp_path / "bin", monkeypatch)
    for prover in find_provers():
        started.write_text("")
        together = print_tasks(why3, prover, FILES)
        assert (
            started.read_text() == "prove\n" * 2
        )  # what they share is read once for each way of printing
        for file, found in together.items():
            mine = [o for o in obligations() if o.file == file]
            printed = found.tasks
            assert found.complaint == ""
            assert found.account.refused == {}
            assert printed.keys() == {(o.theory, o.goal) for o in mine}
            # Readings, or kernels, that mean the same in a type give the same tasks.
            assert len({t.digest for t in printed.values()}) > len(mine) // 2
            assert all(t.text.endswith("(check-sat)") for t in printed.values())
            assert not any(
                str(tmp_path) in t.text or "\n;; File" in t.text for t in printed.values()
            )
    for file in (FILES[0], FILES[2]):
        assert print_tasks(why3, prover, (file,))[file] == together[file]
    smoke = next(t for (_, goal), t in together[FILES[0]].tasks.items() if goal == "smoke_tensor")
    assert (
        smoke.text.count("(assert") > 5
    )  # inlining would drop what a contradiction could follow from


def test_a_wrong_theory_takes_nothing_from_those_printed_with_it(bench):
    why3 = configure(bench.build)
    (prover, _) = find_provers()
    files = [INT8, "generated/why3/uint8.mlw"]
    whole = print_tasks(why3, prover, files)
    bench.plant(files[0], "module Instance\n", "module Instance\n  axiom wrong: no_such_symbol\n")
    found = print_tasks(configure(bench.build), prover, files)
    assert "no_such_symbol" in found[files[0]].complaint
    assert found[files[1]] == whole[files[1]]
    assert found[files[1]].tasks


def test_why3_reads_the_snapshot_alone(bench):
    """What changes after it was read, or could be loaded in another format, is not seen."""
    why3 = configure(bench.build)
    (prover, _) = find_provers()
    before = print_tasks(why3, prover, ("why3/clip.mlw",))
    bench.plant(
        "why3/clip.mlw", "  predicate le t t\n", "  predicate le t t\n  axiom easy: false\n"
    )
    (bench.root / "why3/elements.mlcfg").write_text("")
    (bench.root / "why3/clip.py").write_text("x = 1\n")
    assert print_tasks(why3, prover, ("why3/clip.mlw",)) == before
    read = {
        path.relative_to(why3.root).as_posix() for path in why3.root.rglob("*.*") if path.is_file()
    }
    assert {path for path in read if not path.startswith("drivers/")} == {*why3.texts, "why3.conf"}


def test_the_environment_leads_why3_nowhere_else(tmp_path, monkeypatch):
    for name in ("WHY3DATA", "WHY3LIB", "WHY3CONFIG"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    why3, (prover, _) = configure(tmp_path), find_provers()
    assert print_tasks(why3, prover, ("why3/clip.mlw",))["why3/clip.mlw"].tasks


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (INT8, "module Instance\n", "module Instance\n  type other\n"),
        ("why3/ordered.mlw", "le a b \\/ le b a", "le b a \\/ le a b"),
        ("why3/drivers/elements.gen", "(fp.leq ((_ to_fp 8 24) %1)", "(fp.lt ((_ to_fp 8 24) %1)"),
    ],
)
def test_a_change_in_a_theory_or_driver_is_another_source(file, old, new, bench):
    before = configure(bench.build).digest(INT8)
    bench.plant(file, old, new)
    assert configure(bench.build).digest(INT8) != before


def test_a_change_of_a_rendered_driver_is_another_source(tmp_path, monkeypatch):
    def changed(prover, data):
        return driver(prover, data).replace("ALL", "QF_BV")

    before = configure(tmp_path).digest(INT8)
    assert changed("cvc5", "") != driver("cvc5", "")
    monkeypatch.setattr("sonnx_clip.prove.snapshot.driver", changed)
    assert configure(tmp_path).digest(INT8) != before


def test_the_command_by_hand_proves_the_goal(tmp_path):
    why3 = configure(tmp_path)
    every = {o.id: o for o in obligations()}
    (prover, _) = find_provers()
    for id_, prints in (("uint8.total", 5), ("tensor.zero_size_has_no_entry", 1)):
        o = every[id_]
        asked = command(why3, prover, o.file, *goal_options(o))
        done = subprocess.run(asked, cwd=repo_root(), capture_output=True, text=True, check=False)
        assert done.returncode == 0
        assert done.stdout.count("Prover result is: Valid") == prints


def test_why3_that_does_not_end(tmp_path, monkeypatch):
    why3 = configure(tmp_path)
    (prover, _) = find_provers()
    fake("why3", "exec sleep 600", tmp_path / "bin", monkeypatch)
    monkeypatch.setattr("sonnx_clip.prove.tasks.WHY3_SECONDS", 0.2)
    printed = print_tasks(why3, prover, ("why3/clip.mlw",))["why3/clip.mlw"]
    assert (printed.tasks, printed.complaint) == ({}, "why3 did not end within 0.2 s")
