"""Runtimes of models of Max and Relu, each but the first with a planted mistake in some form of a model."""

import numpy as np
import onnx
from onnx import numpy_helper


def _constants(graph):
    found = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            found[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    return found


def _opened(model, compute):
    """A function of the inputs of a model: `compute` gets the constants by name, and the operands."""
    graph = onnx.load_model_from_string(model).graph
    constants = _constants(graph)
    node = graph.node[-1]

    def run(*inputs):
        values = dict(zip((tensor.name for tensor in graph.input), inputs, strict=True))
        operands = [(values | constants)[name] for name in node.input]
        return compute(node.op_type, constants, operands)

    return run


def _right(op_type, operands):
    x, *others = operands
    if op_type == "Relu":
        return np.where(x < 0, np.zeros_like(x), x)
    (w,) = others
    # A sum of two zeros is -0 only if both are.
    numbers = np.where((x == 0) & (w == 0), x + w, np.where(w <= x, x, w))
    return np.where(x != x, x, numbers)


def right(model):
    return _opened(model, lambda name, _, operands: _right(name, operands))


def loses_minus_zero_of_rank_2(model):
    def compute(name, _, operands):
        found = _right(name, operands)
        return found + np.zeros((), found.dtype) if found.ndim == 2 else found

    return _opened(model, compute)


def takes_a_constant_for_zero(model):
    """A fusion of Max to Relu that does not look at the constant."""

    def compute(name, constants, operands):
        if constants:
            operands[1] = np.zeros_like(operands[1])
        return _right(name, operands)

    return _opened(model, compute)


def drops_a_scalar(model):
    """The second operand counts only if it has the shape of the first."""

    def compute(name, _, operands):
        if operands[0].shape != operands[1].shape:
            return operands[0].copy()
        return _right(name, operands)

    return _opened(model, compute)


def serves_the_constant_one_alone(model):
    def compute(name, constants, operands):
        if any(np.any(constant != 1) for constant in constants.values()):
            raise NotImplementedError("the constant must be 1")
        return _right(name, operands)

    return _opened(model, compute)
