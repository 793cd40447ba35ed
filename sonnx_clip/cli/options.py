"""Options that several commands share, and the values that an option can have."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import typer

from sonnx_clip.root.errors import UserError

INPUT, OUTPUT, RUN = "Input", "Output", "Run"
"""Groups of options in the help of a command."""


class FamilyName(StrEnum):
    """Families of element types."""

    REAL = "real"
    INT = "int"
    FLOAT = "float"


class Road(StrEnum):
    """Independent lines of proof beside Why3, Z3 and cvc5."""

    COQ = "coq"
    FRAMA_C = "frama-c"


class TextOrJson(StrEnum):
    """Output formats of most commands."""

    TEXT = "text"
    JSON = "json"


class CheckFormat(StrEnum):
    """Output formats of `check`."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


class LintFormat(StrEnum):
    """Output formats of `lint`."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


class ExportFormat(StrEnum):
    """Formats of exported test vectors."""

    ONNX_BACKEND = "onnx-backend"
    NPZ = "npz"
    C_HEADER = "c-header"
    JSON = "json"


class Forms(StrEnum):
    """Sets of model forms."""

    DEFAULT = "default"
    ALL = "all"


class LevelName(StrEnum):
    """Levels of `check`, by the number of calls."""

    QUICK = "quick"
    STANDARD = "standard"
    EXHAUSTIVE = "exhaustive"


class Endian(StrEnum):
    """Byte orders of a number."""

    LITTLE = "little"
    BIG = "big"


class Assumption(StrEnum):
    """Assumptions about the inputs of a model."""

    FINITE = "finite"


class Policy(StrEnum):
    """Policies on latitude."""

    DEFAULT = "default"
    STRICT = "strict"


BUILD = Path("build")

Type: TypeAlias = Annotated[str, typer.Argument(metavar="TYPE", help="Element type of X, such as float32.")]
OnlyTypes: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="TYPE", help="Only this element type; repeatable.", rich_help_panel=INPUT),
]
X: TypeAlias = Annotated[
    str,
    typer.Option(metavar="NUMBER", help="Decimal, hex float, bits (0x7fc00000), nan.", rich_help_panel=INPUT),
]
Build: TypeAlias = Annotated[
    Path, typer.Option(metavar="DIR", help="Folder of results; default: build.", rich_help_panel=OUTPUT)
]
Another: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--spec", metavar="FILE", help="Another operator: docs/operators.md.", rich_help_panel=INPUT
    ),
]
Brief: TypeAlias = Annotated[
    bool, typer.Option("--brief", help="Print the summary only.", rich_help_panel=OUTPUT)
]
Jobs: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Parallel processes; default: one per core.", rich_help_panel=RUN),
]
Again: TypeAlias = Annotated[
    bool, typer.Option("--again", help="Ignore results kept under the same conditions.", rich_help_panel=RUN)
]
AllForms: TypeAlias = Annotated[
    Forms,
    typer.Option(
        metavar="default|all", help="Model forms; default: a sample of pairs.", rich_help_panel=INPUT
    ),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Short for --format json.", hidden=True)]
Format: TypeAlias = Annotated[
    TextOrJson,
    typer.Option(metavar="text|json", help="Output format; --json for short.", rich_help_panel=OUTPUT),
]
_Format = TypeVar("_Format", bound=StrEnum)


def format_of(given: _Format, *, json: bool) -> _Format:
    """The output format chosen by --format or --json; UserError if they contradict each other."""
    if json and given not in ("text", "json"):
        raise UserError(f"--json and --format {given} contradict each other", todo="leave one of them out")
    return type(given)("json") if json else given


def wants_json(given: TextOrJson, *, json: bool) -> bool:
    """Whether the output format is JSON, by --format or by --json."""
    return format_of(given, json=json) is TextOrJson.JSON
