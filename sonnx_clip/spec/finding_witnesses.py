"""Witnesses of findings: what the specification answers at their numbers, and checks of what they show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.language.show import show
from sonnx_clip.language.values import Value, encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.dialects import effective_bounds
from sonnx_clip.spec.document import Diagnostic, Way
from sonnx_clip.spec.evaluate import as_tensors, evaluator
from sonnx_clip.spec.findings import (
    END,
    Contrast,
    FindingWitness,
    Refutation,
    Side,
    Stands,
    Theorem,
    unknown_forms,
)
from sonnx_clip.spec.readings import answers_told, same_value
from sonnx_clip.spec.texts import fold, source_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.spec.model import Spec


@dataclass(frozen=True)
class SideAnswers:
    """What one side of a contrast allows."""

    # given: operands of the element type; None for a bound that becomes no number
    given: tuple[Value | None, ...]
    # values: the answers listed one by one; none if a bound becomes no number
    values: tuple[Value, ...] = ()
    any_nan: bool = False  # any NaN is allowed besides


def side_answers(spec: Spec, witness: Contrast, side: Side) -> SideAnswers:
    """What a side of a contrast allows for its numbers.

    Raises:
        UserError: a number is not one of the type, or a missing bound is refused or means nothing.
    """
    etype = spec.element_type(witness.type)
    texts = witness.texts() | side.texts()  # the numbers of the side come before the others
    x, *bounds = [texts.get(name) for name in spec.signature.ids]
    ids_of_dialects = {dialect.id for dialect in spec.dialects}
    if side.by in ids_of_dialects:
        dialect = spec.dialect(side.by)
        reading = spec.reading(dialect.reading)
        used = effective_bounds(spec, dialect, etype, bounds)
    else:
        used = _bounds_of_reading(side.by, etype, bounds)
        reading = spec.reading(side.by)

    first = encode(x or "", etype)  # a missing X is no number: it is refused
    operands: tuple[Value | None, ...] = (first, *used)
    numbers = tuple(value for value in operands if value is not None)
    if len(numbers) < len(operands):  # a bound becomes no number
        return SideAnswers(operands)
    values, any_nan = answers_told(spec, etype, reading, numbers)
    return SideAnswers(operands, values, any_nan)


def _bounds_of_reading(
    reading: str, etype: ElementType, texts: Sequence[str | None]
) -> tuple[Value, ...]:
    """Bounds of the element type: only a dialect says what a missing one is, or converts one."""
    if None in texts:
        message = f"the reading `{reading}` does not define missing bounds"
        raise UserError(message, todo="give it, at the witness or at this side; or name a dialect")
    return tuple(encode(str(text), etype) for text in texts)


def differ(
    first: SideAnswers,
    second: SideAnswers,
    etype: ElementType,
    *,
    bitwise: bool,
) -> bool:
    """Whether two sides do not allow the same answers: the same bits, or the same values."""
    if bitwise:
        if first.any_nan != second.any_nan:
            return True
        return set(first.values) != set(second.values)
    same_values = _covers(first, second, etype) and _covers(second, first, etype)
    return not same_values


def _covers(wider: SideAnswers, narrower: SideAnswers, etype: ElementType) -> bool:
    """Whether each value that `narrower` allows is one that `wider` allows."""
    allowed = _representatives(wider, etype)
    for value in _representatives(narrower, etype):
        if not any(same_value(other, value, etype) for other in allowed):
            return False
    return True


def _representatives(answers: SideAnswers, etype: ElementType) -> list[Value]:
    """The values that a side allows, with one NaN for all of them."""
    values = list(answers.values)
    if answers.any_nan and etype.family == "float":
        values.append(encode("nan", etype))
    return values


def refuted_result(spec: Spec, witness: Refutation) -> tuple[Value, bool]:
    """The result of the cases for a witness, and whether the entry is false of it.

    Raises:
        UserError: a number is not one of the type, or the entry does not exist.
    """
    etype = spec.element_type(witness.type)
    evaluate = evaluator(spec, etype)
    texts = witness.texts()
    numbers = {name: encode(text, etype) for name, text in texts.items()}
    y = evaluate.result(*numbers.values())
    numbers[spec.signature.result.id] = y

    # What is refuted is a constraint, on tensors, or a property, on single elements.
    for constraint in spec.constraints:
        if constraint.id == witness.refutes:
            tensors = as_tensors(spec, etype, numbers)
            return y, not evaluate(constraint.holds, tensors)
    claim = spec.property(witness.refutes).claim
    try:
        return y, not evaluate(claim, numbers)
    except KeyError as error:
        # A claim on two values of X: only witnesses of properties give the second one.
        variable = error.args[0]
        message = f"`{witness.refutes}` uses {variable} too, which a witness does not define"
        raise UserError(message) from error


# --- Checks -----------------------------------------------------------------------------------------------


def check_finding_witnesses(spec: Spec) -> Iterator[Diagnostic]:
    """Unknown names, witnesses that do not show their claim, claims on texts without a place."""
    only_cited = {page.id for page in spec.sources if page.cites}
    for index, finding in enumerate(spec.findings):
        for position, witness in enumerate(finding.witnesses):
            way = ("findings", index, "witnesses", position)
            try:
                yield from _check(spec, way, witness)
            except UserError as error:
                yield Diagnostic(way, error.what, error.todo)
        # Nobody can look up lines of a text that is not in the repository.
        is_cited = any(words.page in only_cited for words in finding.words)
        if not finding.witnesses and not is_cited:
            way_to_id = ("findings", index, "id")
            yield Diagnostic(way_to_id, "it has no witness", "give numbers or lines")
        has_lines = any(isinstance(witness, Stands) for witness in finding.witnesses)
        for position, part in enumerate(finding.claim):
            is_proved = isinstance(part, Theorem)
            if not is_proved and not is_cited and not has_lines:
                way = ("findings", index, "claim", position)
                message = "a claim on the texts, and no witness has `stands_at`"
                yield Diagnostic(way, message, "name the lines that show it, or give `holds`")


def _check(spec: Spec, way: Way, witness: FindingWitness) -> Iterator[Diagnostic]:
    """What a witness does not show; UserError where it names what is not there."""
    if isinstance(witness, Stands):
        yield from _check_stands(spec, way, witness)
        return
    # The others are run too (explain/measure.py): in a type and a form that runtimes have.
    etype = spec.element_type(witness.type)
    if etype.width is None:
        yield Diagnostic((*way, "type"), f"no runtime has `{witness.type}`", "name a machine type")
        return
    for form in unknown_forms(spec, witness):
        message = f"{spec.operator} has no form `{form}`"
        todo = f"ask a node: {spec.signature.function}-13"
        yield Diagnostic((*way, "ask"), message, todo)
    if isinstance(witness, Contrast):
        yield from _check_contrast(spec, way, witness)
        return
    y, is_false = refuted_result(spec, witness)
    if not is_false:
        message = f"`{witness.refutes}` holds here: the result of the cases is {show(y, etype)}"
        yield Diagnostic(way, message, "give numbers for which it is false")


def _check_contrast(spec: Spec, way: Way, witness: Contrast) -> Iterator[Diagnostic]:
    etype = spec.element_type(witness.type)
    bitwise = witness.compared == "bits"
    first: SideAnswers | None = None
    for position, side in enumerate(witness.answers):
        at = (*way, "answers", position)
        try:
            answers = side_answers(spec, witness, side)
        except UserError as error:
            yield Diagnostic(at, error.what, error.todo)
            return
        if first is None:
            first = answers  # with which all others are compared
        elif not differ(first, answers, etype, bitwise=bitwise):
            shown_values = [show(value, etype) for value in answers.values]
            shown = " or ".join(shown_values) or "any NaN"
            first_side = witness.answers[0]
            message = f"`{side.by}` answers {shown} here, as `{first_side.by}` does"
            todo = "give numbers for which they differ, or leave this side out"
            if differ(first, answers, etype, bitwise=True):
                todo = "add `compared: bits` if the sign of a zero or a NaN is meant"
            yield Diagnostic(at, message, todo)


def _check_stands(spec: Spec, way: Way, witness: Stands) -> Iterator[Diagnostic]:
    """The text is at these lines, and at no others."""
    page = spec.page(witness.page)
    if page.cites:
        message = f"the text of {page.id} is only cited"
        yield Diagnostic((*way, "page"), message, "name a text in spec/sources")
        return
    path = repo_file(page.file)
    text = source_text(path)
    pattern = re.escape(fold(witness.text).casefold())
    # With its end marked a page can be shown to end with a text: what should follow is missing.
    words = f"{text.words} {END}".casefold()
    line_numbers: dict[int, None] = {}  # each once, in order
    for occurrence in re.finditer(pattern, words):
        line_numbers[text.line(occurrence.start())] = None
    lines = tuple(line_numbers)
    if lines == witness.stands_at:
        return
    occurs = "occurs in no line"
    if lines:
        listed = ", ".join(map(str, lines))
        occurs = f"occurs in lines {listed}"
    message = f"`{witness.text}` {occurs} of {path.name}"
    yield Diagnostic((*way, "stands_at"), message)
