"""The runtime behind ``exec:./harness``: a program that speaks frames, as `find_runtime` gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sonnx_clip.conform.foreign.frame_caller import FrameCaller
from sonnx_clip.conform.foreign.program import Program, function_of
from sonnx_clip.conform.foreign.runtime_names import program_name, quoted
from sonnx_clip.conform.operator_node import CLIP_NODE
from sonnx_clip.conform.runtimes import Runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    from sonnx_clip.conform.board import Board


def program_runtime(name: str, board: Board | None = None) -> Runtime:
    """Start a program, and let it say its hello.

    Args:
        name: as `program_name` reads it.
        board: told of its process, and of what it does; None outside of `check`.

    Raises:
        UserError: it cannot be started, or says no hello.
    """
    found = program_name(name)
    assert found is not None
    opened = Program(found) if board is None else Program(found, board.own, board.say)

    def caller(etype: str, board: Board) -> Callable[[Any, Board], None]:
        return FrameCaller(found, opened, etype, board)

    hello = opened.hello
    return Runtime(
        version=hello.name or found.command,
        open=lambda _: function_of(opened),
        imports="from sonnx_clip.conform.foreign.program import program",
        call=lambda _: f"program({quoted(name)})({CLIP_NODE.call})",
        caller=caller,
        strides=False,
        entries=hello.entries,
    )
