"""Writes the line of Python that repeats a deviation: for `campaign`, which tries shorter calls first."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from sonnx_clip.root.dtypes import bits_type, hex_bits
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.runtimes.operator_node import CLIP_NODE

if TYPE_CHECKING:
    from collections.abc import Sequence

    Scalars: TypeAlias = tuple[int, ...]

_LAYOUTS = {layout.id: layout for layout in LAYOUTS}


Shows: TypeAlias = Literal["bits", "type", "memory", "exception"]
"""What a line shows: the bits of the result, its type and shape, whether memory was left as it was, or that
the call raises where its operands cannot be written."""


@dataclass(frozen=True)
class CallText:
    """How a call is written.

    Args:
        etype: the id of the element type.
        imports: statements in front.
        call: an expression in the operands.
        before: statements that it needs, behind those that make the operands.
        operands: what they are called, tensors before scalars.
    """

    etype: str
    imports: str
    call: str
    before: Sequence[str] = ()
    operands: tuple[str, ...] = CLIP_NODE.operands


def reproducing_line(
    how: CallText,
    layout: str,
    entries: Sequence[Sequence[int]],
    scalars: tuple[Scalars, Scalars | None],
    due: str,
    times: int = 1,
    shows: Shows = "bits",
    watched: str | None = None,
) -> str:
    """Python that makes the call, prints type, shape and the bits of the result, and what is expected.

    Its result is ``y``, or ``r`` where it is no array; ``unchanged`` says whether memory was left as it was.

    It has no single quotes, so that a shell takes it between two of them.

    Args:
        how: the element type, and how the runtime is called.
        layout: id of the layout of the tensors.
        entries: bits of each tensor in order; a cycle of them is written as one.
        scalars: bits of each scalar; and of those of a second call, made before the result is read.
        due: what is printed last.
        times: how often the call is made, the last time being that which counts.
        shows: what the line shows.
        watched: the operand whose memory is compared, with ``memory``.
    """
    etype, bits = how.etype, bits_type(how.etype)
    dtype = "ml_dtypes.bfloat16" if etype == "bfloat16" else f"np.{etype}"
    modules = "import numpy as np" + (", ml_dtypes" if etype == "bfloat16" else "")
    first, second = (
        [f"np.array({hex_bits(scalar, etype)}, np.{bits}).view({dtype})" for scalar in of or ()]
        for of in scalars
    )
    tensors, names = how.operands[: len(entries)], how.operands[len(entries) :]
    parts = [
        modules,
        *([how.imports] if how.imports else []),
        *(
            part
            for name, of in zip(tensors, entries, strict=True)
            for part in (f"v = {_entries(etype, of)}.view({dtype})", f"{name} = {_LAYOUTS[layout].text}")
        ),
        *(f"{name} = {text}" for name, text in zip(names, first, strict=True)),
        *(
            [f"[a.setflags(write=False) for a in ({', '.join(how.operands)})]"]
            if shows == "exception"
            else []
        ),
        *([f"k = {watched}.tobytes()"] if watched else []),
        *how.before,
        _result(how.call, times, shows),
        *(["k = y.tobytes()", f"{', '.join(names)} = {', '.join(second)}"] if second else []),
        *([f"z = {how.call}", "unchanged = y.tobytes() == k"] if scalars[1] is not None else []),
        *([f"unchanged = {watched}.tobytes() == k"] if watched else []),
        *_printed(shows, due, watched),
    ]
    return "; ".join(parts)


def command_line(line: str) -> str:
    """A reproducer as a command of a shell: it runs in the Python that runs this."""
    return shlex.join([sys.executable, "-c", line])


def _result(call: str, times: int, shows: Shows) -> str:
    name, made = ("r", call) if shows == "type" else ("y", f"np.asarray({call})")
    return f"{name} = {made}" if times == 1 else f"{name} = [{made} for _ in range({times})][-1]"


def _printed(shows: Shows, due: str, watched: str | None) -> list[str]:
    match shows:
        case "type":
            found = 'type(r).__name__, getattr(r, "dtype", ""), getattr(r, "shape", "")'
            return [f'print({found}, "expected: ndarray", x.dtype, x.shape)']
        case "memory":
            return [f'print("{watched} is unchanged:", unchanged, "expected: True")']
        case _:
            return [
                'b = [hex(b) for b in y.reshape(-1).view(f"u{y.itemsize}").tolist()]',
                f'print(y.dtype, y.shape, b, "expected:", {json.dumps(due)})',
            ]


def _entries(etype: str, entries: Sequence[int]) -> str:
    bits = bits_type(etype)
    cycle = _cycle(entries)
    text = f"np.array([{', '.join(hex_bits(entry, etype) for entry in entries[:cycle])}], np.{bits})"
    return text if cycle == len(entries) else f"np.resize({text}, {len(entries)})"


def _cycle(entries: Sequence[int]) -> int:
    """The shortest length after which the entries repeat."""
    sizes = range(1, len(entries))
    return next((n for n in sizes if list(entries[n:]) == list(entries[:-n])), len(entries))
