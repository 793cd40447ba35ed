"""Optimisers of models for `check --optimiser`: right ones, and ones with a mistake that was seen in use.

Each takes an onnx.ModelProto and returns one.
"""

import os
import time

import numpy as np
import onnx
from onnx import helper, numpy_helper

__version__ = "1"


def _constants(model):
    return {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}


def _readers(model, name):
    return [node for node in model.graph.node if name in node.input]


def _pairs(model, first, second):
    """Every node of one operator whose result a node of another alone reads, with that."""
    for node in list(model.graph.node):
        readers = _readers(model, node.output[0])
        if node.op_type == first and len(readers) == 1 and readers[0].op_type == second:
            yield node, readers[0]


def _bounds(model, node):
    known = _constants(model)
    return [known.get(name) for name in node.input[1:3]]


def _set_bounds(model, node, low, high):
    for place, value in ((1, low), (2, high)):
        name = f"{node.output[0]}_bound{place}"
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        node.input[place] = name


def _join(model, before, after):
    """Let `after` read what `before` reads, and remove that."""
    after.input[0] = before.input[0]
    model.graph.node.remove(before)


def _without_upper_bounds(model, names):
    """Drop upper bounds of these names, unless a Clip is the only node that computes something."""
    is_alone = sum(node.op_type != "Constant" for node in model.graph.node) == 1
    for node in model.graph.node:
        if (
            node.op_type == "Clip"
            and not is_alone
            and len(node.input) > 2
            and node.input[2] in names
        ):
            del node.input[2]
    return model


def nothing(model):
    return model


def names_nodes(model):
    for place, node in enumerate(model.graph.node):
        node.name = f"node{place}"
    return model


def relu_into_clip(model):
    """Right for every number: a Relu is dropped only if min is at least zero."""
    for relu, clip in _pairs(model, "Relu", "Clip"):
        low, high = _bounds(model, clip)
        if low is not None and high is not None and low >= 0 and high >= low:
            _join(model, relu, clip)
    return model


def removes_identity(model):
    """Right: no node reads an Identity."""
    for node in list(model.graph.node):
        if node.op_type == "Identity" and node.output[0] not in [
            o.name for o in model.graph.output
        ]:
            for reader in _readers(model, node.output[0]):
                reader.input[0] = node.input[0]
            model.graph.node.remove(node)
    return model


def drops_relu(model):
    for relu, clip in _pairs(model, "Relu", "Clip"):
        _join(model, relu, clip)
    return model


def bypasses_relu(model):
    """Lets Clip read the input of a Relu, which other nodes read, too."""
    for node in model.graph.node:
        for reader in _readers(model, node.output[0]):
            if node.op_type == "Relu" and reader.op_type == "Clip":
                reader.input[0] = node.input[0]
    return model


def drops_add_of_zero(model):
    """x + 0 as x, which is wrong for -0."""
    known = _constants(model)
    for add, clip in _pairs(model, "Add", "Clip"):
        if add.input[1] in known and not known[add.input[1]].any():
            _join(model, add, clip)
    return model


def takes_inputs_for_absent(model):
    """Drops an upper bound that is an input of the graph."""
    return _without_upper_bounds(model, [one.name for one in model.graph.input])


def drops_bounds_of_constant_nodes(model):
    """Looks for upper bounds among the initializers and inputs alone."""
    constants = [node for node in model.graph.node if node.op_type == "Constant"]
    return _without_upper_bounds(model, [node.output[0] for node in constants])


def drops_clip_before_cast(model):
    for clip, cast in _pairs(model, "Clip", "Cast"):
        _join(model, clip, cast)
    return model


def divides_bounds_by_factor(model):
    """clip(k x, a, b) as k clip(x, a / k, b / k), which a negative k reverses."""
    known = _constants(model)
    for mul, clip in _pairs(model, "Mul", "Clip"):
        low, high = _bounds(model, clip)
        if (
            low is None
            or high is None
            or not all(b == 0 or 1e-30 < abs(b) < 1e30 for b in (low, high))
        ):
            continue
        factor = known[mul.input[1]]
        _set_bounds(model, clip, low / factor, high / factor)
        clip.input[0], mul.input[0] = mul.input[0], clip.output[0]
        mul.output[0], clip.output[0] = clip.output[0], "inner"
        mul.input[0] = "inner"
        model.graph.node.remove(mul)
        model.graph.node.append(mul)
    return model


def drops_relu_after(model):
    for clip, relu in _pairs(model, "Clip", "Relu"):
        output = relu.output[0]
        model.graph.node.remove(relu)
        clip.output[0] = output
    return model


def merges_clips(model):
    """max of the lower bounds and min of the upper ones: wrong for disjoint intervals."""
    for first, second in _pairs(model, "Clip", "Clip"):
        (a, b), (c, d) = _bounds(model, first), _bounds(model, second)
        if None not in (a, b, c, d):
            _set_bounds(model, second, np.maximum(a, c), np.minimum(b, d))
            _join(model, first, second)
    return model


def drops_second_clip(model):
    for first, second in _pairs(model, "Clip", "Clip"):
        output = second.output[0]
        model.graph.node.remove(second)
        first.output[0] = output
    return model


def merges_zeros(model):
    """Constants that are equal become the first of them."""
    first = None
    for one in model.graph.initializer:
        value = numpy_helper.to_array(one)
        if value.dtype.kind == "f" and value.size == 1 and value == 0:
            first = value if first is None else first
            one.CopyFrom(numpy_helper.from_array(first, one.name))
    return model


def drops_casts(model):
    for first, clip in _pairs(model, "Cast", "Clip"):
        if clip.output[0] == "t1" and first.attribute[0].i == onnx.TensorProto.FLOAT16:
            known = _constants(model)
            if not set(clip.input[1:]) <= set(known):
                continue
            for name in clip.input[1:]:
                for one in model.graph.initializer:
                    if one.name == name:
                        one.CopyFrom(numpy_helper.from_array(known[name].astype(np.float32), name))
            _join(model, first, clip)
    return model


def loses_attributes(model):
    for node in model.graph.node:
        if node.op_type == "Clip" and len(model.graph.node) > 1:
            del node.attribute[:]
    return model


def loses_max_behind_matmul(model):
    for _, clip in _pairs(model, "MatMul", "Clip"):
        if len(clip.input) == 3:
            del clip.input[2]
    return model


def swaps_max_and_min(model):
    for high, low in _pairs(model, "Max", "Min"):
        high.input[1], low.input[1] = low.input[1], high.input[1]
        high.op_type, low.op_type = "Min", "Max"
    return model


def drops_clip_before_quantise(model):
    for clip, quantise in _pairs(model, "Clip", "QuantizeLinear"):
        _join(model, clip, quantise)
    return model


def moves_neg(model):
    """neg(clip(X, A, B)) as clip(neg(X), A, B): the bounds stay as they are."""
    for clip, neg in _pairs(model, "Clip", "Neg"):
        first = helper.make_node("Neg", [clip.input[0]], ["negated"])
        clip.input[0], clip.output[0] = "negated", neg.output[0]
        place = list(model.graph.node).index(clip)
        model.graph.node.remove(neg)
        model.graph.node.insert(place, first)
    return model


def where_into_max(model):
    """where(X < A, A, X) as max(X, A), which differs for -0 and 0, and where A is a NaN."""
    for less, where in _pairs(model, "Less", "Where"):
        if less.input[0] == where.input[2]:
            where.op_type = "Max"
            where.input[:] = [where.input[2], where.input[1]]
            model.graph.node.remove(less)
    return model


# --- Hostile ones -------------------------------------------------------------------------------------------


def invalid(model):
    model.graph.node[0].input[0] = "nowhere"
    return model


def renames_output(model):
    name = model.graph.output[0].name
    model.graph.output[0].name = "other"
    model.graph.node.append(helper.make_node("Identity", [name], ["other"]))
    return model


def garbage(_):
    return b"garbage"


def none(_):
    return None


def ends(_):
    os._exit(3)


def raises(_):
    raise ValueError("pattern not understood")


def hangs(_):
    time.sleep(3600)


def prints_much(model):
    print("x" * (1 << 22))
    return model


def prints_without_end(_):
    while True:
        os.write(1, bytes(1 << 20))


def ends_for_relu(model):
    if any(node.op_type == "Relu" for node in model.graph.node):
        os._exit(3)
    return model


def huge(model):
    weights = numpy_helper.from_array(np.zeros(1 << 25, np.float32), "unused")
    model.graph.initializer.append(weights)
    return model


# --- A runtime of models whose fused kernel is wrong: `check --onnx` ----------------------------------------


def open_fused(model):
    """The reference evaluator, with a fused MatMul and Clip that replaces NaN by its lower bound."""
    from onnx.reference import ReferenceEvaluator

    proto = onnx.load_from_string(model)
    evaluator = ReferenceEvaluator(proto)
    is_fused = [node.op_type for node in proto.graph.node] == ["MatMul", "Clip"]
    names = [one.name for one in proto.graph.input]

    def run(*arrays):
        with np.errstate(all="ignore"):
            y = evaluator.run(None, dict(zip(names, arrays, strict=True)))[0]
        if is_fused:
            low = _constants(proto).get("a")
            y = np.where(np.isnan(y), low, y).astype(y.dtype)
        return y

    return run


def compares_behind_conv(model):
    """A fused kernel that compares: NaN fails both comparisons, and gives the lower bound."""
    for _, clip in _pairs(model, "Conv", "Clip"):
        x, low, high = clip.input[:3]
        place = list(model.graph.node).index(clip)
        nodes = [
            helper.make_node("Greater", [x, low], ["is_above"]),
            helper.make_node("Less", [x, high], ["is_below"]),
            helper.make_node("Where", ["is_below", x, high], ["cut"]),
            helper.make_node("Where", ["is_above", "cut", low], list(clip.output)),
        ]
        model.graph.node.remove(clip)
        for node in reversed(nodes):
            model.graph.node.insert(place, node)
    return model


def loses_max_behind_conv(model):
    """A fused kernel of Relu in the place of one of Relu6."""
    for _, clip in _pairs(model, "Conv", "Clip"):
        del clip.input[2]
    return model


def _scaled(model, units):
    """Every result is that many units of float16 too large, or a few more."""
    factor = np.float16(1 + units * np.finfo(np.float16).eps)
    model.graph.initializer.append(numpy_helper.from_array(np.asarray(factor), "factor"))
    last = model.graph.node[-1]
    (result,) = last.output
    last.output[0] = "not_scaled"
    model.graph.node.append(helper.make_node("Mul", ["not_scaled", "factor"], [result]))
    return model


def rounds_a_little(model):
    return _scaled(model, 2)


def rounds_too_much(model):
    return _scaled(model, 9)


def reads_absent_min_as_zero(model):
    """Drops a Relu behind a Clip without min, as if that were at least zero."""
    for clip, relu in _pairs(model, "Clip", "Relu"):
        if len(clip.input) > 2 and not clip.input[1]:
            _join_behind(model, clip, relu)
    return model


def _join_behind(model, before, after):
    """Let `before` give what `after` gives, and remove that."""
    before.output[0] = after.output[0]
    model.graph.node.remove(after)


def takes_then_branch(model):
    """Replaces an If by its first branch, whatever the condition is."""
    for place, node in enumerate(model.graph.node):
        if node.op_type == "If":
            branch = next(a.g for a in node.attribute if a.name == "then_branch")
            nodes = list(branch.node)
            nodes[-1].output[0] = node.output[0]
            del model.graph.node[place]
            for one in reversed(nodes):
                model.graph.node.insert(place, one)
    return model


def moves_clip_behind_pad(model):
    """The added zeros are clipped, too."""
    for clip, pad in _pairs(model, "Clip", "Pad"):
        _swap(model, clip, pad)
    return model


def clips_first_input_of_concat(model):
    for concat, clip in _pairs(model, "Concat", "Clip"):
        _swap(model, concat, clip)
    return model


def _swap(model, first, second):
    """Let the second of two nodes read what the first reads, and the first its result."""
    x, result = first.input[0], second.output[0]
    second.input[0] = x
    second.output[0] = first.input[0] = f"{result}_early"
    first.output[0] = result
    place = list(model.graph.node).index(first)
    model.graph.node.remove(second)
    model.graph.node.insert(place, second)


def takes_first_entry_of_vector(model):
    """Max with a vector and Clip as Clip, by the first entry of the vector."""
    known = _constants(model)
    for maximum, clip in _pairs(model, "Max", "Clip"):
        low, high = _bounds(model, clip)
        vector = known.get(maximum.input[1])
        if low is None or high is None or vector is None or vector.size == 1:
            continue
        _set_bounds(model, clip, np.maximum(low, vector.reshape(-1)[0]), high)
        _join(model, maximum, clip)
    return model


def turns_loop_once(model):
    for node in model.graph.node:
        if node.op_type == "Loop":
            for constant in model.graph.initializer:
                if constant.name == node.input[0]:
                    constant.CopyFrom(numpy_helper.from_array(np.array(1, np.int64), constant.name))
    return model


def takes_computed_for_absent(model):
    """Drops an upper bound that is the result of a node."""
    computed = [node.output[0] for node in model.graph.node if node.op_type == "Min"]
    return _without_upper_bounds(model, computed)


def opens_nothing(_model):
    """A runtime that refuses every model."""
    raise NotImplementedError("no model is supported")
