"""Behaviour shared by all commands: `--help` with the example first, and `--json` for `--format json`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from sonnx_clip.root.errors import UserError

_NAMES = 30  # columns of an option's name and value


class Command(TyperCommand):
    """A command whose epilog is an example call; `rich_help_panel` names the group of an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; UserError if --json and --format contradict each other."""
        short = "--json" in args and any("--format" in parameter.opts for parameter in self.params)
        rest = super().parse_args(ctx, [arg for arg in args if arg != "--json"] if short else args)
        if short and (given := ctx.params["format"]) not in ("text", "json"):
            what = f"--json and --format {given} contradict each other"
            raise UserError(what, todo="remove one of them")
        ctx.params |= {"format": "json"} if short else {}
        return rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, example, purpose, arguments and options."""
        self.format_usage(ctx, formatter)
        formatter.write(f"Example: {self.epilog}\n\n")
        formatter.write_text(" ".join((self.help or "").split()))
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in self.params:
            default = "Arguments" if parameter.param_type_name == "argument" else "Options"
            group = getattr(parameter, "rich_help_panel", None) or default
            setattr(parameter, "show_default", False)  # noqa: B010  the help states it where it matters
            if record := parameter.get_help_record(ctx):
                groups.setdefault(group, []).append(record)
        for group, records in groups.items():
            if records:
                formatter.write(f"{group}:\n")
                formatter.indent()
                formatter.write_dl(records, col_max=_NAMES)
                formatter.dedent()
