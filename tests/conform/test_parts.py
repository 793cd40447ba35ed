"""The parts of the checker: special values, layouts, requests, comparison, explanation, strategies."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings

from sonnx_clip import strategies
from sonnx_clip.conform.checked_operator import clip_operator
from sonnx_clip.conform.explanations import explain_deviation
from sonnx_clip.conform.plan import LENGTHS, chosen, random_patterns
from sonnx_clip.conform.tally import accepted_by, latitudes
from sonnx_clip.language import decode, encode
from sonnx_clip.language.special import special_patterns
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import bits_type, numpy_type, same_bits
from sonnx_clip.root.errors import UserError
from sonnx_clip.runtimes.calls import entry_indices
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.spec import load_spec

SPEC = load_spec()
TYPES = [etype for etype in SPEC.element_types if etype.numpy is not None]
FLOATS = [etype for etype in TYPES if etype.family == "float"]
F32 = SPEC.element_type("float32")
by_id = {"ids": lambda value: getattr(value, "id", None)}


@pytest.mark.parametrize("etype", FLOATS, **by_id)
def test_special_floats_hold_what_breaks_implementations(etype):
    patterns = special_patterns(etype)
    for text in ("0", "-0", "inf", "-inf", "nan", "-nan", "highest", "lowest", "1", "-1"):
        assert encode(text, etype) in patterns
    for text in ("smallest_subnormal", "smallest_normal"):
        assert encode(text, etype) in patterns
        assert encode(f"-{text}", etype) in patterns
    normal = encode("smallest_normal", etype)
    assert {normal - 1, normal + 1} <= set(patterns)
    nans = [pattern for pattern in patterns if decode(pattern, etype) == "nan"]
    quiet = 1 << (etype.bits.significand - 2)
    assert len(nans) == 5
    assert {bool(nan & quiet) for nan in nans} == {True, False}


@pytest.mark.parametrize("layout", LAYOUTS, **by_id)
def test_a_layout_keeps_the_entries_and_its_text_says_the_same(layout):
    length = 65 if layout.length is None else layout.length
    entries = np.zeros(length, np.uint16) if layout.repeats else np.arange(length, dtype=np.uint16)
    entries += 1
    array = layout.arrange(entries)
    assert array.reshape(-1).tolist() == entries.tolist()
    told = eval(layout.text, {"np": np, "v": entries})
    assert (told.shape, told.strides) == (array.shape, array.strides)
    assert told.reshape(-1).tolist() == entries.tolist()


def test_the_plan_of_an_8_bit_type_has_all_triples():
    seen = np.zeros((256, 256, 256), bool)
    for request, table in chosen(SPEC.element_type("int8")):
        if request.length != 256:
            break
        x = request.pool[entry_indices(request)]
        seen[request.scalars[0][:, None], request.scalars[1][:, None], x] = True
        assert table.results.shape == table.classes.shape == x.shape
    assert seen.all()


@pytest.mark.parametrize("etype", TYPES[1:8] + FLOATS, **by_id)
def test_the_plan_reaches_every_class_in_every_long_layout(etype):
    count = len(load_oracle().CLASSES[etype.family])
    reached = {}
    for request, table in chosen(etype):
        found = table.classes[np.arange(table.count)[:, None], entry_indices(request)]
        reached.setdefault(request.layout, set()).update(np.unique(found).tolist())
    assert set(reached) == {layout.id for layout in LAYOUTS}
    for layout, classes in reached.items():
        assert len(classes) == count or layout in EMPTY


EMPTY = {"length-0", "rank-2-empty", "rank-3-empty"}


@pytest.mark.parametrize("etype", [t for t in TYPES if t.width == 16], **by_id)
def test_the_plan_of_a_16_bit_type_has_every_x_in_every_case_that_it_can_be_in(etype):
    long = [found for found in chosen(etype) if found[0].length == 65_537]
    indices = np.concatenate([entry_indices(request) for request, _ in long])
    assert all(len(np.unique(long[0][0].pool[row])) == 65_536 for row in indices)
    assert len(indices) == 24
    classes = np.concatenate([table.classes for _, table in long])
    assert len(np.unique(classes)) == len(load_oracle().CLASSES[etype.family])


def test_the_plan_has_every_short_length_and_some_long_ones():
    requests = [request for request, _ in chosen(F32)]
    lengths = {length for r in requests for length in ([r.length] if r.lengths is None else r.lengths)}
    assert lengths >= {*range(131), 255, 256, 257, 1023, 1024, 1025, 2047, 65_537}
    assert len(np.unique(requests[-1].pool)) > 65_000
    assert sum(131 <= n <= 2000 for n in LENGTHS) > 15


def test_random_triples_are_those_of_every_machine():
    """Other ones would be another check under the same name; they need no package but NumPy."""
    command = (
        "import sys; sys.modules['hypothesis'] = None;"
        "from sonnx_clip.conform.plan import random_patterns;"
        "from sonnx_clip.spec import load_spec;"
        "print(random_patterns(load_spec().element_type('int8'))[1][0][:8].tolist())"
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    here = random_patterns(load_spec().element_type("int8"))[1][0][:8].tolist()
    assert done.stdout.strip() == str(here) == "[213, 8, 128, 93, 129, 8, 2, 1]"


def test_random_triples_have_special_values_ties_and_any_pattern():
    (pool,), (lower, upper) = (part.tolist() for part in random_patterns(F32))
    special = set(special_patterns(F32))
    assert 0.2 < sum(bound in special for bound in lower) / len(lower) < 0.7
    assert len(set(pool) & {*lower, *upper}) > 20
    assert sum(bound >> 31 for bound in upper) > 20, "negative ones too"


def values(*texts):
    return [encode(text, F32) for text in texts]


@pytest.mark.parametrize(
    ("policy", "latitude"),
    [("default", [0, 1, 2, -1]), ("strict", [-1, 0, -1, -1])],
)
def test_first_latitude_that_accepts_is_named_if_the_policy_keeps_it(policy, latitude):
    lower, upper = (np.array(values(t), np.uint32) for t in ("0", "1"))
    x, due, got = (
        np.array(values(*texts), np.uint32)
        for texts in (("-0", "nan", "3"), ("0", "nan", "1"), ("-0", "-nan", "2"))
    )
    accepts = latitudes(F32, policy)
    found = accepted_by(F32, (x, lower, upper, due, got), accepts)
    x, due, got = (np.array(values(text), np.uint32) for text in ("nan", "0", "nan"))
    inverted = accepted_by(F32, (x, upper, lower, due, got), accepts)
    assert [*found.tolist()[:2], *inverted.tolist(), found.tolist()[2]] == latitude


@pytest.mark.parametrize("name", ["int8", "uint16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 64, 1001])
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
    assert same_bits(wide[:, ::2], np.stack([pattern, pattern]))
    if length:
        wide[1, 0] ^= 1
        assert not same_bits(wide[:, ::2], np.stack([pattern, pattern]))


EXPLAINED = [
    ("float32", ("1", "nan", "2"), "nan", "allowed by the readings "),
    ("float32", ("5", "2", "1"), "2", "allowed by the reading"),
    ("float32", ("5", "0", "1"), "5", "the result of the wrong operator no_bounds"),
    ("float32", ("0.5", "0", "1"), "-7", None),
    ("int8", ("5", "0", "10"), "0", "the result of the wrong operator always_min"),
    ("int8", ("5", "0", "10"), "6", None),
]


@pytest.mark.parametrize(("type_id", "triple", "got", "told"), EXPLAINED)
def test_the_explanation_comes_from_the_specification(type_id, triple, got, told):
    etype = SPEC.element_type(type_id)
    numbers = tuple(encode(text, etype) for text in triple)
    found = explain_deviation(clip_operator(), etype, numbers, encode(got, etype))
    assert found.startswith(told) if told else found is None


@pytest.mark.parametrize("etype", TYPES, **by_id)
def test_strategies_draw_arrays_of_the_type(etype):
    dtype = numpy_type(etype.id)

    @settings(max_examples=20, database=None)
    @given(strategies.triples(etype.id), strategies.arrays_and_bounds(dtype, max_size=5))
    def drawn(triple, call):
        assert [(part.dtype, part.shape) for part in triple] == [(dtype, ())] * 3
        x, lower, upper = call
        assert x.dtype == lower.dtype == upper.dtype == dtype
        assert lower.shape == upper.shape == ()
        assert x.ndim == 1
        assert x.size <= 5
        due = load_oracle().clip(x, lower, upper)
        assert due.view(bits_type(etype.id)).shape == x.shape

    drawn()


def test_a_strategy_for_no_type_of_the_profile_is_refused():
    with pytest.raises(UserError, match="float31"):
        strategies.triples("float31")
