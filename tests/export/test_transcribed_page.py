"""The exported page, transcribed into Python word by word, against the vectors and the evaluator."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from sonnx_clip.export.sonnx_page import page_text
from sonnx_clip.language.special import sampled
from sonnx_clip.language.values import encode
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import evaluator, load_spec
from tests.export import transcribed_page as page

SPEC = load_spec()
MACHINE = [etype for etype in SPEC.element_types if etype.width is not None]
BY_ID = pytest.mark.parametrize("etype", MACHINE, ids=lambda etype: etype.id)


def as_page(etype: Any) -> page.ElementType:
    return page.TYPES[etype.onnx.lower()]


def vectors(etype: Any) -> list[tuple[dict[str, Any], list[int]]]:
    document = json.loads(repo_file(f"generated/vectors/{etype.id}.json").read_text(encoding="utf-8"))
    found = document["vectors"]
    return [(one, [int(one[key], 16) for key in ("x", "min", "max")]) for one in found]


@pytest.mark.parametrize("words", page.QUOTED)
def test_what_was_transcribed_is_on_the_page(words: str) -> None:
    assert words in page_text(SPEC), "transcribe the page again"


@BY_ID
def test_result_of_the_page_is_that_of_every_vector(etype: Any) -> None:
    found = vectors(etype)
    assert len(found) > 20
    for vector, triple in found:
        assert page.e_clip_func_0010(as_page(etype), *triple) == int(vector["expected"], 16), vector["id"]


@pytest.mark.parametrize("etype", SPEC.types_of("float"), ids=lambda etype: etype.id)
def test_results_that_conform_on_the_page_are_those_that_the_vectors_accept(etype: Any) -> None:
    of, others = (
        as_page(etype),
        [int(encode(text, etype)) for text in ("nan", "-nan", "snan", "0", "-0", "1")],
    )
    for vector, triple in vectors(etype):
        accepted = {int(vector["expected"], 16)}
        accepted |= {int(bits, 16) for one in vector["acceptable"] if (bits := one.get("bits"))}
        any_nan = any(one.get("any_nan") for one in vector["acceptable"])
        for answer in {*triple, *others}:
            due = answer in accepted or (any_nan and of.value(answer) is None)
            x, l, m = triple
            assert page.e_clip_float_func_0020(of, x, l, m, answer) == due, (vector["id"], hex(answer))


@BY_ID
def test_interval_holds_of_the_page_where_it_says_so(etype: Any) -> None:
    of, triples = as_page(etype), [triple for _, triple in vectors(etype)]
    assert all(page.e_clip_constr_y_0020(of, [x], l, m) for x, l, m in triples)
    for (first, l, m), (other, *_) in product(triples[::9], triples[::7]):
        assert page.e_clip_constr_y_0020(of, [first, other], l, m)
    assert page.e_clip_constr_y_0020(of, [], *triples[0][1:])


def test_reals_of_the_page_are_those_of_the_evaluator() -> None:
    real = SPEC.element_type("real")
    for triple in sampled(real, 3):
        x, l, m = map(Fraction, triple)
        assert page.e_clip_real_func_0010(x, l, m) == evaluator(SPEC, real).result(*triple)
