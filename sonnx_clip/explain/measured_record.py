"""spec/measured/runtimes.json: the answers of runtimes to the numbers of the findings (format 2)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from sonnx_clip.language.show import show_bits
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.stored import read_record as read_stored
from sonnx_clip.runtimes.runtime import OF_MODELS
from sonnx_clip.spec.findings import Stands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import MeasuredWitness

PATH = "spec/measured/runtimes.json"
MEASURE = "run: sonnx-clip findings --measure"
CALLED_RUNTIMES = ("numpy", "sonnx")
RUNTIMES = (*OF_MODELS, *CALLED_RUNTIMES)
OTHER_TYPE = "answers in "
"""Prefix of the words on a runtime that answered in another type than that of X."""
CALL = "call"
"""The form of a question to a function on arrays."""
_FIRST_WITH_INPUTS = (
    11  # the first operator set whose bounds are inputs; before, they are FLOAT attributes
)


class Question(Stored):
    """Numbers of a witness, as bits in hex text, and the form in which a runtime gets them.

    `min` and `max` are of the type of X or, as attributes, a FLOAT; None if not given. The form is
    ``clip-13``: a node Clip of operator set 13; ``body-13``: its function body as nodes; ``equation-13``: its
    Min(max, Max(input, min)) as nodes; ``call``: a call of a function on arrays.
    """

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
        return self.form.startswith("clip-") and self.operator_set < _FIRST_WITH_INPUTS

    @property
    def runtimes(self) -> tuple[str, ...]:
        """The runtimes that can answer it."""
        return CALLED_RUNTIMES if self.form == CALL else OF_MODELS

    def __str__(self) -> str:
        """``clip-13 float32 X=0x7fc00000 min=0x3f800000``."""
        parts = [self.form, self.type, f"X={self.x}"]
        if self.min is not None:
            parts.append(f"min={self.min}")
        if self.max is not None:
            parts.append(f"max={self.max}")
        return " ".join(parts)


class MeasuredAnswer(Question):
    """The answer of a runtime to a question.

    `bits` are the distinct entries of its result; none where it rejected the call or answered in another
    type, as `words` then say.
    """

    runtime: str
    bits: tuple[str, ...]
    words: str | None = None


class Measured(Stored):
    """The whole record: `runtimes` with their versions; `machine` is the processor, which may matter."""

    about: str = "Measured by `sonnx-clip findings --measure`. Do not edit."
    format: Literal[2] = 2
    machine: str
    python: str
    runtimes: dict[str, str]
    answers: tuple[MeasuredAnswer, ...]


def questions(spec: Spec) -> list[Question]:
    """The questions of all findings, each once, in their order."""
    distinct: dict[str, Question] = {}
    for entry in spec.findings:
        for witness in entry.witnesses:
            if not isinstance(witness, Stands):
                distinct |= {str(question): question for question in questions_of(spec, witness)}
    return list(distinct.values())


def questions_of(spec: Spec, witness: MeasuredWitness) -> list[Question]:
    """The questions with the numbers of a witness: to models, and to functions where bounds are inputs."""
    questions = [_question(spec, witness, form) for form in witness.ask]
    if any(not question.has_attributes for question in questions):
        questions.append(_question(spec, witness, CALL))
    return questions


def _question(spec: Spec, witness: MeasuredWitness, form: str) -> Question:
    question = Question(type=witness.type, x="", min=None, max=None, form=form)
    etype = spec.element_type(witness.type)
    bound_type = spec.element_type("float32") if question.has_attributes else etype
    texts = witness.texts()
    bits = {}
    for field, name in zip(("x", "min", "max"), spec.signature.ids, strict=True):
        if name in texts:
            operand_type = etype if field == "x" else bound_type
            bits[field] = show_bits(encode(texts[name], operand_type), operand_type)
    return question.model_copy(update=bits)


def read_record(spec: Spec) -> Measured:
    """The record; UserError if it is missing, or does not answer exactly the questions of the findings.

    Where no finding asks a runtime, there is nothing to record.
    """
    if not questions(spec):
        return Measured(machine="", python="", runtimes={}, answers=())
    record = read_stored(repo_file(PATH), Measured, MEASURE)
    for stale in _stale(spec, record):
        raise UserError(stale, PATH, MEASURE)
    return record


def _stale(spec: Spec, record: Measured) -> Iterator[str]:
    # Counters, not sets: an answer that occurs twice is as wrong as one that is missing.
    expected: Counter[tuple[str, str]] = Counter()
    for question in questions(spec):
        expected.update((runtime, str(question)) for runtime in question.runtimes)
    recorded = Counter((answer.runtime, str(answer)) for answer in record.answers)
    for runtime, text in expected - recorded:
        yield f"no answer of {runtime} to {text}"
    for runtime, text in recorded - expected:
        yield f"an answer of {runtime} to {text}, which occurs twice or has no witness"
    for answer in record.answers:
        if bool(answer.bits) == bool(answer.words):
            yield f"{answer.runtime} must answer or refuse {answer}, and not both"


def record_text(record: Measured) -> str:
    """The record as the text of its file, an answer a line, so that a change is a line too."""
    head = record.model_copy(update={"answers": ()}).model_dump_json(indent=1)
    lines = ",\n".join(f"  {answer.model_dump_json()}" for answer in record.answers)
    opening, closing = head.rsplit("[]", 1)
    return f"{opening}[\n{lines}\n ]{closing}\n"
