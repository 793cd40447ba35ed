"""The settings of a project: [tool.sonnx-clip] of pyproject.toml, or sonnx-clip.toml.

The nearest file at or above the working folder counts, and sonnx-clip.toml before pyproject.toml in one
folder. Options of the command line win over it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, StringConstraints, ValidationError

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.terminal import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN_FILE, PYTHON_FILE = "sonnx-clip.toml", "pyproject.toml"
TABLE = "tool.sonnx-clip"
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Size = Annotated[int, Field(gt=0)]


class _Table(BaseModel):
    # Strict: a key that is misspelt, or a size that is a text, would otherwise have no effect.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class LintSettings(_Table):
    """What `lint` reads."""

    ignore: dict[str, Reason] = Field(default_factory=dict)  # rules, each with the reason


class Settings(_Table):
    """The settings of a project, and the file that has them."""

    lint: LintSettings = LintSettings()
    input_shapes: dict[str, list[Size]] = Field(default_factory=dict, alias="input-shapes")
    runtimes: list[str] = Field(default_factory=list)
    build: str | None = None
    _file: str = PrivateAttr(default="")

    @property
    def build_folder(self) -> Path | None:
        """The folder of results, if the file names one."""
        if self.build is None:
            return None
        return Path(self.build)

    @property
    def file(self) -> str:
        """The file that has them, for messages; empty without one."""
        return self._file


def settings() -> Settings:
    """The settings that count in the working folder; UserError names the file and the key that is wrong."""
    folder = Path.cwd()
    # The first file that has settings counts: those of a folder above are not merged in.
    for parent in (folder, *folder.parents):
        for name in (OWN_FILE, PYTHON_FILE):
            file = parent / name
            table = _table_of(file) if file.is_file() else None
            if table is not None:
                return _validated(table, file)
    return Settings()


def _table_of(file: Path) -> Mapping[str, Any] | None:
    """The settings in a file; None where a pyproject.toml has none."""
    try:
        text = file.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"not TOML: {error}", str(file), "correct the file") from None
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", str(file)) from None
    if file.name == OWN_FILE:  # an empty one counts too: it ends the search
        return content
    tools = content.get("tool")
    if not isinstance(tools, dict):
        return None
    table = tools.get("sonnx-clip")
    if table is not None and not isinstance(table, dict):
        todo = f"write [{TABLE}]"
        raise UserError(f"{TABLE} is no table", str(file), todo)
    return table


def _validated(table: Mapping[str, Any], file: Path) -> Settings:
    try:
        settings = Settings.model_validate(table)
    except ValidationError as error:
        raise _message(error, file) from None
    settings._file = str(file)  # noqa: SLF001
    return settings


def _message(error: ValidationError, file: Path) -> UserError:
    """The first error, by its key."""
    # Of several errors the first: others may follow from it.
    first = error.errors(include_url=False)[0]
    path = [str(part) for part in first["loc"]]
    *tables, name = path
    prefix = [] if file.name == OWN_FILE else [TABLE]
    key = ".".join(prefix + path)
    where = str(file)
    if first["type"] == "extra_forbidden":
        known = _keys(tables)
        near = nearest(name, known)
        listed_keys = ", ".join(known)
        todo = f"did you mean {near[0]}?" if near else f"the keys here: {listed_keys}"
        return UserError(f"unknown key {key}", where, todo)
    if tables == ["lint", "ignore"]:
        todo = f'give the reason: {name} = "why this rule does not matter here"'
        return UserError(f"{key} has no reason", where, todo)
    problem = first["msg"].lower()
    todo = "give it another value"
    known = _keys(tables)
    if known:
        listed_keys = ", ".join(known)
        todo += f"; the keys here: {listed_keys}"
    return UserError(f"{key}: {problem}", where, todo)


def _keys(tables: list[str]) -> list[str]:
    """The keys of a table, given by the tables that lead to it; none where the user chooses them."""
    # Below `input-shapes` the keys are names of inputs, and below a list there are numbers.
    models: dict[tuple[str, ...], type[BaseModel]] = {(): Settings, ("lint",): LintSettings}
    model = models.get(tuple(tables))
    if model is None:
        return []
    keys = []
    for name, field in model.model_fields.items():
        keys.append(field.alias or name)
    return keys
