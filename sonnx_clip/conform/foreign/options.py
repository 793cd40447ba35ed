"""Makes the name of a runtime of the options of `sonnx-clip check` that say which one is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.conform.foreign.names import ProgramName
from sonnx_clip.errors import UserError

if TYPE_CHECKING:
    from sonnx_clip.conform.foreign.frames import ByteOrder


def runtime_of(
    runtime: str | None, command: str | None, order: ByteOrder | None, batch: int | None, *, stdio: bool
) -> str:
    """The name of the runtime that is meant.

    Args:
        runtime: what --runtime says.
        command: what --exec says.
        order: what --endian says.
        batch: what --batch says.
        stdio: whether --stdio is there.

    Raises:
        UserError: none is meant, or several, or an option does not belong to it.
    """
    if command is None:
        given = {"--endian": order is not None, "--batch": batch is not None, "--stdio": stdio}
        for option, there in given.items():
            if there:
                raise UserError(f"{option} is about a program", todo="name the program: --exec COMMAND")
    if (runtime is None) == (command is None):
        several = "--runtime and --exec are both given" if runtime else "no runtime is named"
        raise UserError(several, todo="give one of --runtime NAME and --exec COMMAND")
    if runtime is not None:
        return runtime
    assert command is not None
    found = ProgramName(command, order or "little", batch, stdio)
    found.words  # noqa: B018 - raises where there are none
    return str(found)
