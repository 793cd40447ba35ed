"""The frames as docs/frames.md has them, and what is refused of a hello or a reply."""

import re

import numpy as np
import pytest

from sonnx_clip.root.folders import repo_file
from sonnx_clip.runtimes import frames
from sonnx_clip.runtimes.frames import (
    OK,
    TYPES,
    UNSUPPORTED,
    VERSION,
    FrameError,
    Hello,
    hello_name_size,
    read_hello,
    read_reply,
    reply_size,
    write_request,
)

HELLO = Hello(("int8", "float32"), frozenset({0, 1, 2}), 1024, "my harness")


def float32(*entries):
    return np.array(entries, np.float32).view(np.uint32)


X, LOWER, UPPER = float32(1.5, -3, np.inf), float32(-1), float32(2)
Y = float32(1.5, -1, 2)


def write_hello(hello, order):
    name = hello.name.encode()
    types = sum(1 << TYPES.index(etype) for etype in hello.types)
    ranks = sum(1 << rank for rank in hello.ranks)
    numbers = (VERSION, types, ranks, hello.entries, len(name))
    return frames.MAGIC + frames._packed(order, *numbers) + name


def write_reply(order, number, etype, shape, bits):
    head = frames._packed(order, number, OK, TYPES.index(etype), len(shape), *shape)
    data = frames._entries(bits, etype, order)
    return frames._packed(order, len(head) + len(data)) + head + data


def write_words(order, number, status, words):
    data = words.encode()
    return frames._packed(order, 8 + len(data), number, status) + data


def written(order):
    return [
        write_hello(HELLO, order),
        write_request(order, 1, "float32", (3,), (X, LOWER, UPPER)),
        write_reply(order, 1, "float32", (3,), Y),
        write_words(order, 2, UNSUPPORTED, "no int64 here"),
    ]


def test_the_examples_of_the_page_are_what_is_written():
    page = repo_file("docs/frames.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"test_the_examples_of_the_page_are_what_is_written -->\n\n((?:    .*\n)+)", page)
    frames_of_page = re.findall(r"^    \w+.*: .*\n((?:    [0-9a-f ]+\n)+)", block, re.MULTILINE)
    assert [bytes.fromhex(one) for one in frames_of_page] == written("little")


@pytest.mark.parametrize("order", ["little", "big"])
def test_record_round_trip(order):
    hello, _, reply, words = written(order)
    assert hello_name_size(hello[:24], order) == len("my harness")
    assert read_hello(hello, order) == HELLO
    assert reply_size(reply[:4], order, 3) == len(reply) - 4
    found = read_reply(reply[4:], order, 1)
    assert (found.status, found.etype, found.shape) == (OK, "float32", (3,))
    assert np.array_equal(found.bits, Y)
    found = read_reply(words[4:], order, 2)
    assert (found.status, found.words, found.bits) == (UNSUPPORTED, "no int64 here", None)


def changed(frame, at, number):
    return frame[:at] + number.to_bytes(4, "little") + frame[at + 4 :]


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
    _, _, reply, _ = written("little")
    with pytest.raises(FrameError, match=words):
        read_reply(changed(reply[4:], at, number), "little", 1)


def test_reply_that_ends_too_soon_is_refused():
    _, _, reply, _ = written("little")
    with pytest.raises(FrameError, match="ends after 12 bytes, before type and rank"):
        read_reply(reply[4:16], "little", 1)
    for size in (7, 4097 + 8, 2**32 - 1):
        with pytest.raises(FrameError, match="its reply announces"):
            reply_size(size.to_bytes(4, "little"), "little", 3)


def test_empty_reply_of_an_impossible_shape_is_refused():
    for shape, fits in (((0, 2**32 - 1), True), ((0, 2**32 - 1, 2**32 - 1), False)):
        reply = write_reply("little", 1, "float32", shape, np.zeros(0, np.uint32))
        if fits:
            bits = read_reply(reply[4:], "little", 1).bits
            assert bits.reshape(shape).size == 0
            continue
        with pytest.raises(FrameError, match="which is too large for any array"):
            read_reply(reply[4:], "little", 1)


def test_words_of_any_kind_can_be_printed():
    raw = write_words("little", 1, UNSUPPORTED, "")[4:] + b"\xff\x1b[31m"
    assert read_reply(raw, "little", 1).words == "\\xff\\x1b[31m"
