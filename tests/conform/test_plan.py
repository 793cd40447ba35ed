"""What the checker asks: special values, layouts, lengths, random draws; and how it compares bits."""

import numpy as np
import pytest

from sonnx_clip.conform.call_plan import LENGTHS, chosen, random_patterns
from sonnx_clip.conform.operator import clip_operator
from sonnx_clip.language import decode, encode
from sonnx_clip.language.special import special_patterns
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import bits_type, numpy_type, same_bits
from sonnx_clip.runtimes.calls import entry_indices
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.spec import load_spec

SPEC = load_spec()
CLIP = clip_operator()
TYPES = [etype for etype in SPEC.element_types if etype.numpy is not None]
FLOATS = [etype for etype in TYPES if etype.family == "float"]
F32 = SPEC.element_type("float32")
by_id = {"ids": lambda value: getattr(value, "id", None)}


@pytest.mark.parametrize("etype", FLOATS, **by_id)
def test_special_floats_hold_what_breaks_implementations(etype):
    patterns = special_patterns(etype)
    for text in ("0", "inf", "nan", "highest", "1", "smallest_subnormal", "smallest_normal"):
        opposite = "lowest" if text == "highest" else f"-{text}"
        assert {encode(text, etype), encode(opposite, etype)} <= set(patterns)
    normal = encode("smallest_normal", etype)
    assert {normal - 1, normal + 1} <= set(patterns)
    nans = [pattern for pattern in patterns if decode(pattern, etype) == "nan"]
    quiet = 1 << (etype.bits.significand - 2)
    assert len(nans) == 5
    assert {bool(nan & quiet) for nan in nans} == {True, False}


@pytest.mark.parametrize("layout", LAYOUTS, **by_id)
def test_layout_keeps_the_entries_and_its_text_says_the_same(layout):
    length = 65 if layout.length is None else layout.length
    entries = np.zeros(length, np.uint16) if layout.repeats else np.arange(length, dtype=np.uint16)
    entries += 1
    array = layout.arrange(entries)
    assert array.reshape(-1).tolist() == entries.tolist()
    shown = eval(layout.text, {"np": np, "v": entries})
    assert (shown.shape, shown.strides) == (array.shape, array.strides)
    assert shown.reshape(-1).tolist() == entries.tolist()


def test_plan_of_an_8_bit_type_has_all_triples():
    seen = np.zeros((256, 256, 256), bool)
    for request, table in chosen(SPEC.element_type("int8"), CLIP):
        if request.purpose != "every 8-bit value":
            continue
        x = request.pool[entry_indices(request)]
        seen[request.scalars[0][:, None], request.scalars[1][:, None], x] = True
        assert table.results.shape == table.classes.shape == x.shape
    assert seen.all()


EMPTY = {"length-0", "rank-2-empty", "rank-3-empty"}


@pytest.mark.parametrize("type_id", ["uint16", "int32", "float16", "bfloat16", "float64"])
def test_plan_reaches_every_class_in_every_layout_and_every_x_of_16_bits(type_id):
    etype = SPEC.element_type(type_id)
    count = len(load_oracle().CLASSES[etype.family])
    requests, reached = [*chosen(etype, CLIP)], {}
    for request, table in requests:
        found = table.classes[np.arange(table.count)[:, None], entry_indices(request)]
        reached.setdefault(request.layout, set()).update(np.unique(found).tolist())
    assert set(reached) == {layout.id for layout in LAYOUTS}
    for layout, classes in reached.items():
        assert len(classes) == count or layout in EMPTY
    if etype.width == 16:
        long = [(request, table) for request, table in requests if request.length == 65_537]
        indices = np.concatenate([entry_indices(request) for request, _ in long])
        assert all(len(np.unique(long[0][0].pool[row])) == 65_536 for row in indices)
        assert len(indices) == 24
        classes = np.concatenate([table.classes for _, table in long])
        assert len(np.unique(classes)) == count


def test_plan_has_every_short_length_and_some_long_ones():
    requests = [request for request, _ in chosen(F32, CLIP)]
    lengths = {
        length for r in requests for length in ([r.length] if r.lengths is None else r.lengths)
    }
    assert lengths >= {*range(131), 255, 256, 257, 1023, 1024, 1025, 2047, 65_537}
    assert len(np.unique(requests[-1].pool)) > 65_000
    assert sum(131 <= n <= 2000 for n in LENGTHS) > 15


def test_random_triples_are_those_of_every_machine():
    """Other ones would be another check under the same name."""
    _, scalars = random_patterns(SPEC.element_type("int8"), CLIP)
    assert scalars[0][:8].tolist() == [213, 8, 128, 93, 129, 8, 2, 1]


@pytest.mark.parametrize("name", ["int8", "uint16", "bfloat16", "float64"])
@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 1001])
def test_one_bit_anywhere_is_a_difference(name, length):
    pattern = np.arange(length).astype(bits_type(name))
    a, b = pattern.view(numpy_type(name)), pattern.copy()
    assert same_bits(a, b.view(a.dtype))
    for place in {0, length // 2, length - 1} & set(range(length)):
        b[place] ^= 1
        assert not same_bits(a, b.view(a.dtype))
        b[place] ^= 1
    wide = np.zeros((2, 2 * length), bits_type(name))
    wide[:, ::2] = pattern
    twice = np.stack([pattern, pattern])
    assert same_bits(wide[:, ::2], twice)
    twice[1:, :1] ^= 1
    assert same_bits(wide[:, ::2], twice) == (length == 0)
