"""Runtimes of ONNX models, by the oracle of the dialect, with one mistake each; and one without."""

import os
import time

import numpy as np
import onnx

from sonnx_clip.oracle.dialect import dialect, named
from sonnx_clip.runtimes.opsets import clip_version

__version__ = "planted"


def runtime(change):
    """A runtime that calls `change` with the oracle, X, min and max (None: missing)."""

    def open_model(model):
        graph = (read := onnx.load_from_string(model)).graph
        oracle = dialect("onnx", clip_version(read.opset_import[0].version))
        attributes = {a.name: np.float32(a.f) for a in graph.node[0].attribute}

        def run(*inputs):
            given = {one.name: value for one, value in zip(graph.input, inputs, strict=True)}
            bounds = dict(zip(("min", "max"), graph.node[0].input[1:], strict=False))
            bounds = {
                **attributes,
                **{name: given[called] for name, called in bounds.items() if called},
            }
            return change(oracle, inputs[0], bounds.get("min"), bounds.get("max"))

        return run

    return open_model


def kind_of(x):
    """The chapter of the SONNX review copy that takes X."""
    return "float" if x.dtype.kind == "f" else "int"


def bits(a):
    return a.view(f"u{a.dtype.itemsize}")


right = runtime(lambda oracle, x, low, high: oracle(x, low, high))
review_copy = runtime(lambda oracle, x, low, high: named(f"sonnx-{kind_of(x)}")(x, low, high))
swapped = runtime(lambda oracle, x, low, high: oracle(x, high, low))
ignores_max = runtime(lambda oracle, x, low, high: oracle(x, low, None))


@runtime
def drops_a_default(oracle, x, low, high):
    kind = (
        np.float32 if oracle.row["bounds"] == "attributes" else lambda end: np.array(end, x.dtype)
    )
    ends = (kind(end) for end in (-np.inf, np.inf))
    low, high = (
        end if bound is None else bound for bound, end in zip((low, high), ends, strict=True)
    )
    return oracle(x, low, high)


def zero_if_missing(x, bound):
    return np.zeros((), x.dtype) if bound is None else bound


@runtime
def reads_absent_min_as_zero(oracle, x, low, high):
    return oracle(x, zero_if_missing(x, low), high)


@runtime
def reads_absent_max_as_zero(oracle, x, low, high):
    return oracle(x, low, zero_if_missing(x, high))


@runtime
def reads_absent_bounds_as_zero(oracle, x, low, high):
    return oracle(x, zero_if_missing(x, low), zero_if_missing(x, high))


@runtime
def raises_for_zero_without_max(oracle, x, low, high):
    if high is None and low is not None and low == 0:
        raise ValueError("min 0 needs a max")
    return oracle(x, low, high)


@runtime
def answers_no_operand(oracle, x, low, high):
    y = bits(oracle(x, low, high)).copy()
    y[x == 10] ^= 1
    return y.view(x.dtype)


@runtime
def other_payload(oracle, x, low, high):
    y = oracle(x, low, high)
    return np.where(y != y, np.array(np.nan, y.dtype), y)


@runtime
def max_then_min(oracle, x, low, high):
    lower, upper = oracle.bounds(x.dtype, low, high)
    y = np.where(upper < x, upper, x)
    return np.where(y < lower, lower, y)


@runtime
def refuses_inverted(oracle, x, low, high):
    lower, upper = oracle.bounds(x.dtype, low, high)
    if not lower <= upper:
        raise ValueError("min is greater than max")
    return oracle(x, low, high)


@runtime
def refuses_zero(oracle, x, low, high):
    if low is not None and low == 0:
        raise ValueError("no zero, please")
    return oracle(x, low, high)


@runtime
def wider_type(oracle, x, low, high):
    y = oracle(x, low, high)
    return y.astype(np.float64) if low is not None else y


@runtime
def dies_without_max(oracle, x, low, high):
    if high is None:
        os.abort()
    return oracle(x, low, high)


@runtime
def hangs_without_max(oracle, x, low, high):
    while high is None:
        time.sleep(0.01)
    return oracle(x, low, high)


def refuses_everything(model):
    raise NotImplementedError("no Clip here")
