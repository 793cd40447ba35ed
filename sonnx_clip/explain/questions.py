"""The inputs that runtimes get for the witnesses of the findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.language.show import show_bits
from sonnx_clip.language.values import encode
from sonnx_clip.spec.findings import Stands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sonnx_clip.language import ElementType
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import MeasuredWitness

CALL = "call"
"""The form of a question to a function on arrays."""

FIRST_WITH_INPUTS = 11
"""The operator set since which bounds are inputs; before, they are attributes of type FLOAT."""


@dataclass(frozen=True)
class Question:
    """Numbers and the form in which they are put; all numbers are bits as hex text.

    Args:
        finding: the id of the finding.
        type: the element type of X.
        x: every entry of X.
        min: the lower bound, of the element type or, where it is an attribute, a FLOAT; None if not given.
        max: the upper bound, likewise.
        form: ``clip-13``: a node Clip of operator set 13; ``body-13``: the function body as nodes of it;
            ``equation-13``: its Min(max, Max(input, min)) as nodes; ``call``: a call of a function on arrays.
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
    def is_body(self) -> bool:
        """Whether the function body is asked, and not the operator."""
        return self.form.startswith("body-")

    @property
    def is_equation(self) -> bool:
        """Whether Min(max, Max(input, min)) is asked, and not the operator."""
        return self.form.startswith("equation-")

    @property
    def has_attributes(self) -> bool:
        """Whether the bounds are attributes."""
        return self.form.startswith("clip-") and self.operator_set < FIRST_WITH_INPUTS


def questions(spec: Spec) -> Iterator[Question]:
    """The questions of all findings, each once, in their order."""
    seen: set[Question] = set()
    for entry in spec.findings:
        for witness in entry.witnesses:
            for asked in () if isinstance(witness, Stands) else asked_with(spec, entry.id, witness):
                if asked not in seen:
                    seen.add(asked)
                    yield asked


def asked_with(spec: Spec, finding: str, witness: MeasuredWitness) -> list[Question]:
    """What is asked with the numbers of a witness: models, and functions where the bounds are inputs."""
    of_models = [_question(spec, finding, witness, form) for form in witness.ask]
    return [*of_models, _question(spec, finding, witness, CALL)] if _by_inputs(of_models) else of_models


def _by_inputs(asked: Iterable[Question]) -> bool:
    """Whether a version with bounds like those of a function is asked."""
    return any(not question.has_attributes for question in asked)


def _question(spec: Spec, finding: str, witness: MeasuredWitness, form: str) -> Question:
    etype = spec.element_type(witness.type)
    texts = witness.texts()
    x, *bounds = (texts.get(name) for name in spec.head.operands)
    plain = Question(finding, etype.id, _bits(x or "", etype), None, None, form)
    of = spec.element_type("float32") if plain.has_attributes else etype
    low, high = (None if text is None else _bits(text, of) for text in bounds)
    return Question(finding, etype.id, plain.x, low, high, form)


def _bits(text: str, etype: ElementType) -> str:
    return show_bits(encode(text, etype), etype)
