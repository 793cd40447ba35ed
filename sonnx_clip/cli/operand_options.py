"""Options named after the operands of an operator: `explain --operator max float32 --u -0 --w 0`."""

from __future__ import annotations

from typing import Any

from sonnx_clip.cli.help import COMMON_OPTIONS, Command


class OperandsCommand(Command):
    """A command that takes an unknown option ``--NAME NUMBER`` as ``--operand NAME=NUMBER``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, the operands' options among them."""
        known = {name for parameter in self.params for name in parameter.opts}
        known |= {"--help", "--json", *COMMON_OPTIONS}
        parsed: list[str] = []
        rest = list(args)
        while rest:
            argument = rest.pop(0)
            name, equals, value = argument.partition("=")
            if not name.startswith("--") or name == "--" or name in known:
                parsed.append(argument)
                if name in known and not equals and self._takes_value(name) and rest:
                    parsed.append(rest.pop(0))  # a value may begin with a dash
                continue
            if not equals and rest:
                value = rest.pop(0)
            parsed += ["--operand", f"{name.removeprefix('--')}={value}"]
        return super().parse_args(ctx, parsed)

    def _takes_value(self, name: str) -> bool:
        found = [parameter for parameter in self.params if name in parameter.opts]
        return bool(found) and not getattr(found[0], "is_flag", False)
