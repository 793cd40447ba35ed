"""The vectors: their form, and that oracle, library and evaluator agree with each."""

import json
from collections import Counter

import jsonschema
import numpy as np
import pytest

from sonnx_clip import clip
from sonnx_clip.backends.vectors import PER_CLASS, SCHEMA_PATH, _about_zero, _in_use
from sonnx_clip.language import encode
from sonnx_clip.language.special import special_patterns
from sonnx_clip.oracle import load_oracle
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import evaluator, load_spec

TYPES = [etype for etype in load_spec().element_types if etype.numpy is not None]
each_type = pytest.mark.parametrize("etype", TYPES, ids=lambda etype: etype.id)


def stored(etype):
    return json.loads(repo_file(f"generated/vectors/{etype.id}.json").read_text())


def triple_of(vector):
    return tuple(int(vector[name], 16) for name in ("x", "min", "max"))


def test_the_form_is_that_of_the_schema():
    schema = json.loads(repo_file(SCHEMA_PATH).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for etype in TYPES:
        validator.validate(stored(etype))
    for spoil in (
        lambda doc: doc.update(more=1),
        lambda doc: doc["vectors"][0].update(x="0x1"),
        lambda doc: doc["vectors"][0].pop("expected"),
        lambda doc: doc["vectors"][0].update({"class": "inverted"}),
        lambda doc: doc["vectors"][0].update(acceptable=[{"latitude": "zero-sign"}]),
        lambda doc: doc.update(vectors=[]),
    ):
        spoiled = stored(TYPES[0])
        spoil(spoiled)
        assert not validator.is_valid(spoiled)


@each_type
def test_every_class_has_its_vectors_and_every_id_is_one(etype):
    vectors = stored(etype)["vectors"]
    counts = Counter(vector["class"] for vector in vectors)
    assert set(counts) == {c.id for c in load_spec().classes_of(etype.family)}
    there = {triple_of(vector) for vector in vectors}
    assert there.issuperset(_about_zero(load_spec(), etype))
    in_use = set(_in_use(load_spec(), etype))
    assert there.issuperset(in_use)
    counts_in_use = Counter(vector["class"] for vector in vectors if triple_of(vector) in in_use)
    on_top = 6 + len(set(_about_zero(load_spec(), etype)))  # the named ones, and those about zero
    for class_id, count in counts.items():
        assert 5 <= count <= PER_CLASS + on_top + counts_in_use[class_id]
    assert len({vector["id"] for vector in vectors}) == len(there) == len(vectors)


@each_type
def test_worked_examples_and_refuting_numbers_are_vectors(etype):
    spec = load_spec()
    named = [
        (x, e.L, e.M)
        for e in spec.examples
        if e.family == etype.family and etype.id not in e.not_representable_in
        for x in e.X
    ]
    named += [(w.X, w.L, w.M) for p in spec.properties if (w := p.refuted_for.get(etype.family))]
    there = {triple_of(vector) for vector in stored(etype)["vectors"]}
    assert named
    assert there >= {tuple(encode(text, etype) for text in triple) for triple in named}


@each_type
def test_expected_result_case_and_class_are_those_of_the_evaluator_and_the_library(etype):
    evaluate, dtype, bits = evaluator(load_spec(), etype), numpy_type(etype.id), bits_type(etype.id)
    for vector in stored(etype)["vectors"]:
        triple, due = triple_of(vector), int(vector["expected"], 16)
        assert evaluate.result(*triple) == due
        assert evaluate.case(*triple).id == vector["case"]
        assert [c.id for c in evaluate.classes(*triple)] == [vector["class"]]
        assert clip(*(np.array(part, bits).view(dtype) for part in triple)).view(bits) == due


@each_type
def test_acceptable_answers_are_those_of_the_latitude(etype):
    generated = load_oracle()
    dtype, bits = numpy_type(etype.id), bits_type(etype.id)
    answers = np.array(special_patterns(etype), bits).view(dtype)
    with np.errstate(invalid="ignore"):
        nan = answers != answers
    for vector in stored(etype)["vectors"]:
        x, l, m = (np.array(part, bits).view(dtype) for part in triple_of(vector))
        y = generated.clip(x, l, m)
        due = []
        for id_, accepts in generated.LATITUDE[etype.family].items():
            accepted = np.broadcast_to(accepts(x, l, m, y, answers), answers.shape)
            other = accepted & (answers.view(bits) != y.view(bits))
            due += [(id_, int(pattern)) for pattern in answers[other & ~nan].view(bits)]
            if np.any(accepted & nan):
                assert np.array_equal(accepted & nan, nan)
                due.append((id_, "nan"))
        found = [
            (a["latitude"], "nan" if "any_nan" in a else int(a["bits"], 16))
            for a in vector["acceptable"]
        ]
        assert sorted(found, key=str) == sorted(due, key=str)
