"""The family of mutants: what it changes, and that each is found as it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.mutants import programs
from sonnx_clip.mutants.family import of_c, of_formula, of_python
from sonnx_clip.mutants.mutants_record import SAME, MutantRow, MutantsRecord, all_found, closing_line
from sonnx_clip.mutants.run_mutants import Journal, MutantsRun
from sonnx_clip.mutants.theories import Theories, TheoryMutant, of_renderer, says_nothing
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from sonnx_clip.whyml.formulas import parse_formula
from sonnx_clip.whyml.node import shown

if TYPE_CHECKING:
    from pathlib import Path

SPEC = load_spec()


@pytest.fixture(scope="module")
def theories() -> Theories:
    return Theories(SPEC, [o for o in all_obligations(SPEC) if o.subject in ("int8", "clip")])


def test_the_mutants_of_a_formula() -> None:
    body = parse_formula("if lt m l then m else x")
    found = {shown(node) for _, node in of_formula(body, ("x", "l", "m"))}
    for text in (
        "(if (le m l) then m else x)", "(if (lt l m) then m else x)", "(if (not (lt m l)) then m else x)",
        "(if (lt m l) then x else m)", "m", "x", "(if (lt m l) then l else x)",
    ):  # fmt: skip
        assert text in found
    assert len(found) == len([*of_formula(body, ("x", "l", "m"))])


def test_each_predicate_that_is_asked_is_denied_and_a_term_is_not() -> None:
    node = parse_formula("low a /\\ (match s with | And d more -> known more | NoMore -> f (g a) = b end)")
    changed = {change for change, _ in of_formula(node, ())}
    assert "(low a) => (not (low a))" in changed
    assert "(known more) => (not (known more))" in changed
    assert not any(change.startswith(("(g a) => (not", "(f (g a)) => (not")) for change in changed)
    term = parse_formula("if low a then f a else b")
    found = {change for change, _ in of_formula(term, (), formula=False)}
    assert "(low a) => (not (low a))" in found
    assert "(f a) => (not (f a))" not in found


def test_the_mutants_of_a_program() -> None:
    source = "def f(lower, upper):\n    if upper < lower:\n        g(1)\n    return np.add(lower, upper)\n"
    found = [new for _, _, new in of_python(source)]
    assert source.replace("<", "<=") in found
    assert source.replace("g(1)", "pass") in found
    assert source.replace("np.add", "np.subtract") in found
    assert source.replace("g(1)", "g(2)") in found
    c = repo_file("generated/c/sonnx_clip_int8.c").read_text(encoding="utf-8")
    assert c.replace("i = i + 1", "i = i + 2") in [new for _, new in of_c(c)]


def test_a_mutant_of_clip_is_found_by_an_obligation_with_values(theories: Theories) -> None:
    found = {m.change: next(theories.found_by(m), None) for m in theories.of_written("clip")
             if m.name == "clip.Clip.clip"}  # fmt: skip
    assert len(found) > 20
    missed = [change for change, killer in found.items() if killer is None]
    # Where the bounds are equal or X is a bound, which of two equal integers is taken does not show.
    assert len(missed) < len(found) / 3
    id_, values = found["l => m"] or ("", "")
    assert id_.startswith(("int8.", "clip."))
    assert "x = " in values


def test_mutants_reach_every_theory_of_an_element_type(theories: Theories) -> None:
    """A rendered theory whose definitions nobody changes would let its goals say nothing."""
    reached = {module.partition(".")[0] for m in theories.of_subject("int8") for module, _ in m.bodies}
    there = {path.stem for path in repo_file("generated/why3").glob("*int8.mlw") if "uint8" not in path.stem}
    assert reached == there - {"c_int8", "numpy_int8"}  # of kernels the programs are changed
    assert len(reached) == 5
    of_directml = [m for m in theories.of_subject("int8") if m.name == "int8.directml_returns"]
    assert any(theories.false("int8.finding_directml_order", m) for m in of_directml)


def test_a_goal_that_a_renderer_empties_is_named(theories: Theories) -> None:
    statement = theories.statements["int8.interval"]
    said = {change: says_nothing(theories.goals, statement, node) for change, node in of_renderer(statement)}
    assert said["under a false premise"] == "by definition"
    assert said["its conclusion is its premise"] == "by definition"
    assert said["its conclusion is true"] == "by definition"
    assert says_nothing(theories.goals, statement, statement.node) is None


@pytest.mark.parametrize("part", ["numpy_kernels", "c_kernels", "oracle"])
def test_the_program_itself_is_no_mutant(part: str) -> None:
    """What finds mutants must find nothing in the original."""
    first = next(iter(getattr(programs, part)(SPEC)))
    path = {"numpy_kernels": programs.KERNELS, "oracle": programs.ORACLE}.get(part)
    path = path or f"generated/c/sonnx_clip_{first.types[0]}.c"
    source = repo_file(path).read_text(encoding="utf-8")
    original = programs.ProgramMutant(first.area, first.name, "", source, first.types[:2])
    assert programs.found_by(SPEC, original) is None


def test_a_wrong_program_is_found_by_a_vector_of_its_class() -> None:
    mutants = [m for m in programs.numpy_kernels(SPEC) if m.name == "plan.py plan_integers"]
    found = {m.change.partition(": ")[2]: programs.found_by(SPEC, m) for m in mutants}
    killer = found["upper < lower => upper > lower"]
    assert killer is not None
    assert killer[0].startswith("vector int8.")


def test_a_journal_goes_on_behind_a_line_that_was_cut(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.note("a", ["x", ""])
    journal.close()
    with journal.path.open("a", encoding="utf-8") as file:
        file.write('["b", ["y"')
    again = Journal(journal.path)
    assert again.known == {"a": ["x", ""]}
    again.close()


def test_an_open_mutant_is_no_success() -> None:
    assert not all_found([MutantRow(area="yaml", name="int8.low", change="a => b", by="")])


def test_the_closing_line_counts_what_it_says() -> None:
    rows = (
        MutantRow(area="c kernels", name="a", change="b", by="vector int8.low_tie.1"),
        MutantRow(area="c kernels", name="a", change="c", by="special values"),
        MutantRow(area="c kernels", name="a", change="e", by=SAME),
        MutantRow(area="yaml", name="int8.low", change="d", by="equivalent: one normal form"),
        MutantRow(area="yaml", name="int8.low", change="no such change", by=""),
    )
    made = MutantsRecord(
        tool="t", spec_sha256="s", seconds=1, mutants=rows, kills={"int8.low": ("m", "v")}, unkilled=()
    )
    line = closing_line(made)
    assert line.startswith(
        "5 mutants: 3 found, 1 proved equivalent, 0 with a reason that a person wrote, 1 open; "
    )
    assert "the vectors alone find 1 of 2 wrong kernels" in line


def test_two_changes_of_one_text_are_two_questions() -> None:
    """``l => x`` at two places: what is known of one says nothing of the other."""
    key = ("int8.Meaning", "inside")
    texts = ("not lt m x /\\ not le x l", "not lt m l /\\ not le x x")
    mutants = [TheoryMutant("yaml", "int8.inside", "l => x", {key: parse_formula(text)}) for text in texts]
    asked = MutantsRun.__new__(MutantsRun)
    asked.key = "theories"
    assert len({asked._key(m) for m in mutants}) == 2


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("*(volatile int *)8 = 1;", ("vector", "it crashes")),
        ("for (;;);", ("vector", "it does not end")),
        ("return", ("compiler", "it is refused")),
        ("", ("vector int8.inverted_ordinary.1", "")),
    ],
)
def test_c_that_dies_or_hangs_is_found_in_a_process_of_its_own(body: str, found: tuple[str, str]) -> None:
    head = "#include <stdint.h>\n#include <stddef.h>\n"
    kernel = f"void sonnx_clip_int8(int8_t *y, int8_t *x, int8_t l, int8_t m, size_t n) {{ {body} }}\n"
    mutant = programs.ProgramMutant("c kernels", "a kernel", "all of it", head + kernel, ("int8",))
    assert programs.found_by(SPEC, mutant, patience=1.0) == found
