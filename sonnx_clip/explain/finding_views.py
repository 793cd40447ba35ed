"""Each finding with its quotations and the answers of specification and runtimes: for every output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sonnx_clip.claims.all_claims import obligations_of_theorem
from sonnx_clip.explain.measured_record import OTHER_TYPE
from sonnx_clip.explain.questions import CALL, asked_with
from sonnx_clip.language.printing import unparse
from sonnx_clip.language.show import show, show_bits
from sonnx_clip.language.values import encode
from sonnx_clip.root.stored import Stored
from sonnx_clip.spec.claims import types_of_claim
from sonnx_clip.spec.finding_answers import answers_of, refuted_result
from sonnx_clip.spec.findings import (
    Checked,
    Contrast,
    Lack,
    ManyTags,
    NoNumber,
    NotTaken,
    Overlap,
    Refutation,
    Rounded,
    SameStatement,
    SharedTag,
    Stands,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.explain.measured_record import Measured, MeasuredAnswer
    from sonnx_clip.explain.questions import Question
    from sonnx_clip.language import ElementType, Value
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import Claim, Computed, MeasuredWitness, Side, SourceFinding, Witness

ANY_NAN = "any NaN"

IN_TEXT = "Nothing to run: the text shows it."
ALIKE = "Nothing to run: two statements of the page are compared."
NO_SUCH_NUMBER = "Nothing to run: no tensor of the type can hold that number."
NOT_RUN = "Not run: only DirectML converts bounds this way."
REFUSED = "No runtime answered in the type of X; each row gives the reason."


class Words(Stored):
    """A quotation; `page`, `title` and `file` are those of the source."""

    page: str
    title: str
    file: str
    section: str
    quote: str


class Party(Stored):
    """Who answers and what: the answers as decimals with their bits, or ``any NaN``.

    `bounds` are those with which it answers, where they are its own.
    """

    name: str
    note: str | None
    bounds: str | None
    answers: tuple[str, ...]


class Reply(Stored):
    """What a runtime did with a question in one of its forms; bits as in the record, `shown` in decimals."""

    runtime: str
    version: str
    forms: tuple[str, ...]
    bits: tuple[str, ...]
    shown: str


class WitnessView(Stored):
    """The numbers of a witness, what they show in a sentence, who answers what, what runtimes do.

    `silence` says why no runtime answered; it is empty where one did.
    """

    type: str | None
    numbers: str
    shows: str
    parties: tuple[Party, ...] = ()
    replies: tuple[Reply, ...] = ()
    silence: str = ""

    @property
    def runtimes_disagree(self) -> bool:
        """Whether two runtimes, or two forms of a model in one, answered with different bits."""
        return len({bits for reply in self.replies for bits in reply.bits}) > 1


class ClaimView(Stored):
    """A part of a claim: in words, as a formula, and the obligations that show it.

    `formula` is None and there are no `obligations` where it is computed and not proved; `types` are those of
    which it speaks.
    """

    says: str
    formula: str | None = None
    types: tuple[str, ...] = ()
    obligations: tuple[str, ...] = ()


class FindingView(Stored):
    """A finding; `answered` is true if any runtime answered at one of its witnesses.

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
    answered: bool


def tell(spec: Spec, record: Measured) -> tuple[FindingView, ...]:
    """Every finding, in the order of the specification."""
    return tuple(_finding(spec, entry, record) for entry in spec.findings)


def _finding(spec: Spec, entry: SourceFinding, record: Measured) -> FindingView:
    witnesses = tuple(_witness(spec, entry.id, witness, record) for witness in entry.witnesses)
    return FindingView(
        id=entry.id,
        title=entry.title,
        kind=entry.kind,
        severity=_severity(entry, witnesses),
        upstream=entry.upstream,
        words=tuple(
            Words(
                page=source.page,
                title=spec.page(source.page).title,
                file=spec.page(source.page).file,
                section=source.section,
                quote=" ".join(source.quote.split()),
            )
            for source in entry.words
        ),
        found=entry.found,
        claim=tuple(_claim(spec, entry, part) for part in entry.claim),
        witnesses=witnesses,
        proposed=entry.proposed,
        answered=any(reply.bits for witness in witnesses for reply in witness.replies),
    )


def _severity(entry: SourceFinding, witnesses: tuple[WitnessView, ...]) -> Literal["high", "medium", "low"]:
    if any(witness.runtimes_disagree for witness in witnesses):
        return "high"
    return "medium" if entry.theorems else "low"


def _claim(spec: Spec, entry: SourceFinding, part: Claim) -> ClaimView:
    if isinstance(part, Checked):
        return ClaimView(says=part.says)
    return ClaimView(
        says=part.says,
        formula=unparse(part.holds),
        types=tuple(etype.id for etype in types_of_claim(spec, part)),
        obligations=obligations_of_theorem(spec, entry, part),
    )


def _witness(spec: Spec, finding: str, witness: Witness, record: Measured) -> WitnessView:
    match witness:
        case Contrast():
            etype = spec.element_type(witness.type)
            parties = tuple(_party(spec, witness, side, etype) for side in witness.answers)
            how = " in their bits" if witness.compared == "bits" else ""
            shows = f"the answers differ from that of {parties[0].name}{how}"
            return _asked(spec, finding, witness, record, shows, parties)
        case Refutation():
            y, _ = refuted_result(spec, witness)
            etype = spec.element_type(witness.type)
            shows = f"{witness.refutes} does not hold for the result that the cases give"
            cases = Party(name="cases", note=None, bounds=None, answers=(number(y, etype),))
            return _asked(spec, finding, witness, record, shows, (cases,))
        case NotTaken():
            where = witness.not_named
            shows = f"{witness.taken_by} takes {witness.type}; {where.section} does not name {where.quote}"
            return _asked(spec, finding, witness, record, shows, ())
        case Overlap():
            rows = " and ".join(
                f"{spec.case(id_).id} (the result is {spec.case(id_).result})" for id_ in witness.rows
            )
            shows = f"the conditions of two rows hold: {rows}"
            return _asked(spec, finding, witness, record, shows, ())
        case _:
            return _computed(spec, witness)


def _computed(spec: Spec, witness: Computed) -> WitnessView:
    """What is computed of the texts, the entries and the conversions, and asked of no runtime."""
    match witness:
        case Lack():
            shows = f"{witness.type} has no {witness.lacks}, a number of the example {witness.example}"
            return WitnessView(type=witness.type, numbers=witness.lacks, shows=shows, silence=NO_SUCH_NUMBER)
        case NoNumber():
            shows = f"{witness.dialect}: {witness.bound} becomes no number of {witness.type}"
            return _of_directml(witness.type, f"bound {witness.bound}", shows)
        case SharedTag():
            titles = " and ".join(f"{spec.constraint(id_).title} ({id_})" for id_ in witness.stands_for)
            return _of_text(witness.tag, f"[{witness.tag}] is {titles}")
        case Stands():
            page = spec.page(witness.page).file
            *others, last = map(str, witness.stands_at or ("",))
            lines = f"lines {', '.join(others)} and {last}" if others else f"line {last}"
            shows = f"occurs in no line of {page}"
            if witness.stands_at:
                ends = ", where the section ends" if witness.ends else ""
                shows = f"occurs only in {lines} of {page}{ends}"
            return _of_text(f"“{witness.text}”", shows)
        case SameStatement():
            shows = f"{witness.restriction} and {witness.same_as} hold for the same types of X, L, M and Y"
            numbers = f"{witness.restriction}, {witness.same_as}"
            return WitnessView(type=None, numbers=numbers, shows=shows, silence=ALIKE)
        case Rounded():
            shows = f"{witness.dialect}: {witness.written} becomes {witness.becomes}"
            return _of_directml(witness.type, f"bound {witness.written}", shows)
        case ManyTags():
            listed = ", ".join(f"[{tag}]" for tag in witness.numbered)
            title = spec.constraint(witness.constraint).title
            return _of_text(witness.constraint, f"{title} ({witness.constraint}) is {listed}")


def _of_text(numbers: str, shows: str) -> WitnessView:
    return WitnessView(type=None, numbers=numbers, shows=shows, silence=IN_TEXT)


def _of_directml(type_id: str, numbers: str, shows: str) -> WitnessView:
    return WitnessView(type=type_id, numbers=numbers, shows=shows, silence=NOT_RUN)


def _asked(
    spec: Spec,
    finding: str,
    witness: MeasuredWitness,
    record: Measured,
    shows: str,
    parties: tuple[Party, ...],
) -> WitnessView:
    etype = spec.element_type(witness.type)
    given = (("X", witness.X), ("L", witness.L), ("M", witness.M))
    numbers = ", ".join(
        f"{name} = {number(encode(text, etype), etype)}" if text is not None else f"no {name}"
        for name, text in given
    )
    replies = tuple(_replies(record, asked_with(spec, finding, witness), etype))
    return WitnessView(
        type=etype.id,
        numbers=numbers,
        shows=shows,
        parties=parties,
        replies=replies,
        silence="" if any(reply.bits for reply in replies) else REFUSED,
    )


def _why_not(words: str) -> str:
    """What a runtime did instead: an answer in another type is no refusal."""
    return words if words.startswith(OTHER_TYPE) else f"rejects: {words}"


def _party(spec: Spec, witness: Contrast, side: Side, etype: ElementType) -> Party:
    found = answers_of(spec, witness, side)
    told = [number(value, etype) for value in found.values] + [ANY_NAN] * found.any_nan
    own = side.L is not None or side.M is not None or witness.L is None or witness.M is None
    bounds = ", ".join(
        f"{name} = {number(value, etype)}" for name, value in zip("LM", found.bounds, strict=True)
    )
    return Party(name=side.by, note=side.note, bounds=bounds if own else None, answers=tuple(told))


def number(value: Value, etype: ElementType) -> str:
    """A value as a decimal, with its bits behind it."""
    return f"{show(value, etype)} ({show_bits(value, etype)})"


def _replies(record: Measured, wanted: Sequence[Question], etype: ElementType) -> Iterator[Reply]:
    """The answers to some questions; those of a runtime that are the same are reported together."""
    together: dict[tuple[str, tuple[str, ...], str | None], list[MeasuredAnswer]] = {}
    for question in wanted:
        for answer in record.answers:
            if answer.question == question:
                together.setdefault((answer.runtime, answer.bits, answer.words), []).append(answer)
    for (runtime, bits, words), answers in together.items():
        shown = " or ".join(number(int(pattern, 16), etype) for pattern in bits)
        yield Reply(
            runtime=runtime,
            version=answers[0].version,
            forms=tuple(answer.form for answer in answers if answer.form != CALL),
            bits=bits,
            shown=shown or _why_not(words or ""),
        )
