"""Each finding with its quotations and the answers of specification and runtimes: for every output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sonnx_clip.claims.all_claims import obligations_of_theorem
from sonnx_clip.explain.measured_record import CALL, OTHER_TYPE, is_in_spec, questions_of
from sonnx_clip.language.printing import unparse
from sonnx_clip.language.show import show, show_bits
from sonnx_clip.language.values import encode
from sonnx_clip.root.bit_pattern import BitPattern
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.terminal import listed
from sonnx_clip.spec.finding_witnesses import refuted_result, side_answers
from sonnx_clip.spec.findings import Contrast, Stands, Theorem, asked_forms, types_of_claim

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.explain.measured_record import Measured, Question
    from sonnx_clip.language import ElementType, Value
    from sonnx_clip.language.types import Source
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import Claim, FindingWitness, MeasuredWitness, Side, SourceFinding

ANY_NAN = "any NaN"
NO_NUMBER = "no result (a bound has no value in the type)"

IN_TEXT = "Nothing to run: the text itself shows it."
NOT_RUN = "Not run: no measured runtime takes such bounds."
NOT_IN_SPEC = "Not run: `findings --measure` asks about the operators of spec/."
REFUSED = "No runtime answered in the type of X; each row gives the reason."


class Words(Stored):
    """A quotation; or a fact, where a source is only `cited`. `page`, `title` and `file` are the source's."""

    page: str
    title: str
    file: str
    section: str
    quote: str
    cited: bool = False


class AnswerRow(Stored):
    """The answers of a reading, a dialect or a runtime, as decimals with their bits, or in words.

    A runtime has a `version`, and the `bits` that it returned. `notes` are the forms of its model, or the
    bounds with which a dialect answers, where they are its own.
    """

    by: str
    version: str | None = None
    notes: str
    answers: tuple[str, ...]
    bits: tuple[BitPattern, ...] = ()


class WitnessView(Stored):
    """The numbers of a witness, what they show, the answers of the sources and of runtimes.

    `silence` is the reason why no runtime answered; it is empty where one did.
    """

    type: str | None
    numbers: str
    shows: str
    rows: tuple[AnswerRow, ...] = ()
    silence: str = ""

    @property
    def runtimes_disagree(self) -> bool:
        """Whether two implementations (ours included) or two forms of a model gave different bits."""
        distinct: set[BitPattern] = set()
        for row in self.rows:
            distinct.update(row.bits)
        return len(distinct) > 1


class ClaimView(Stored):
    """A part of a claim in words; as a formula with its types and obligations, if it is proved."""

    says: str
    formula: str | None = None
    types: tuple[str, ...] = ()
    obligations: tuple[str, ...] = ()


class FindingView(Stored):
    """A finding.

    `severity` is high where runtimes answered a witness with different bits, medium where the claim concerns
    results, low where it concerns the text alone; `upstream` is what the authors of the source did about it.
    """

    id: str
    title: str
    kind: Literal["defect", "ambiguity", "gap"]
    severity: Literal["high", "medium", "low"]
    upstream: str | None
    words: tuple[Words, ...]
    found: str
    claim: tuple[ClaimView, ...]
    witnesses: tuple[WitnessView, ...]
    proposed: str


def tell(spec: Spec, record: Measured) -> tuple[FindingView, ...]:
    """Every finding, in the order of the specification."""
    return tuple(_finding(spec, entry, record) for entry in spec.findings)


def _finding(spec: Spec, entry: SourceFinding, record: Measured) -> FindingView:
    witnesses = tuple(_witness(spec, witness, record) for witness in entry.witnesses)
    severity: Literal["high", "medium", "low"] = "medium" if entry.theorems else "low"
    if any(witness.runtimes_disagree for witness in witnesses):
        # The highest comes last, since runtimes may disagree where the claim is about the text
        # alone.
        severity = "high"
    return FindingView(
        id=entry.id,
        title=entry.title,
        kind=entry.kind,
        severity=severity,
        upstream=entry.upstream,
        words=tuple(quoted_words(spec, source) for source in entry.words),
        found=entry.found,
        claim=tuple(_claim(spec, entry, part) for part in entry.claim),
        witnesses=witnesses,
        proposed=entry.proposed,
    )


def quoted_words(spec: Spec, source: Source) -> Words:
    """What a source states."""
    page = spec.page(source.page)
    return Words(
        page=page.id,
        title=page.title,
        file=page.place,
        section=source.section,
        quote=" ".join(source.words.split()),
        cited=page.cites is not None,
    )


def _claim(spec: Spec, entry: SourceFinding, part: Claim) -> ClaimView:
    if not isinstance(part, Theorem):
        return ClaimView(says=part.says)
    return ClaimView(
        says=part.says,
        formula=unparse(part.holds),
        types=tuple(etype.id for etype in types_of_claim(spec, part)),
        obligations=obligations_of_theorem(spec, entry, part),
    )


def _witness(spec: Spec, witness: FindingWitness, record: Measured) -> WitnessView:
    if isinstance(witness, Stands):
        return _lines(spec, witness)
    etype = spec.element_type(witness.type)
    own: set[str] = set()  # operands of which each side has a number of its own
    if isinstance(witness, Contrast):
        rows = tuple(_side(spec, witness, side, etype) for side in witness.answers)
        own = set(spec.signature.ids)
        for side in witness.answers:
            own &= side.texts().keys()
        shows = _contrast_words(witness, rows)
    else:
        result, *_ = refuted_result(spec, witness)
        shown = number_with_bits(result, etype)
        rows = (AnswerRow(by="cases", notes="", answers=(shown,)),)
        shows = f"{witness.refutes} does not hold for the result that the cases give"

    # An operand that neither the witness nor each side has is missing in the call.
    texts = witness.texts()
    numbers = []
    for name in spec.signature.ids:
        if name in texts:
            value = encode(texts[name], etype)
            numbers.append(f"{name} = {number_with_bits(value, etype)}")
        elif name not in own:
            numbers.append(f"no {name}")

    questions = questions_of(spec, witness)
    measured = tuple(_measured(record, questions, etype))
    silence = ""
    if not any(row.bits for row in measured):
        silence = _silence(spec, witness)
    return WitnessView(
        type=etype.id,
        numbers=", ".join(numbers),
        shows=shows,
        rows=(*rows, *measured),
        silence=silence,
    )


def _silence(spec: Spec, witness: MeasuredWitness) -> str:
    """Why no runtime answered."""
    if not is_in_spec(spec):
        return NOT_IN_SPEC
    # Where a runtime was asked and none has an answer, all of them refused.
    return REFUSED if asked_forms(spec, witness) else NOT_RUN


def _contrast_words(witness: Contrast, rows: Sequence[AnswerRow]) -> str:
    """What the answers of the sides show."""
    first, *others = rows
    if not others:
        return f"{first.by} gives an answer"
    aspect = " in their bits" if witness.compared == "bits" else ""
    return f"the answers differ from that of {first.by}{aspect}"


def _lines(spec: Spec, witness: Stands) -> WitnessView:
    """The lines of a page that have a text."""
    page = spec.page(witness.page).file
    # No line is a claim too: that a word does not occur on the page.
    numbers = list(map(str, witness.stands_at or ()))
    if not numbers:
        where = "in no line"
    elif len(numbers) == 1:
        where = f"only in line {listed(numbers)}"
    else:
        where = f"only in lines {listed(numbers)}"
    shows = f"occurs {where} of {page}"
    return WitnessView(type=None, numbers=f"“{witness.text}”", shows=shows, silence=IN_TEXT)


def _side(spec: Spec, witness: Contrast, side: Side, etype: ElementType) -> AnswerRow:
    answer = side_answers(spec, witness, side)
    values = [number_with_bits(value, etype) for value in answer.values]
    if answer.any_nan:
        values.append(ANY_NAN)

    notes = [side.note] if side.note else []
    operands = spec.signature.ids
    own_texts = side.texts()
    # Where the witness has every operand, its own line has the bounds already.
    if own_texts or witness.texts().keys() < set(operands):
        # All but the first operand, which is a number of the witness.
        bounds = []
        _, *scalars = zip(operands, answer.given, strict=True)
        for name, value in scalars:
            # A bound that becomes no number stands as it is written.
            shown = own_texts[name] if value is None else number_with_bits(value, etype)
            bounds.append(f"{name} = {shown}")
        notes.append(", ".join(bounds))
    return AnswerRow(
        by=side.by,
        notes="; ".join(notes),
        answers=tuple(values or [NO_NUMBER]),
    )


def number_with_bits(value: Value, etype: ElementType) -> str:
    """A value as a decimal, followed by its bits."""
    return f"{show(value, etype)} ({show_bits(value, etype)})"


def _measured(
    record: Measured, questions: Sequence[Question], etype: ElementType
) -> Iterator[AnswerRow]:
    """The answers of runtimes to some questions; equal ones of a runtime are one row."""
    # The forms of the model by the runtime, its bits and its words.
    forms: dict[tuple[str, tuple[BitPattern, ...], str], list[str]] = {}
    for question in questions:
        for answer in record.answers:
            if not question.is_answered_by(answer):
                continue
            row = (answer.runtime, answer.bits, answer.words or "")
            forms_of_row = forms.setdefault(row, [])
            if answer.form != CALL:  # a call has no model whose form could matter
                forms_of_row.append(answer.form)

    for (runtime, bits, rejection), forms_of_row in forms.items():
        if bits:
            answers = tuple(number_with_bits(pattern, etype) for pattern in bits)
        elif rejection.startswith(OTHER_TYPE):
            answers = (rejection,)
        else:
            answers = (f"rejects: {rejection}",)
        yield AnswerRow(
            by=runtime,
            version=record.runtimes[runtime],
            notes=", ".join(forms_of_row),
            bits=bits,
            answers=answers,
        )
