"""Options that several commands share, and the values that an option can have."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import typer

from sonnx_clip.root.errors import UserError

OnlyTypes: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Only this element type; may be repeated.")
]
Jobs: TypeAlias = Annotated[int | None, typer.Option(min=1, help="Processes at once; all cores by default.")]
Scheduler: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="The workers of this Dask scheduler do it, such as tcp://10.0.0.1:8786: docs/campaigns.md.",
    ),
]
Again: TypeAlias = Annotated[
    bool, typer.Option("--again", help="Repeat also what was found before under the same conditions.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="The same as --format json.")]

BUILD = Path("build")
"""Where --build writes to if it is not given."""


class FamilyName(StrEnum):
    """A chapter of the page."""

    REAL = "real"
    INT = "int"
    FLOAT = "float"


class Road(StrEnum):
    """An independent line of proof beside Why3, Z3 and cvc5."""

    COQ = "coq"
    FRAMA_C = "frama-c"


class TextOrJson(StrEnum):
    """How a command prints its result."""

    TEXT = "text"
    JSON = "json"


class ExportFormat(StrEnum):
    """In which format `export` writes test vectors."""

    ONNX_BACKEND = "onnx-backend"
    NPZ = "npz"
    C_HEADER = "c-header"
    JSON = "json"


class Forms(StrEnum):
    """In which forms of a model `check` judges a runtime that opens models."""

    DEFAULT = "default"
    ALL = "all"


class LevelName(StrEnum):
    """How much `check` asks."""

    QUICK = "quick"
    STANDARD = "standard"
    EXHAUSTIVE = "exhaustive"


class CampaignAction(StrEnum):
    """What `campaign` does with a journal."""

    STATUS = "status"


class Endian(StrEnum):
    """The order of the bytes of a number."""

    LITTLE = "little"
    BIG = "big"


class CheckFormat(StrEnum):
    """How `check` prints its result."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


class LintFormat(StrEnum):
    """How `lint` prints its result."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


Format: TypeAlias = Annotated[
    TextOrJson, typer.Option("--format", help="Text for people, JSON for machines.")
]
_Format = TypeVar("_Format", bound=StrEnum)


def format_of(given: _Format, *, json: bool) -> _Format:
    """The format that is asked for by --format or by --json; UserError if they contradict each other."""
    if json and given not in ("text", "json"):
        raise UserError(f"--json and --format {given} contradict each other", todo="leave one of them out")
    return type(given)("json") if json else given


def wants_json(given: TextOrJson, *, json: bool) -> bool:
    """Whether JSON is asked for, by --format or by --json."""
    return format_of(given, json=json) is TextOrJson.JSON


class Assumption(StrEnum):
    """What the user vouches for."""

    FINITE = "finite"


class Policy(StrEnum):
    """Which latitude counts."""

    DEFAULT = "default"
    STRICT = "strict"
