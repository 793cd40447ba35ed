"""`--help` of a command: the example first, then its arguments and options in groups."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

_NAMES = 30  # columns of an option's name and value


class Command(TyperCommand):
    """A command whose epilog is a call of it; `rich_help_panel` names the group of an option."""

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
