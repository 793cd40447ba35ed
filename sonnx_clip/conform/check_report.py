"""What a run of the checker found, in the form in which it is stored (format 2).

A bit pattern is hex text with all its digits, ``0x7fc00000``. A comparison is one entry of one call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.stored import Stored
from sonnx_clip.runtimes.find_runtime import require_ascii
from sonnx_clip.runtimes.model_forms import Bounds, Given, ModelForm, Shape

if TYPE_CHECKING:
    from sonnx_clip.language.scope import Head

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

FAILING: frozenset[Verdict] = frozenset(
    {"violates", "depends", "crashed", "unreached", "environment", "unfinished"}
)


DeviationKind: TypeAlias = Literal["violates", "acceptable", "raises", "crashed"]

DEVIATION_KINDS: tuple[DeviationKind, ...] = ("crashed", "violates", "raises", "acceptable")
"""The worst first."""


class Deviation(Stored):
    """The first deviation of a kind in a class.

    `operands` are bits by name. `got` is None where there was no result to read; `words` says then what there
    was instead: ``raises`` is the kind of a call that raised, ``crashed`` of one of which the runtime died.
    `reproduce` is one line of Python, empty where none shows it, and `entry` the place in its result.
    """

    kind: DeviationKind
    operands: dict[str, str]
    expected: str
    got: str | None
    shown: str
    words: str | None = None
    latitude: str | None = None
    layout: str
    explanation: str | None = None
    entry: int = 0
    reproduce: str

    def environment(self, head: Head) -> dict[str, int] | None:
        """The bits of the operands and of the answer, for a condition of the specification; None without one.

        Raises:
            ValueError: one of them is no bit pattern.
        """
        if self.got is None:
            return None
        given = [int(text, 16) for text in (*self.operands.values(), self.got)]
        return dict(zip(head.all, given, strict=True))


class ClassReport(Stored):
    """The verdict for a class, or for the shape (C1) and the type (C3) of results.

    `compared` counts results with the expected bits, `violating` ones, and those that a latitude accepts;
    `raised` counts entries of calls that raised, `refused` calls in forms that are refused as a whole, `died`
    calls of which it died.
    """

    id: str
    case: str | None
    verdict: Verdict
    compared: int
    violating: int = 0
    raised: int = 0
    refused: int = 0
    died: int = 0
    latitude: dict[str, int] = Field(default_factory=dict)
    words: str | None = None
    deviations: tuple[Deviation, ...] = ()


class ReadingMatch(Stored):
    """What the readings of Clip say to different answers of a runtime in one element type.

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

    `bounds`, `shape`, `rank`, `opset`, `optimised` and `given` are those of `model_forms.ModelForm`. The
    verdict is the worst of the classes; `classes` are those that do not conform, empty where the form is
    refused as a whole, in the `words` of the runtime. `deviations` are the first of each class in which forms
    differ.
    """

    bounds: Bounds
    shape: Shape
    rank: int
    opset: int
    optimised: bool
    given: Given = "both"
    verdict: Verdict
    compared: int
    calls: int
    words: str | None = None
    classes: dict[str, Verdict] = Field(default_factory=dict)
    deviations: dict[str, Deviation] = Field(default_factory=dict)

    @property
    def form(self) -> ModelForm:
        """The form."""
        return ModelForm(self.bounds, self.shape, self.rank, self.opset, self.optimised, self.given)


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

    format: Literal[2] = 2
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
        blind = any(
            found.forms is not None and found.compared and not any(form.compared for form in found.forms)
            for found in self.types
        )
        return self.compared == 0 or missing or failing or blind

    @property
    def environment(self) -> dict[str, str]:
        """The element types without a verdict on the runtime, and what the machine lacks."""
        return {found.type: found.words or "" for found in self.types if found.verdict == "environment"}

    @property
    def unfinished(self) -> dict[str, str]:
        """The element types in which not all was judged before the run was interrupted, and what was not."""
        return {found.type: found.unfinished for found in self.types if found.unfinished is not None}
