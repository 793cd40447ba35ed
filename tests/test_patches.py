"""The tests replace our own functions and constants where a table says so and why: it may only shrink."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.patches import patches

FOLDER = Path(__file__).parent
# Where a parameter can say it, the test gives it. What is left has one of these reasons.
REASONS = {
    "mistake": "it plants a mistake in our code, or a wrong answer of a part of it, that a check must find",
    "moment": "something comes from outside at an exact moment of our work",
    "process": "it is of the whole process, and a fixture puts it in place, or back",
    "costly": "a fixture does once, or leaves out, what takes long and is tested elsewhere",
    "command": "a whole command or session runs, and it has no option of which a person has no use",
}
# tests/meta plants mistakes in our functions, which is its point: there only constants count.
LEFT = {
    "backends/test_why3_generate.py": {"generate.FILES": "costly"},
    "bench/conftest.py": {"built.kernels": "process"},
    "bench/test_checker.py": {
        "checker.same_bits": "mistake",
        "checker.class_histogram": "mistake",
        "checker.compare_every_triple": "mistake",
    },
    "bench/test_measure.py": {"module.sonnx_clip.clip": "mistake"},
    "bench/test_processor.py": {"c_build.THIS_PROCESSOR": "process"},
    "claims/test_evaluation.py": {"SPEC.memo": "mistake", "SPEC.memo, 2": "mistake"},
    "cli/test_standard_output.py": {
        "files._no_standard_output": "mistake",
        "write_export.is_standard_output": "mistake",
    },
    "conform/test_histogram.py": {"load_oracle().CLASSES": "mistake"},
    "conform/test_journal.py": {"units.fields": "mistake"},
    "conform/test_levels.py": {
        "load_oracle().CLASSES": "mistake",
        "load_oracle().clip": "mistake",
        "ranges.class_ranges": "mistake",
    },
    "conform/test_pytest_plugin.py": {
        "campaign.plan": "command",
        "pytest_items.ClipItem.runtest": "mistake",
    },
    "conftest.py": {"rendered.folder": "process"},
    "evidence/made.py": {
        "recheck_proofs._tasks": "costly",
        "recheck_proofs.standings": "costly",
        "recheck_proofs.configure": "costly",
    },
    "evidence/once.py": {"collect.shown_vectors": "costly", "module.*": "costly"},
    "export/test_export_folder.py": {"exporting.check_folder": "moment"},
    "graph/conftest.py": {"infer_module.infer": "costly"},
    "graph/test_hostile.py": {"sonnx_clip.graph.ask_onnx.infer": "costly"},
    "language/test_printing.py": {"table.forms": "mistake"},
    "meta/test_c_kernel.py": {"generate.THEORIES": "mistake"},
    "meta/test_lint_meta.py": {"evaluate.DECLARED_WORDS": "mistake"},
    "meta/test_prover_faults.py": {
        "provers.GRACE": "command",
        "counterexample.GRACE": "command",
        "counterexample._SECONDS": "command",
    },
    "meta/test_readings.py": {"reading_classes.SAMPLES": "mistake"},
    "meta/test_trusted.py": {
        "sonnx_clip.prove.trusted.COMMANDS": "mistake",
        "sonnx_clip.prove.trusted.PRECISE": "mistake",
    },
    "other_root.py": {"folders._PACKAGE": "process"},
    "prove/fixtures.py": {"load._load_once": "costly"},
    "prove/remembered.py": {
        "module.run_why3": "costly",
        "prove_all.ask": "costly",
        "standing._of_subject": "costly",
    },
    "prove/workbench.py": {"prove_all.PROOF": "command"},
    "trace/planted.py": {"oracle.*": "mistake", "subjects.subject": "mistake"},
}


def left(folder: Path) -> dict[str, list[str]]:
    """What each test file that does so patches of our own, sorted; the second of a name with ``, 2``."""
    found = {}
    for file in sorted(folder.rglob("*.py")):
        name, seen = file.relative_to(folder).as_posix(), Counter[str]()
        there = []
        for line in patches(file.read_text(encoding="utf-8"), constants=name.startswith("meta/")):
            what = line.partition(": ")[2]
            seen[what] += 1
            there.append(what if seen[what] == 1 else f"{what}, {seen[what]}")
        if there:
            found[name] = sorted(there)
    return found


def test_the_patches_of_our_own_code_are_those_of_the_table() -> None:
    found = {(file, what) for file, there in left(FOLDER).items() for what in there}
    listed = {(file, what) for file, there in LEFT.items() for what in there}
    assert not found - listed, "give it a parameter, or a setting that a parameter takes"
    assert not listed - found, "it is no longer patched: take it out of the table"
    assert found


def test_each_has_a_reason_and_each_reason_is_one_of_some() -> None:
    given = {reason for there in LEFT.values() for reason in there.values()}
    assert given == REASONS.keys()


def test_each_way_to_patch_is_seen() -> None:
    head = "import os\nfrom sonnx_clip.graph import infer, lint\nfrom tests import fake\n"
    for planted in (
        'monkeypatch.setattr(infer, "SECONDS", 1)',
        'monkeypatch.setattr("sonnx_clip.graph.ask_onnx.SECONDS", 1)',
        'here.setitem(infer.TABLE, "a", 1)', 'setattr(lint, "lint_model", None)', "infer.SECONDS = 1",
        'mock.patch("sonnx_clip.graph.ask_onnx.SECONDS", 1)', 'mock.patch.object(infer, "SECONDS", 1)',
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


def test_a_patch_more_is_named(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    text = "from sonnx_clip.graph import infer\ninfer.SECONDS = 1\ninfer.infer = None\ninfer.infer = 1\n"
    for name in ("test_a.py", "meta/test_b.py"):
        (tmp_path / name).write_text(text)
    assert left(tmp_path) == {
        "meta/test_b.py": ["infer.SECONDS"],
        "test_a.py": ["infer.SECONDS", "infer.infer", "infer.infer, 2"],
    }
