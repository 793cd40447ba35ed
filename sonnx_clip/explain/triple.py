"""One triple explained, for `sonnx-clip explain`: case, class, expected result, latitude, obligations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import Field

from sonnx_clip.language import encode, hex_float, show, show_bits, unparse
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import identical, is_nan
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.terminal import hanging
from sonnx_clip.spec import evaluator
from sonnx_clip.spec.quotation import readable
from sonnx_clip.spec.quotes import lines_of
from sonnx_clip.spec.readings import answers, answers_told, same_value
from sonnx_clip.whyml.rendered_goals import is_rendered, rendered_obligations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.language.types import ElementType, Source
    from sonnx_clip.language.values import Value
    from sonnx_clip.root.signature import Operand
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Reading
    from sonnx_clip.spec.readings import Triple

StatusOf: TypeAlias = "Callable[[Spec, Sequence[Obligation]], Mapping[str, Any]]"
"""From a specification and its obligations to `status` and `proved_by` of each id."""


class WrittenNumber(Stored):
    """A value: decimal; hex float for floats; bits for what has them."""

    decimal: str
    hex_float: str | None
    bits: str | None

    def __str__(self) -> str:
        return "  ".join(form for form in (self.decimal, self.hex_float, self.bits) if form)


class AlsoAcceptable(Stored):
    """A result that a latitude accepts: a number, or any NaN where `answer` is None."""

    latitude: str
    reason: str
    answer: WrittenNumber | None


class ReadingView(Stored):
    """The answers of another reading of Clip: a number, or any NaN where None stands.

    `agreement` is whether all that it allows are the bits of the cases, their value, or not even that.
    """

    id: str
    title: str
    answers: tuple[WrittenNumber | None, ...]
    agreement: Literal["bit for bit", "by value", "differs"]


class ObligationShown(Stored):
    """An obligation about the case or the class, or about a `kernel`: code that computes Clip.

    `status` is that of an earlier run of the provers which fits this specification, None where there is none.
    """

    id: str
    title: str
    kernel: bool
    status: Literal["proved", "proved by one", "not proved"] | None = None
    proved_by: tuple[str, ...] = ()


class SourcePlace(Stored):
    """Where the words of a source are; `lines` are all at which they begin, none for what is only cited."""

    title: str
    section: str
    file: str
    lines: tuple[int, ...]

    def __str__(self) -> str:
        if not self.lines:
            return f"{self.title}, section {self.section}"
        word = "line" if len(self.lines) == 1 else "lines"
        return f"{self.file}, {word} {', '.join(map(str, self.lines))}: section {self.section}"


class TripleExplanation(Stored, extra="allow"):
    """Why clip(X, L, M), say, is what it is; the operands are further keys."""

    __pydantic_extra__: dict[str, WrittenNumber] = Field(init=False)

    type: str
    function: str
    labels: tuple[str, ...]
    in_domain: bool
    case: str
    case_title: str
    case_when: str
    class_id: str
    class_title: str
    class_when: str
    result: WrittenNumber
    result_is: str
    quote: str
    source: SourcePlace
    acceptable: tuple[AlsoAcceptable, ...]
    readings: tuple[ReadingView, ...]
    obligations: tuple[ObligationShown, ...]

    @property
    def operands(self) -> tuple[WrittenNumber, ...]:
        """The operands, in their order."""
        return tuple((self.__pydantic_extra__ or {}).values())


def explain_triple(
    spec: Spec, type_id: str, *texts: str, status_of: StatusOf | None = None
) -> TripleExplanation:
    """Explain operands of an element type, given as decimals, hex floats, bit patterns or constants.

    UserError for an unknown type, a text that is no value of it, and obligations that are not generated.
    """
    etype = spec.element_type(type_id)
    keys = spec.signature.keys
    values = encoded_options({key: (text, etype) for key, text in zip(keys, texts, strict=True)})
    triple = tuple(values.values())
    semantics = evaluator(spec, etype)
    case = semantics.case(*triple)
    klass = semantics.class_of(*triple)
    expected = semantics.result(*triple)
    readings = [_reading(spec, etype, reading, triple, expected) for reading in spec.readings]
    facts = {
        "type": etype.id,
        "function": spec.signature.function,
        "labels": tuple(_label(operand) for operand in spec.signature.operands),
        "in_domain": semantics.is_defined(*triple),
        "case": case.id,
        "case_title": case.title,
        "case_when": unparse(case.when),
        "class_id": klass.id,
        "class_title": klass.title,
        "class_when": unparse(klass.when),
        "result": written_number(expected, etype),
        "result_is": case.result_text,
        "quote": case.source.words,
        "source": _place_of_source(spec, case.source),
        "acceptable": _acceptable(spec, etype, triple, expected),
        "readings": tuple(readings),
        "obligations": _obligations(spec, etype.id, {case.id, klass.id}, status_of),
    }
    # Further keys, whose names only the specification knows.
    operands = {key: written_number(value, etype) for key, value in values.items()}
    return TripleExplanation.model_validate({**facts, **operands})


def _place_of_source(spec: Spec, source: Source) -> SourcePlace:
    page = spec.page(source.page)
    return SourcePlace(
        title=page.title, section=source.section, file=page.file, lines=lines_of(spec, source)
    )


def _label(operand: Operand) -> str:
    """What an operand is called beside its number: ``L (min)``, ``X``."""
    return operand.id if operand.role == "tensor" else f"{operand.id} ({operand.onnx})"


def encoded_options(options: Mapping[str, tuple[str | None, ElementType]]) -> dict[str, Value]:
    """The values of options that are given, in their element types; UserError that names the option."""
    values = {}
    for name, (text, etype) in options.items():
        if text is not None:
            try:
                values[name] = encode(text, etype)
            except UserError as error:
                raise UserError(error.what, f"--{name}", error.todo) from error
    return values


def written_number(value: Value, etype: ElementType) -> WrittenNumber:
    """A value in every notation that its type has."""
    return WrittenNumber(
        decimal=show(value, etype),
        hex_float=hex_float(value, etype) if etype.family == "float" else None,
        bits=show_bits(value, etype) if etype.width is not None else None,
    )


def _acceptable(
    spec: Spec, etype: ElementType, triple: Triple, expected: Value
) -> tuple[AlsoAcceptable, ...]:
    """Other acceptable results among the special values of the type; a NaN represents all NaNs."""
    if etype.family != "float":  # only floats have latitude
        return ()
    acceptable: dict[tuple[str, str], AlsoAcceptable] = {}
    for answer in special_patterns(etype):
        if answer == expected:
            continue
        nan = is_nan(answer, etype)
        for latitude in evaluator(spec, etype).latitudes(triple, answer):
            # One entry for all NaNs of a latitude, whatever their signs and payloads.
            key = (latitude.id, "nan" if nan else str(answer))
            acceptable[key] = AlsoAcceptable(
                latitude=latitude.id,
                reason=latitude.reason,
                answer=None if nan else written_number(answer, etype),
            )
    return tuple(acceptable.values())


def _reading(
    spec: Spec, etype: ElementType, reading: Reading, triple: Triple, expected: Value
) -> ReadingView:
    allowed = answers(spec, etype, reading, triple)
    agreement: Literal["bit for bit", "by value", "differs"] = "differs"
    if all(identical(answer, expected) for answer in allowed):
        agreement = "bit for bit"
    elif all(same_value(answer, expected, etype) for answer in allowed):
        agreement = "by value"

    # Any NaN is one answer here; `answers` has those of both signs.
    numbers, any_nan = answers_told(spec, etype, reading, triple)
    shown: list[WrittenNumber | None] = [written_number(number, etype) for number in numbers]
    if any_nan:
        shown.append(None)
    return ReadingView(
        id=reading.id, title=reading.title, answers=tuple(shown), agreement=agreement
    )


def _obligations(
    spec: Spec, type_id: str, ids: set[str], status_of: StatusOf | None
) -> tuple[ObligationShown, ...]:
    """The obligations of a type that show the case or the class."""
    obligations = [entry for entry in _stated(spec, type_id) if ids & set(entry.shows)]
    statuses = status_of(spec, obligations) if status_of else {}
    views = []
    for obligation in obligations:
        # Without a run of the provers there is none, and no status is shown.
        outcome = statuses.get(obligation.id)
        views.append(
            ObligationShown(
                id=obligation.id,
                title=obligation.title,
                kernel=obligation.kind == "refinement",
                status=getattr(outcome, "status", None),
                proved_by=getattr(outcome, "proved_by", ()),
            )
        )
    return tuple(views)


def _stated(spec: Spec, type_id: str) -> Sequence[Obligation]:
    """What is to be proved in a type: as it was rendered, or for an operator that is not, from its claims."""
    if is_rendered(spec):
        return rendered_obligations(type_id)
    from sonnx_clip.claims.all_claims import claims_of  # heavy, and Clip does not need it

    return [claim.obligation() for claim in claims_of(spec, type_id)]


def explanation_text(explanation: TripleExplanation, width: int | None = None) -> str:
    """An explanation as lines of text, wrapped at `width` columns or whole."""
    # The operands and what is known of them have one column of labels, as wide as the longest.
    rows = [
        *zip(explanation.labels, explanation.operands, strict=True),
        ("result", f"{explanation.result}  ({explanation.result_is}, bit for bit)"),
        ("case", f"{explanation.case}: {explanation.case_title}; {explanation.case_when}"),
        ("class", f"{explanation.class_id}: {explanation.class_title}; {explanation.class_when}"),
        ("source", readable(explanation.quote)),
        ("", str(explanation.source)),
    ]
    label_width = max(len(label) for label, _ in rows)

    numbers = ", ".join(number.decimal for number in explanation.operands)
    result = explanation.result.decimal
    lines = [f"{explanation.type}: {explanation.function}({numbers}) = {result}"]
    lines += [f"  {label:<{label_width}} {text}" for label, text in rows]
    if not explanation.in_domain:
        lines.append("  outside the domain of the operator: any result conforms")
    for other in explanation.acceptable:
        answer = other.answer or "any NaN"
        lines.append(f"  also acceptable: {answer} ({other.latitude}): {other.reason}")
    lines += _reading_lines(explanation.readings)
    lines += _obligation_lines(explanation.type, explanation.obligations)
    return "\n".join(hanging(line, width) for line in lines)


def _reading_lines(readings: Sequence[ReadingView]) -> Iterator[str]:
    if not readings:
        return
    yield "  readings, compared with the cases"
    width = max(len(reading.id) for reading in readings)
    for reading in readings:
        # None stands for any NaN.
        answers = " or ".join(str(number or "any NaN") for number in reading.answers)
        yield f"    {reading.id:<{width}} {reading.agreement:<12} {answers}"


def _obligation_lines(type_id: str, obligations: Sequence[ObligationShown]) -> Iterator[str]:
    """The obligations by status, those about kernels folded into a line."""
    # Those about kernels are many, and say the same of every case.
    by_status: dict[str, list[ObligationShown]] = {}
    for obligation in obligations:
        by_status.setdefault(_status_words(obligation), []).append(obligation)

    for status, entries in by_status.items():
        yield f"  obligations, {status}"
        kernels = 0
        for entry in entries:
            if entry.kernel:
                kernels += 1
            else:
                yield f"    {entry.id}: {entry.title}"
        if kernels:
            names = f"{type_id}.c_clip, {type_id}.numpy_*"
            yield f"    {names}: the C and NumPy kernels compute Clip ({kernels} of them; --json lists each)"


def _status_words(obligation: ObligationShown) -> str:
    provers = " and ".join(obligation.proved_by)
    match obligation.status:
        case None:
            return "not in a complete run of `sonnx-clip prove` here"
        case "not proved":
            return "not proved by these provers"
        case "proved":
            return f"proved by {provers}"
        case "proved by one":
            return f"proved by {provers} only"
