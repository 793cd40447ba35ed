"""The generated oracle against the evaluator: exact integers, and nothing shared with NumPy."""

import ast
import warnings
from itertools import product

import numpy as np
import pytest

from sonnx_clip.language.special import sampled, special_patterns
from sonnx_clip.oracle import ORACLE_FILE, load_oracle
from sonnx_clip.root.dtypes import bits_type, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import evaluator, load_spec
from tests.other_root import use_root

TYPES = [etype for etype in load_spec().element_types if etype.numpy is not None]


def some_triples(etype):
    """About 500 triples of special values, evenly."""
    every = list(product(special_patterns(etype), repeat=3))
    return every[:: max(1, len(every) // 500) | 1]


def as_arrays(etype, triples):
    columns = np.array(triples, bits_type(etype.id)).T.copy()
    return [column.view(numpy_type(etype.id)) for column in columns]


@pytest.mark.parametrize("etype", TYPES, ids=lambda etype: etype.id)
def test_result_cases_and_classes_are_those_of_the_evaluator(etype):
    evaluate, generated = evaluator(load_spec(), etype), load_oracle()
    triples = some_triples(etype)
    x, l, m = as_arrays(etype, triples)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = generated.clip(x, l, m).view(bits_type(etype.id)).tolist()
        cases = {id_: holds(x, l, m) for id_, holds in generated.CASES[etype.family].items()}
        classes = {id_: holds(x, l, m) for id_, holds in generated.CLASSES[etype.family].items()}
    for i, triple in enumerate(triples):
        assert result[i] == evaluate.result(*triple)
        assert [id_ for id_, mask in cases.items() if mask[i]] == [evaluate.case(*triple).id]
        assert [id_ for id_, mask in classes.items() if mask[i]] == [
            c.id for c in evaluate.classes(*triple)
        ]


@pytest.mark.parametrize("etype", TYPES, ids=lambda etype: etype.id)
def test_latitude_and_definitions_are_those_of_the_evaluator(etype):
    spec, generated = load_spec(), load_oracle()
    evaluate = evaluator(spec, etype)
    triples = some_triples(etype)[::3]
    x, l, m = as_arrays(etype, triples)
    y = generated.clip(x, l, m)
    for answer in special_patterns(etype)[::2]:
        a = np.full_like(x, as_arrays(etype, [[answer]])[0][0])
        accepted = {id_: f(x, l, m, y, a) for id_, f in generated.LATITUDE[etype.family].items()}
        for i, triple in enumerate(triples):
            due = [latitude.id for latitude in evaluate.latitudes(triple, answer)]
            assert [id_ for id_, mask in accepted.items() if mask[i]] == due
    for definition in spec.definitions:
        names = definition.parameters or ("X", "L", "M")
        operands = (x, l, m, x)[: len(names)]
        found = getattr(generated, f"{etype.family}_{definition.id}")(*operands)
        found = found if found.dtype == bool else found.view(bits_type(etype.id))
        speaks = definition.families is None or etype.family in definition.families
        for i, triple in enumerate(triples):
            environment = dict(zip(names, (*triple, triple[0]), strict=False))
            assert found[i] == (evaluate(definition.is_, environment) if speaks else False)


@pytest.mark.parametrize("etype", TYPES, ids=lambda etype: etype.id)
def test_readings_allow_what_the_evaluator_allows(etype):
    spec, dtype = load_spec(), bits_type(etype.id)
    ask = evaluator(spec, etype)
    few = special_patterns(etype)[:: max(1, len(special_patterns(etype)) // 8)]
    answers = [*few, *(y for triple in list(sampled(etype, 3))[:3] for y in triple)]
    quadruples = [
        (*triple, y) for triple in sampled(etype, 3) for y in dict.fromkeys([*triple, *answers])
    ]
    columns = [
        np.array(part, dtype).view(numpy_type(etype.id)) for part in zip(*quadruples, strict=True)
    ]
    for reading in spec.readings:
        found = load_oracle().READINGS[etype.family][reading.id](*columns)
        due = [ask(reading.returns, dict(zip("XLMY", q, strict=True))) for q in quadruples]
        assert found.dtype == bool
        assert found.tolist() == due
        assert any(due)
        assert not all(due)


def test_it_belongs_to_the_yaml_and_imports_nothing_but_numpy():
    assert load_spec().digest == load_oracle().SPEC_DIGEST
    nodes = ast.walk(ast.parse(repo_file(ORACLE_FILE).read_text(encoding="utf-8")))
    imports = [
        ast.unparse(node) for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert imports == ["from functools import cache", "import numpy as np"]


def test_an_oracle_that_is_not_there_is_one_message(monkeypatch, tmp_path):
    use_root(tmp_path, monkeypatch)
    with pytest.raises(UserError, match="sonnx-clip generate"):
        load_oracle.__wrapped__()  # what is kept of the real one stays: others hold the same module
