"""A hand-written statement that is weakened stays provable: the pinned list of statements names it."""

import pytest

from sonnx_clip.prove.statements import STATEMENTS, pinned, statements, unpinned

# What is replaced in a file, and the statements that are then reported.
PLANTED = {
    "a tensor of shape [7] is a scalar": (
        "why3/profile.mlw", "Dims s -> s = NoMore end",
        "Dims s -> s = NoMore \\/ s = And (Known 7) NoMore end",
        ["! profile.Declared.is_scalar"]),
    "elsewhere the source may change": (
        "why3/kernel.mlw",
        ("    ensures  { forall k: int. 0 <= k < n ->\n"
         "               memory.cells[x.from + k] = (old memory.cells)[x.from + k] }\n"),
        "", ["! kernel.Kernel.elsewhere"]),
    "a theorem is trivial": (
        "why3/clip.mlw", "clip x l m = x \\/ clip x l m = l \\/ clip x l m = m", "clip x l m = clip x l m",
        ["! clip.ClipTheorems.result_is_operand"]),
    "a goal is gone": (
        "why3/composition.mlw",
        "  goal int16_ends [@shows:int16] : fixed (0x8000: t) (0x7fff: t) (0x0000: t)\n",
        "",
        ["- composition.Int16Ends.int16_ends:"]),
    "a goal more": (
        "why3/clip.mlw", "  goal smoke_clip", "  goal easy [@shows:C1] : true\n\n  goal smoke_clip",
        ["+ clip.ClipTheorems.easy"]),
    "axioms are assumed": (
        "why3/tensor.mlw", "  use Shape\n\n  (** A scalar",
        "  use Shape\n  clone ordered.Ordered with axiom .\n\n  (** A scalar",
        ["! tensor.ShapeTheorems.(imports)"]),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_changed_statement_is_reported(name, bench):
    file, old, new, lines = PLANTED[name]
    bench.plant(file, old, new)
    found = unpinned()
    assert [line.split(" ", 2)[:2] for line in found] == [line.split() for line in lines], found


def test_project_states_what_its_list_says(bench):
    assert unpinned() == []
    assert len(statements()) > 150
    assert all(
        sentence.endswith((".", ".)")) or sentence.startswith("np.")
        for _, sentence in pinned().values()
    )


def test_change_of_comments_and_layout_is_accepted(bench):
    bench.plant(
        "why3/clip.mlw", "    if lt m l then m ", "    (* Otherwise: *)\n    if lt m l\n    then m "
    )
    assert unpinned() == []


def test_statement_without_a_sentence_is_reported(bench):
    golden = bench.root / STATEMENTS
    text = golden.read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("clip.Clip.clip "))
    golden.write_text(text.replace(line, " ".join(line.split()[:2])), encoding="utf-8")
    assert unpinned() == ["? clip.Clip.clip: it has no sentence that explains it"]


def test_changed_statement_stops_prove(bench):
    bench.plant(*PLANTED["a theorem is trivial"][:3])
    ended = bench.prove("--only", "int8.low_inhabited")
    assert ended.status == 1
    assert "1 proved by two provers" in ended.out
    assert "why3/statements.txt" in ended.out
    assert "! clip.ClipTheorems.result_is_operand" in ended.out
