"""The frames as docs/frames.md has them, and what is refused of a hello or a reply."""

import re
import struct

import numpy as np
import pytest

from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes.frames import (
    OK,
    TYPES,
    UNSUPPORTED,
    VERSION,
    FrameError,
    read_reply,
    reply_size,
    write_request,
)


def packed(*numbers):
    return struct.pack(f"<{len(numbers)}I", *numbers)


def float32(*entries):
    return np.array(entries, np.float32).view(np.uint32)


def a_reply(shape, *entries):
    """A reply of float32 to request 1."""
    head = packed(1, OK, TYPES.index("float32"), len(shape), *shape)
    data = float32(*entries).tobytes()
    return packed(len(head) + len(data)) + head + data


def words_of(number, words):
    return packed(8 + len(words), number, UNSUPPORTED) + words


REPLY = a_reply((3,), 1.5, -1, 2)[4:]


def test_the_examples_of_the_page_are_what_is_written():
    page = repo_file("docs/frames.md").read_text(encoding="utf-8")
    (block,) = re.findall(
        r"test_the_examples_of_the_page_are_what_is_written -->\n\n((?:    .*\n)+)", page
    )
    frames_of_page = re.findall(r"^    \w+.*: .*\n((?:    [0-9a-f ]+\n)+)", block, re.MULTILINE)
    types = sum(1 << TYPES.index(etype) for etype in ("int8", "float32"))
    operands = float32(1.5, -3, np.inf), float32(-1), float32(2)
    assert [bytes.fromhex(one) for one in frames_of_page] == [
        b"CLIP" + packed(VERSION, types, 0b111, 1024, 10) + b"my harness",
        write_request("little", 1, "float32", (3,), operands),
        a_reply((3,), 1.5, -1, 2),
        words_of(2, b"no int64 here"),
    ]


@pytest.mark.parametrize(
    ("at", "number", "words"),
    [
        (0, 2, "it replied to request 2 instead of request 1"),
        (4, 4, "its reply has the unknown status 4"),
        (8, 12, "its reply has the unknown element type 12"),
        (8, 11, "its reply has 12 bytes of entries; a result of float64 and shape \\(3,\\) has 24"),
        (12, 9, "its reply has rank 9"),
        (12, 8, "its reply has rank 8, but 16 bytes follow"),
        (16, 4, "its reply has 12 bytes of entries; a result of float32 and shape \\(4,\\) has 16"),
    ],
)
def test_invalid_reply_is_described(at, number, words):
    with pytest.raises(FrameError, match=words):
        read_reply(REPLY[:at] + packed(number) + REPLY[at + 4 :], "little", 1)


def test_reply_that_ends_too_soon_is_refused():
    with pytest.raises(FrameError, match="ends after 12 bytes, before type and rank"):
        read_reply(REPLY[:12], "little", 1)
    for size in (7, 4097 + 8, 2**32 - 1):
        with pytest.raises(FrameError, match="its reply announces"):
            reply_size(size.to_bytes(4, "little"), "little", 3)


def test_empty_reply_of_an_impossible_shape_is_refused():
    fits, not_ = (0, 2**32 - 1), (0, 2**32 - 1, 2**32 - 1)
    assert read_reply(a_reply(fits)[4:], "little", 1).bits.reshape(fits).size == 0
    with pytest.raises(FrameError, match="which is too large for any array"):
        read_reply(a_reply(not_)[4:], "little", 1)


def test_words_of_any_kind_can_be_printed():
    assert read_reply(words_of(1, b"\xff\x1b[31m")[4:], "little", 1).words == "\\xff\\x1b[31m"
