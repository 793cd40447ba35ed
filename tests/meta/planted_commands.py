"""Programs that run an ONNX model once, as `check --onnx-cmd` starts them: the first word is a fault.

They need nothing but Python, since each call starts one. A Clip node has three inputs here; what is no input
of the model is an initializer or the value of a Constant node. Entries stay bytes, as they were given.
"""

import os
import signal
import struct
import sys
import time
from dataclasses import dataclass
from math import isnan
from pathlib import Path

_CODES = {1: "f", 2: "B", 3: "b", 4: "H", 5: "h", 6: "i", 7: "q", 10: "e", 11: "d", 12: "I", 13: "Q"}
_UINT16, _INT16 = 4, 5


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
        count = len(self.raw) // struct.calcsize(_CODES[self.kind])
        return struct.unpack(f"<{count}{_CODES[self.kind]}", self.raw)

    def written(self):
        shape = b"".join(b"\x08" + varint(n) for n in self.shape)
        return shape + b"\x10" + varint(self.kind) + b"\x4a" + varint(len(self.raw)) + self.raw


def fields(data):
    """The fields of a message of protobuf: number and value."""
    at = 0

    def number():
        nonlocal at
        found = shift = 0
        while True:
            byte = data[at]
            at += 1
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    while at < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        else:
            assert key & 7 == 2, key
            size = number()
            yield key >> 3, data[at : at + size]
            at += size


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def tensor(data, name=""):
    found = Tensor(name, 0, [], b"")
    for key, value in fields(data):
        if key == 1:
            found.shape += [value] if isinstance(value, int) else list(value)
        elif key == 2:
            found.kind = value
        elif key == 8:
            found.name = value.decode()
        elif key == 9:
            found.raw = value
    return found


def constants(model):
    """The initializers and the values of Constant nodes."""
    (graph,) = (value for key, value in fields(model) if key == 7)
    for key, value in fields(graph):
        if key == 5:
            yield tensor(value)
        if key == 1:
            node = [*fields(value)]
            outputs = [part.decode() for number, part in node if number == 2]
            for attribute in (part for number, part in node if number == 5):
                (inner,) = (part for number, part in fields(attribute) if number == 5)
                yield tensor(inner, outputs[0])


def clip(x, lower, upper):
    """The entries of the result, as the cases say."""
    (low,), (high,) = lower.entries, upper.entries
    (l,), (m,) = lower.values, upper.values
    if m < l:
        return [high for _ in x.entries]
    return [low if v <= l else high if m <= v else e for v, e in zip(x.values, x.entries, strict=True)]


def before(fault, x, l, m):
    """What happens before there is a result: the status with which the program ends, 0 if it goes on."""
    status = 0
    if fault == "refuses_int16" and x.kind == _INT16:
        print("loading …", "no kernel for int16", "", sep="\n", file=sys.stderr)
        status = 3
    elif fault == "refuses_rank_4":
        status = int(len(x.shape) == 4)
    elif fault == "refuses_inverted":
        status = int(m < l)
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
    found = clip(x, lower, upper)
    if fault == "wrong" and m < l:
        found = lower.entries * len(found)
    if fault == "wrong_with_constants" and inputs == 1 and l <= m:
        found = [lower.raw if m <= v else e for v, e in zip(x.values, found, strict=True)]
    shape = [1, *x.shape] if fault == "wrong_shape" else x.shape
    kind = x.kind if fault != "wrong_type" else _UINT16 if x.kind == _INT16 else _INT16
    return Tensor("y", kind, shape, b"".join(found))


def leave(fault, file, data):
    """Write the output, or what a fault leaves instead."""
    if fault == "folder":
        file.mkdir()
    elif fault == "other_name":
        file.with_name("y.pb").write_bytes(data)
    elif fault == "huge":
        with file.open("wb") as stream:
            stream.truncate(1 << 27)
    elif fault != "nothing":
        other = {"garbage": b"\xff" * 100, "empty": b"", "elsewhere": data + b"\x70\x01"}
        file.write_bytes(other.get(fault, data))


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
