"""Runs the installed runtimes on the numbers of the findings, for `findings --measure` and its test."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sonnx_clip.explain.measured_record import (
    OTHER_TYPE,
    PATH,
    RUNTIMES,
    Measured,
    MeasuredAnswer,
    record_text,
    runtimes_for,
)
from sonnx_clip.explain.questions import Question, questions
from sonnx_clip.root.dtypes import bits_type, hex_bits, numpy_type
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_whole
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.installed import processor
from sonnx_clip.runtimes.find_runtime import find_runtime

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.runtimes.runtime import Runtime
    from sonnx_clip.spec import Spec

Ask: TypeAlias = Callable[[Question], Any]
"""Puts a question to a runtime: what it answers; it raises what the runtime does."""

_FATAL = 4  # the log repeats what the exception says
_LONGEST = 200  # characters kept of the words of a refusal


def installed() -> dict[str, Runtime]:
    """The runtimes that can be imported here, by name."""
    found = {}
    for name in RUNTIMES:
        try:
            found[name] = find_runtime(name)
        except ImportError:
            continue
    return found


def measure(
    spec: Spec, runtimes: Mapping[str, Runtime], ask: Mapping[str, Ask] | None = None
) -> Iterator[MeasuredAnswer]:
    """The answers of these runtimes to all questions that they can be asked.

    Args:
        spec: the specification.
        runtimes: the runtimes, by name.
        ask: how each is asked, by name; as the record was made, if None.
    """
    for question in questions(spec):
        for name in runtimes_for(question):
            if name in runtimes:
                yield answer_of(question, name, runtimes[name], (ask or _ASK)[name])


def write_record(spec: Spec, runtimes: Mapping[str, Runtime] | None = None) -> Measured:
    """Ask all runtimes and write the record.

    Args:
        spec: the specification.
        runtimes: the runtimes, by name; those that are installed, if None.

    Raises:
        UserError: one is missing, which the record would lack.
    """
    runtimes = installed() if runtimes is None else runtimes
    if missing := [name for name in RUNTIMES if name not in runtimes]:
        todo = 'pip install "sonnx-clip[onnx]"'
        raise UserError(f"not installed: {', '.join(missing)}", todo=todo)
    record = Measured(
        machine=processor().rpartition(" ")[0],  # without the digest of its features
        python=platform.python_version(),
        runtimes={name: runtime.version for name, runtime in runtimes.items()},
        answers=tuple(measure(spec, runtimes)),
    )
    write_whole(repo_file(PATH), record_text(record))
    return record


def answer_of(question: Question, name: str, runtime: Runtime, ask: Ask) -> MeasuredAnswer:
    """The answer of a runtime to a question, put by `ask`; what it raises is a refusal in words."""
    bits: tuple[str, ...] = ()
    words = None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of an overflow or a NaN, which are asked for
            result = ask(question)
        bits, words = _read(question, result)
    except Exception as error:  # noqa: BLE001
        words = _words(error)
    return MeasuredAnswer(
        finding=question.finding,
        type=question.type,
        x=question.x,
        min=question.min,
        max=question.max,
        form=question.form,
        runtime=name,
        version=runtime.version,
        bits=bits,
        words=words,
    )


def _read(question: Question, result: Any) -> tuple[tuple[str, ...], str | None]:
    """The different entries of a result, in order; words instead where it has another type."""
    array = np.asarray(result)
    if array.dtype != numpy_type(question.type):
        return (), f"{OTHER_TYPE}{array.dtype}"
    patterns = np.atleast_1d(array).view(bits_type(question.type)).tolist()
    return tuple(hex_bits(pattern, question.type) for pattern in dict.fromkeys(patterns)), None


def _words(error: Exception) -> str:
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _onnxruntime(question: Question) -> Any:
    import onnxruntime

    from sonnx_clip.explain.measured_models import feeds, model_of

    onnxruntime.set_default_logger_severity(_FATAL)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    text = model_of(question).SerializeToString()
    session = onnxruntime.InferenceSession(text, options, providers=["CPUExecutionProvider"])
    found: Any = session.run(None, feeds(question))
    return found[0]


def _onnx_reference(question: Question) -> Any:
    from onnx.reference import ReferenceEvaluator

    from sonnx_clip.explain.measured_models import feeds, model_of

    found: Any = ReferenceEvaluator(model_of(question)).run(None, feeds(question))
    return found[0]


def _numpy(question: Question) -> Any:
    given = _operands(question)
    return np.clip(given["x"], given.get("min"), given.get("max"))


def _sonnx(question: Question) -> Any:
    import sonnx_clip

    given = _operands(question)
    return sonnx_clip.clip(given["x"], given.get("min"), given.get("max"))


def _operands(question: Question) -> dict[str, Any]:
    from sonnx_clip.explain.measured_models import feeds

    return feeds(question)


_ASK: dict[str, Ask] = {
    "onnxruntime": _onnxruntime,
    "onnx-reference": _onnx_reference,
    "numpy": _numpy,
    "sonnx": _sonnx,
}
