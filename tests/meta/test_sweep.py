"""Planted mistakes that the sweep finds, and states of other code that it does not believe."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from sonnx_clip.cli import sweep_command
from sonnx_clip.cli.app import app
from sonnx_clip.oracle import c, c_build
from sonnx_clip.spec import load_spec
from sonnx_clip.sweep import run_sweep, slices, work
from sonnx_clip.sweep.slices import BOUNDS, SPECIAL, TABLE, TRIPLES, Slice, find_subject, kernels_of
from sonnx_clip.sweep.sweep_record import judge_digest, judge_files, record_of
from sonnx_clip.sweep.work import Swept, run_slice

PLANTED = "tests.meta.planted_sweep:"


def plane(etype, side, fixed, start):
    return Slice(etype, "plane", side, fixed, start, start + 16)


FOUND = {
    "wrong_at_one_pair": (plane("uint16", "max", 0xFFFF, 12336), 1, (12345, 12346, 0xFFFF, 12345)),
    "wrong_nan": (plane("float16", "max", 0x7C00, 0x8000), 16, (0x7FFF, 0x8000, 0x7C00, 0x7C00)),
    "swapped_zeros": (plane("float16", "max", 0x7C00, 0), 1, (0x8000, 0, 0x7C00, 0x8000)),
    "wrong_int8": (Slice("int8", TRIPLES, start=0xFD, stop=0xFE), 1, (5, 0xFD, 7, 4)),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_is_wrong_at_one_place_is_found_there(name):
    part, wrong, first = FOUND[name]
    found = run_slice(find_subject(PLANTED + name), part)
    assert (found.wrong, found.first) == (wrong, first)
    assert run_slice(find_subject(PLANTED + "right"), part) == Swept(found.compared)


def test_special_bounds_find_the_zero_too():
    assert run_slice(find_subject(PLANTED + "swapped_zeros"), Slice("float16", SPECIAL)).wrong


def test_what_writes_nothing_is_wrong_nearly_everywhere():
    found = run_slice(find_subject(PLANTED + "writes_nothing"), plane("int16", "min", 0x8000, 0))
    assert found.wrong > 0.99 * found.compared


# --- in C


def mutated(tmp_path, type_id, old, new):
    """The C kernels with one mistake."""
    for path in c_build.source_files():
        text = path.read_text()
        if path.name == f"sonnx_clip_{type_id}.c":
            assert old in text
            text = text.replace(old, new)
        (tmp_path / path.name).write_text(text)
    library = c_build.built_file(c.compiler(), tuple(sorted(tmp_path.glob("*.[ch]"))))
    return kernels_of(library, "mutated")


MUTATED = {
    # of the pairs (min, max) 1,023 or fewer in each slice are wrong, or one
    "the infinity of the bounds": ("float16", "0xF800", "0xF801", plane("float16", "max", 0x7C00, 0x7C00)),
    "one pair of bounds": (
        "uint16",
        "if (max < min) {",
        "if (max < min && !(min == 777 && max == 776)) {",
        Slice("uint16", BOUNDS, start=777, stop=778),
    ),
    "one pair of x and max": (
        "int16",
        "if (x >= max) {",
        "if (x >= max && !(max == -5 && x == 9)) {",
        plane("int16", "min", 0x8000, 0xFFF0),
    ),
    "one triple": (
        "int8",
        "if (x <= min) {",
        "if (x <= min && !(x == -7 && min == -6 && max == 100)) {",
        Slice("int8", TRIPLES, start=0xE0, stop=0x100),
    ),
}


@pytest.mark.parametrize("name", MUTATED)
def test_a_mutated_kernel_is_found(tmp_path, name):
    type_id, old, new, part = MUTATED[name]
    assert run_slice(mutated(tmp_path, type_id, old, new), part).wrong
    assert not run_slice(find_subject("c"), part).wrong


def test_a_wrong_table_is_caught_by_the_oracle(monkeypatch):
    right = work.table_of(load_spec().element_type("int8"))
    rank = right.rank.copy()
    rank[[3, 4]] = rank[[4, 3]]
    monkeypatch.setattr("sonnx_clip.sweep.work.table_of", lambda _: work.OrderTable(rank, right.number))
    assert run_slice(find_subject("c"), Slice("int8", TABLE)).wrong


# --- the record


@pytest.fixture
def few(monkeypatch):
    """A sweep of two slices; the counter of those that were really swept."""
    parts = [Slice("int8", TRIPLES, start=n, stop=n + 1) for n in (0xFC, 0xFD)]
    monkeypatch.setattr(run_sweep, "slices", lambda etype, *, in_c: parts if etype.id == "int8" else [])
    swept = []
    monkeypatch.setattr(run_sweep, "run_slice", lambda s, p: swept.append(p.start) or run_slice(s, p))
    return swept


def status(tmp_path, name, *more):
    words = ["sweep", "--implementation", name, "--dtype", "int8", "--jobs", "1", "--build", str(tmp_path)]
    return CliRunner().invoke(app, [*words, *more])


def test_a_mistake_is_told_and_makes_the_status_1(tmp_path, few):
    done = status(tmp_path, PLANTED + "wrong_int8")
    assert done.exit_code == 1
    assert "clip(5 (0x05), -3 (0xfd), 7 (0x07)) gave 4 (0x04)" in done.output
    assert "131,071 of 131,072 results agree" in done.output
    again = status(tmp_path, PLANTED + "wrong_int8")  # from the record, and not forgotten
    assert again.exit_code == 1
    assert len(few) == 2


def test_what_is_finished_is_not_swept_again_and_half_a_line_is(tmp_path, few):
    assert status(tmp_path, PLANTED + "right").exit_code == 0
    (record,) = (tmp_path / "sweep").iterdir()
    text = record.read_text()
    record.write_text(text[:-20])  # as a kill in the middle of writing leaves it
    assert status(tmp_path, PLANTED + "right").exit_code == 0
    assert few == [0xFC, 0xFD, 0xFD]
    assert status(tmp_path, PLANTED + "right").exit_code == 0
    assert len(few) == 3


def test_the_record_of_other_code_is_not_believed(tmp_path, few, monkeypatch):
    assert status(tmp_path, PLANTED + "right").exit_code == 0
    code = tmp_path / "code.py"
    code.write_text(Path("tests/meta/planted_sweep.py").read_text() + "\n# changed\n")
    monkeypatch.setattr("tests.meta.planted_sweep.__file__", str(code))
    find_subject.cache_clear()
    try:
        assert status(tmp_path, PLANTED + "right").exit_code == 0
    finally:
        find_subject.cache_clear()
    assert len(few) == 4


def test_the_record_of_another_judge_is_not_believed(tmp_path):
    subject = find_subject(PLANTED + "right")
    before = record_of(subject, tmp_path)
    before.add(Slice("int8", TRIPLES), Swept(1))
    (tmp_path / "check.c").write_text("another")
    files = judge_files()
    assert work.CHECK in files
    another = judge_digest([tmp_path / "check.c" if file == work.CHECK else file for file in files])
    assert record_of(subject, tmp_path, another).finished() == {}
    assert record_of(subject, tmp_path).path == before.path
    assert before.finished() == {"int8: all triples: 0x0: 0x0-0x0": Swept(1)}


def test_a_sweep_that_compared_nothing_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(run_sweep, "slices", lambda *_, **__: [])
    done = status(tmp_path, "numpy")
    assert done.exit_code == 1
    assert "a sweep that compared nothing proves nothing" in done.output


def test_a_slice_that_compared_nothing_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(run_sweep, "slices", lambda *_, **__: [Slice("int8", TRIPLES)])
    done = status(tmp_path, "numpy")
    assert done.exit_code == 1
    assert "0 of 0 results agree" in done.output


def test_code_that_changes_under_the_sweep_stops_it():
    from sonnx_clip.root.errors import UserError

    name, part = PLANTED + "right", Slice("int8", TRIPLES)
    digest, judge = find_subject(name).digest, judge_digest()
    with pytest.raises(UserError, match=r"the code of .*right is other than where the sweep began"):
        run_sweep._in_worker(name, "another digest", judge, part)
    with pytest.raises(UserError, match="the code that compares is other than where the sweep began"):
        run_sweep._in_worker(name, digest, "another digest", part)


def test_the_ends_are_those_that_the_theorem_is_about():
    """why3/composition.mlw holds of the bits that the sweep holds fixed."""
    theory = Path("why3/composition.mlw").read_text()
    for etype in slices.swept_types():
        if etype.width == 16:
            named = list(slices.ends(etype).values())
            first, last = slices.three(etype)
            assert first == named[0]
            goal = f"fixed ({named[0]:#06x}: t) ({named[1]:#06x}: t) ({last:#06x}: t)"
            assert goal in theory


def test_the_planes_that_the_theorem_needs_are_swept():
    for etype in slices.swept_types():
        if etype.width == 16:
            low, high, *_ = slices.ends(etype).values()
            found = {(s.side, s.fixed): 0 for s in slices.slices(etype, in_c=True) if s.side}
            for s in slices.slices(etype, in_c=True):
                if s.side:
                    found[s.side, s.fixed] += s.stop - s.start
            assert {("max", high), ("min", low), ("min", high)} <= found.keys()
            assert set(found.values()) == {1 << 16}
            mins = [
                n
                for s in slices.slices(etype, in_c=True)
                if s.sweep == BOUNDS
                for n in range(s.start, s.stop)
            ]
            assert mins == list(range(1 << 16))
            assert np.uint16(slices.three(etype)[0]) == low


def test_the_closing_line_of_nothing():
    assert sweep_command.closing((), 1).startswith("0 of 0 results agree")
