"""Lint's own restrictions and the conditions of spec/clip.yaml are two encodings: they must mean the same."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from onnx import helper

from sonnx_clip.lint import tensors as tensors_module
from sonnx_clip.lint.clip_nodes import ClipNode
from sonnx_clip.lint.profile import OnnxOperand, profile
from sonnx_clip.lint.restrictions import judge
from sonnx_clip.lint.scope import Scope
from sonnx_clip.lint.tensors import Argument, from_type
from sonnx_clip.lint.verdict import Verdict
from sonnx_clip.spec import DeclaredTensor, broken_example, declared_example, evaluate, evaluator, load_spec
from tests.lint.build import clip, graph

if TYPE_CHECKING:
    import pytest


def _argument(operand: OnnxOperand, tensor: DeclaredTensor | None) -> Argument:
    if tensor is None:
        return Argument(operand, None)
    code = helper.np_dtype_to_tensor_dtype(np.dtype(tensor.type))
    make = helper.make_sparse_tensor_type_proto if tensor.sparse else helper.make_tensor_type_proto
    info = from_type(make(code, tensor.dims), "graph input")
    return Argument(operand, operand.id, (info,))


def disagreements(tensors: dict[str, DeclaredTensor | None]) -> list[str]:
    """The restrictions that lint does not say are met where they hold, or says are met where they do not."""
    spec = load_spec()
    proto = clip("X", "L" if tensors["L"] else "", "M" if tensors["M"] else "")
    node = ClipNode(proto, Scope(graph(proto), "main"), 0, 13)
    operands = (*profile().operands, profile().result)
    judged = judge(node, [_argument(operand, tensors[operand.id]) for operand in operands], profile())
    verdict = {judgement.id: judgement.verdict for judgement in judged}
    holds = evaluator(spec, spec.element_type("float32"))
    return [r.id for r in spec.restrictions if (verdict[r.id] is Verdict.MEETS) != holds(r.holds, tensors)]


def test_lint_and_the_specification_mean_the_same_by_each_restriction() -> None:
    kinds = [
        DeclaredTensor("float32", ()),
        DeclaredTensor("float64", ()),
        DeclaredTensor("float32", (2, 3)),
        DeclaredTensor("float32", ("N", 3)),
        DeclaredTensor("float32", (2, -1)),
        DeclaredTensor("float32", None),
        DeclaredTensor("float32", (2,), sparse=True),
    ]
    good = declared_example(load_spec())
    compared = 0
    for one, other in combinations(good, 2):
        unset = [[*kinds, None] if name in "LM" else kinds for name in (one, other)]
        for pair in product(*unset):
            tensors = good | dict(zip((one, other), pair, strict=True))
            assert disagreements(tensors) == [], tensors
            compared += 1
    assert compared == 7 * 7 + 4 * 7 * 8 + 8 * 8


def test_the_examples_of_the_specification_are_judged_as_it_says() -> None:
    spec = load_spec()
    assert disagreements(declared_example(spec)) == []
    for restriction in spec.restrictions:
        assert disagreements(broken_example(spec, restriction)) == []


_BELOW_ZERO = DeclaredTensor("float32", (-1, 3))


def test_they_part_where_one_takes_what_is_not_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, a bound without a shape was scalar to the specification and unknown to lint."""
    tensors = declared_example(load_spec()) | {"L": DeclaredTensor("float32", None)}
    assert disagreements(tensors) == []
    monkeypatch.setitem(evaluate.DECLARED_WORDS, "is_scalar", lambda t: t is None or t.dims in (None, ()))
    monkeypatch.setitem(globals(), "evaluator", evaluate.Evaluator)
    assert disagreements(tensors) == ["scalar_bounds"]


def test_they_part_where_one_takes_minus_one_for_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, a dimension of -1 was explicit to the specification and none to lint."""
    tensors = declared_example(load_spec()) | {"X": _BELOW_ZERO, "Y": _BELOW_ZERO}
    assert disagreements(tensors) == []
    monkeypatch.setattr(tensors_module, "_type_dim", lambda dim: dim.dim_value)
    assert disagreements(tensors) == ["R4"]
