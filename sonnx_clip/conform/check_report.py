"""The report of the checker, as it is stored (format 3).

A bit pattern is hex text with all its digits, ``0x7fc00000``. A comparison is one entry of one call.
"""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Self,
    TypeAlias,
    TypeVar,
    get_args,
)

from pydantic import AfterValidator, ConfigDict, Field

from sonnx_clip.conform.verdict_table import FAILING, Verdict
from sonnx_clip.contexts.context_report import FAILING_IN_CONTEXT, ContextReport
from sonnx_clip.root.bit_pattern import BitPattern
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.stored import Stored
from sonnx_clip.runtimes.find_runtime import require_ascii
from sonnx_clip.runtimes.model_forms import ModelForm

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.conform.units import Raised
    from sonnx_clip.root.signature import Signature

_T = TypeVar("_T", int, "Count", "Raised")

Stop: TypeAlias = tuple[Verdict, str]
"""Why judging ended early (``crashed``, ``environment``, ``unsupported``, ``unfinished``), and the words."""

DeviationKind: TypeAlias = Literal["crashed", "violates", "raises", "acceptable"]
"""The worst first."""
DEVIATION_KINDS: tuple[DeviationKind, ...] = get_args(DeviationKind)


class Deviation(Stored):
    """The first deviation of a kind in a class, and the call that shows it.

    Args:
        operands: bits by name, at the entry that deviates; the dialect's default if the model lacks a bound.
        got: None if the call gave no result that can be compared; `words` is then the reason.
        shown: the operands that the call has, result and expected result in decimals, on one line.
        latitude: the latitude that accepts the result, of kind ``acceptable``.
        length: entries of X in the call.
        entries: the bits of each tensor of the call, repeated up to `length`.
        entry: the index of the entry that deviates.
        following: the scalars of the next call, if that call overwrites the result.
        form: of the model that was called, if one was.
        explanation: what gives every answer in the class, right ones included; None if that is not known.
        allowed_by: the readings that allow all of them, if readings are the explanation.
        reproduce: one line of Python that makes the call; empty if no line shows the deviation.
        alone_is_right: whether the entry alone, in a call of length 1, gives the expected result.
    """

    kind: DeviationKind
    operands: dict[str, BitPattern]
    expected: BitPattern
    got: BitPattern | None
    shown: str
    words: str | None = None
    latitude: str | None = None
    layout: str
    length: int
    entries: tuple[tuple[BitPattern, ...], ...]
    entry: int = 0
    following: tuple[BitPattern, ...] = ()
    form: ModelForm | None = None
    explanation: str | None = None
    allowed_by: tuple[str, ...] = ()
    reproduce: str = ""
    alone_is_right: bool = False

    @property
    def reason(self) -> str:
        """Why it deviates, in words; empty if nothing is known."""
        if self.alone_is_right:
            return "; ".join(filter(None, (self.explanation, self.words)))
        return self.words or self.explanation or ""

    @property
    def key(self) -> str:
        """The latitude, or the kind: a class has one deviation of each."""
        return self.latitude or self.kind

    def environment(self, signature: Signature) -> dict[str, int] | None:
        """Bits of the operands and of the result, to evaluate a condition; None without a result."""
        if self.got is None:
            return None
        # The operands are in the order of the signature, which names the result last.
        bits = (*self.operands.values(), self.got)
        return dict(zip(signature.all_ids, bits, strict=True))


class PlacedDeviation(NamedTuple):
    """A deviation with its element type, its class (or C1, C3), and its form of a model in words, if any."""

    etype: str
    class_id: str
    form: str
    deviation: Deviation


class Sum(Stored):
    """Counts that can be added, field by field; of deviations with one key, and of words, the first stay."""

    # The tally counts in place, result by result; what is stored of it changes no more.
    model_config = ConfigDict(frozen=False)

    def __add__(self, other: Self) -> Self:
        """The sum."""
        fields = {}
        for name in type(self).model_fields:
            fields[name] = _added(getattr(self, name), getattr(other, name))
        return type(self)(**fields)


def _added(one: Any, other: Any) -> Any:
    match one:
        case bool():  # before int: a bool is an int of Python
            # `Raised.refusal`: every exception has to be a rejection.
            return one and other
        case int():
            return one + other
        case dict():
            return added(one, other)
        case tuple():  # the deviations of a `Count`
            known = {deviation.key for deviation in one}
            more = [deviation for deviation in other if deviation.key not in known]
            return (*one, *more)
        case _:  # words, or None
            return one or other


def added(first: Mapping[str, _T], second: Mapping[str, _T]) -> dict[str, _T]:
    """Sums by key."""
    sums = dict(first)
    for key, value in second.items():
        sums[key] = first[key] + value if key in first else value
    return sums


class Extent(Sum):
    """How much was done for one purpose: calls that were planned, and those that gave a result to judge."""

    planned: int = 0
    judged: int = 0


class Count(Sum):
    """Counts in a class, in entries, or for the shape (C1) or the type (C3) of results, in calls.

    Args:
        compared: results that were judged.
        violating: results that no latitude accepts.
        raised: results missing because a call raised, unless its form is refused as a whole.
        refused: calls in forms that are refused as a whole; of a class, only if nothing was compared.
        died: calls in which the runtime died.
        latitude: results that each latitude accepts.
        words: the runtime's first words where it gave no result.
        deviations: the first of each kind and latitude.
    """

    compared: int = 0
    violating: int = 0
    raised: int = 0
    refused: int = 0
    died: int = 0
    latitude: dict[str, int] = Field(default_factory=dict)
    words: str | None = None
    deviations: tuple[Deviation, ...] = ()


class ClassReport(Count):
    """The count and the verdict of a class, or of C1 or C3, which have no case; the worst deviation first."""

    id: str
    case: str | None
    verdict: Verdict


class ReadingMatch(Stored):
    """The readings of Clip that allow the answers of a runtime in one element type.

    Args:
        answers: how many were compared with the readings.
        allowed_by: the readings that allow every answer.
        exactly: those of them that allow no other answer to the same inputs.
        nearest: the reading that allows the most answers that deviate, if none allows all answers.
        left: how many answers that deviate `nearest` does not allow.
        left_in: the classes of these.
        explained_by: what gives every answer, if no reading does: see `explanations.explained`.
    """

    answers: int
    allowed_by: tuple[str, ...]
    exactly: tuple[str, ...]
    nearest: str | None = None
    left: int = 0
    left_in: tuple[str, ...] = ()
    explained_by: str | None = None


class Refusal(Stored):
    """Calls that a runtime refused in forms and layouts that it serves.

    Args:
        condition: exactly when it refuses, in the language of the specification or in words; None if no
            condition is known.
        words: the runtime's first words.
        is_refusal: whether every exception may be a rejection; an AssertionError, for example, is none.
        refused: the calls that it refused.
        calls: all calls in these forms and layouts.
        example: the call with the simplest operands among those that it refused.
    """

    condition: str | None
    words: str
    is_refusal: bool = True
    refused: int
    calls: int
    example: Deviation


class FormReport(Stored):
    """One form of a model; the calls are the same in every form.

    Args:
        form: the form.
        verdict: the worst of its classes, or ``refused``.
        words: the runtime's, if the form is refused as a whole or fails.
        classes: those that do not conform; empty where the form is refused as a whole.
        deviations: the first of each class in which the forms differ.
        tried: the calls for each purpose, see `extent.PURPOSES`.
    """

    form: ModelForm
    verdict: Verdict
    compared: int
    calls: int
    words: str | None = None
    classes: dict[str, Verdict] = Field(default_factory=dict)
    deviations: dict[str, Deviation] = Field(default_factory=dict)
    tried: dict[str, Extent] = Field(default_factory=dict)

    def verdict_of(self, id_: str) -> Verdict:
        """The verdict of a class."""
        if self.verdict == "refused":
            return "refused"
        return self.classes.get(id_, "conforms")


class TypeReport(Stored):
    """One element type.

    Args:
        compared: results of calls outside of forms of a model, as all counts.
        tried: the calls for each purpose, see `extent.PURPOSES`.
        refusal: calls that were refused in layouts that are served; None if none was.
        words: the runtime's own if the type is unsupported or crashed.
        refused_layouts: by layout that is refused as a whole, the words of the runtime.
        remarks: observations beside the results.
        unasked: calls that the runtime cannot be given, in words.
        longest: the most entries that it takes; None for no limit.
        few: whether few calls were made.
        classes: their verdicts take the forms of a model into account.
        readings: None if no answers were compared.
        forms: the forms of a model that were judged; None if the runtime opens no models.
        unfinished: what an interrupt left unjudged; None if nothing.
        contexts: the contexts in which it was asked; they do not change the verdict.
    """

    type: str
    verdict: Verdict
    compared: int
    words: str | None = None
    refused_layouts: dict[str, str] = Field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    calls: int = 0
    unasked: tuple[str, ...] = ()
    longest: int | None = None
    few: bool = False
    classes: tuple[ClassReport, ...]
    readings: ReadingMatch | None = None
    forms: tuple[FormReport, ...] | None = None
    unfinished: str | None = None
    tried: dict[str, Extent] = Field(default_factory=dict)
    refusal: Refusal | None = None
    contexts: tuple[ContextReport, ...] = ()

    @property
    def served_forms(self) -> tuple[FormReport, ...]:
        """The forms that the runtime does not refuse."""
        return tuple(form for form in self.forms or () if form.verdict != "refused")

    @property
    def serves_forms_only(self) -> bool:
        """Whether it refused all calls but those in some forms of a model, as if bounds must be constants."""
        is_refused = self.compared == 0 and any(report.refused for report in self.classes)
        return is_refused and bool(self.served_forms)

    @property
    def has_blind_forms(self) -> bool:
        """Whether it opens models, and nothing was compared in any form of one."""
        # Where no other call gave a result either, the verdict of the type says so.
        if self.forms is None or self.compared == 0:
            return False
        return not any(form.compared for form in self.forms)


def _name_in_ascii(name: str) -> str:
    try:
        require_ascii(name)
    except UserError as error:
        # pydantic reports a ValueError as a mistake in this field; another error would pass through it.
        raise ValueError(error.what) from None
    return name


class Report(Stored):
    """A run: one runtime, several element types.

    Args:
        code_sha256: digest of the code that was judged, if it is our own.
        kept: element types whose verdicts come from a cache, each with the time when they were made.
        required: element types in which ``unsupported`` is a failure.
        scope: what was compared, and the blind spots.
        dialect: the version of ONNX's Clip that it was compared with; empty for SONNX's.
    """

    format: Literal[3] = 3
    tool: str
    spec_sha256: str
    runtime: Annotated[str, AfterValidator(_name_in_ascii)]
    runtime_version: str
    code_sha256: str | None = None
    python: str
    numpy: str
    machine: str
    policy: Literal["default", "strict"]
    level: Literal["quick", "standard", "exhaustive"] = "quick"
    seconds: float
    types: tuple[TypeReport, ...]
    kept: dict[str, str] = Field(default_factory=dict)
    required: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    dialect: str = ""

    @property
    def compared(self) -> int:
        """How many results were compared in all, those of forms of a model included."""
        compared = 0
        for report in self.types:
            compared += report.compared
            if not self.dialect:  # of a dialect, the counts of classes are those of the forms
                compared += sum(form.compared for form in report.forms or ())
        return compared

    @property
    def deviations(self) -> Iterator[PlacedDeviation]:
        """Every deviation, with its place."""
        for report in self.types:
            for klass in report.classes:
                for deviation in klass.deviations:
                    yield PlacedDeviation(report.type, klass.id, "", deviation)
            for form in report.forms or ():
                for class_id, deviation in form.deviations.items():
                    yield PlacedDeviation(report.type, class_id, str(form.form), deviation)

    @property
    def failed(self) -> bool:
        """Whether a class or a context fails, a required type is unsupported, or nothing was compared."""
        # A runtime that refuses everything conforms in nothing.
        if self.compared == 0:
            return True
        for report in self.types:
            if report.verdict == "unsupported" and report.type in self.required:
                return True
            # An optimiser that refuses every model would pass by its other calls.
            if report.has_blind_forms:
                return True
            if any(klass.verdict in FAILING for klass in report.classes):
                return True
            if any(context.verdict in FAILING_IN_CONTEXT for context in report.contexts):
                return True
        return False

    @property
    def environment(self) -> dict[str, str]:
        """The element types without a verdict on the runtime, and what the machine lacks."""
        return {
            report.type: report.words or ""
            for report in self.types
            if report.verdict == "environment"
        }

    @property
    def unfinished(self) -> dict[str, str]:
        """The element types in which an interrupt left something unjudged, each with what."""
        return {
            report.type: report.unfinished for report in self.types if report.unfinished is not None
        }
