"""The frames that the checker and a program exchange, byte by byte, as docs/frames.md specifies them.

Numbers are unsigned and have 32 bits, in the chosen byte order; entries have the size of their element type
and the same byte order.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sonnx_clip.root.dtypes import Array, bits_type
from sonnx_clip.runtimes.words import printable

if TYPE_CHECKING:
    from collections.abc import Sequence


ByteOrder: TypeAlias = Literal["little", "big"]

VERSION = 2
MAGIC = b"CLIP"
TYPES = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64",
)  # fmt: skip
"""The element types by number: the bit of a hello, and the number in requests and replies."""
OK, REFUSED, UNSUPPORTED, FAULT = range(4)
"""Status of a reply."""
BAD_FRAME = "bad frame: "
"""Prefix of the words on a program that was ended because it sent an invalid frame."""
HELLO_SIZE = 24
"""Bytes of a hello before its name."""

LEAST_ENTRIES = 64  # that a program has to accept in a request
# Limits on what the checker reads: a program may send what is no frame at all.
_MOST_RANK, _MOST_NAME, _MOST_WORDS = 8, 1024, 4096
_MOST_BYTES = 2**63 - 1  # NumPy counts those of an empty array as if its zeros were ones
_SIGNS: dict[ByteOrder, Literal["<", ">"]] = {"little": "<", "big": ">"}
_OTHER: dict[ByteOrder, ByteOrder] = {"little": "big", "big": "little"}


class FrameError(Exception):
    """A program sent an invalid frame."""


@dataclass(frozen=True)
class Hello:
    """What a program supports: element types, ranks of X, entries in a request; and its name."""

    types: tuple[str, ...]
    ranks: frozenset[int]
    entries: int
    name: str


@dataclass(frozen=True)
class FrameReply:
    """A reply: its status and, where it has no result, words.

    `shape` is that of the result; `bits`, shape (entries,), are in this machine's byte order, or None
    without a result.
    """

    status: int
    words: str = ""
    etype: str = ""
    shape: tuple[int, ...] = ()
    bits: Array | None = None


def hello_name_size(head: bytes, order: ByteOrder) -> int:
    """Size of the name that follows the first `HELLO_SIZE` bytes; FrameError if they are no hello."""
    if head[:4] != MAGIC:
        shown = printable(head.decode("utf-8", "backslashreplace"))
        raise FrameError(f"its first bytes are not a hello: {shown}")
    # From byte 4 on: version, types, ranks, entries and the size of the name.
    version, *_, size = _numbers(head, 4, 5, order)
    if version != VERSION:
        # The wrong byte order is the likeliest mistake, which the version shows: it is a small number.
        other = _OTHER[order]
        (version_in_other_order,) = _numbers(head, 4, 1, other)
        if version_in_other_order == VERSION:
            raise FrameError(f"its hello is {other}-endian: use --endian {other}")
        raise FrameError(f"its hello has version {version}; the checker supports version {VERSION}")
    if size > _MOST_NAME:
        message = f"its hello has a name of {size:,} bytes; at most {_MOST_NAME:,} are allowed"
        raise FrameError(message)
    return size


def read_hello(data: bytes, order: ByteOrder) -> Hello:
    """A whole hello; FrameError if it is invalid."""
    types, ranks, entries = _numbers(data, 8, 3, order)
    if types == 0:
        raise FrameError("its hello lists no element type")
    if types >> len(TYPES):
        raise FrameError(f"its hello lists unknown element types: {types:#x}")
    if ranks == 0:
        raise FrameError("its hello lists no rank")
    if entries < LEAST_ENTRIES:
        message = f"its hello allows {entries} entries in a request"
        raise FrameError(f"{message}; at least {LEAST_ENTRIES} are required")
    return Hello(
        types=tuple(TYPES[number] for number in _set_bits(types)),
        ranks=frozenset(_set_bits(ranks)),
        entries=entries,
        name=printable(data[HELLO_SIZE:].decode("utf-8", "backslashreplace")),
    )


def _set_bits(word: int) -> list[int]:
    return [bit for bit in range(32) if word >> bit & 1]


def write_request(
    order: ByteOrder, number: int, etype: str, shape: Sequence[int], operands: Sequence[Array]
) -> bytes:
    """A request for the call of X of a shape, and bounds; `operands` are their bits, shape (entries,)."""
    x, *bounds = operands
    parts = [_entries(operand, etype, order) for operand in (*bounds, x)]
    data = b"".join(parts)
    type_number = TYPES.index(etype)
    # The 0 stands where a reply has its status, so that both frames are alike.
    head = _packed(order, number, 0, type_number, len(shape), *shape)
    size = _packed(order, len(head) + len(data))
    return size + head + data


def reply_size(head: bytes, order: ByteOrder, entries: int) -> int:
    """Bytes that follow the first four of a reply; FrameError if no reply to such a request has as many."""
    (size,) = _numbers(head, 0, 1, order)
    # A result of another shape or type is read, so that it can be reported: 8 bytes for each entry.
    most_of_result = 8 + 4 * _MOST_RANK + 8 * max(1, entries)
    most = 8 + max(_MOST_WORDS, most_of_result)
    # Every reply has a number and a status, of four bytes each.
    if not 8 <= size <= most:
        raise FrameError(f"its reply announces {size:,} bytes; 8 to {most:,} are allowed")
    return size


def read_reply(data: bytes, order: ByteOrder, number: int) -> FrameReply:
    """The reply to request `number`, from the bytes after the first four.

    Raises:
        FrameError: it is no valid reply to that request.
    """
    replied, status = _numbers(data, 0, 2, order)
    if replied != number:
        raise FrameError(f"it replied to request {replied} instead of request {number}")
    if status > FAULT:
        raise FrameError(f"its reply has the unknown status {status}")
    if status != OK:
        words = printable(data[8:].decode("utf-8", "backslashreplace"))
        return FrameReply(status, words)
    return _read_result(data, order)


def _read_result(data: bytes, order: ByteOrder) -> FrameReply:
    """A reply that has a result; FrameError if type, shape and entries do not fit together."""
    if len(data) < 16:
        raise FrameError(f"its reply ends after {len(data)} bytes, before type and rank")
    type_number, rank = _numbers(data, 8, 2, order)
    if type_number >= len(TYPES):
        raise FrameError(f"its reply has the unknown element type {type_number}")
    start = 16 + 4 * rank
    # Before the sizes are read: those of a wrong rank would lie behind the end of the reply.
    if rank > _MOST_RANK or len(data) < start:
        raise FrameError(f"its reply has rank {rank}, but {len(data) - 16:,} bytes follow")

    shape = _numbers(data, 16, rank, order)
    etype = TYPES[type_number]
    dtype = np.dtype(bits_type(etype))
    entries = math.prod(shape)
    # NumPy refuses such a shape even where a zero makes the array empty.
    sizes_above_zero = filter(None, shape)
    if math.prod(sizes_above_zero) * dtype.itemsize > _MOST_BYTES:
        raise FrameError(f"its reply has shape {shape}, which is too large for any array")
    size = len(data) - start
    due = entries * dtype.itemsize
    if size != due:
        words = f"a result of {etype} and shape {shape} has {due:,}"
        raise FrameError(f"its reply has {size:,} bytes of entries; {words}")
    received = np.frombuffer(data, dtype.newbyteorder(_SIGNS[order]), entries, start)
    return FrameReply(OK, etype=etype, shape=shape, bits=received.astype(dtype))


def _entries(bits: Array, etype: str, order: ByteOrder) -> bytes:
    dtype = np.dtype(bits_type(etype))
    in_order = bits.astype(dtype.newbyteorder(_SIGNS[order]))
    return in_order.tobytes()


def _packed(order: ByteOrder, *numbers: int) -> bytes:
    return struct.pack(f"{_SIGNS[order]}{len(numbers)}I", *numbers)


def _numbers(data: bytes, start: int, count: int, order: ByteOrder) -> tuple[int, ...]:
    return struct.unpack_from(f"{_SIGNS[order]}{count}I", data, start)
