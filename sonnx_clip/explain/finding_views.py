"""Each finding with its quotations and the answers of specification and runtimes: for every output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sonnx_clip.claims.all_claims import obligations_of_theorem
from sonnx_clip.explain.measured_record import CALL, OTHER_TYPE, questions_of
from sonnx_clip.language.printing import unparse
from sonnx_clip.language.show import show, show_bits
from sonnx_clip.language.values import encode
from sonnx_clip.root.stored import Stored
from sonnx_clip.spec.finding_witnesses import answers_of, refuted_result
from sonnx_clip.spec.findings import Contrast, Stands, Theorem, types_of_claim

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sonnx_clip.explain.measured_record import Measured, Question
    from sonnx_clip.language import ElementType, Value
    from sonnx_clip.language.types import Source
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.findings import Claim, FindingWitness, Side, SourceFinding

ANY_NAN = "any NaN"
NO_NUMBER = "nothing: a bound becomes no number of the type"

IN_TEXT = "Nothing to run: the text shows it."
NOT_RUN = "Not run: no measured runtime takes such bounds."
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
    """What a runtime did with a question in some forms: the bits of the record, `shown` in decimals."""

    runtime: str
    version: str
    forms: tuple[str, ...]
    bits: tuple[str, ...]
    shown: str


class WitnessView(Stored):
    """The numbers of a witness, what they show, the answers of the sources and of runtimes.

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
    """A part of a claim in words; as a formula with its types and obligations, if it is proved."""

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
    witnesses = tuple(_witness(spec, witness, record) for witness in entry.witnesses)
    severity: Literal["high", "medium", "low"] = "medium" if entry.theorems else "low"
    same = ("id", "title", "kind", "upstream", "found", "proposed")
    return FindingView(
        **{name: getattr(entry, name) for name in same},
        severity="high" if any(witness.runtimes_disagree for witness in witnesses) else severity,
        words=tuple(_words(spec, source) for source in entry.words),
        claim=tuple(_claim(spec, entry, part) for part in entry.claim),
        witnesses=witnesses,
        answered=any(reply.bits for witness in witnesses for reply in witness.replies),
    )


def _words(spec: Spec, source: Source) -> Words:
    page, quote = spec.page(source.page), " ".join(source.quote.split())
    return Words(page=page.id, title=page.title, file=page.file, section=source.section, quote=quote)


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
    etype, texts = spec.element_type(witness.type), witness.texts()
    own: set[str] = set()  # operands of which each side has a number of its own
    if isinstance(witness, Contrast):
        parties = tuple(_party(spec, witness, side, etype) for side in witness.answers)
        own = set.intersection(*(set(side.texts()) for side in witness.answers))
        how = " in their bits" if witness.compared == "bits" else ""
        first = parties[0].name
        shows = f"the answers differ from that of {first}{how}" if parties[1:] else f"{first} gives an answer"
    else:
        answer = number(refuted_result(spec, witness)[0], etype)
        parties = (Party(name="cases", note=None, bounds=None, answers=(answer,)),)
        shows = f"{witness.refutes} does not hold for the result that the cases give"
    numbers = ", ".join(
        f"{name} = {number(encode(texts[name], etype), etype)}" if name in texts else f"no {name}"
        for name in spec.head.operands
        if name in texts or name not in own
    )
    replies = tuple(_replies(record, questions_of(spec, witness), etype))
    answered = any(reply.bits for reply in replies)
    silence = "" if answered else REFUSED if witness.ask else NOT_RUN
    return WitnessView(
        type=etype.id, numbers=numbers, shows=shows, parties=parties, replies=replies, silence=silence
    )


def _lines(spec: Spec, witness: Stands) -> WitnessView:
    """The lines of a page that have a text."""
    page = spec.page(witness.page).file
    *others, last = map(str, witness.stands_at or ("",))
    lines = f"lines {', '.join(others)} and {last}" if others else f"line {last}"
    shows = f"occurs only in {lines} of {page}" if last else f"occurs in no line of {page}"
    return WitnessView(type=None, numbers=f"“{witness.text}”", shows=shows, silence=IN_TEXT)


def _party(spec: Spec, witness: Contrast, side: Side, etype: ElementType) -> Party:
    found, operands = answers_of(spec, witness, side), spec.head.operands
    values = [number(value, etype) for value in found.values] + [ANY_NAN] * found.any_nan
    own = side.texts() or witness.texts().keys() < set(operands)
    bounds = ", ".join(
        f"{name} = {side.texts()[name] if value is None else number(value, etype)}"
        for name, value in list(zip(operands, found.given, strict=True))[1:]
    )
    return Party(
        name=side.by, note=side.note, bounds=bounds if own else None, answers=tuple(values or [NO_NUMBER])
    )


def number(value: Value, etype: ElementType) -> str:
    """A value as a decimal, with its bits behind it."""
    return f"{show(value, etype)} ({show_bits(value, etype)})"


def _replies(record: Measured, wanted: Sequence[Question], etype: ElementType) -> Iterator[Reply]:
    """The answers to some questions; equal ones of a runtime are one reply."""
    together: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    for question in map(str, wanted):
        for answer in record.answers:
            if str(answer) == question:
                forms = together.setdefault((answer.runtime, answer.bits, answer.words or ""), [])
                forms += [answer.form] if answer.form != CALL else []
    for (runtime, bits, words), forms in together.items():
        rejected = words if words.startswith(OTHER_TYPE) else f"rejects: {words}"
        yield Reply(
            runtime=runtime,
            version=record.runtimes[runtime],
            forms=tuple(forms),
            bits=bits,
            shown=" or ".join(number(int(pattern, 16), etype) for pattern in bits) or rejected,
        )
