"""A program that speaks frames of int16 and uint8, with the fault that its argument names.

It imports the standard library alone, so that it starts quickly: `python planted_programs.py FAULT MARK`.
The mark is only there to find the process by.
"""

import os
import signal
import struct
import subprocess
import sys
import time

TYPES = {1: "h", 4: "B"}
FAULT = sys.argv[1]
MARK = sys.argv[2]
ORDER = ">" if FAULT in ("big", "big_hello") else "<"
ENTRIES = "<" if FAULT == "big_hello" else ">" if FAULT == "mixes_orders" else ORDER
IN, OUT = (0, 1) if FAULT.startswith("stdio") else (3, 4)
COUNT = [0]


def get(size):
    data = b""
    while len(data) < size:
        part = os.read(IN, size - len(data))
        if not part:
            sys.exit(0)
        data += part
    return data


def put(data):
    while data:
        data = data[os.write(OUT, data) :]


def pack(*numbers):
    return struct.pack(f"{ORDER}{len(numbers)}I", *numbers)


def hello():
    version = 7 if FAULT == "wrong_version" else 2
    types = {"lies_about_types": 0xFFF, "no_types": 0, "strange_types": 1 << 20}.get(FAULT, 1 << 1 | 1 << 4)
    ranks = {"rank_1_alone": 2}.get(FAULT, 0x1FF)
    entries = {"small": 100, "tiny": 8}.get(FAULT, 1 << 20)
    name = b"planted"
    if FAULT == "nothing_at_all":
        time.sleep(9999)
    if FAULT == "ends_with_a_traceback":
        raise RuntimeError("no board is connected")
    if FAULT == "ends_with_words":
        print("planted: cannot open libplanted.so.1", file=sys.stderr)
        sys.exit(127)
    if FAULT == "ends_at_once":
        sys.exit(3)
    if FAULT == "dies_at_once":
        os.kill(os.getpid(), signal.SIGSEGV)
    if FAULT == "stdio_text":
        put(b"Loading the model, please wait\n" * 3)
    data = b"CLIP" + pack(version, types, ranks, entries, len(name)) + name
    if FAULT == "half_a_hello":
        put(data[:10])
        sys.exit(0)
    if FAULT == "long_name":
        data = data[:20] + pack(10**6)
    put(data)


def clip(x, low, high):
    if FAULT == "wrong_in_one_class" and high < low:
        return low
    if FAULT == "dies_at_a_triple" and high < low:
        os.kill(os.getpid(), signal.SIGSEGV)
    if FAULT == "exits_at_a_triple" and high < low:
        sys.exit(5)
    return high if high < low else low if x <= low else min(high, x)


def words(number, status, text):
    put(pack(8 + len(text), number, status) + text.encode())


def answer():  # noqa: C901 - a line or two for each fault
    length, number, _, type_, rank = struct.unpack(f"{ORDER}5I", get(20))
    data = get(length - 16)
    COUNT[0] += 1
    if type_ not in TYPES:
        words(number, 2, "no such type here")
        return
    if FAULT == "refuses_rank_2" and rank == 2:
        words(number, 1, "rank 2 is too much")
        return
    if FAULT == "refuses_inverted" and rank == 1:
        low, high = struct.unpack_from(f"{ORDER}2{TYPES[type_]}", data[4 * rank :])
        if high < low:
            words(number, 1, "max is less than min")
            return
    if FAULT == "sees_a_fault":
        words(number, 3, "it wrote past the end of its result")
        return
    shape = struct.unpack_from(f"{ORDER}{rank}I", data)
    n = 1
    for size in shape:
        n *= size
    code = TYPES[type_]
    values = struct.unpack_from(f"{ENTRIES}{2 + n}{code}", data, 4 * rank)
    if FAULT.startswith("hangs") and shape == (7,):
        if FAULT == "hangs_with_children":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            subprocess.Popen(["sleep", f"7531.{MARK}"], start_new_session=True)
        time.sleep(9999)
    if FAULT == "closes_its_output" and shape == (7,):
        os.close(OUT)
        time.sleep(9999)
    if FAULT == "slow":
        time.sleep(0.04)
    if FAULT == "prints":
        print("a line for nobody", flush=True)
    low, high, *x = values
    found = [clip(one, low, high) for one in x]
    reply(number, type_, shape, struct.pack(f"{ENTRIES}{n}{code}", *found))


def reply(number, type_, shape, data):  # noqa: C901 - likewise
    rank, bad = len(shape), COUNT[0] > 3
    if FAULT == "wrong_type":
        type_ = 5 if type_ == 1 else 0
    if FAULT == "wrong_shape":
        shape, rank = (len(data) // 2,), 1
    if FAULT == "garbage" and bad:
        put(bytes(i * 37 % 256 for i in range(200)))
        return
    head = pack(number, 0, type_, rank, *shape)
    length = len(head) + len(data) + (6 if FAULT == "wrong_length" and bad else 0)
    whole = pack(length) + head + data
    if FAULT == "wrong_length" and bad:
        whole += b"sixsix"
    if FAULT == "giant_length" and bad:
        whole = pack(2**32 - 1) + whole
    if FAULT == "exits_mid_frame" and bad:
        put(whole[: len(whole) // 2])
        sys.exit(0)
    if FAULT == "short_frame" and bad:
        put(whole[: len(whole) // 2])
        time.sleep(9999)
    if FAULT == "says_more" and bad:
        whole += b"and another thing"  # in one write, or the next request could go out before it
    if FAULT == "endless_reply" and bad:
        whole += b"more and more " * 1000
    put(whole)
    while FAULT == "endless_reply" and bad:
        put(b"more and more ")


if __name__ == "__main__":
    hello()
    while True:
        answer()
