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
from sonnx_clip.root.dtypes import bit_pattern, bits_type, from_bits, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_whole
from sonnx_clip.root.folders import how_to_install, repo_file
from sonnx_clip.root.installed import processor
from sonnx_clip.runtimes.find_runtime import find_runtime
from sonnx_clip.runtimes.model_forms import model_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx import ModelProto

    from sonnx_clip.root.bit_pattern import BitPattern
    from sonnx_clip.root.signature import Signature
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


def installed_runtimes(spec: Spec) -> dict[str, Runtime]:
    """The runtimes of the questions about an operator that can be imported here, by name."""
    names: dict[str, None] = {}
    for question in questions(spec):
        names |= dict.fromkeys(question.runtimes)
    runtimes = {}
    for name in names:
        with suppress(ImportError):  # a test measures with those that are installed
            runtimes[name] = find_runtime(name, spec.signature)
    return runtimes


def measure(spec: Spec, runtimes: Mapping[str, Runtime]) -> Iterator[MeasuredAnswer]:
    """The answers of these runtimes to all questions that apply to them."""
    for question in questions(spec):
        for name in question.runtimes:
            if name in runtimes:
                yield answer_of(question, name, runtimes[name])


def write_record(specs: Sequence[Spec]) -> Measured:
    """Run all runtimes on some operators, and write the record; UserError if one is not installed."""
    versions: dict[str, str] = {}
    answers: list[MeasuredAnswer] = []
    # The versions of all operators are one record: a runtime is installed once.
    for spec in specs:
        runtimes = installed_runtimes(spec)
        for name, runtime in runtimes.items():
            versions[name] = runtime.version
        answers += measure(spec, runtimes)
    # A record with a part of the runtimes would lose the answers of the others.
    missing = [name for name in RUNTIMES if name not in versions]
    if missing:
        todo = how_to_install("onnx")
        raise UserError(f"not installed: {', '.join(missing)}", todo=todo)
    record = Measured(
        machine=processor().rpartition(" ")[0],  # without the digest of its features
        python=platform.python_version(),
        runtimes={name: versions[name] for name in RUNTIMES},
        answers=tuple(answers),
    )
    write_whole(repo_file(PATH), record_text(record))
    return record


def answer_of(question: Question, name: str, runtime: Runtime) -> MeasuredAnswer:
    """The answer of a runtime to a question; an exception that it raises is a rejection in words."""
    bits: tuple[BitPattern, ...] = ()
    rejection = None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of an overflow or a NaN, which are asked for
            result = np.asarray(_run(question, runtime))
        # NumPy may promote a result to a wider type: its bits would be no answer in the type of X.
        if result.dtype != numpy_type(question.type):
            rejection = f"{OTHER_TYPE}{result.dtype}"
        else:
            # All entries of X are equal. Where those of the result are not, a runtime computes some
            # of them in another way, and each answer is recorded.
            patterns = np.atleast_1d(result).view(bits_type(question.type)).tolist()
            distinct = dict.fromkeys(patterns)
            bits = tuple(bit_pattern(pattern, question.type) for pattern in distinct)
    except Exception as error:  # noqa: BLE001 - whatever a runtime raises is its rejection
        message = " ".join(str(error).split())
        rejection = f"{type(error).__name__}: {message}"
        if len(rejection) > _LONGEST:
            rejection = f"{rejection[:_LONGEST]}…"
    return MeasuredAnswer(**question.model_dump(), runtime=name, bits=bits, words=rejection)


def _run(question: Question, runtime: Runtime) -> Any:
    signature = runtime.signature
    inputs = _inputs(question, signature)
    if question.form == CALL:
        function = runtime.open(question.type)
        # None in the place of an operand that is missing.
        operands = map(inputs.get, signature.keys)
        return function(*operands)
    assert runtime.open_model is not None
    model = model_of(question, signature)
    run_model = runtime.open_model(model.SerializeToString())
    return run_model(inputs)


def _inputs(question: Question, signature: Signature) -> dict[str, Any]:
    """The operands that are inputs, by the names of the inputs: all entries of a tensor are equal."""
    inputs = {}
    for operand in signature.operands:
        bits = question.operands.get(operand.shown)
        is_attribute = operand.role == "scalar" and question.has_attributes
        if bits is not None and not is_attribute:
            entries = bits if operand.role == "scalar" else [bits] * ENTRIES
            inputs[operand.key] = from_bits(entries, question.type)
    return inputs


def _attributes(question: Question, signature: Signature) -> str:
    """The scalars that are attributes, in the text of a node."""
    # As text with all the digits of a double, from which ONNX's parser reads the same FLOAT.
    attributes = []
    for operand in signature.operands:
        bits = question.operands.get(operand.shown)
        if bits is not None and operand.role == "scalar" and question.has_attributes:
            value = float(from_bits(bits, "float32"))
            attributes.append(f"{operand.onnx}: float = {value!r}")
    return f" <{', '.join(attributes)}>" if attributes else ""


def model_of(question: Question, signature: Signature) -> ModelProto:
    """The model whose only output is the answer."""
    from onnx import parser

    inputs = _inputs(question, signature)
    shapes = {}
    for name, value in inputs.items():
        shapes[name] = f"[{ENTRIES}]" if value.shape else ""  # a scalar
    # The operator itself; other forms spell out what ONNX defines it by.
    if question.is_node:
        # An empty name stands for an input that is missing; behind the last one none is needed.
        arguments = [key if key in inputs else '""' for key in signature.keys]
        while arguments[-1] == '""':
            arguments.pop()
        attributes = _attributes(question, signature)
        nodes = f"y = {signature.op_type}{attributes}({', '.join(arguments)})"
    else:
        # The nodes are the same in all operator sets, whose number follows the name of the form.
        form, _, _ = question.form.partition("-")
        nodes = _NODES[form]
    text = model_text(question.type, question.operator_set, shapes, nodes)
    return parser.parse_model(text)
