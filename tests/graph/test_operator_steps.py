"""Each row of the table of operators: its words are the schemas', nothing else differs, runtimes agree."""

from __future__ import annotations

import warnings
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import defs

from sonnx_clip.graph.normalise_opset import raise_opset
from sonnx_clip.graph.operator_table import CHECKS, REWRITES, OperatorStep, operator_steps
from sonnx_clip.graph.schemas import version_of
from tests.graph.operator_cases import models_of
from tests.graph.same_outputs import answers, feeds, reference_answers

if TYPE_CHECKING:
    from onnx.defs import OpSchema

ROWS = list(operator_steps().values())
rows = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title.replace(" ", "_"))
# onnx's ReferenceEvaluator reads Resize-10 as if it were Resize-11, and finds neither scales nor sizes.
LACKS = {("onnx's ReferenceEvaluator", "Upsample-9 to Resize-10")}


def _flat(text: str) -> str:
    return " ".join(text.split())


def _words(schema: OpSchema) -> list[str]:
    described = (*schema.attributes.values(), *schema.inputs, *schema.outputs)
    return [_flat(schema.doc), *(_flat(one.description) for one in described)]


def differs(old: OpSchema, new: OpSchema) -> tuple[str, ...]:
    """What of two schemas differs, in the words of the table."""
    first, second = (
        {n: (str(a.type), a.required, a.default_value.SerializeToString()) for n, a in s.attributes.items()}
        for s in (old, new)
    )
    types = [
        {p.name: _types(s).get(p.type_str, {p.type_str}) for p in (*s.inputs, *s.outputs)} for s in (old, new)
    ]
    both = types[0].keys() & types[1].keys()
    signatures = [[[(p.name, p.option.name) for p in ps] for ps in (s.inputs, s.outputs)] for s in (old, new)]
    found = {
        "words": _words(old) != _words(new),
        "attributes removed": bool(first.keys() - second.keys()),
        "attributes added": bool(second.keys() - first.keys()),
        "attributes changed": any(first[n] != second[n] for n in first.keys() & second.keys()),
        "inputs": signatures[0][0] != signatures[1][0],
        "outputs": signatures[0][1] != signatures[1][1],
        "types added": any(types[1][name] - types[0][name] for name in both),
        "types removed": any(types[0][name] - types[1][name] for name in both),
        "deprecated": bool(new.deprecated),
    }
    return tuple(name for name, yes in found.items() if yes)


def _types(schema: OpSchema) -> dict[str, set[str]]:
    return {one.type_param_str: set(one.allowed_type_strs) for one in schema.type_constraints}


@rows
def test_the_words_stand_in_the_schemas(row: OperatorStep) -> None:
    old = defs.get_schema(row.operator, row.old, "")
    new = defs.get_schema(row.becomes, row.new, "")
    assert old.since_version == row.old
    assert version_of(row.operator, row.new) == row.new
    assert version_of(row.operator, row.new - 1) == row.old
    if not onnx.__version__.startswith("1.23."):
        pytest.skip(f"the words are those of onnx 1.23, and onnx {onnx.__version__} is installed")
    for words, schema in zip(row.words, (old, new), strict=True):
        assert len(words) >= 12
        assert any(_flat(words) in text for text in _words(schema)), words
    assert differs(old, defs.get_schema(row.operator, row.new, "")) == row.differs


@rows
def test_a_row_says_what_its_differences_call_for(row: OperatorStep) -> None:
    assert row.check is None or row.check in CHECKS
    assert row.by is None or row.by in REWRITES
    assert (row.check is None) == (row.condition is None)
    assert (row.by is None) == (row.rewritten is None)
    lost = {"attributes removed", "attributes changed", "deprecated"} & set(row.differs)
    if lost and row.differs != (
        "words",
        "attributes added",
        "attributes changed",
    ):  # not required any more
        assert row.by is not None
    if "types removed" in row.differs:
        assert row.check is not None


def test_every_check_and_rewrite_is_used() -> None:
    assert {row.check for row in ROWS} - {None} == set(CHECKS)
    assert {row.by for row in ROWS} - {None} == set(REWRITES)


@cache
def _raised(row: OperatorStep) -> list[tuple[str, onnx.ModelProto, onnx.ModelProto | None, str]]:
    found = []
    for name, before in models_of(row.operator, row.new - 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raised = raise_opset(before, row.new - 1, row.new)
        found.append((name, before, raised.model, raised.how))
    return found


@rows
def test_runtimes_give_equal_bits_before_and_after(row: OperatorStep) -> None:
    ran: set[str] = set()
    for name, before, after, how in _raised(row):
        if after is None:
            assert row.condition is not None, how
            assert row.condition in how or row.title in how
            continue
        onnx.checker.check_model(after)
        given = feeds(before, count=4)
        for kind, runs in (("onnxruntime", answers), ("onnx's ReferenceEvaluator", reference_answers)):
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                old, new = runs(before, given), runs(after, given)
            if isinstance(old, str):
                continue
            if (kind, row.title) in LACKS:
                assert isinstance(new, str)
                continue
            assert not isinstance(new, str), f"{name}: {kind} runs it before, not after: {new}"
            assert old == new, f"{name}: {kind}"
            assert old
            assert all(old)
            ran.add(kind)
    assert ran or row.unrun, "nothing ran this row"
    assert not (ran and row.unrun)


@pytest.mark.parametrize("row", [r for r in ROWS if r.condition], ids=lambda row: row.title.replace(" ", "_"))
def test_a_condition_holds_in_one_case_and_fails_in_another(row: OperatorStep) -> None:
    assert {after is None for _, _, after, _ in _raised(row)} == {True, False}
