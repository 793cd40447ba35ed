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
from sonnx_clip.spec.readings import answers, answers_told, same_value
from sonnx_clip.whyml.rendered_goals import is_rendered, rendered_obligations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sonnx_clip.claims.claim import Claim, Obligation
    from sonnx_clip.language.types import ElementType
    from sonnx_clip.language.values import Value
    from sonnx_clip.root.signature import Operand
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Reading
    from sonnx_clip.spec.readings import Triple

StatusOf: TypeAlias = "Callable[[Spec, Sequence[Obligation | Claim]], Mapping[str, Any]]"
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
    acceptable: tuple[AlsoAcceptable, ...]
    readings: tuple[ReadingView, ...]
    obligations: tuple[ObligationShown, ...]

    @property
    def operands(self) -> tuple[WrittenNumber, ...]:
        """The operands, in their order."""
        return tuple((self.__pydantic_extra__ or {}).values())


def explain(
    spec: Spec, type_id: str, *texts: str, status_of: StatusOf | None = None
) -> TripleExplanation:
    """Explain operands of an element type, given as decimals, hex floats, bit patterns or constants.

    UserError for an unknown type, a text that is no value of it, and obligations that are not generated.
    """
    etype = spec.element_type(type_id)
    keys = spec.signature.keys
    found = encoded({key: (text, etype) for key, text in zip(keys, texts, strict=True)})
    triple = tuple(found.values())
    known = evaluator(spec, etype)
    case, klass, due = known.case(*triple), known.class_of(*triple), known.result(*triple)
    facts = {
        "type": etype.id,
        "function": spec.signature.function,
        "labels": tuple(_label(operand) for operand in spec.signature.operands),
        "in_domain": known.is_defined(*triple),
        "case": case.id,
        "case_title": case.title,
        "case_when": unparse(case.when),
        "class_id": klass.id,
        "class_title": klass.title,
        "class_when": unparse(klass.when),
        "result": written(due, etype),
        "result_is": case.result_text,
        "quote": case.source.words,
        "acceptable": _acceptable(spec, etype, triple, due),
        "readings": tuple(_reading(spec, etype, reading, triple, due) for reading in spec.readings),
        "obligations": _obligations(spec, etype.id, {case.id, klass.id}, status_of),
    }
    operands = {key: written(value, etype) for key, value in found.items()}
    return TripleExplanation.model_validate({**facts, **operands})


def _label(operand: Operand) -> str:
    """What an operand is called beside its number: ``L (min)``, ``X``."""
    return operand.id if operand.role == "tensor" else f"{operand.id} ({operand.onnx})"


def encoded(options: Mapping[str, tuple[str | None, ElementType]]) -> dict[str, Value]:
    """The values of options that are given, in their element types; UserError that names the option."""
    found = {}
    for name, (text, etype) in options.items():
        if text is not None:
            try:
                found[name] = encode(text, etype)
            except UserError as error:
                raise UserError(error.what, f"--{name}", error.todo) from error
    return found


def written(value: Value, etype: ElementType) -> WrittenNumber:
    """A value in every notation that its type has."""
    return WrittenNumber(
        decimal=show(value, etype),
        hex_float=hex_float(value, etype) if etype.family == "float" else None,
        bits=show_bits(value, etype) if etype.width is not None else None,
    )


def _acceptable(
    spec: Spec, etype: ElementType, triple: Triple, due: Value
) -> tuple[AlsoAcceptable, ...]:
    """Other acceptable results among the special values of the type; a NaN represents all NaNs."""
    if etype.family != "float":
        return ()
    found: dict[tuple[str, str], AlsoAcceptable] = {}
    for answer in special_patterns(etype):
        nan = is_nan(answer, etype)
        for latitude in evaluator(spec, etype).latitudes(triple, answer) if answer != due else ():
            found[latitude.id, "nan" if nan else str(answer)] = AlsoAcceptable(
                latitude=latitude.id,
                reason=latitude.reason,
                answer=None if nan else written(answer, etype),
            )
    return tuple(found.values())


def _reading(
    spec: Spec, etype: ElementType, reading: Reading, triple: Triple, due: Value
) -> ReadingView:
    allowed = answers(spec, etype, reading, triple)
    agreement: Literal["bit for bit", "by value", "differs"] = "differs"
    if all(same_value(y, due, etype) for y in allowed):
        agreement = "bit for bit" if all(identical(y, due) for y in allowed) else "by value"
    numbers, any_nan = answers_told(spec, etype, reading, triple)
    told = (*(written(y, etype) for y in numbers), *([None] if any_nan else []))
    return ReadingView(id=reading.id, title=reading.title, answers=told, agreement=agreement)


def _obligations(
    spec: Spec, type_id: str, ids: set[str], status_of: StatusOf | None
) -> tuple[ObligationShown, ...]:
    """The obligations of a type that show the case or the class."""
    shown = [o for o in _stated(spec, type_id) if ids & set(o.shows)]
    statuses = status_of(spec, shown) if status_of else {}
    return tuple(
        ObligationShown(
            id=o.id,
            title=o.title,
            kernel=o.kind == "refinement",
            status=getattr(statuses.get(o.id), "status", None),
            proved_by=getattr(statuses.get(o.id), "proved_by", ()),
        )
        for o in shown
    )


def _stated(spec: Spec, type_id: str) -> Sequence[Obligation | Claim]:
    """What is to be proved in a type: as it was rendered, or for an operator that is not, as it would be."""
    if is_rendered(spec):
        return rendered_obligations(type_id)
    from sonnx_clip.claims.all_claims import claims_of  # heavy, and Clip does not need it

    return claims_of(spec, type_id)


def explanation_text(told: TripleExplanation, width: int | None = None) -> str:
    """An explanation as lines of text, wrapped at `width` columns or whole."""
    numbers = ", ".join(number.decimal for number in told.operands)
    wide = max(len("result"), *map(len, told.labels))
    operands = zip(told.labels, told.operands, strict=True)
    lines = [
        f"{told.type}: {told.function}({numbers}) = {told.result.decimal}",
        *(f"  {label:<{wide}} {number}" for label, number in operands),
        f"  {'result':<{wide}} {told.result}  ({told.result_is}, bit for bit)",
        f"  {'case':<{wide}} {told.case}: {told.case_title}; {told.case_when}",
        f"  {'class':<{wide}} {told.class_id}: {told.class_title}; {told.class_when}",
        f"  {'source':<{wide}} {readable(told.quote)}",
    ]
    if not told.in_domain:
        lines.append("  outside the domain of the operator: any result conforms")
    lines += [
        f"  also acceptable: {one.answer or 'any NaN'} ({one.latitude}): {one.reason}"
        for one in told.acceptable
    ]
    if told.readings:
        lines.append("  readings, compared with the cases")
    wide = max((len(reading.id) for reading in told.readings), default=0)
    for reading in told.readings:
        shown = " or ".join(str(number or "any NaN") for number in reading.answers)
        lines.append(f"    {reading.id:<{wide}} {reading.agreement:<12} {shown}")
    lines += _obligation_lines(told.type, told.obligations)
    return "\n".join(hanging(line, width) for line in lines)


def _obligation_lines(type_id: str, obligations: Sequence[ObligationShown]) -> Iterator[str]:
    """The obligations by status, those about kernels folded into a line."""
    by_status: dict[str, list[ObligationShown]] = {}
    for one in obligations:
        words = {
            None: "not in a complete run of `sonnx-clip prove` here",
            "not proved": "not proved by these provers",
            "proved": f"proved by {' and '.join(one.proved_by)}",
            "proved by one": f"proved by {' and '.join(one.proved_by)} only",
        }[one.status]  # fmt: skip
        by_status.setdefault(words, []).append(one)
    for words, these in by_status.items():
        yield f"  obligations, {words}"
        yield from (f"    {one.id}: {one.title}" for one in these if not one.kernel)
        if kernels := sum(one.kernel for one in these):
            names = f"{type_id}.c_clip, {type_id}.numpy_*"
            yield f"    {names}: the C and NumPy kernels compute Clip ({kernels} of them; --json lists each)"
