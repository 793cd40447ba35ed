"""Runs the installed runtimes on the numbers of the findings, for `findings --measure` and its test."""

from __future__ import annotations

import platform
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx_clip.explain.measured_record import (
    CALL,
    OTHER_TYPE,
    PATH,
    RUNTIMES,
    Measured,
    MeasuredAnswer,
    Question,
    questions,
    record_text,
)
from sonnx_clip.root.dtypes import bits_type, from_bits, hex_bits, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_whole
from sonnx_clip.root.folders import how_to_install, repo_file
from sonnx_clip.root.installed import processor
from sonnx_clip.root.signature import CLIP_SIGNATURE
from sonnx_clip.runtimes.find_runtime import find_runtime
from sonnx_clip.runtimes.model_forms import model_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx import ModelProto

    from sonnx_clip.runtimes.runtime import Runtime
    from sonnx_clip.spec import Spec

ENTRIES = 33
"""Entries of X, all equal: runtimes may treat the last ones apart from those that fill a vector."""
_LONGEST = 200  # characters kept of the words of a rejection
_NODES = {
    # the function body of Clip-13 with both bounds, as in spec/sources/onnx-clip-body.txt
    "body": """below = Less(x, min) tmp = Where(below, min, x)
        above = Less(max, tmp) y = Where(above, max, tmp)""",
    "equation": "greater = Max(x, min) y = Min(max, greater)",  # of the page of Clip-13
}


def installed() -> dict[str, Runtime]:
    """The runtimes that can be imported here, by name."""
    found = {}
    for name in RUNTIMES:
        with suppress(ImportError):
            found[name] = find_runtime(name, CLIP_SIGNATURE)
    return found


def measure(spec: Spec, runtimes: Mapping[str, Runtime]) -> Iterator[MeasuredAnswer]:
    """The answers of these runtimes to all questions that apply to them."""
    for question in questions(spec):
        there = (name for name in question.runtimes if name in runtimes)
        yield from (answer_of(question, name, runtimes[name]) for name in there)


def write_record(spec: Spec) -> Measured:
    """Run all runtimes, and write the record; UserError if one is not installed."""
    runtimes = installed()
    if missing := [name for name in RUNTIMES if name not in runtimes]:
        todo = how_to_install("onnx")
        raise UserError(f"not installed: {', '.join(missing)}", todo=todo)
    record = Measured(
        machine=processor().rpartition(" ")[0],  # without the digest of its features
        python=platform.python_version(),
        runtimes={name: runtime.version for name, runtime in runtimes.items()},
        answers=tuple(measure(spec, runtimes)),
    )
    write_whole(repo_file(PATH), record_text(record))
    return record


def answer_of(question: Question, name: str, runtime: Runtime) -> MeasuredAnswer:
    """The answer of a runtime to a question; an exception that it raises is a rejection in words."""
    bits: tuple[str, ...] = ()
    words = None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of an overflow or a NaN, which are asked for
            found = np.asarray(_run(question, runtime))
        if found.dtype != numpy_type(question.type):
            words = f"{OTHER_TYPE}{found.dtype}"
        else:
            patterns = np.atleast_1d(found).view(bits_type(question.type)).tolist()
            bits = tuple(hex_bits(pattern, question.type) for pattern in dict.fromkeys(patterns))
    except Exception as error:  # noqa: BLE001
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        words = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return MeasuredAnswer(**question.model_dump(), runtime=name, bits=bits, words=words)


def _run(question: Question, runtime: Runtime) -> Any:
    inputs = _inputs(question)
    if question.form == CALL:
        return runtime.open(question.type)(inputs["x"], inputs.get("min"), inputs.get("max"))
    assert runtime.open_model is not None
    return runtime.open_model(model_of(question).SerializeToString())(inputs)


def _bounds(question: Question) -> dict[str, Any]:
    """The bounds that are given, as numbers by their names: of the type of X or, as attributes, FLOATs."""
    of = "float32" if question.has_attributes else question.type
    given = {"min": question.min, "max": question.max}
    return {name: from_bits(int(bits, 16), of) for name, bits in given.items() if bits is not None}


def _inputs(question: Question) -> dict[str, Any]:
    """X and the bounds that are inputs, by the name of the input."""
    bounds = {} if question.has_attributes else _bounds(question)
    return {"x": from_bits([int(question.x, 16)] * ENTRIES, question.type), **bounds}


def model_of(question: Question) -> ModelProto:
    """The model whose only output is the answer."""
    from onnx import parser

    inputs = list(_inputs(question))
    arguments = [name if name in inputs else '""' for name in ("x", "min", "max")]
    while arguments[-1] == '""':
        arguments.pop()
    bounds = _bounds(question).items() if question.has_attributes else ()
    floats = [f"{name}: float = {float(bound)!r}" for name, bound in bounds]
    attributes = f" <{', '.join(floats)}>" if floats else ""
    clip = f"y = Clip{attributes}({', '.join(arguments)})"
    nodes = _NODES.get(question.form.partition("-")[0], clip)
    shapes = {name: f"[{ENTRIES}]" if name == "x" else "" for name in inputs}
    return parser.parse_model(model_text(question.type, question.operator_set, shapes, nodes))
