"""The tests replace our own functions and constants only where a table says so, which may only shrink."""

from __future__ import annotations

from pathlib import Path

from tests.patches import patches

FOLDER = Path(__file__).parent
# Where a parameter can say it, the test gives it, and the number here sinks; none is added. tests/meta plants
# mistakes in our functions, which is its point: there only constants count.
LEFT = {
    "backends/test_why3_generate.py": 1, "bench/conftest.py": 1, "bench/test_checker.py": 3,
    "bench/test_kernels.py": 6, "bench/test_lint.py": 5, "bench/test_measure.py": 3,
    "bench/test_processor.py": 5, "claims/test_evaluation.py": 2, "cli/test_scheduler.py": 1,
    "cli/test_standard_output.py": 2, "conform/small_campaign.py": 3, "conform/test_check.py": 2,
    "conform/test_dialects.py": 1, "conform/test_histogram.py": 3, "conform/test_journal.py": 8,
    "conform/test_levels.py": 5, "conform/test_pytest_plugin.py": 4, "conftest.py": 1, "evidence/made.py": 3,
    "evidence/once.py": 2, "evidence/test_counts.py": 1, "explain/test_measure.py": 4,
    "explain/test_triple.py": 1, "export/test_export_folder.py": 1, "framac/test_command.py": 6,
    "graph/conftest.py": 1, "graph/test_causes.py": 1, "graph/test_hostile.py": 1,
    "graph/test_normalise_save.py": 1, "graph/test_self_check.py": 2, "language/test_printing.py": 1,
    "machines/test_dask_workers.py": 1, "machines/test_many_machines.py": 1, "meta/test_c_kernel.py": 1,
    "meta/test_findings.py": 1, "meta/test_implementations.py": 2, "meta/test_kept_verdicts.py": 1,
    "meta/test_lint_meta.py": 1, "meta/test_prover_faults.py": 3, "meta/test_readings.py": 1,
    "meta/test_sweep.py": 1, "meta/test_trusted.py": 2, "oracle/conftest.py": 1, "oracle/test_built.py": 6,
    "oracle/test_c_build.py": 1, "oracle/test_generated_oracle.py": 1, "oracle/test_kernels.py": 1,
    "oracle/test_memory.py": 1, "other_root.py": 1, "prove/fixtures.py": 1, "prove/remembered.py": 3,
    "prove/test_command.py": 8, "prove/test_coverage.py": 1, "prove/test_rendered.py": 6,
    "prove/test_tasks.py": 3, "prove/workbench.py": 4, "spec/kept.py": 1, "spec/test_compose.py": 2,
    "sweep/test_sweep.py": 3, "tools/test_portability.py": 3, "trace/planted.py": 2,
}  # fmt: skip


def left(folder: Path) -> dict[str, int]:
    """How many patches of our own each test file has; none where it has none."""
    found = {}
    for file in sorted(folder.rglob("*.py")):
        name = file.relative_to(folder).as_posix()
        there = patches(file.read_text(encoding="utf-8"), constants=name.startswith("meta/"))
        if there:
            found[name] = len(there)
    return found


def test_the_patches_of_our_own_code_are_those_of_the_table() -> None:
    found = left(FOLDER)
    more = {name: count for name, count in found.items() if count > LEFT.get(name, 0)}
    assert not more, "give it a parameter, or a setting that a parameter takes"
    assert found == LEFT, "there are fewer: lower the table"


def test_each_way_to_patch_is_seen() -> None:
    head = "import os\nfrom sonnx_clip.graph import infer, lint\nfrom tests import fake\n"
    for planted in (
        'monkeypatch.setattr(infer, "SECONDS", 1)',
        'monkeypatch.setattr("sonnx_clip.graph.infer.SECONDS", 1)',
        'here.setitem(infer.TABLE, "a", 1)', 'setattr(lint, "lint_model", None)', "infer.SECONDS = 1",
        'mock.patch("sonnx_clip.graph.infer.SECONDS", 1)', 'mock.patch.object(infer, "SECONDS", 1)',
        "infer.TABLE['a'] += 1", "del infer.SECONDS",
        'def t(module, patch):\n    patch.setattr(module, "A", 1)',
    ):  # fmt: skip
        assert len(patches(head + planted)) == 1, planted
    for other in (
        'monkeypatch.setattr(os, "getpid", f)', 'monkeypatch.setattr(infer.os, "getpid", f)',
        'monkeypatch.setattr(fake, "A", 1)', 'monkeypatch.setenv("PATH", "")', "SECONDS = infer.SECONDS",
    ):  # fmt: skip
        assert not patches(head + other), other
    assert patches(head + 'm.setattr(infer, "infer", f)\nm.setattr(infer, "_MOST", 1)', constants=True) == [
        "5: infer._MOST"
    ]


def test_a_patch_more_is_counted(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    text = "from sonnx_clip.graph import infer\ninfer.SECONDS = 1\ninfer.infer = None\n"
    for name in ("test_a.py", "meta/test_b.py"):
        (tmp_path / name).write_text(text)
    assert left(tmp_path) == {"meta/test_b.py": 1, "test_a.py": 2}
