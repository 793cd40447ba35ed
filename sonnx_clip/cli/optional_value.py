"""An option whose value may be left out: `check --runtime onnxruntime --contexts`."""

from __future__ import annotations

from typing import Any

from sonnx_clip.cli.help import Command

# click gives an option a value always or never.
_DEFAULTS = {"--contexts": "all"}


class OptionalValueCommand(Command):
    """A command that reads ``--contexts`` without a value as ``--contexts all``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, with the values that were left out."""
        parsed: list[str] = []
        for place, argument in enumerate(args):
            parsed.append(argument)
            if argument not in _DEFAULTS:
                continue
            # No value begins with a dash, so what follows is another option.
            following = args[place + 1 : place + 2]
            if not following or following[0].startswith("-"):
                parsed.append(_DEFAULTS[argument])
        return super().parse_args(ctx, parsed)
