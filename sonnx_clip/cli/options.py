"""Options that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from sonnx_clip.root.terminal import terminal_width

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import BaseModel

INPUT, OUTPUT, RUN = "Input", "Output", "Run"
"""Groups of options in the help of a command."""

TextOrJson: TypeAlias = Literal["text", "json"]


def option(
    names: str, help: str, group: str | None = None, *, value: str | None = None, **more: Any
) -> Any:
    """An option, by default of the name of the parameter; `value` is the placeholder of its value."""
    return typer.Option(*names.split(), metavar=value, help=help, rich_help_panel=group, **more)


def hidden_option(names: str, value: str | None = None, **more: Any) -> Any:
    """An option without a line of its own in the help; another option mentions it."""
    return typer.Option(*names.split(), metavar=value, hidden=True, **more)


Type: TypeAlias = Annotated[
    str, typer.Argument(metavar="TYPE", help="Element type of X, such as float32.")
]


def _split(values: list[str] | None) -> list[str]:
    """Values of a repeatable option, each of which may be several with commas between them."""
    parts: list[str] = []
    for value in values or []:
        parts += map(str.strip, value.split(","))
    return parts


OnlyTypes: TypeAlias = Annotated[
    list[str] | None,
    option(
        "",
        "Only these element types, with commas; repeatable.",
        INPUT,
        value="TYPE",
        callback=_split,
    ),
]
# An option for each operand of Clip, since its names depend on the parameter.
NUMBER = option("", "Decimal, hex float, bits (0x7fc00000), nan.", INPUT, value="NUMBER")
X: TypeAlias = Annotated[str, NUMBER]
Build: TypeAlias = Annotated[
    Path, option("", "Folder of results; default: build.", OUTPUT, value="DIR")
]
CLIP = "clip"
Operator: TypeAlias = Annotated[
    str, option("--operator", "clip, max …; or a specification.", INPUT, value="NAME|FILE")
]
Brief: TypeAlias = Annotated[bool, option("--brief", "Print the summary only.", OUTPUT)]
Jobs: TypeAlias = Annotated[
    int | None, option("", "Parallel processes; default: one per core.", RUN, value="N", min=1)
]
Again: TypeAlias = Annotated[bool, option("--again", "Ignore stored results.", RUN)]
Forms: TypeAlias = Annotated[
    Literal["default", "all"],
    option("", "Model forms; default: a sample of pairs.", INPUT, value="default|all"),
]
Format: TypeAlias = Annotated[
    TextOrJson, option("", "Output format; --json for short.", OUTPUT, value="text|json")
]


def print_value(
    value: BaseModel, text_of: Callable[[Any, int | None], str], format: TextOrJson
) -> None:
    """Print a value as JSON, or as text that fits the terminal."""
    if format == "json":
        print(value.model_dump_json(indent=1))
    else:
        print(text_of(value, terminal_width()))
