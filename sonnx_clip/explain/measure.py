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
    runtimes = {}
    for name in RUNTIMES:
        with suppress(ImportError):
            runtimes[name] = find_runtime(name, CLIP_SIGNATURE)
    return runtimes


def measure(spec: Spec, runtimes: Mapping[str, Runtime]) -> Iterator[MeasuredAnswer]:
    """The answers of these runtimes to all questions that apply to them."""
    for question in questions(spec):
        for name in question.runtimes:
            if name in runtimes:
                yield answer_of(question, name, runtimes[name])


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
            result = np.asarray(_run(question, runtime))
        if result.dtype != numpy_type(question.type):
            words = f"{OTHER_TYPE}{result.dtype}"
        else:
            patterns = np.atleast_1d(result).view(bits_type(question.type)).tolist()
            distinct = dict.fromkeys(patterns)
            bits = tuple(hex_bits(pattern, question.type) for pattern in distinct)
    except Exception as error:  # noqa: BLE001
        message = " ".join(str(error).split())
        words = f"{type(error).__name__}: {message}"
        if len(words) > _LONGEST:
            words = f"{words[:_LONGEST]}…"
    return MeasuredAnswer(**question.model_dump(), runtime=name, bits=bits, words=words)


def _run(question: Question, runtime: Runtime) -> Any:
    inputs = _inputs(question)
    if question.form == CALL:
        clip = runtime.open(question.type)
        return clip(inputs["x"], inputs.get("min"), inputs.get("max"))
    assert runtime.open_model is not None
    run_model = runtime.open_model(model_of(question).SerializeToString())
    return run_model(inputs)


def _bounds(question: Question) -> dict[str, Any]:
    """The bounds that are given, as numbers by their names: of the type of X or, as attributes, FLOATs."""
    bound_type = "float32" if question.has_attributes else question.type
    bounds = {}
    for name, bits in (("min", question.min), ("max", question.max)):
        if bits is not None:
            bounds[name] = from_bits(int(bits, 16), bound_type)
    return bounds


def _inputs(question: Question) -> dict[str, Any]:
    """X and the bounds that are inputs, by the name of the input."""
    bounds = {} if question.has_attributes else _bounds(question)
    return {"x": from_bits([int(question.x, 16)] * ENTRIES, question.type), **bounds}


def model_of(question: Question) -> ModelProto:
    """The model whose only output is the answer."""
    from onnx import parser

    inputs = _inputs(question)
    attributes = ""
    if question.has_attributes:
        bounds = _bounds(question).items()
        floats = [f"{name}: float = {float(bound)!r}" for name, bound in bounds]
        if floats:
            attributes = f" <{', '.join(floats)}>"

    arguments = [name if name in inputs else '""' for name in ("x", "min", "max")]
    while arguments[-1] == '""':
        arguments.pop()
    clip = f"y = Clip{attributes}({', '.join(arguments)})"

    form, _, _ = question.form.partition("-")
    nodes = _NODES.get(form, clip)
    shapes = dict.fromkeys(inputs, "")
    shapes["x"] = f"[{ENTRIES}]"
    return parser.parse_model(model_text(question.type, question.operator_set, shapes, nodes))
