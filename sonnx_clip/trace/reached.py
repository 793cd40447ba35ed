"""Which places of the traced functions were reached, and which way each conditional jump went."""

from __future__ import annotations

import dis
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType, FrameType

    from sonnx_clip.trace.subject import Subject


class Reached:
    """Notes the instructions that are executed of some functions, and from where each was reached."""

    def __init__(self) -> None:
        self.arcs: set[tuple[CodeType, int, int]] = set()

    @contextmanager
    def watch(self, codes: frozenset[CodeType]) -> Iterator[list[tuple[str, int]]]:
        """Watch these functions; gives the places in the order in which they are reached."""
        places: list[tuple[str, int]] = []

        def enter(frame: FrameType, _: str, __: Any) -> Any:
            if frame.f_code not in codes:
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            before = -1

            def step(frame: FrameType, event: str, _: Any) -> Any:
                nonlocal before
                if event == "opcode":
                    self.arcs.add((frame.f_code, before, frame.f_lasti))
                    places.append((frame.f_code.co_name, frame.f_lasti))
                    before = frame.f_lasti
                return step

            return step

        others = sys.gettrace()
        sys.settrace(enter)
        try:
            yield places
        finally:
            sys.settrace(others)


def unreached(what: Subject, reached: Reached) -> list[str]:
    """A line for each place of the traced functions that no run came to, and each way not taken."""
    files = {f.__code__: f.__code__.co_filename for f in what.functions}
    return [line for code in sorted(files, key=_place) for line in _of_function(code, reached)]


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_filename, code.co_firstlineno


def _of_function(code: CodeType, reached: Reached) -> Iterator[str]:
    arcs = {(start, end) for known, start, end in reached.arcs if known is code}
    where = f"{code.co_filename}:"
    if not arcs:
        yield f"{where}{code.co_firstlineno}: {code.co_name} is never called"
        return
    there = {end for _, end in arcs}
    lines = _lines(code)
    seen = {lines[offset] for offset in there if offset in lines}
    for line in sorted(set(lines.values()) - seen):
        yield f"{where}{line}: no input reaches this line"
    for instruction in _conditional(code):
        ways = {end for start, end in arcs if start == instruction.offset}
        if len(ways) == 1:
            yield f"{where}{lines[instruction.offset]}: no input takes the other way of this branch"


def _lines(code: CodeType) -> dict[int, int]:
    """The line of each instruction that belongs to one below the head of the function."""
    found = {}
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno if instruction.positions else None
        if line is not None and instruction.opname not in ("RESUME", "MAKE_CELL", "COPY_FREE_VARS"):
            found[instruction.offset] = line
    return found


def _conditional(code: CodeType) -> Iterable[dis.Instruction]:
    return [i for i in dis.get_instructions(code) if "JUMP" in i.opname and "_IF_" in i.opname]
