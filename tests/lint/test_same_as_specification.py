"""Lint's own restrictions and the conditions of spec/clip.yaml are two encodings: they must mean the same."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from onnx import helper

from sonnx_clip.lint.clip_nodes import ClipNode
from sonnx_clip.lint.graph_scope import GraphScope
from sonnx_clip.lint.profile import profile
from sonnx_clip.lint.restrictions import judge
from sonnx_clip.lint.tensors import NodeTensor, from_type
from sonnx_clip.spec import DeclaredTensor, declared_example, evaluator, load_spec
from tests.lint.build import clip, graph

if TYPE_CHECKING:
    from sonnx_clip.root.signature import Operand


def _argument(operand: Operand, tensor: DeclaredTensor | None) -> NodeTensor:
    if tensor is None:
        return NodeTensor(operand, None)
    code = helper.np_dtype_to_tensor_dtype(np.dtype(tensor.type))
    make = helper.make_sparse_tensor_type_proto if tensor.sparse else helper.make_tensor_type_proto
    info = from_type(make(code, tensor.dims), "graph input")
    return NodeTensor(operand, operand.id, (info,))


def disagreements(tensors: dict[str, DeclaredTensor | None]) -> list[str]:
    """The restrictions that lint does not say are met where they hold, or says are met where they do not."""
    spec = load_spec()
    proto = clip("X", "L" if tensors["L"] else "", "M" if tensors["M"] else "")
    node = ClipNode(proto, GraphScope(graph(proto), "main"), 0, 13)
    operands = (*profile().signature.operands, profile().signature.result)
    judged = judge(node, [_argument(operand, tensors[operand.id]) for operand in operands])
    broken = {problem.rule for problem in judged}
    holds = evaluator(spec, spec.element_type("float32"))
    return [r.id for r in spec.restrictions if (r.id not in broken) != holds(r.holds, tensors)]


def test_lint_and_the_specification_agree_on_every_pair_of_declarations() -> None:
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
