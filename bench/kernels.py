"""Time `sonnx_clip.clip` against np.clip, torch.clamp and onnxruntime, over types, sizes, layouts and bounds.

    python -m bench.kernels [--quick]

Prints Markdown tables; with --quick rough figures of four types. A wrong answer of ours stops the run. Exit
status 1 if a target is missed twice. A peer that is not installed is left out and named.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import sonnx_clip
from bench.timing import HEADER, Call, Target, judge, medians
from sonnx_clip.oracle import built, load_oracle
from sonnx_clip.oracle.strict import clip_by_numpy
from sonnx_clip.root.dtypes import Array, bits_type, numpy_type
from sonnx_clip.root.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
HALVES, WIDE = ("float16", "bfloat16"), ("float32", "float64")
SMALL, LARGE = (1, 10, 100, 1_000), 100_000

BOUNDS: Mapping[str, tuple[float, float]] = {
    "ordinary": (-1.0, 1.0),
    "zero minimum": (0.0, 6.0),
    "zero maximum": (-6.0, 0.0),
    "zeros of both signs": (-0.0, 0.0),
    "zeros of both signs, +0 first": (0.0, -0.0),
    "inverted": (1.0, -1.0),
    "NaN minimum": (float("nan"), 1.0),
}


@dataclass(frozen=True)
class Case:
    """One input: an element type, the number of elements, a layout and named bounds."""

    etype: str
    size: int
    bounds: str = "ordinary"
    strided: bool = False

    def arrays(self) -> tuple[Array, Any, Any, Array]:
        """X of shape (size,) with NaNs and zeros of both signs among floats, the bounds, and an output."""
        dtype, rng = numpy_type(self.etype), np.random.default_rng(0)
        step = 2 if self.strided else 1
        if self.etype in INTEGERS:
            low, high = (20, 100) if self.bounds != "inverted" else (100, 20)
            x = rng.integers(0, 120, step * self.size).astype(dtype)
        else:
            low, high = BOUNDS[self.bounds]  # type: ignore[assignment]
            x = rng.normal(0, 2, step * self.size).astype(dtype)
            x[::13], x[::17], x[::19] = dtype.type(0.0), dtype.type(-0.0), dtype.type(float("nan"))
        x = x[::step]
        return x, dtype.type(low), dtype.type(high), np.empty(self.size, dtype)

    def __str__(self) -> str:
        return f"{self.etype}, {self.bounds}{', strided' if self.strided else ''}, {self.size:,}"


def caller(function: Callable[..., Any]) -> Callable[[Case], Call]:
    """Makes the call of a function of (x, low, high), with `out=` for large arrays."""

    def call_of(case: Case) -> Call:
        x, low, high, out = case.arrays()
        return partial(function, x, low, high, **({"out": out} if case.size >= LARGE else {}))

    return call_of


def torch_clamp(case: Case) -> Call | None:
    """torch.clamp on one thread; None where torch is missing or has no such type."""
    try:
        import torch

        from sonnx_clip.runtimes.adapters.torch import tensor
    except ImportError:
        return None
    torch.set_num_threads(1)
    x, low, high, out = case.arrays()
    number: Callable[[Any], Any] = int if x.dtype.kind in "iu" else float
    call = partial(torch.clamp, tensor(x), number(low), number(high), out=tensor(out))
    try:
        call()
    except RuntimeError:
        return None
    return call


def onnxruntime_clip(case: Case) -> Call | None:
    """A model of one Clip node, run on one thread; None where it is missing or has no such type."""
    try:
        from sonnx_clip.runtimes.adapters.onnxruntime import RUNTIME
    except ImportError:
        return None
    try:
        function = RUNTIME.open(case.etype)
    except Exception:  # noqa: BLE001 - its exceptions differ between versions; each means "no kernel"
        return None
    x, low, high, _ = case.arrays()
    return partial(function, x, np.array(low), np.array(high))


PEERS: Mapping[str, Callable[[Case], Call | None]] = {
    "np.clip": caller(np.clip),
    "torch.clamp": torch_clamp,
    "onnxruntime": onnxruntime_clip,
}


def confirm(case: Case) -> None:
    """Compare our answer with the oracle's, bit for bit; SystemExit if they differ."""
    x, low, high, _ = case.arrays()
    bits = bits_type(case.etype)
    expected = load_oracle().clip(x, low, high)
    for ours in (sonnx_clip.clip, clip_by_numpy):
        if not np.array_equal(ours(x, low, high).view(bits), expected.view(bits)):
            raise SystemExit(f"{ours.__name__} gives a wrong answer for {case}: run `make test`")


def worst(
    cases: Sequence[Case], us: Callable[[Case], Call], peer: str, budget: float
) -> tuple[float, str]:
    """The largest ratio of our time to a peer's, and the case; SystemExit if no case has both."""
    found: list[tuple[float, str]] = []
    for case in cases:
        them = PEERS[peer](case)
        if them is not None:
            with np.errstate(invalid="ignore"):
                times = medians({"ours": us(case), "theirs": them}, budget)
            found.append((times["ours"] / times["theirs"], str(case)))
    if not found:
        raise SystemExit(f"{peer} has none of the cases")
    return max(found)


def rows(types: Sequence[str]) -> Iterator[tuple[Target, list[Case], str]]:
    """Each target, the cases that it covers and the peer."""
    small = [Case(t, n) for t in types for n in SMALL]
    yield Target("1 to 1,000 elements, against np.clip", 1.5), small, "np.clip"
    bounds = {
        **dict.fromkeys(WIDE, tuple(BOUNDS)),
        **dict.fromkeys(INTEGERS, ("ordinary", "inverted")),
    }
    large = [Case(t, LARGE, b, s) for t in types for b in bounds.get(t, ()) for s in (False, True)]
    yield Target("100,000 elements, any bounds and layout, against np.clip", 2.0), large, "np.clip"
    for etype, limit in (("float16", 1 / 20), ("bfloat16", 1 / 3)):
        if etype in types:
            cases = [Case(etype, LARGE, b) for b in BOUNDS]
            yield (
                Target(f"100,000 elements, {etype}, any bounds, against np.clip", limit),
                cases,
                "np.clip",
            )
    halves = [Case(t, LARGE, b) for t in types if t in HALVES for b in ("ordinary", "zero minimum")]
    target = Target("100,000 elements, 16-bit floats, against torch.clamp", 1.1, gates=False)
    yield target, halves, "torch.clamp"
    ordinary = [Case(t, LARGE) for t in types]
    yield Target("100,000 elements, against onnxruntime", 1.1, gates=False), ordinary, "onnxruntime"


def main() -> int:
    """Measure, print, and return the exit status."""
    quick = "--quick" in sys.argv
    types = ("int8", "float16", "bfloat16", "float32") if quick else (*INTEGERS, *HALVES, *WIDE)
    budget = 0.01 if quick else 0.1
    with suppress(UserError):
        built.install()  # without a C compiler, clip uses the NumPy kernels; it remembers which it uses
    for etype in types:
        for bounds in ("ordinary",) if etype in INTEGERS else BOUNDS:
            confirm(Case(etype, 1_000, bounds))
    ways = {"with C": caller(sonnx_clip.clip), "without C": caller(clip_by_numpy)}
    if built.kernels() is None:
        print("no C kernels: clip is measured with the NumPy kernels alone")
        del ways["with C"]
    missing = [peer for peer in PEERS if PEERS[peer](Case("float32", 10)) is None]
    passed = True
    for way, us in ways.items():
        print(f"\n## {way}\n\n{HEADER}")
        for target, cases, peer in rows(types):
            if peer not in missing:
                passed &= judge(target, partial(worst, cases, us, peer, budget))
    for peer in missing:
        print(f"\n{peer} is not installed: not compared")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
