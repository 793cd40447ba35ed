"""Repeats a recorded deviation: calls the runtime in its own process with the recorded bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform.session import EnvironmentFaultError, GaveUpError, Session
from sonnx_clip.root.dtypes import bits_type, hex_bits
from sonnx_clip.runtimes.calls import Request
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.runtimes.limits import LIMITS
from sonnx_clip.runtimes.worker import RuntimeDiedError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.conform.check_report import Deviation

_LENGTHS = {layout.id: (2, 4, 8, 16, 32) if layout.length is None else (layout.length,) for layout in LAYOUTS}


def answers_again(runtime: str, etype: str, deviation: Deviation) -> tuple[str, ...]:
    """The answers of a runtime to the operands of a deviation, as bit patterns or in words, without repeats.

    X has the recorded value at every entry, in the recorded layout. The text of the recorded reproducer is
    not used.

    Args:
        runtime: name of the runtime.
        etype: id of the element type.
        deviation: operands and layout; it has a result.

    Raises:
        ValueError: an operand is no bit pattern of the type, or there is no such layout.
        UserError: the runtime cannot be started.
    """
    try:
        given = [np.array([int(text, 16)], bits_type(etype)) for text in deviation.operands.values()]
        x, *scalars = given
        lengths, start = _LENGTHS[deviation.layout], np.zeros(1, int)
    except (OverflowError, KeyError) as error:
        raise ValueError(str(error)) from None
    requests = (Request(deviation.layout, length, x, start, tuple(scalars)) for length in lengths)
    return tuple(dict.fromkeys(_answers(runtime, etype, requests)))


def _answers(runtime: str, etype: str, requests: Iterator[Request]) -> Iterator[str]:
    try:
        session = Session(runtime, etype, LIMITS)
    except (RuntimeDiedError, UnsupportedError) as error:
        yield str(error)
        return
    try:
        for request in requests:
            answer = session.repeat(request)
            if answer.died is not None:
                yield answer.died.words
            elif answer.failures:
                yield from (failure.words for failure in answer.failures.values())
            else:
                yield from (hex_bits(int(entry), etype) for entry in np.unique(answer.bits))
    except (GaveUpError, EnvironmentFaultError) as error:
        yield str(error)
    finally:
        session.worker.close()
