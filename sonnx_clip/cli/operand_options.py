"""Options named after the operands of an operator: `explain --operator max float32 --u -0 --w 0`."""

from __future__ import annotations

from typing import Any

from sonnx_clip.cli.help import COMMON_OPTIONS, Command


class OperandsCommand(Command):
    """A command that takes an unknown option ``--NAME NUMBER`` as ``--operand NAME=NUMBER``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, the operands' options among them."""
        flags, options = self._known_names()
        parsed: list[str] = []
        waiting = list(args)
        while waiting:
            argument = waiting.pop(0)
            name, equals, value = argument.partition("=")
            has_value = bool(equals)
            # Short options, arguments, and the end of the options are the parser's.
            if not name.startswith("--") or name == "--" or name in flags:
                parsed.append(argument)
                continue
            if not has_value and waiting:
                value = waiting.pop(0)  # it may begin with a dash
                has_value = True
            # Which operands there are depends on the operator, which is read only after the arguments.
            if name not in options:
                operand = name.removeprefix("--")
                parsed += ["--operand", f"{operand}={value}"]
            elif equals or not has_value:
                parsed.append(argument)
            else:
                parsed += [argument, value]
        return super().parse_args(ctx, parsed)

    def _known_names(self) -> tuple[set[str], set[str]]:
        """The names of options without a value, and of those with one."""
        flags = {"--help", "--json", *COMMON_OPTIONS}
        options: set[str] = set()
        for parameter in self.params:
            is_flag = getattr(parameter, "is_flag", False)
            names = flags if is_flag else options
            names.update(parameter.opts)
        return flags, options
