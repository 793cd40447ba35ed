"""One triple explained, for `sonnx-clip explain`: case, class, expected result, latitude, obligations."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from sonnx_clip.explain.readings_matrix import interpreted
from sonnx_clip.language import encode, hex_float, show, show_bits, unparse
from sonnx_clip.language.special import special_patterns
from sonnx_clip.language.values import identical, is_nan
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.terminal import hanging
from sonnx_clip.spec import case_of, class_of, latitudes_of, load_spec, result_value
from sonnx_clip.spec.readings import answers, answers_told, same_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Reading
    from sonnx_clip.spec.readings import Triple

OBLIGATIONS_FILE = "generated/why3/obligations.json"


class Shown(Protocol):
    """What an earlier run of the provers showed of an obligation."""

    @property
    def status(self) -> Literal["proved", "proved by one", "not proved"]:
        """By two provers, by one, or by none."""

    @property
    def proved_by(self) -> tuple[str, ...]:
        """The names of the provers."""


StatusOf: TypeAlias = "Callable[[str, list[dict[str, object]]], Mapping[str, Shown]]"
"""From the digest of a specification and rows of obligations.json to what is known of them, by id."""


class WrittenNumber(Stored):
    """A value: decimal; hex float for floats; bits for what has them."""

    decimal: str
    hex_float: str | None
    bits: str | None


class AlsoAcceptable(Stored):
    """A result that a latitude accepts: a number, or any NaN where `answer` is None."""

    latitude: str
    reason: str
    answer: WrittenNumber | None


class ReadingView(Stored):
    """What another reading of Clip answers: a number, or any NaN where None stands.

    `agreement` says whether all that it allows are the bits of the cases, their value, or not even that;
    `interpretation` what it takes the silence of its words to mean, where an operand is NaN.
    """

    id: str
    title: str
    answers: tuple[WrittenNumber | None, ...]
    agreement: Literal["bit for bit", "by value", "differs"]
    interpretation: str | None = None


class ObligationShown(Stored):
    """What a prover has to show about the case or the class, or about a `kernel`: code that computes Clip.

    `status` is that of an earlier run of the provers which fits this specification, None where there is none.
    """

    id: str
    title: str
    kernel: bool
    status: Literal["proved", "proved by one", "not proved"] | None = None
    proved_by: tuple[str, ...] = ()


class TripleExplanation(Stored):
    """Why clip(X, L, M) is what it is."""

    type: str
    x: WrittenNumber
    min: WrittenNumber
    max: WrittenNumber
    case: str
    case_title: str
    case_when: str
    class_id: str
    class_title: str
    class_when: str
    result: WrittenNumber
    result_is: str
    quote: str
    acceptable: tuple[AlsoAcceptable, ...]
    readings: tuple[ReadingView, ...]
    obligations: tuple[ObligationShown, ...]


def explain(
    type_id: str, x: str, min_: str, max_: str, status_of: StatusOf | None = None
) -> TripleExplanation:
    """Explain a triple.

    Args:
        type_id: an element type, ``real`` too.
        x: X as decimal, hex float, bit pattern or constant.
        min_: L, alike.
        max_: M, alike.
        status_of: what is known of obligations from an earlier run of the provers.

    Raises:
        UserError: no such type, or a text that is no value of it; or the obligations are not generated.
    """
    spec = load_spec()
    etype = spec.element_type(type_id)
    values = {name: _value(name, text, etype) for name, text in (("x", x), ("min", min_), ("max", max_))}
    triple = (values["x"], values["min"], values["max"])
    case, klass = case_of(spec, etype, *triple), class_of(spec, etype, *triple)
    due = result_value(spec, etype, *triple)
    return TripleExplanation(
        type=etype.id,
        x=_number(triple[0], etype),
        min=_number(triple[1], etype),
        max=_number(triple[2], etype),
        case=case.id,
        case_title=case.title,
        case_when=unparse(case.when),
        class_id=klass.id,
        class_title=klass.title,
        class_when=unparse(klass.when),
        result=_number(due, etype),
        result_is=case.result,
        quote=case.source.quote,
        acceptable=_acceptable(spec, etype, triple, due),
        readings=tuple(_reading(spec, etype, reading, triple, due) for reading in spec.readings),
        obligations=_obligations(spec, etype.id, {case.id, klass.id}, status_of),
    )


def _value(name: str, text: str, etype: ElementType) -> Value:
    try:
        return encode(text, etype)
    except UserError as error:
        raise UserError(error.what, f"--{name}", error.todo) from error


def _number(value: Value, etype: ElementType) -> WrittenNumber:
    return WrittenNumber(
        decimal=show(value, etype),
        hex_float=hex_float(value, etype) if etype.family == "float" else None,
        bits=show_bits(value, etype) if etype.width is not None else None,
    )


def _acceptable(
    spec: Spec, etype: ElementType, triple: tuple[Value, Value, Value], due: Value
) -> tuple[AlsoAcceptable, ...]:
    """What else is acceptable, tried over the special values of the type; a NaN stands for all of them."""
    if etype.family != "float":
        return ()
    found: dict[tuple[str, str], AlsoAcceptable] = {}
    for answer in special_patterns(etype):
        nan = is_nan(answer, etype)
        for latitude in latitudes_of(spec, etype, *triple, answer=answer) if answer != due else ():
            told = None if nan else _number(answer, etype)
            key = (latitude.id, "nan" if nan else str(answer))
            found[key] = AlsoAcceptable(latitude=latitude.id, reason=latitude.reason, answer=told)
    return tuple(found.values())


def _reading(spec: Spec, etype: ElementType, reading: Reading, triple: Triple, due: Value) -> ReadingView:
    """What a reading answers for a triple, and whether that agrees with the cases."""
    allowed = answers(spec, etype, reading, triple)
    if all(identical(y, due) for y in allowed):
        agreement: Literal["bit for bit", "by value", "differs"] = "bit for bit"
    else:
        agreement = "by value" if all(same_value(y, due, etype) for y in allowed) else "differs"
    numbers, any_nan = answers_told(spec, etype, reading, triple)
    told = tuple(_number(y, etype) for y in numbers)
    return ReadingView(
        id=reading.id,
        title=reading.title,
        answers=(*told, None) if any_nan else told,
        agreement=agreement,
        interpretation=interpreted(reading.interpretation)
        if reading.interpretation is not None and any(is_nan(value, etype) for value in triple)
        else None,
    )


@cache
def _known_obligations() -> tuple[dict[str, object], ...]:
    path = repo_file(OBLIGATIONS_FILE)
    if not path.is_file():
        raise UserError("the obligations have not been generated", str(path), "run `sonnx-clip generate`")
    return tuple(json.loads(path.read_text(encoding="utf-8"))["obligations"])


def _obligations(
    spec: Spec, type_id: str, shown: set[str], status_of: StatusOf | None
) -> tuple[ObligationShown, ...]:
    """The obligations of a type that show the case or the class."""
    rows = [
        row
        for row in _known_obligations()
        if row["subject"] == type_id and shown & {str(id_) for id_ in _shows(row)}
    ]
    statuses = status_of(spec.digest, rows) if status_of else {}
    return tuple(
        ObligationShown(
            id=str(row["id"]),
            title=str(row["title"]),
            kernel=row["kind"] == "refinement",
            status=statuses[id_].status if (id_ := str(row["id"])) in statuses else None,
            proved_by=statuses[id_].proved_by if id_ in statuses else (),
        )
        for row in rows
    )


def _shows(entry: dict[str, object]) -> list[object]:
    shows = entry["shows"]
    assert isinstance(shows, list)
    return shows


def explanation_text(told: TripleExplanation, *, every: bool = False, width: int | None = None) -> str:
    """An explanation as lines of text.

    Args:
        told: the explanation.
        every: whether each obligation about a kernel has a line, instead of one line for all.
        width: columns at which lines are wrapped; None leaves them whole.
    """
    x, lower, upper, result = (n.decimal for n in (told.x, told.min, told.max, told.result))
    lines = [
        f"{told.type}: clip({x}, {lower}, {upper}) = {result}",
        *(f"  {name:<7} {_forms(number)}" for name, number in _operands(told)),
        f"  result  {_forms(told.result)}  ({told.result_is}, bit for bit)",
        f"  case    {told.case}: {told.case_title}; {told.case_when}",
        f"  class   {told.class_id}: {told.class_title}; {told.class_when}",
        f"  source  {told.quote}",
        *(f"  also acceptable: {_answer(one)} ({one.latitude}): {one.reason}" for one in told.acceptable),
        "  readings, compared with the cases",
        *_reading_lines(told),
        *_obligation_lines(told, every=every),
    ]
    return "\n".join(hanging(line, width) for line in lines)


def _obligation_lines(told: TripleExplanation, *, every: bool) -> Iterator[str]:
    """The obligations by status, those about kernels folded into a line."""
    by_status: dict[str, list[ObligationShown]] = {}
    for one in told.obligations:
        by_status.setdefault(_status_text(one), []).append(one)
    for status, obligations in by_status.items():
        yield f"  obligations, {status}"
        yield from (f"    {one.id}: {one.title}" for one in obligations if every or not one.kernel)
        kernels = sum(one.kernel for one in obligations)
        if kernels and not every:
            name = f"{told.type}.c_clip, {told.type}.numpy_*"
            yield f"    {name}: the C and NumPy kernels compute Clip ({kernels} of them; --all lists each)"


def _status_text(one: ObligationShown) -> str:
    if one.status is None:
        return "not yet proved here (run: make prove)"
    if one.status == "not proved":
        return "not proved by these provers"
    by = " and ".join(one.proved_by)
    return f"proved by {by}" if one.status == "proved" else f"proved by {by} only"


def _reading_lines(told: TripleExplanation) -> Iterator[str]:
    for one in told.readings:
        answer = " or ".join("any NaN" if n is None else _forms(n) for n in one.answers)
        yield f"    {one.id:<13} {one.agreement:<12} {answer}"
    given = [one for one in told.readings if one.interpretation is not None]
    if given:
        yield "  NaN, which the words of these readings do not mention"
        yield from (f"    {one.id}: {one.interpretation}" for one in given)


def _operands(told: TripleExplanation) -> tuple[tuple[str, WrittenNumber], ...]:
    return ("X", told.x), ("L (min)", told.min), ("M (max)", told.max)


def _answer(one: AlsoAcceptable) -> str:
    return "any NaN" if one.answer is None else _forms(one.answer)


def _forms(number: WrittenNumber) -> str:
    return "  ".join(form for form in (number.decimal, number.hex_float, number.bits) if form)
