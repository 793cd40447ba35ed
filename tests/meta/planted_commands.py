"""Programs that run an ONNX model once, as `check --onnx-cmd` starts them: the first word is a fault.

They need nothing but Python, since each call starts one, and know FLOAT and INT16. A Clip node has three
inputs here; what is no input of the model is an initializer or the value of a Constant node. Entries stay
bytes, as they were given.
"""

import io
import os
import signal
import struct
import sys
import time
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path

_CODES = {1: "<f", 5: "<h"}


@dataclass
class Tensor:
    name: str
    kind: int
    shape: list
    raw: bytes

    @property
    def entries(self):
        size = struct.calcsize(_CODES[self.kind])
        return [self.raw[at : at + size] for at in range(0, len(self.raw), size)]

    @property
    def values(self):
        return [struct.unpack(_CODES[self.kind], entry)[0] for entry in self.entries]

    def written(self):
        shape = b"".join(b"\x08" + varint(n) for n in self.shape)
        return shape + b"\x10" + varint(self.kind) + b"\x4a" + varint(len(self.raw)) + self.raw


def varint(n):
    return bytes([n]) if n < 128 else bytes([n % 128 + 128]) + varint(n // 128)


def number(stream):
    (byte,) = stream.read(1)
    return byte if byte < 128 else byte - 128 + 128 * number(stream)


def fields(data, wanted):
    """The values of a field of a message of protobuf."""
    stream = io.BytesIO(data)
    while stream.tell() < len(data):
        key = number(stream)
        value = number(stream) if key & 7 == 0 else stream.read(number(stream))
        if key >> 3 == wanted:
            yield value


def tensor(data):
    names, kinds, raws = ([*fields(data, key)] for key in (8, 2, 9))
    return Tensor(b"".join(names).decode(), kinds[0], [*fields(data, 1)], b"".join(raws))


def constants(model):
    """The initializers and the values of Constant nodes."""
    (graph,) = fields(model, 7)
    yield from map(tensor, fields(graph, 5))
    for node in fields(graph, 1):
        for attribute in fields(node, 5):
            (value,), (output,) = fields(attribute, 5), fields(node, 2)
            yield replace(tensor(value), name=output.decode())


def before(fault, x, l, m):
    """What happens before there is a result: the status with which the program ends, 0 if it goes on."""
    status = 0
    if fault == "refuses_int16" and x.kind == 5:
        print("loading …", "no kernel for int16", "", sep="\n", file=sys.stderr)
        status = 3
    elif fault == "refuses_rank_4":
        status = int(len(x.shape) == 4)
    elif fault == "dies_of_nan_bounds" and (isnan(l) or isnan(m)):
        os.kill(os.getpid(), signal.SIGSEGV)
    elif fault == "dies_in_a_shell" and m < l:
        status = 128 + signal.SIGSEGV
    elif fault == "hangs" and m < l and len(x.shape) == 1:
        os.fork()
        time.sleep(600)
    elif fault == "leaves_a_child" and os.fork() == 0:
        time.sleep(600)
    return status


def result(fault, x, lower, upper, inputs):
    """The tensor that is the output."""
    (l,), (m,) = lower.values, upper.values
    every = zip(x.values, x.entries, strict=True)
    if m < l:
        found = [lower.raw if fault == "wrong" else upper.raw for _ in every]
    else:
        top = lower.raw if fault == "wrong_with_constants" and inputs == 1 else upper.raw
        found = [lower.raw if v <= l else top if m <= v else entry for v, entry in every]
    return Tensor("y", x.kind, x.shape, b"".join(found))


def leave(fault, file, data):
    """Write the output, or what a fault leaves instead."""
    if fault == "other_name":
        file.with_name("y.pb").write_bytes(data)
    elif fault == "huge":
        with file.open("wb") as stream:
            stream.truncate(1 << 27)
    elif fault != "nothing":
        file.write_bytes(
            {"garbage": b"\xff" * 100, "elsewhere": data + b"\x70\x01"}.get(fault, data)
        )


def main(fault, model, given, out):
    files = sorted(Path(given).iterdir())
    assert [file.name for file in files] == [f"input_{number}.pb" for number in range(len(files))]
    assert not [*Path(out).iterdir()], "the folder of the output is not empty"
    read = [tensor(file.read_bytes()) for file in files]
    named = {one.name: one for one in (*read, *constants(Path(model).read_bytes()))}
    x, lower, upper = (named[name] for name in "xlm")
    if status := before(fault, x, *lower.values, *upper.values):
        return status
    leave(fault, Path(out, "output_0.pb"), result(fault, x, lower, upper, len(read)).written())
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
