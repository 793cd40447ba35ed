"""The exported page, transcribed into Python word by word, against the vectors and the evaluator."""

import json
from fractions import Fraction
from itertools import product

import pytest

from sonnx_clip.export.sonnx_page import page_text
from sonnx_clip.language import decode, encode
from sonnx_clip.language.special import sampled
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import evaluator, load_spec
from tests.export import transcribed_page as page

SPEC = load_spec()
MACHINE = [etype for etype in SPEC.element_types if etype.width is not None]
BY_ID = pytest.mark.parametrize("etype", MACHINE, ids=lambda etype: etype.id)


def vectors(etype):
    document = json.loads(
        repo_file(f"generated/vectors/{etype.id}.json").read_text(encoding="utf-8")
    )
    found = document["vectors"]
    return [(one, [int(one[key], 16) for key in ("x", "min", "max")]) for one in found]


def test_transcribed_words_are_on_the_page():
    assert not [words for words in page.QUOTED if words not in page_text(SPEC)], (
        "transcribe the page again"
    )


@BY_ID
def test_result_of_the_page_is_that_of_every_vector(etype):
    found = vectors(etype)
    assert len(found) > 20
    for vector, triple in found:
        assert page.result(etype.id, *triple) == int(vector["expected"], 16), vector["id"]


@BY_ID
def test_results_that_conform_on_the_page_are_those_that_the_vectors_accept(etype):
    texts = ("nan", "-nan", "snan", "0", "-0", "1") if etype.family == "float" else ("0", "1")
    others = [int(encode(text, etype)) for text in texts]
    for vector, triple in vectors(etype):
        accepted = {int(vector["expected"], 16)}
        accepted |= {int(bits, 16) for one in vector["acceptable"] if (bits := one.get("bits"))}
        any_nan = any(one.get("any_nan") for one in vector["acceptable"])
        for answer in {*triple, *others}:
            due = answer in accepted or (any_nan and decode(answer, etype) == "nan")
            assert page.conforming(etype.id, *triple, answer) == due, (vector["id"], hex(answer))


@pytest.mark.parametrize(
    "etype", [SPEC.element_type(id_) for id_ in ("float16", "bfloat16")], ids=lambda etype: etype.id
)
def test_interval_of_the_page_holds_exactly_under_its_condition(etype):
    triples = [[page.Float(etype.id, bits) for bits in triple] for _, triple in vectors(etype)]
    for (first, l, m), (other, *_) in product(triples[::9], triples[::7]):
        every = [page.E_CLIP_FLOAT_FUNC_0010(x, l, m) for x in (first, other)]
        for xs, ys in (([first], every[:1]), ([first, other], every)):
            where = page.E_CLIP_FLOAT_CONSTR_Y_0020_where(xs, l, m)
            assert page.E_CLIP_FLOAT_CONSTR_Y_0020_then(ys, l, m) == where
    assert page.E_CLIP_FLOAT_CONSTR_Y_0020_then([], *triples[0][1:])


def test_reals_of_the_page_are_those_of_the_evaluator():
    real = SPEC.element_type("real")
    for triple in sampled(real, 3):
        x, l, m = map(Fraction, triple)
        y = page.E_CLIP_REAL_FUNC_0010(x, l, m)
        assert y == evaluator(SPEC, real).result(*triple)
        assert page.E_CLIP_REAL_CONSTR_Y_0020([y], l, m)
