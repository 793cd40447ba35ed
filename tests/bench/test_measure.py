"""Who is measured, who is left out, and whose answers are wrong."""

import shutil
import sys

import numpy as np
import pytest

from bench import measure as module
from bench import native
from bench.contestants import C_COPY, CONTESTANTS, MINIMUM_MAXIMUM, NUMPY, NUMPY_COPY, OURS, OURS_C
from bench.inputs import FLOATS, KINDS, PAGE, TYPES, kinds_of, make_case
from bench.measure import TURNS, measure, measure_case, turns
from bench.peers import NotThereError, torch_clamp, version
from bench.timing import FEWEST_ROUNDS
from sonnx_clip.oracle import c
from sonnx_clip.root.dtypes import numpy_type
from sonnx_clip.root.errors import UserError
from tests.bench.made import bits, right

CASE = make_case("float32", "ordinary", 1000)


def absent(case, y):
    raise NotThereError("somebody is not installed")


def spoilt(case, y):
    """Right but for one bit of one entry."""
    call = right(case, y)

    def wrong():
        call()
        bits(y)[7] ^= 1

    return wrong


def idle(case, y):
    return lambda: None


def test_all_who_are_there_are_measured_and_the_others_are_named():
    cell = measure_case(CASE, 0, {OURS: right, "nobody": absent, NUMPY: right})
    assert list(cell.figures) == [OURS, NUMPY]
    assert cell.absent == {"nobody": "somebody is not installed"}
    assert cell.wrong == {}
    assert all(figure.median > 0 for figure in cell.figures.values())


def test_a_wrong_bit_of_ours_ends_it():
    with pytest.raises(UserError, match=r"float32, ordinary, 1000 elements: .* gave 1 wrong answers"):
        measure_case(CASE, 0, {OURS: spoilt})


def test_a_copy_that_copies_nothing_ends_it():
    with pytest.raises(UserError, match="1000 wrong answers"):
        measure_case(CASE, 0, {C_COPY: idle})


def test_another_element_type_of_ours_ends_it(monkeypatch):
    monkeypatch.setattr(module.sonnx_clip, "clip", lambda x, *_: x.astype(np.float64))
    with pytest.raises(UserError, match=r"float32, ordinary, 1000 elements: .* returned float64"):
        measure_case(CASE, 0, {OURS: right})


def test_a_peer_that_does_nothing_is_found_out_and_measured():
    cell = measure_case(CASE, 0, {"idle": idle, "spoilt": spoilt, "right": right})
    assert cell.wrong == {"idle": 1000, "spoilt": 1}
    assert set(cell.figures) == {"idle", "spoilt", "right"}


@pytest.mark.parametrize("etype", TYPES)
def test_numpy_and_ours_take_part_in_every_case_and_are_right(etype):
    wanted = (OURS, NUMPY, MINIMUM_MAXIMUM, NUMPY_COPY, C_COPY)
    cells = list(measure([etype], {1000: 0}, {name: CONTESTANTS[name] for name in wanted}))
    assert [cell.kind for cell in cells] == list(kinds_of(etype))
    for cell in cells:
        assert (tuple(cell.figures), cell.absent, cell.wrong) == (wanted, {}, {})


def test_each_case_has_its_turns_far_apart_but_for_the_large():
    turns_seen = []
    budgets = {1000: 0.0, 1_000_000: 0.0}
    cells = list(measure(["int8"], budgets, {OURS: right}, turns_seen.append))
    assert turns_seen[:6] == [f"int8, {kind}, 1,000" for kind in kinds_of("int8")] * 2
    assert turns_seen[9:] == ["int8, ordinary, 1,000,000"]
    assert len(turns_seen) == turns(["int8"], budgets)
    assert [cell.figures[OURS].rounds for cell in cells] == [TURNS * FEWEST_ROUNDS] * 3 + [FEWEST_ROUNDS]


def test_onnxruntime_takes_part_where_it_has_a_clip():
    pytest.importorskip("onnxruntime")
    (cell, *_) = measure(["float32"], {1000: 0}, {"onnxruntime": CONTESTANTS["onnxruntime"]})
    assert (list(cell.figures), cell.wrong) == (["onnxruntime"], {})
    (cell, *_) = measure(["bfloat16"], {1000: 0}, {"onnxruntime": CONTESTANTS["onnxruntime"]})
    assert cell.absent == {"onnxruntime": "onnxruntime has no Clip for this element type"}


def test_a_package_that_is_not_installed_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(NotThereError, match="torch is not installed"):
        torch_clamp(CASE, CASE.output())
    assert version("torch") == "not there"


@pytest.mark.parametrize("etype", TYPES)
def test_inputs_are_what_they_are_called(etype):
    for kind in kinds_of(etype):
        case = make_case(etype, kind, 10_000)
        assert case.x.dtype == case.lower.dtype == case.upper.dtype == numpy_type(etype)
        assert (case.upper < case.lower) == (kind == "inverted")
        assert np.isnan(case.x).any() == (kind == "nan")
        assert (case.lower == 0) == (kind == "zero")
        with np.errstate(invalid="ignore"):
            below = np.mean(case.x < min(case.lower, case.upper))
            above = np.mean(case.x > max(case.lower, case.upper))
        assert 0.1 < above + below < 0.9
    assert set(kinds_of(etype)) == set(KINDS) - (set() if etype in FLOATS else {"nan"})


def test_the_zero_case_of_floats_has_zeros_of_both_signs():
    case = make_case("float32", "zero", 10_000)
    zeros = np.signbit(case.x[case.x == 0])
    assert zeros.any()
    assert not zeros.all()


def test_input_and_output_lie_apart_within_a_page():
    case = make_case("int16", "ordinary", 1001)
    assert case.x.ctypes.data % PAGE == 0
    assert case.output().ctypes.data % PAGE == PAGE // 2


def test_an_integer_has_no_nan():
    with pytest.raises(ValueError, match="no nan case of int8"):
        make_case("int8", "nan", 10)


KEPT = (native._kernels, native._copies, c.function, c.library, c.compiler)


@pytest.fixture
def no_kernels(monkeypatch):
    """Nothing is built yet, and our kernels find no compiler."""
    monkeypatch.setenv("CC", "no-such-compiler")
    for cached in KEPT:
        cached.cache_clear()
    yield
    for cached in KEPT:
        cached.cache_clear()


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_the_copy_is_measured_without_our_kernels(no_kernels):
    cell = measure_case(CASE, 0, {name: CONTESTANTS[name] for name in (OURS_C, C_COPY)})
    assert list(cell.figures) == [C_COPY]
    assert cell.absent == {OURS_C: "CC names a compiler that is not there"}
    assert native.compiler().endswith(" -std=c99 -O3")


def test_without_a_compiler_there_is_no_c(no_kernels, monkeypatch):
    monkeypatch.setattr(native.shutil, "which", lambda _: None)
    cell = measure_case(CASE, 0, {name: CONTESTANTS[name] for name in (OURS_C, C_COPY, NUMPY_COPY)})
    assert list(cell.figures) == [NUMPY_COPY]
    assert cell.absent[C_COPY] == "there is no C compiler"


def test_a_compiler_that_fails_is_named_with_its_words(no_kernels, monkeypatch, tmp_path):
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\necho out of order >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotThereError, match="cc cannot compile a copy: out of order"):
        native.c_copy(CASE, CASE.output())


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
@pytest.mark.parametrize("etype", TYPES)
def test_the_c_kernels_take_part_in_every_case_and_are_right(etype):
    for cell in measure([etype], {1000: 0}, {OURS_C: CONTESTANTS[OURS_C]}):
        assert (list(cell.figures), cell.absent) == ([OURS_C], {})
