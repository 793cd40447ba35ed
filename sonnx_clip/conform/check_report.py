"""What a run of the checker found, in the form in which it is stored (format 3).

A bit pattern is hex text with all its digits, ``0x7fc00000``. A comparison is one entry of one call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, ConfigDict, Field

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.stored import Stored
from sonnx_clip.runtimes.find_runtime import require_ascii
from sonnx_clip.runtimes.model_forms import ModelForm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.conform.results import Raised
    from sonnx_clip.language.scope import Head

_T = TypeVar("_T", int, "Count", "Raised")

Verdict: TypeAlias = Literal[
    "conforms",
    "acceptable",
    "violates",
    "depends",
    "refused",
    "unsupported",
    "crashed",
    "unreached",
    "environment",
    "unfinished",
]
"""What a runtime gets for a class; ``unreached`` says that the run compared nothing in it and has failed,
``environment`` that the machine lacks what the runtime needs, so that nothing follows for the runtime,
``depends`` that it is wrong in some forms of a model and not, or otherwise, in others, ``unfinished`` that
the run was interrupted before all calls were made, and nothing wrong was found in those that were."""

Stop: TypeAlias = tuple[Verdict, str]
"""Why judging ended early, ``crashed`` or ``environment``, and in which words."""

FAILING: frozenset[Verdict] = frozenset(
    {"violates", "depends", "crashed", "unreached", "environment", "unfinished"}
)


DeviationKind: TypeAlias = Literal["violates", "acceptable", "raises", "crashed"]

DEVIATION_KINDS: tuple[DeviationKind, ...] = ("crashed", "violates", "raises", "acceptable")
"""The worst first."""


Bits: TypeAlias = Annotated[str, Field(pattern="^0x[0-9a-f]+$")]


class Deviation(Stored):
    """The first deviation of a kind in a class, and the call in which it was found.

    `operands` are bits by name at the entry that deviates. `got` is None where there was no result to read;
    `words` says then what there was instead: ``raises`` is the kind of a call that raised, ``crashed`` of one
    of which the runtime died. The call has X of `length` entries in a layout, in a `form` if it was one of a
    model: `entries` are the bits of each tensor, which recur, and `entry` is the place that deviates;
    `following` are the scalars of the next call, where that changes the result. `reproduce` is one line of
    Python that makes the call, empty where none shows the deviation.
    """

    kind: DeviationKind
    operands: dict[str, Bits]
    expected: Bits
    got: Bits | None
    shown: str
    words: str | None = None
    latitude: str | None = None
    layout: str
    length: int
    entries: tuple[tuple[Bits, ...], ...]
    entry: int = 0
    following: tuple[Bits, ...] = ()
    form: ModelForm | None = None
    explanation: str | None = None
    reproduce: str = ""

    @property
    def key(self) -> str:
        """The latitude, or the kind."""
        return self.latitude or self.kind

    def environment(self, head: Head) -> dict[str, int] | None:
        """The bits of the operands and of the answer, for a condition; None without an answer."""
        if self.got is None:
            return None
        given = [int(text, 16) for text in (*self.operands.values(), self.got)]
        return dict(zip(head.all, given, strict=True))


class Count(Stored):
    """What was counted in a class, in entries, or for the shape (C1) or the type (C3) of results, in calls.

    Args:
        compared: results that were judged.
        violating: results that no latitude accepts.
        raised: results missing because a call raised, unless its form is refused as a whole.
        refused: calls in forms that are refused as a whole; of a class, only if nothing was compared.
        died: calls of which the runtime died.
        latitude: results that each latitude accepts.
        words: the first words of the runtime, where it gave no result.
        deviations: the first of each kind and latitude.
    """

    model_config = ConfigDict(frozen=False)

    compared: int = 0
    violating: int = 0
    raised: int = 0
    refused: int = 0
    died: int = 0
    latitude: dict[str, int] = Field(default_factory=dict)
    words: str | None = None
    deviations: tuple[Deviation, ...] = ()

    def __add__(self, other: Count) -> Count:
        """The sum; the deviations of this one come first."""
        known = {found.key for found in self.deviations}
        return Count(
            compared=self.compared + other.compared,
            violating=self.violating + other.violating,
            raised=self.raised + other.raised,
            refused=self.refused + other.refused,
            died=self.died + other.died,
            latitude=added(self.latitude, other.latitude),
            words=self.words or other.words,
            deviations=(*self.deviations, *(d for d in other.deviations if d.key not in known)),
        )


class ClassReport(Count):
    """The count and the verdict of a class, or of C1 or C3, which have no case; the worst deviation first."""

    id: str
    case: str | None
    verdict: Verdict


def added(first: Mapping[str, _T], second: Mapping[str, _T]) -> dict[str, _T]:
    """Sums by key."""
    return {**first, **{key: first[key] + one if key in first else one for key, one in second.items()}}


class ReadingMatch(Stored):
    """What the readings of Clip say to answers of a runtime in one element type.

    `allowed_by` are the readings that allow every answer, `exactly` those that allow no other for the same
    inputs. Where no reading does, `nearest` is the one that allows the most; it does not allow `left` of
    them, which lie in the classes `left_in`; `explained_by` are the words of what gives all of them, of
    `explanations.explained`, or all but those to an X of rank 0, if something was found.
    """

    answers: int
    allowed_by: tuple[str, ...]
    exactly: tuple[str, ...]
    nearest: str | None = None
    left: int = 0
    left_in: tuple[str, ...] = ()
    explained_by: str | None = None


class FormReport(Stored):
    """What came of one form of a model, in calls that are the same in every form.

    The verdict is the worst of the classes; `classes` are those that do not conform, empty where the form is
    refused as a whole, in the `words` of the runtime. `deviations` are the first of each class in which forms
    differ.
    """

    form: ModelForm
    verdict: Verdict
    compared: int
    calls: int
    words: str | None = None
    classes: dict[str, Verdict] = Field(default_factory=dict)
    deviations: dict[str, Deviation] = Field(default_factory=dict)

    def verdict_of(self, id_: str) -> Verdict:
        """The verdict of a class."""
        return "refused" if self.verdict == "refused" else self.classes.get(id_, "conforms")


class TypeReport(Stored):
    """One element type. `words` are the runtime's own when it is unsupported or crashed.

    `refused_layouts` are the words with which it refuses a whole layout, `remarks` what was noticed beside
    the results, `calls` how many were made, `unasked` what the runtime cannot be asked,
    `longest` the most entries that it takes, None where there is no limit, `few` whether few calls were
    made since each started a program. `readings` is None where no
    answers were compared, and in reports of older versions. `forms` are the forms of a model that were
    judged, None of a runtime that opens no models: the verdict of a class takes those of the forms into
    account, all counts are without them. `unfinished` says what was not judged before the run was
    interrupted, None if all was.
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

    @property
    def served_forms(self) -> tuple[FormReport, ...]:
        """The forms that the runtime does not refuse."""
        return tuple(found for found in self.forms or () if found.verdict != "refused")

    @property
    def has_blind_forms(self) -> bool:
        """Whether it opens models, and nothing was compared in any form of one."""
        return self.forms is not None and self.compared > 0 and not any(form.compared for form in self.forms)


def _name_in_ascii(name: str) -> str:
    try:
        require_ascii(name)
    except UserError as error:
        raise ValueError(error.what) from None
    return name


class Report(Stored):
    """A run: one runtime, several element types.

    `code_sha256` is of the code that was judged, where it is our own. `kept` says of which element types the
    verdicts were taken over from an earlier run under the same conditions, and when that was; `required`
    are the element types in which ``unsupported`` is a failure. `level` is how much was asked. `scope` says
    what was compared, and what
    is not seen by it. `dialect` is the version of ONNX's Clip that it was compared with, empty for SONNX's.
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
        if self.dialect:  # the counts of classes are those of the forms
            return sum(found.compared for found in self.types)
        forms = sum(form.compared for found in self.types for form in found.forms or ())
        return forms + sum(found.compared for found in self.types)

    @property
    def failed(self) -> bool:
        """Whether something violates, crashed or was not reached, is required and unsupported, or nothing
        was compared at all, or in no form of a model.
        """
        missing = any(found.type in self.required and found.verdict == "unsupported" for found in self.types)
        failing = any(c.verdict in FAILING for found in self.types for c in found.classes)
        blind = any(found.has_blind_forms for found in self.types)
        return self.compared == 0 or missing or failing or blind

    @property
    def environment(self) -> dict[str, str]:
        """The element types without a verdict on the runtime, and what the machine lacks."""
        return {found.type: found.words or "" for found in self.types if found.verdict == "environment"}

    @property
    def unfinished(self) -> dict[str, str]:
        """The element types in which not all was judged before the run was interrupted, and what was not."""
        return {found.type: found.unfinished for found in self.types if found.unfinished is not None}
