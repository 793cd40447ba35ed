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
from math import prod

TYPES = {1: "h", 4: "B"}
FAULT, MARK = sys.argv[1:]
ORDER = ">" if FAULT == "big" else "<"
IN, OUT = (0, 1) if FAULT.startswith("stdio") else (3, 4)
COUNT = [0]
HELLO = {"version": 2, "types": 1 << 1 | 1 << 4, "ranks": 0x1FF, "entries": 1 << 20}
WRONG_HELLO = {
    "wrong_version": {"version": 7},
    "lies_about_types": {"types": 0xFFF},
    "no_types": {"types": 0},
    "strange_types": {"types": 1 << 20},
    "rank_1_alone": {"ranks": 2},
    "small": {"entries": 100},
    "tiny": {"entries": 8},
}


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
    if FAULT == "nothing_at_all":
        time.sleep(9999)
    if FAULT == "ends_with_a_traceback":
        raise RuntimeError("no board is connected")
    if FAULT == "ends_at_once":
        sys.exit(3)
    if FAULT == "stdio_text":
        put(b"Loading the model, please wait\n" * 3)
    numbers = HELLO | WRONG_HELLO.get(FAULT, {})
    data = b"CLIP" + pack(*numbers.values(), 7) + b"planted"
    if FAULT == "half_a_hello":
        put(data[:10])
        sys.exit(0)
    put(data[:20] + pack(10**6) if FAULT == "long_name" else data)


def clip(x, low, high):
    if high < low:
        if FAULT == "dies_at_a_triple":
            os.kill(os.getpid(), signal.SIGSEGV)
        return low if FAULT == "wrong_in_one_class" else high
    return low if x <= low else min(high, x)


def words(number, status, text):
    put(pack(8 + len(text), number, status) + text.encode())


def answer():
    length, number, _, type_, rank = struct.unpack(f"{ORDER}5I", get(20))
    data = get(length - 16)
    COUNT[0] += 1
    if type_ not in TYPES:
        return words(number, 2, "no such type here")
    shape = struct.unpack_from(f"{ORDER}{rank}I", data)
    form = f"{ORDER}{prod(shape)}{TYPES[type_]}"
    low, high, *x = struct.unpack_from(f"{ORDER}{2 + prod(shape)}{TYPES[type_]}", data, 4 * rank)
    if FAULT == "refuses_rank_2" and rank == 2:
        return words(number, 1, "rank 2 is too much")
    if FAULT == "refuses_inverted" and rank == 1 and high < low:
        return words(number, 1, "max is less than min")
    if FAULT == "sees_a_fault":
        return words(number, 3, "it wrote past the end of its result")
    misbehave(shape)
    return reply(number, type_, shape, struct.pack(form, *(clip(one, low, high) for one in x)))


def misbehave(shape):
    """What a program does before it replies."""
    if FAULT == "slow":
        time.sleep(0.04)
    if FAULT == "prints":
        print("a line for nobody", flush=True)
    if FAULT == "leaves_a_daemon" and COUNT[0] == 1:
        if os.fork() == 0:
            subprocess.Popen(["sleep", f"7531.{MARK}"], start_new_session=True)
            os._exit(0)
        os.wait()
    if FAULT == "hangs_with_children" and shape == (7,):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen(["sleep", f"7531.{MARK}"], start_new_session=True)
        time.sleep(9999)
    if FAULT == "closes_its_output" and shape == (7,):
        os.close(OUT)
        time.sleep(9999)


def reply(number, type_, shape, data):
    if FAULT == "wrong_type":
        type_ = 5 if type_ == 1 else 0
    body = pack(number, 0, type_, len(shape), *shape) + data
    whole = pack(len(body)) + body
    if COUNT[0] <= 3:  # the frames after it are bad
        return put(whole)
    if FAULT == "exits_mid_frame":
        put(whole[: len(whole) // 2])
        sys.exit(0)
    if FAULT == "short_frame":
        put(whole[: len(whole) // 2])
        time.sleep(9999)
    put(
        {
            "garbage": bytes(i * 37 % 256 for i in range(200)),
            "wrong_length": pack(len(body) + 6) + body + b"sixsix",
            "giant_length": pack(2**32 - 1) + whole,
            "says_more": whole
            + b"and another thing",  # in one write, or the next request could go out first
            "endless_reply": whole + b"more and more " * 1000,
        }.get(FAULT, whole)
    )
    while FAULT == "endless_reply":
        put(b"more and more ")
    return None


if __name__ == "__main__":
    hello()
    while True:
        answer()
