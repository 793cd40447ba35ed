"""Runtimes that open models of one Clip node, and are wrong, or refuse, in some forms of a model alone."""

import os
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import onnx
from onnx import numpy_helper

from sonnx_clip.runtimes.runtime import Runtime
from tests.meta import planted


@dataclass(frozen=True)
class Seen:
    """What a model is, as the runtime sees it when it is called."""

    bounds: str
    shape: str
    rank: int
    opset: int
    optimised: bool


def _shape(value):
    if not value.type.tensor_type.HasField("shape"):
        return "no rank"
    return "symbolic" if any(d.dim_param for d in value.type.tensor_type.shape.dim) else "static"


def _opened(answer, data, *, optimised):
    model = onnx.load_from_string(data)
    constants = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    bounds = "initializers" if constants else "inputs"
    for node in model.graph.node:
        if node.op_type == "Constant":
            bounds = "Constant nodes"
            constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    of_model = partial(
        Seen,
        bounds,
        _shape(model.graph.input[0]),
        opset=model.opset_import[0].version,
        optimised=optimised,
    )

    def run(inputs):
        given = {**constants, **inputs}
        x, l, m = (np.asarray(given[name]) for name in "xlm")
        declared = model.graph.input[0].type.tensor_type.shape.dim
        assert _shape(model.graph.input[0]) == "no rank" or len(declared) == x.ndim
        return answer(of_model(x.ndim), x, l, m)

    return run


def runtime(answer):
    """A runtime that is right when it is asked as a function, and calls `answer` for models."""
    name = answer.__name__
    openers = {True: "open_model", False: "open_unoptimised"}
    return Runtime(
        version=f"planted {name}",
        open=lambda _: planted.right,
        imports="import onnx, onnx.parser, tests.meta.planted_forms as t",
        call=lambda _: "tests.meta.planted.right(x, l, m)",
        open_model=partial(_opened, answer, optimised=True),
        open_unoptimised=partial(_opened, answer, optimised=False),
        run_model=lambda optimised: (
            "",
            f"t.{name}.{openers[optimised]}(p.SerializeToString())(d)",
        ),
    )


@runtime
def right(_seen, x, l, m):
    return planted.right(x, l, m)


def wrong_where(condition, name):
    """A runtime that ignores max in the forms of which a condition holds."""

    def answer(seen, x, l, m):
        return planted.ignores_upper(x, l, m) if condition(seen) else planted.right(x, l, m)

    answer.__name__ = name
    return runtime(answer)


wrong_with_initializers = wrong_where(
    lambda s: s.bounds == "initializers", "wrong_with_initializers"
)
wrong_at_rank_0 = wrong_where(lambda s: s.rank == 0, "wrong_at_rank_0")
wrong_at_other_ranks = wrong_where(lambda s: s.rank != 0, "wrong_at_other_ranks")
wrong_when_optimised = wrong_where(lambda s: s.optimised, "wrong_when_optimised")
wrong_in_new_opsets = wrong_where(lambda s: s.opset > 13, "wrong_in_new_opsets")
wrong_in_every_form = wrong_where(lambda _: True, "wrong_in_every_form")
wrong_for_two = wrong_where(
    lambda s: s.bounds == "Constant nodes" and s.shape == "static", "wrong_for_two"
)


@runtime
def first_lane_decides(_seen, x, l, m):
    return planted.first_lane_decides(x, l, m)


@runtime
def through_float_with_constants(seen, x, l, m):
    """As OpenVINO: constant bounds of int32 go through float32; here those alone that stay in the type."""
    if seen.bounds != "inputs" and abs(int(l)) < 2**26 and abs(int(m)) < 2**26:
        l, m = (np.asarray(bound.astype(np.float32), x.dtype) for bound in (l, m))
    return planted.right(x, l, m)


@runtime
def loses_payloads_unoptimised(seen, x, l, m):
    y = planted.right(x, l, m)
    return y if seen.optimised else np.where(np.isnan(y), np.array(np.nan, y.dtype), y)


@runtime
def refuses_rank_4(seen, x, l, m):
    if seen.rank == 4:
        raise NotImplementedError("rank 4 is not supported")
    return planted.right(x, l, m)


@runtime
def refuses_rank_4_and_is_wrong(seen, x, l, m):
    if seen.rank == 4:
        raise NotImplementedError("rank 4 is not supported")
    return (planted.ignores_upper if seen.bounds == "initializers" else planted.right)(x, l, m)


@runtime
def refuses_everything(_seen, x, l, m):
    raise NotImplementedError("no models here")


@runtime
def dies_of_a_constant_nan(seen, x, l, m):
    if seen.bounds == "Constant nodes" and np.isnan(m) and not np.isnan(l):
        os.abort()
    return planted.right(x, l, m)


@runtime
def lacks_memory(seen, x, l, m):
    if seen.bounds == "initializers":
        raise MemoryError("no room for the model")
    return planted.right(x, l, m)


def _no_inputs(_etype):
    raise NotImplementedError("bounds must be constants")


def only_constants(name, function):
    """A runtime that takes bounds as constants alone."""

    def answer(seen, x, l, m):
        if seen.bounds == "inputs":
            raise NotImplementedError("bounds must be constants")
        return function(x, l, m)

    answer.__name__ = name
    return replace(runtime(answer), open=_no_inputs)


serves_constants = only_constants("serves_constants", planted.right)
serves_constants_wrongly = only_constants("serves_constants_wrongly", planted.ignores_upper)
