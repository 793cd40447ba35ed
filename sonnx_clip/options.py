"""Options that several commands share, and the values that an option can have."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

OnlyTypes: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Only this element type; may be repeated.")
]
Jobs: TypeAlias = Annotated[int | None, typer.Option(min=1, help="Processes at once; all cores by default.")]
WholeJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the whole result as JSON.")]

BUILD = Path("build")
"""Where --build writes to if it is not given."""


class FamilyName(StrEnum):
    """A chapter of the page."""

    REAL = "real"
    INT = "int"
    FLOAT = "float"


class TextOrJson(StrEnum):
    """How a command prints its result."""

    TEXT = "text"
    JSON = "json"


class VectorFormat(StrEnum):
    """In which form `vectors` writes them."""

    JSON = "json"
    NPZ = "npz"


class LintFormat(StrEnum):
    """How `lint` prints its result."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


class MatrixFormat(StrEnum):
    """How the matrix of readings is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


class Assumption(StrEnum):
    """What the user vouches for."""

    FINITE = "finite"


class Policy(StrEnum):
    """Which latitude counts."""

    DEFAULT = "default"
    STRICT = "strict"
