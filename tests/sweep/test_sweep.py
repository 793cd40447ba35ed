"""The sweep itself: its tables, its C program, its processes and its command."""

import ctypes
import json
from pathlib import Path

import numpy as np
import pytest

from sonnx_clip.cli import sweep_command
from sonnx_clip.language import special
from sonnx_clip.root import dtypes
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import evaluate, load_spec
from sonnx_clip.sweep import run_sweep, slices, sweep_record
from sonnx_clip.sweep.slices import BOUNDS, SPECIAL_BOUND, TABLE, Slice, find_subject, swept_types
from sonnx_clip.sweep.work import SweepFindings, check, due_of, run_slice, table_of

TYPES = {etype.id: etype for etype in swept_types()}


def test_ranks_are_the_order_of_the_numbers():
    int8, float16 = table_of(TYPES["int8"]), table_of(TYPES["float16"])
    assert int8.rank[[0x80, 0xFF, 0, 0x7F]].tolist() == [0, 127, 128, 255]
    assert float16.rank[0x8000] == float16.rank[0]
    assert float16.rank[0xFC00] == 0
    assert float16.rank[0x7C00] == float16.rank.max() == 2 * 0x7C00
    assert float16.number.sum() == 65536 - 2 * 1023
    with pytest.raises(ValueError, match="not swept"):
        table_of(load_spec().element_type("float32"))


@pytest.mark.parametrize("etype", ["int8", "uint8", "int16", "uint16"])
def test_the_table_agrees_with_the_oracle_and_the_evaluator(etype):
    found = run_slice(find_subject("c"), Slice(etype, TABLE))
    assert found.wrong == 0
    assert found.compared > 30_000


@pytest.mark.parametrize("module", [special, evaluate, dtypes], ids=lambda module: module.__name__)
def test_a_finished_slice_is_not_believed_when_what_is_due_or_swept_has_changed(module, tmp_path):
    """Which bounds are special does not stand in the id of a slice."""
    files, code = sweep_record.judge_files(), Path(module.__file__)
    changed = tmp_path / code.name
    changed.write_bytes(code.read_bytes() + b"# changed")
    assert code in files
    now = [changed if file == code else file for file in files]
    assert sweep_record.judge_digest(now) != sweep_record.judge_digest(files) == sweep_record.judge_digest()


def test_the_program_in_c_and_the_tables_in_numpy_are_due_the_same():
    table = table_of(TYPES["bfloat16"])
    every = np.arange(65536, dtype=np.uint16)
    for lower, upper in [(0x8000, 0), (0, 0x8000), (0x7FC0, 0x3F80), (0x3F80, 0xFFFF), (0x4000, 0x3F80)]:
        due = due_of(table, every, np.array(lower), np.array(upper)).astype(np.uint16)
        found = SweepFindings()
        check(table, due, lower, upper, found)
        assert found.wrong == 0
        due[[5, 9]] ^= 1
        check(table, due, lower, upper, found)
        assert (found.wrong, found.x, found.min, found.max, found.got) == (2, 5, lower, upper, due[5])
    with pytest.raises(ValueError, match="every X"):
        check(table, every[:5], 0, 0, found)


@pytest.mark.parametrize("etype", TYPES)
def test_slices_of_each_kind_agree(etype):
    kinds = {part.sweep: part for part in slices.slices(TYPES[etype], in_c=False) if part.sweep != TABLE}
    for part in kinds.values():
        stop = min(part.stop, part.start + 64)
        small = Slice(part.etype, part.sweep, part.side, part.fixed, part.start, stop)
        for name in ("c", "numpy"):
            found = run_slice(find_subject(name), small)
            assert found.compared
            assert found.wrong == 0
    if TYPES[etype].width == 16:
        assert run_slice(find_subject("c"), Slice(etype, BOUNDS, start=5, stop=7)).wrong == 0


def test_pairs_of_bounds_are_for_c_alone():
    assert {s.sweep for s in slices.slices(TYPES["int16"], in_c=False)} >= {SPECIAL_BOUND}
    with pytest.raises(ValueError, match="no C function"):
        run_slice(find_subject("numpy"), Slice("int16", BOUNDS, start=0, stop=1))


def test_a_signed_kernel_gets_signed_bounds():
    call = find_subject("c").open("int8")
    x, y = np.array([0xFE, 5], np.uint8), np.zeros(2, np.uint8)
    call(x, 0xFF, 3, y)
    assert y.tolist() == [0xFF, 3]
    assert ctypes.sizeof(SweepFindings) == 24


def two(etype, *, in_c):
    """The first two slices of a type."""
    return [*slices.slices(etype, in_c=in_c)][:2]


def test_two_processes_sweep_8_bits(tmp_path, capsys):
    found = sweep_command.run(names=["numpy"], types=["int8"], jobs=2, as_json=False, build=tmp_path, cut=two)
    out = capsys.readouterr().out
    assert found == 0, out
    assert "4,194,304 of 4,194,304 results agree (1 type, numpy" in out
    assert "sweep.json stays as it is" in " ".join(out.split())
    assert not (tmp_path / "sweep.json").exists()


def test_a_complete_sweep_is_written(tmp_path):
    def one(etype, *, in_c):
        return [Slice(etype.id, "", "min", 0, 0, 9)]

    assert sweep_command.run(names=[], types=[], jobs=1, as_json=False, build=tmp_path, cut=one) == 0
    data = json.loads((tmp_path / "sweep.json").read_text())
    assert data["complete"]
    assert data["agree"]
    assert set(data["implementations"]) == {"c", "numpy"}
    assert {s["type"] for s in data["sweeps"]} == set(TYPES)
    assert {(s["compared"], s["wrong"]) for s in data["sweeps"]} == {(9 << 8, 0), (9 << 16, 0)}


def test_json_goes_to_standard_output(tmp_path, capsys):
    assert sweep_command.run(names=["c"], types=["uint8"], jobs=1, as_json=True, build=tmp_path, cut=two) == 0
    assert json.loads(capsys.readouterr().out)["sweeps"][0]["compared"] == 4_194_304


@pytest.mark.parametrize(
    ("names", "types", "words"),
    [
        (["c"], ["int32"], "int32 is not swept"),
        (["numpi"], [], "no implementation `numpi`"),
        (["no_such:f"], [], "no implementation"),
    ],
)
def test_what_is_not_known_is_named(tmp_path, names, types, words):
    with pytest.raises(UserError, match=words):
        sweep_command.run(names=names, types=types, jobs=1, as_json=False, build=tmp_path)


def test_a_record_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "c.jsonl").mkdir()
    with pytest.raises(UserError, match="cannot be written"):
        sweep_record.SweepRecord(tmp_path / "c.jsonl").add(Slice("int8", TABLE), run_sweep.Swept(1))


def test_lines_that_are_no_results_are_not_believed(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_text(
        '{"slice": "a"}\nnonsense\n[]\n{"slice": "b", "compared": 1, "wrong": 0, "first": []}\n{"sl'
    )
    kept = sweep_record.SweepRecord(path)
    assert list(kept.finished()) == ["b"]
    kept.add(Slice("int8", TABLE), run_sweep.Swept(2))
    assert len(kept.finished()) == 2
