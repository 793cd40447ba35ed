"""spec/measured/runtimes.json: what runtimes answered to the numbers of the findings (format 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from sonnx_clip.language.show import show_bits
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.stored import Stored
from sonnx_clip.spec.findings import Stands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import MeasuredWitness

PATH = "spec/measured/runtimes.json"
MEASURE = "run: sonnx-clip findings --measure"
MODEL_RUNTIMES = ("onnxruntime", "onnx-reference")
CALLED_RUNTIMES = ("numpy", "sonnx")
RUNTIMES = (*MODEL_RUNTIMES, *CALLED_RUNTIMES)
OTHER_TYPE = "answers in "
"""Prefix of the words on a runtime that answered in another type than that of X."""
CALL = "call"
"""The form of a question to a function on arrays."""
FIRST_WITH_INPUTS = 11
"""The first operator set whose bounds are inputs; before, they are attributes of type FLOAT."""


class Question(Stored):
    """Numbers of a witness, as bits in hex text, and the form in which a runtime gets them.

    `min` and `max` are of the type of X or, as attributes, a FLOAT; None if not given. The form is
    ``clip-13``: a node Clip of operator set 13; ``body-13``: its function body as nodes; ``equation-13``: its
    Min(max, Max(input, min)) as nodes; ``call``: a call of a function on arrays.
    """

    finding: str
    type: str
    x: str
    min: str | None
    max: str | None
    form: str

    @property
    def operator_set(self) -> int:
        """The operator set of the model; ValueError for a call."""
        return int(self.form.rpartition("-")[2])

    @property
    def has_attributes(self) -> bool:
        """Whether the bounds are attributes."""
        return self.form.startswith("clip-") and self.operator_set < FIRST_WITH_INPUTS

    def __str__(self) -> str:
        """``clip-13 float32 X=0x7fc00000 min=0x3f800000``."""
        given = (("X", self.x), ("min", self.min), ("max", self.max))
        numbers = " ".join(f"{name}={bits}" for name, bits in given if bits is not None)
        return f"{self.form} {self.type} {numbers}"


class MeasuredAnswer(Question):
    """What a runtime did with a question.

    `bits` are the distinct entries of its answer; none where it rejected the call or answered in another
    type, which `words` then say.
    """

    runtime: str
    version: str
    bits: tuple[str, ...]
    words: str | None = None

    @property
    def question(self) -> Question:
        """The question."""
        return Question(**self.model_dump(include=set(Question.model_fields)))

    @property
    def outcome(self) -> str:
        """The bits of the answer, or the words of the rejection."""
        return " or ".join(self.bits) if self.bits else f"refused ({self.words})"


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


def questions(spec: Spec) -> list[Question]:
    """The questions of all findings, each once, in their order."""
    every = (
        question
        for entry in spec.findings
        for witness in entry.witnesses
        if not isinstance(witness, Stands)
        for question in questions_of(spec, entry.id, witness)
    )
    return list({str((q.finding, q)): q for q in every}.values())


def questions_of(spec: Spec, finding: str, witness: MeasuredWitness) -> list[Question]:
    """The questions with the numbers of a witness: to models, and to functions where bounds are inputs."""
    of_models = [_question(spec, finding, witness, form) for form in witness.ask]
    by_inputs = any(not question.has_attributes for question in of_models)
    return [*of_models, _question(spec, finding, witness, CALL)] if by_inputs else of_models


def _question(spec: Spec, finding: str, witness: MeasuredWitness, form: str) -> Question:
    found = Question(finding=finding, type=witness.type, x="", min=None, max=None, form=form)
    etype, texts = spec.element_type(witness.type), witness.texts()
    of_bounds = spec.element_type("float32") if found.has_attributes else etype
    types = (etype, of_bounds, of_bounds)
    bits = {
        field: show_bits(encode(texts[name], of), of)
        for field, name, of in zip(("x", "min", "max"), spec.head.operands, types, strict=True)
        if name in texts
    }
    return found.model_copy(update=bits)


def runtimes_for(question: Question) -> tuple[str, ...]:
    """The runtimes that can answer a question."""
    return CALLED_RUNTIMES if question.form == CALL else MODEL_RUNTIMES


def read_record(spec: Spec) -> Measured:
    """The record, which must answer the questions of the findings as they are now.

    Raises:
        UserError: it is missing, has another form, or does not fit the findings or itself.
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
    """What the record lacks, what it has beyond the findings, and where it contradicts itself."""
    wanted = [(str(q), q.finding, name) for q in questions(spec) for name in runtimes_for(q)]
    there = [(str(a), a.finding, a.runtime) for a in found.answers]
    for question, finding, runtime in wanted:
        if (question, finding, runtime) not in there:
            yield f"{finding}: no answer of {runtime} to {question}"
    for question, finding, runtime in there:
        if (question, finding, runtime) not in wanted:
            yield f"{finding}: an answer of {runtime} to {question}, which has no witness"
    if len(there) != len(set(there)):
        yield "an answer is there twice"
    for answer in found.answers:
        if found.runtimes.get(answer.runtime) != answer.version:
            yield f"{answer.finding}: {answer.version} is not the version of {answer.runtime} at the top"
        if bool(answer.bits) == bool(answer.words):
            yield f"{answer.finding}: {answer.runtime} neither answered nor refused, or did both"


def differences(recorded: Measured, measured: Iterable[MeasuredAnswer]) -> list[str]:
    """Where runtimes answer otherwise than the record says; one line each."""
    there = {(str(answer), answer.finding, answer.runtime): answer for answer in recorded.answers}
    found = []
    for now in measured:
        then = there.get((str(now), now.finding, now.runtime))
        at = f"{now.finding}: {now.runtime}, {now}"
        if then is None:
            found.append(f"{at}: not in the record")
        elif (now.bits, now.words) != (then.bits, then.words):
            found.append(f"{at}: {now.outcome} ({now.version}), recorded {then.outcome} ({then.version})")
    return found


def record_text(record: Measured) -> str:
    """The record as the text of its file, an answer a line, so that a change is a line too."""
    head = record.model_copy(update={"answers": ()}).model_dump_json(indent=1)
    lines = ",\n".join(f"  {answer.model_dump_json()}" for answer in record.answers)
    opening, closing = head.rsplit("[]", 1)
    return f"{opening}[\n{lines}\n ]{closing}\n"
