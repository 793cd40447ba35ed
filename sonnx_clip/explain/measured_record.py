"""spec/measured/runtimes.json: the answers of runtimes to the numbers of the findings (format 3).

One record for all operators of spec/.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from sonnx_clip.language.values import encode
from sonnx_clip.root.bit_pattern import BitPattern
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.stored import read_record as read_stored
from sonnx_clip.runtimes.runtime import OF_MODELS
from sonnx_clip.spec.findings import Stands, asked_forms

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
_FIRST_WITH_INPUTS = 11
"""The first operator set in which the bounds of Clip are inputs; before, they are FLOAT attributes."""


class Question(Stored):
    """Numbers of a witness, as bits, and the form in which a runtime gets them.

    `operator` is its name in small letters. `operands` has those that are given, by their names in sentences:
    ``X``, ``min``. They are of the type of X or, as attributes, a FLOAT. The form is ``clip-13``: a node Clip
    of operator set 13; ``body-13``: its function body as nodes; ``equation-13``: as nodes its equation,
    Min(max, Max(input, min)); ``call``: a call of a function on arrays.
    """

    operator: str
    type: str
    operands: dict[str, BitPattern]
    form: str

    @property
    def operator_set(self) -> int:
        """The operator set of the model; ValueError for a call."""
        return int(self.form.rpartition("-")[2])

    @property
    def is_node(self) -> bool:
        """Whether it is asked as one node of the operator."""
        return self.form.startswith(f"{self.operator}-")

    @property
    def has_attributes(self) -> bool:
        """Whether scalars are attributes."""
        return self.is_node and self.operator_set < _FIRST_WITH_INPUTS

    @property
    def runtimes(self) -> tuple[str, ...]:
        """The runtimes that can answer it."""
        return CALLED_RUNTIMES if self.form == CALL else OF_MODELS

    def is_answered_by(self, answer: MeasuredAnswer) -> bool:
        """Whether an answer is one to this question: it has the fields of its question, and more."""
        # Without the operator: `read_measured` leaves only the answers about that of the
        # specification.
        asked = (answer.form, answer.type, answer.operands)
        return asked == (self.form, self.type, self.operands)

    def __str__(self) -> str:
        """``clip-13 float32 X=0x7fc00000 min=0x3f800000``."""
        numbers = [f"{name}={bits}" for name, bits in self.operands.items()]
        return " ".join([self.form, self.type, *numbers])


class MeasuredAnswer(Question):
    """The answer of a runtime to a question.

    `bits` are the distinct entries of its result; none where it rejected the call or answered in another
    type, as `words` then say.
    """

    runtime: str
    bits: tuple[BitPattern, ...]
    words: str | None = None


class Measured(Stored):
    """The whole record: `runtimes` with their versions; `machine` is the processor, which may matter."""

    about: str = "Measured by `sonnx-clip findings --measure`. Do not edit."
    format: Literal[3] = 3
    machine: str
    python: str
    runtimes: dict[str, str]
    answers: tuple[MeasuredAnswer, ...]


def questions(spec: Spec) -> list[Question]:
    """The questions of all findings, each once, in their order."""
    # By their texts, since the operands are a dict, which has no hash.
    distinct: dict[str, Question] = {}
    for entry in spec.findings:
        for witness in entry.witnesses:
            if isinstance(witness, Stands):  # a text has no numbers to ask about
                continue
            for question in questions_of(spec, witness):
                distinct[str(question)] = question
    return list(distinct.values())


def questions_of(spec: Spec, witness: MeasuredWitness) -> list[Question]:
    """The questions with the numbers of a witness: to models, and to functions where bounds are inputs."""
    questions = [_question(spec, witness, form) for form in asked_forms(spec, witness)]
    # A function that clips is called with its bounds; other operators have no scalars.
    has_bounds = bool(spec.signature.scalars)
    if has_bounds and any(not question.has_attributes for question in questions):
        questions.append(_question(spec, witness, CALL))
    return questions


def _question(spec: Spec, witness: MeasuredWitness, form: str) -> Question:
    """The question with the numbers of a witness in a form; the operands depend on its properties."""
    # Without operands first: whether scalars are attributes of FLOAT is seen by the form.
    question = Question(operator=spec.signature.function, type=witness.type, operands={}, form=form)
    etype = spec.element_type(witness.type)
    scalar_type = spec.element_type("float32") if question.has_attributes else etype
    texts = witness.texts()
    operands = {}
    for operand in spec.signature.operands:
        text = texts.get(operand.id)
        if text is not None:  # an operand without a number is missing in the call
            operand_type = scalar_type if operand.role == "scalar" else etype
            bits = encode(text, operand_type)
            assert operand_type.width is not None  # a witness of `real` asks no runtime
            operands[operand.shown] = BitPattern(int(bits), operand_type.width)
    return question.model_copy(update={"operands": operands})


def read_measured(spec: Spec) -> Measured:
    """What runtimes answered for an operator of spec/.

    UserError if the record is missing, or does not answer exactly the questions of the findings. Where no
    finding asks a runtime, and for a specification that is not in spec/, there is nothing to record.
    """
    if not questions(spec) or not is_in_spec(spec):
        return Measured(
            machine="",
            python="",
            runtimes={},
            answers=(),
        )
    record = read_stored(repo_file(PATH), Measured, MEASURE)
    function = spec.signature.function
    # The file has the answers of all operators, and only those of this one are compared.
    answers = tuple(answer for answer in record.answers if answer.operator == function)
    record = record.model_copy(update={"answers": answers})
    for stale in _stale(spec, record):
        raise UserError(stale, PATH, MEASURE)
    return record


def is_in_spec(spec: Spec) -> bool:
    """Whether a specification is that of an operator of spec/, and not of a file of the user's own."""
    # The name alone would not do: a user's own file may be about an operator of the same name.
    return spec.file == f"spec/{spec.signature.function}.yaml"


def _stale(spec: Spec, record: Measured) -> Iterator[str]:
    """Where a record does not answer exactly the questions."""
    # Counters, not sets: an answer that occurs twice is as wrong as one that is missing.
    expected: Counter[tuple[str, str]] = Counter()
    for question in questions(spec):
        for runtime in question.runtimes:
            expected[runtime, str(question)] += 1
    recorded: Counter[tuple[str, str]] = Counter()
    for answer in record.answers:
        recorded[answer.runtime, str(answer)] += 1
    for runtime, text in expected - recorded:
        yield f"no answer of {runtime} to {text}"
    for runtime, text in recorded - expected:
        yield f"an answer of {runtime} to {text}, which occurs twice or has no witness"
    for answer in record.answers:
        if bool(answer.bits) == bool(answer.words):
            yield f"{answer.runtime} must answer or refuse {answer}, and not both"


def record_text(record: Measured) -> str:
    """The record as the text of its file, an answer a line, so that a change is a line too."""
    # Rendered without the answers, which then go into the brackets of the empty list.
    without_answers = record.model_copy(update={"answers": ()})
    head = without_answers.model_dump_json(indent=1)
    # The last pair of brackets: the answers are the last field.
    opening, closing = head.rsplit("[]", 1)
    lines = [f"  {answer.model_dump_json()}" for answer in record.answers]
    answers = ",\n".join(lines)
    return f"{opening}[\n{answers}\n ]{closing}\n"
