"""Every path is followed, the same way each time; what symbols cannot do is refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from sonnx_clip.spec import load_spec
from sonnx_clip.trace.arrays import Memory, SymbolicArray
from sonnx_clip.trace.symbolic_run import Fork, SymbolicRun, UntraceableError, samples_of

if TYPE_CHECKING:
    from collections.abc import Callable

SPEC = load_spec()


def _array(name: str, ndim: int = 1) -> SymbolicArray:
    etype = SPEC.element_type("float32")
    run = SymbolicRun(etype, Fork((), samples_of(etype)))
    return SymbolicArray(run, Memory(run.input("x", run.samples.x)), np.dtype(name), ndim)


REFUSED: dict[str, Callable[[], object]] = {
    "the class of an array": lambda: isinstance(_array("f4"), np.ndarray),
    "a Python object made from an entry": lambda: float(_array("f4", 0)),
    ".shape": lambda: _array("f4").shape,
    "the truth of what is no single comparison": lambda: bool(_array("f4") < _array("f4")),
    ".view(uint8) of float32": lambda: _array("f4").view(np.uint8),
    ".max() of a scalar": lambda: _array("f4", 0).max(),
    "np.sum": lambda: np.sum(_array("f4")),
    "np.add with reduce": lambda: np.add.reduce(_array("i4")),
    "np.add with where": lambda: np.add(_array("i4"), 1, where=True),
    "np.add of float32": lambda: _array("f4") + _array("f4"),
    "np.sqrt of float32": lambda: np.sqrt(_array("f4")),
    "np.right_shift of uint32": lambda: _array("u4") >> 1,
    "int32 with float32": lambda: _array("f4") < _array("i4"),
    "int64 with float32": lambda: _array("f4") < np.int64(1),
    "an array of numbers": lambda: _array("f4") < np.zeros(3, np.float32),
    "an operand of type str": lambda: np.less(_array("f4"), "a"),
    "a result that is cast": lambda: np.less(_array("f4"), 1, out=_array("f4")),
}


@pytest.mark.parametrize("said", REFUSED)
def test_unsupported_operation_is_rejected_by_name(said: str) -> None:
    with pytest.raises(UntraceableError) as stop:
        REFUSED[said]()
    assert said in str(stop.value)
    assert not isinstance(stop.value, Exception)  # no kernel swallows it
