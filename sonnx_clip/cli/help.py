"""Behaviour shared by all commands: `--help` with the example first, and `--json` for `--format json`."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import BUILD
from sonnx_clip.root.terminal import be_quiet, without_color

_NAMES = 30  # columns of an option's name and value


COMMON_OPTIONS = {
    "--quiet": "No progress; lint: only models that break a rule.",
    "--no-color": "No colours, as with NO_COLOR set.",
}


def _bad_value(error: typer.BadParameter) -> UserError:
    """The message for a value that is not of the option's type, in the form of all messages."""
    # Typer passes on pydantic's text: "Value error, 'x' is not one of …", or
    # "Input should be a valid integer, …".
    text = error.message.removeprefix("Value error, ").removesuffix(".")
    if text.startswith("Input should be"):
        first_clause, _, _ = text.removeprefix("Input ").partition(",")
        text = f"the value {first_clause}"
    parameter = error.param
    if parameter is None:
        return UserError(text)
    is_option = parameter.param_type_name == "option"
    name = parameter.opts[-1] if is_option else str(parameter.name).upper()
    command = "" if error.ctx is None else error.ctx.command_path
    return UserError(f"{name}: {text}", todo=f"`{command} --help` lists the values")


class Command(TyperCommand):
    """A command whose epilog is an example call; `rich_help_panel` names the group of an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; UserError if --json and --format contradict each other.

        The options of every command may stand anywhere among its own. The settings file gives the default of
        --build.
        """
        # These are no parameters of the commands, so they are taken out of the arguments before
        # parsing.
        if "--quiet" in args:
            be_quiet()
        if "--no-color" in args:
            without_color()
        args = [arg for arg in args if arg not in COMMON_OPTIONS]
        # Not for the help: it has to be there even if the settings file is wrong.
        asks_for_help = "-h" in args or "--help" in args
        if not asks_for_help and self._has_build_folder():
            from sonnx_clip.cli.settings import settings

            build = settings().build
            ctx.default_map = {} if build is None else {"build": build}
        has_format = any("--format" in parameter.opts for parameter in self.params)
        # Nor is --json one: it stands for a value of --format, where a command has that.
        is_json = has_format and "--json" in args
        if is_json:
            args = [arg for arg in args if arg != "--json"]
        try:
            unparsed = super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if not error.message:  # something is missing: the usage shows where
                raise
            raise _bad_value(error) from None
        if is_json:
            form = ctx.params["format"]
            if form not in ("text", "json"):
                what = f"--json and --format {form} contradict each other"
                raise UserError(what, todo="remove one of them")
            ctx.params["format"] = "json"
        return unparsed

    def _has_build_folder(self) -> bool:
        # The --build of `check` has no default: without it and without settings, no results are
        # kept.
        return any(parameter.default == BUILD for parameter in self.params)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, example, purpose, arguments and options."""
        self.format_usage(ctx, formatter)
        # Before the purpose: most readers of a help want a line to start from.
        formatter.write(f"Example: {self.epilog}\n\n")
        formatter.write_text(" ".join((self.help or "").split()))
        for group, records in self._help_groups(ctx).items():
            if records:
                formatter.write(f"{group}:\n")
                formatter.indent()
                formatter.write_dl(records, col_max=_NAMES)
                formatter.dedent()

    def _help_groups(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """The names of the parameters with their texts, by group, in the order in which they are shown."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in self.params:
            default = "Arguments" if parameter.param_type_name == "argument" else "Options"
            group = getattr(parameter, "rich_help_panel", None) or default
            # Otherwise click appends the default to each line of the help.
            setattr(parameter, "show_default", False)  # noqa: B010  the help states it where it matters
            record = parameter.get_help_record(ctx)
            if record:
                groups.setdefault(group, []).append(record)
        groups["Every command"] = list(COMMON_OPTIONS.items())
        return groups
