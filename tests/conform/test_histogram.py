"""Counting entries by class, against the oracle's own conditions."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from sonnx_clip.conform import histogram
from sonnx_clip.conform.histogram import class_histogram
from sonnx_clip.language.special import special_patterns
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.spec import load_spec
from sonnx_clip.strategies import arrays_and_bounds

TYPES = [etype for etype in load_spec().element_types if etype.numpy is not None]


@pytest.fixture(params=["c", "numpy"], autouse=True, scope="module")
def counted_by(request):
    """In C, and by NumPy as where there is no compiler."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "numpy":
            patch.setenv("CC", "no-such-compiler")
        histogram._counter.cache_clear()
        assert (histogram._counter() is None) == (request.param == "numpy")
        yield request.param
    histogram._counter.cache_clear()


by_id = {"ids": lambda value: getattr(value, "id", None)}


def special(etype):
    return np.array(special_patterns(etype), bits_type(etype.id)).view(numpy_type(etype.id))


def asked(etype, x, lower, upper):
    """The counts by the oracle, entry by entry."""
    classes = load_oracle().CLASSES[etype.family]
    return {
        id_: int(np.broadcast_to(holds(x, lower, upper), x.shape).sum()) for id_, holds in classes.items()
    }


@pytest.mark.parametrize("etype", TYPES, **by_id)
def test_special_values_under_all_special_bounds(etype):
    values = special(etype)
    x = np.resize(values, 3 * len(values) + 5)
    bounds = list(product(values, repeat=2))
    for lower, upper in bounds[:: max(1, len(bounds) // 150) | 1]:
        assert class_histogram(x, lower, upper) == asked(etype, x, lower, upper)


@pytest.mark.parametrize("etype", [etype for etype in TYPES if etype.width <= 16], **by_id)
def test_every_value_of_8_and_16_bits(etype):
    x = np.arange(1 << etype.width, dtype=bits_type(etype.id)).view(numpy_type(etype.id))
    values = special(etype)
    for lower, upper in zip(values[::2], values[::-3], strict=False):
        found = class_histogram(x, lower, upper)
        assert found == asked(etype, x, lower, upper)
        assert sum(found.values()) == x.size


@pytest.mark.parametrize("etype", TYPES, **by_id)
def test_drawn_entries_in_few_ranges(etype):
    """What is not there is not counted: the short ways must say the same."""

    @settings(max_examples=60, database=None)
    @given(arrays_and_bounds(etype.id, max_size=4))
    def run(drawn):
        x, lower, upper = drawn
        assert class_histogram(x, lower, upper) == asked(etype, x, lower, upper)

    run()


@pytest.mark.parametrize("etype", TYPES, **by_id)
@pytest.mark.parametrize("length", [1, 191, 192, 3071, 3072, 12289, 40_001])
def test_what_is_rare_and_comes_late_is_counted(etype, length):
    """A piece of the keys may hold what the one before had none of."""
    values = special(etype)
    random = np.random.default_rng(length)
    x = np.full(length, etype_one(etype))
    places = random.integers(length, size=1 + length // 900)
    x[places] = values[random.integers(len(values), size=len(places))]
    x[length // 2 :] = x[length // 2 :][::-1]
    for lower, upper in ((values[0], values[-1]), (etype_one(etype), etype_one(etype)), tuple(values[3:5])):
        assert class_histogram(x, lower, upper) == asked(etype, x, lower, upper)
        assert class_histogram(x[::3], lower, upper) == asked(etype, x[::3], lower, upper)


def etype_one(etype):
    return np.array(1).astype(numpy_type(etype.id))[()]


MISTAKES = {
    "at or below": ("flip) < limit));", "flip) <= limit));"),
    "the rest is left out": ("for (; i < n; i++)", "for (; i < n; i = n)"),
    "the last piece is left out": ("start < n; start", "start + whole < n; start"),
    "what was not there before is not there now": ("if (least != most)", "if (least == n + 1)"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_c_is_seen(name, tmp_path, counted_by):
    if counted_by == "numpy":
        pytest.skip("the mistake is in the C")
    old, new = MISTAKES[name]
    text = histogram.COUNT.read_text()
    assert text.count(old) == 1
    (tmp_path / "count.c").write_text(text.replace(old, new))
    counter = histogram._counter(tmp_path / "count.c")
    # Some values come late: the pieces before have none of them.
    x = np.resize(np.arange(100, 200, dtype=np.uint16), 40_001)
    x[30_000:] = np.arange(10_001) * 4
    ranges = histogram._ranges(x.dtype, (np.uint16(7).tobytes(), np.uint16(40_000).tobytes()))
    due = histogram._counts_below(x, ranges)
    assert histogram._counts_in_c(histogram._counter(), x, ranges) == due
    assert histogram._counts_in_c(counter, x, ranges) != due


def test_every_class_of_the_family_is_named_in_order():
    x = np.array([[1, 2], [3, 9]], np.float32)[:, ::-1]
    found = class_histogram(x, np.float32(2), np.float32(5))
    assert list(found) == list(load_oracle().CLASSES["float"])
    counted = {id_: count for id_, count in found.items() if count}
    assert counted == {"low_tie": 1, "low_ordinary": 1, "high_ordinary": 1, "inside_ordinary": 1}
    assert set(class_histogram(x[:0], np.float32(2), np.float32(5)).values()) == {0}


def test_bounds_that_differ_in_bits_alone_are_told_apart():
    x = np.array([0.0, -0.0], np.float32)
    one = np.float32(1)
    assert class_histogram(x, np.float32(0), one) == class_histogram(x, np.float32("-0"), one)
    assert histogram._ranges(x.dtype, (np.float32("-0").tobytes(), one.tobytes())).classes


@pytest.mark.parametrize(
    ("x", "lower"),
    [
        (np.zeros(2, np.float32), np.float64(0)),
        (np.zeros(2, np.float32), np.zeros(1, np.float32)),
        (np.zeros(2, np.complex64), np.complex64(0)),
        (np.zeros(2, ">f4"), np.array(0, ">f4")),
    ],
    ids=["types", "shape", "foreign", "byte order"],
)
def test_what_cannot_be_counted_is_refused(x, lower):
    with pytest.raises(ValueError, match="one element type of the profile"):
        class_histogram(x, lower, x.dtype.type(1))


def test_classes_that_overlap_are_noticed(monkeypatch):
    classes = dict(load_oracle().CLASSES["int"])
    classes["inside_ordinary"] = classes["low_ordinary"]
    monkeypatch.setitem(load_oracle().CLASSES, "int", classes)
    histogram._ranges.cache_clear()
    with pytest.raises(AssertionError, match="in one class"):
        class_histogram(np.zeros(2, np.int8), np.int8(1), np.int8(2))
