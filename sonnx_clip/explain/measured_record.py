"""spec/measured/runtimes.json: what runtimes answered, and with which versions (format 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from sonnx_clip.explain.questions import CALL, Question, questions
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.spec import Spec

PATH = "spec/measured/runtimes.json"
MEASURE = "run: sonnx-clip findings --measure"
MODEL_RUNTIMES = ("onnxruntime", "onnx-reference")
CALLED_RUNTIMES = ("numpy", "sonnx")
RUNTIMES = (*MODEL_RUNTIMES, *CALLED_RUNTIMES)
OTHER_TYPE = "answers in "
"""How `words` begin where a runtime answered, and not in the type of X."""


class MeasuredAnswer(Stored):
    """What a runtime did with a question.

    `bits` are the different entries of its answer, each as hex text with all digits; none where it refused
    or answered in another form, which `words` then tells.
    """

    finding: str
    type: str
    x: str
    min: str | None
    max: str | None
    form: str
    runtime: str
    version: str
    bits: tuple[str, ...]
    words: str | None = None

    @property
    def question(self) -> Question:
        """What was asked."""
        return Question(self.finding, self.type, self.x, self.min, self.max, self.form)


class Measured(Stored):
    """The whole record; `machine` is the processor, on which answers may depend."""

    about: Literal["Measured by `sonnx-clip findings --measure`. Do not edit."] = (
        "Measured by `sonnx-clip findings --measure`. Do not edit."
    )
    format: Literal[1] = 1
    machine: str
    python: str
    runtimes: dict[str, str]
    answers: tuple[MeasuredAnswer, ...]


def runtimes_for(question: Question) -> tuple[str, ...]:
    """Who can be asked a question."""
    return CALLED_RUNTIMES if question.form == CALL else MODEL_RUNTIMES


def read_record(spec: Spec) -> Measured:
    """The record, which must answer the questions of the findings as they are now.

    Raises:
        UserError: it is not there, is not of this form, is about other questions, or tells a version of a
            runtime in two ways.
    """
    try:
        text = repo_file(PATH).read_text(encoding="utf-8")
        found = Measured.model_validate_json(text)
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", PATH, MEASURE) from error
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(map(str, first["loc"]))
        raise UserError(f"not a record of answers: {at}: {first['msg']}", PATH, MEASURE) from error
    if stale := next(_stale(spec, found), None):
        raise UserError(stale, PATH, MEASURE)
    return found


def _stale(spec: Spec, found: Measured) -> Iterator[str]:
    """What the record lacks, and what it has that nobody asks."""
    wanted = [(question, runtime) for question in questions(spec) for runtime in runtimes_for(question)]
    there = [(answer.question, answer.runtime) for answer in found.answers]
    for question, runtime in wanted:
        if (question, runtime) not in there:
            yield f"{question.finding}: no answer of {runtime} to {told(question)}"
    for question, runtime in there:
        if (question, runtime) not in wanted:
            yield f"{question.finding}: an answer of {runtime} to {told(question)}, which has no witness"
    if len(there) != len(set(there)):
        yield "an answer is there twice"
    for answer in found.answers:
        if found.runtimes.get(answer.runtime) != answer.version:
            yield f"{answer.finding}: {answer.version} is not the version of {answer.runtime} at the top"
        if bool(answer.bits) == bool(answer.words):
            yield f"{answer.finding}: {answer.runtime} neither answered nor refused, or did both"


def told(question: Question) -> str:
    """A question in short: ``clip-13 float32 X=0x7fc00000 min=0x3f800000``."""
    given = (("X", question.x), ("min", question.min), ("max", question.max))
    numbers = " ".join(f"{name}={bits}" for name, bits in given if bits is not None)
    return f"{question.form} {question.type} {numbers}"


def differences(recorded: Measured, measured: Iterable[MeasuredAnswer]) -> list[str]:
    """Where runtimes answer otherwise than the record says; one line each."""
    there = {(answer.question, answer.runtime): answer for answer in recorded.answers}
    found = []
    for now in measured:
        then = there.get((now.question, now.runtime))
        at = f"{now.finding}: {now.runtime}, {told(now.question)}"
        if then is None:
            found.append(f"{at}: not in the record")
        elif (now.bits, now.words) != (then.bits, then.words):
            found.append(f"{at}: {outcome(now)} ({now.version}), recorded {outcome(then)} ({then.version})")
    return found


def outcome(answer: MeasuredAnswer) -> str:
    """The bits of an answer, or the words of a refusal."""
    return " or ".join(answer.bits) if answer.bits else f"refused ({answer.words})"


def record_text(record: Measured) -> str:
    """The record as the text of its file, an answer a line, so that a change is a line too."""
    head = record.model_copy(update={"answers": ()}).model_dump_json(indent=1)
    lines = ",\n".join(f"  {answer.model_dump_json()}" for answer in record.answers)
    opening, closing = head.rsplit("[]", 1)
    return f"{opening}[\n{lines}\n ]{closing}\n"
