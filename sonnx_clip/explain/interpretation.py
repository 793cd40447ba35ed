"""What a reading takes the silence of its words to mean, and whether the runs that show it do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.language.values import encode, is_nan
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec.readings import answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.explain.measured_record import Measured, MeasuredAnswer
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import InterpretedReading


def shown_by(interpretation: InterpretedReading) -> str:
    """What shows an interpretation, in words."""
    if interpretation.ran is None:
        return "nothing that was run shows it"
    return f"the runs of {interpretation.ran} in spec/measured/runtimes.json, each of whose answers it allows"


def interpreted(interpretation: InterpretedReading) -> str:
    """An interpretation in a line: ours, what else the words could mean, and what shows ours."""
    return (
        f"we read: {interpretation.ours}. It could also mean: {interpretation.alternative}. "
        f"Shown by: {shown_by(interpretation)}"
    )


def require_shown(spec: Spec, record: Measured) -> None:
    """UserError for the first reading whose interpretation the runs that it names do not show."""
    if (found := next(not_shown(spec, record), None)) is not None:
        raise UserError(found, "spec/clip.yaml", "correct `interpretation` of the reading, or its `ran`")


def not_shown(spec: Spec, record: Measured) -> Iterator[str]:
    """The readings whose interpretation no run shows, or an answer of a run refutes."""
    for reading in spec.readings:
        if reading.interpretation is None or reading.interpretation.ran is None:
            continue
        of_form = [a for a in record.answers if a.form == reading.interpretation.ran and a.bits]
        if not any(_has_nan(spec, answer) for answer in of_form):
            yield f"`{reading.id}`: no run of {reading.interpretation.ran} was asked about a NaN"
        for answer in of_form:
            etype = spec.element_type(answer.type)
            low, high = answer.min, answer.max
            if low is None or high is None:
                yield f"`{reading.id}`: {answer.runtime} was asked {answer.form} without a bound"
                continue
            x, l, m = (encode(bits, etype) for bits in (answer.x, low, high))
            allowed = answers(spec, etype, reading, (x, l, m))
            any_nan = any(is_nan(y, etype) for y in allowed)
            for bits in answer.bits:
                y = encode(bits, etype)
                if y not in allowed and not (any_nan and is_nan(y, etype)):
                    yield (
                        f"`{reading.id}`: {answer.runtime} answers {bits} to {answer.form} {answer.type}"
                        f" X={answer.x} min={low} max={high}, which the reading does not allow"
                    )


def _has_nan(spec: Spec, answer: MeasuredAnswer) -> bool:
    etype = spec.element_type(answer.type)
    given = (answer.x, answer.min, answer.max)
    return any(bits is not None and is_nan(encode(bits, etype), etype) for bits in given)
