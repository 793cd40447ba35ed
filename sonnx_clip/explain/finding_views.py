"""Each finding with its quotations and the answers of specification and runtimes: for every output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sonnx_clip.claims.all_claims import obligations_of_theorem
from sonnx_clip.explain.measured_record import CALL, OTHER_TYPE, questions_of
from sonnx_clip.language.printing import unparse
from sonnx_clip.language.show import show, show_bits
from sonnx_clip.language.values import encode
from sonnx_clip.root.stored import Stored
from sonnx_clip.root.terminal import listed
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
NO_NUMBER = "no result (a bound has no value in the type)"

IN_TEXT = "Nothing to run: the text itself shows it."
NOT_RUN = "Not run: no measured runtime takes such bounds."
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
    bits: tuple[str, ...] = ()


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
        return len({bits for row in self.rows for bits in row.bits}) > 1


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
    disagree = any(witness.runtimes_disagree for witness in witnesses)
    same = ("id", "title", "kind", "upstream", "found", "proposed")
    return FindingView(
        **{name: getattr(entry, name) for name in same},
        severity="high" if disagree else "medium" if entry.theorems else "low",
        words=tuple(words_of(spec, source) for source in entry.words),
        claim=tuple(_claim(spec, entry, part) for part in entry.claim),
        witnesses=witnesses,
    )


def words_of(spec: Spec, source: Source) -> Words:
    """What a source states."""
    page, quote = spec.page(source.page), " ".join(source.words.split())
    return Words(
        page=page.id, title=page.title, file=page.place, section=source.section, quote=quote,
        cited=page.cites is not None,
    )  # fmt: skip


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
        rows = tuple(_side(spec, witness, side, etype) for side in witness.answers)
        own = set.intersection(*(set(side.texts()) for side in witness.answers))
        how = " in their bits" if witness.compared == "bits" else ""
        first = rows[0].by
        shows = (
            f"the answers differ from that of {first}{how}"
            if rows[1:]
            else f"{first} gives an answer"
        )
    else:
        answer = number(refuted_result(spec, witness)[0], etype)
        rows = (AnswerRow(by="cases", notes="", answers=(answer,)),)
        shows = f"{witness.refutes} does not hold for the result that the cases give"
    numbers = ", ".join(
        f"{name} = {number(encode(texts[name], etype), etype)}" if name in texts else f"no {name}"
        for name in spec.signature.ids
        if name in texts or name not in own
    )
    measured = tuple(_measured(record, questions_of(spec, witness), etype))
    silence = "" if any(row.bits for row in measured) else REFUSED if witness.ask else NOT_RUN
    return WitnessView(
        type=etype.id, numbers=numbers, shows=shows, rows=(*rows, *measured), silence=silence
    )


def _lines(spec: Spec, witness: Stands) -> WitnessView:
    """The lines of a page that have a text."""
    page = spec.page(witness.page).file
    at = [str(line) for line in witness.stands_at or ()]
    where = f"only in line{'s' * (len(at) > 1)} {listed(at)}" if at else "in no line"
    shows = f"occurs {where} of {page}"
    return WitnessView(type=None, numbers=f"“{witness.text}”", shows=shows, silence=IN_TEXT)


def _side(spec: Spec, witness: Contrast, side: Side, etype: ElementType) -> AnswerRow:
    found, operands = answers_of(spec, witness, side), spec.signature.ids
    values = [number(value, etype) for value in found.values] + [ANY_NAN] * found.any_nan
    notes = [side.note] if side.note else []
    if side.texts() or witness.texts().keys() < set(operands):
        bounds = list(zip(operands, found.given, strict=True))[1:]
        notes += [
            ", ".join(
                f"{n} = {side.texts()[n] if v is None else number(v, etype)}" for n, v in bounds
            )
        ]
    return AnswerRow(by=side.by, notes="; ".join(notes), answers=tuple(values or [NO_NUMBER]))


def number(value: Value, etype: ElementType) -> str:
    """A value as a decimal, followed by its bits."""
    return f"{show(value, etype)} ({show_bits(value, etype)})"


def _measured(
    record: Measured, wanted: Sequence[Question], etype: ElementType
) -> Iterator[AnswerRow]:
    """The answers of runtimes to some questions; equal ones of a runtime are one row."""
    together: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    for question in map(str, wanted):
        for answer in record.answers:
            if str(answer) == question:
                forms = together.setdefault((answer.runtime, answer.bits, answer.words or ""), [])
                forms += [answer.form] if answer.form != CALL else []
    for (runtime, bits, words), forms in together.items():
        numbers = tuple(number(int(pattern, 16), etype) for pattern in bits)
        rejected = words if words.startswith(OTHER_TYPE) else f"rejects: {words}"
        yield AnswerRow(
            by=runtime, version=record.runtimes[runtime], notes=", ".join(forms), bits=bits,
            answers=numbers or (rejected,),
        )  # fmt: skip
