"""What a run compared, and its blind spots, in two sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform import plan
from sonnx_clip.conform.plan import DRAWS_TOGETHER, EVERY_LENGTH, LONG
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.runtimes.model_forms import every_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.conform.check_report import TypeReport
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.conform.plan import Level

    Parts = tuple[list[str], list[str]]  # what was compared, and what is not seen

_PAIRWISE = 40  # forms: more are those of --forms all
_FREE = sorted({found.length for found in LAYOUTS if found.plain and found.length is not None})
_HIGHEST_RANK = max(found.arrange(np.zeros(found.length or 1)).ndim for found in LAYOUTS if found.length)
_SHORT = next(n for n in range(2, LONG) if n not in plan.LENGTHS)
_RANKS = f"ranks above {_HIGHEST_RANK}"
_OTHERS = "other threads, other processors"
_THREE_TRAITS = "what three traits of a form of a model bring about together"


def scope(
    types: Sequence[TypeReport], of: CheckedOperator | None = None, level: Level = "quick", *,
    few_calls: bool = False,
) -> tuple[str, str]:  # fmt: skip
    """What was compared in some element types, and what is not seen by it, each as a sentence.

    Args:
        types: the reports on them.
        of: the operator; Clip by default.
        level: of the check.
        few_calls: whether few calls were asked for, whatever the runtime is.
    """
    bits = {re.sub("[a-z]", "", one.type) for one in types}
    if of is not None and not of.is_clip:
        parts, unseen = _of_another(types, bits, of)
    else:
        few = any(one.few for one in types)
        parts, unseen = _of_few(bits, asked_for=few_calls) if few else _of_all(types, bits, level)
        unseen += dict.fromkeys(words for one in types for words in one.unasked)
        forms = max((one.served_forms for one in types), key=len, default=())
        if forms:
            fewer = "fewer of these pairs" if few else "the same chosen bounds"
            values = every_value([found.form for found in forms])
            parts += [f"{len(forms)} forms of a model under {fewer} ({values})"]
            unseen += [] if few else ["other constant bounds"]
            unseen += [_THREE_TRAITS] if few or len(forms) <= _PAIRWISE else []
        unseen += ["models of more nodes" if forms or few else "other forms of a model", _OTHERS]
    return f"compared: {'; '.join(parts)}.", f"Not seen: {'; '.join(unseen)}."


def _of_all(types: Sequence[TypeReport], bits: set[str], level: Level) -> Parts:
    longest = min((one.longest for one in types if one.longest is not None), default=LONG)
    layouts = "every shape" if any(one.unasked for one in types) else "every layout"
    parts = [
        "every triple of special values",
        f"every class and each special bound in {layouts}",
        "random triples",
        *(["every triple of 8 bits"] if "8" in bits else []),
        *(["every X of 16 bits under 24 pairs of bounds"] if "16" in bits else []),
        _lengths(longest), *_more(level, bits),
    ]  # fmt: skip
    short, of_a_process = _SHORT - 1, f"of a type than were made here ({_calls(types)})"
    if level != "quick":
        short, of_a_process = EVERY_LENGTH, "than one unit makes of a process"
    unseen = [
        *(["one unusual X"] if bits & {"32", "64"} else []),
        *(["one unusual pair of bounds"] if bits - {"8"} else []),
        "one unusual pair of bounds in one layout",
        f"one unusual length above {min(longest, short):,} or any above {longest:,}",
        f"a length beside {', '.join(map(str, _FREE))} with other bounds than the few of its calls",
        _RANKS,
        f"what begins after more calls {of_a_process}",
        "writes elsewhere than into X and the bounds (of a library: over 4,096 bytes from the result)",
    ]
    return parts, unseen


def _more(level: Level, bits: set[str]) -> list[str]:
    """What a level adds to quick."""
    if level == "quick":
        return []
    found = [
        f"the bounds of {plan.RANDOM_DRAWS} more random draws, each beside the X of {DRAWS_TOGETHER} draws",
        f"calls of every length up to {EVERY_LENGTH:,}, each under {plan.PAIRS_OF_A_LENGTH} pairs of bounds",
    ]
    if "16" in bits:
        found.append("every X of 16 bits under all pairs of special bounds")
    if bits & {"32", "64"}:
        found.append(f"{plan.DRAWN:,} special and random X under all pairs of special bounds")
    if level == "exhaustive" and "8" in bits:
        found.append(f"every triple of 8 bits in the layouts {', '.join(plan.IN_EACH_LAYOUT)}")
    if level == "exhaustive" and "16" in bits:
        found.append("every X of 16 bits under every min and under every max, beside four others")
    if level == "exhaustive" and "32" in bits:
        found.append("every X of 32 bits under bounds that reach every class")
    return found


def _of_another(types: Sequence[TypeReport], bits: set[str], of: CheckedOperator) -> Parts:
    operands = " and ".join(of.node.called)
    parts = [f"special values of {operands}, all together, and in every layout", "random ones"]
    parts += [f"all 8-bit values of {operands}"] if "8" in bits else []
    unseen = ["one unusual value"] if bits - {"8"} else []
    unseen += ["tensors of different shapes"] if of.tensors > 1 else []
    unseen += ["a length with other bounds than the few of its calls", _RANKS]
    unseen += [f"what begins after more calls of a type than were made here ({_calls(types)})"]
    return [*parts, _lengths(LONG)], [*unseen, "other forms of a model", _OTHERS]


def _of_few(bits: set[str], *, asked_for: bool) -> Parts:
    """Of a runtime of which few calls were made: that was asked for, or each started a program."""
    every = f"every X of types of 8 and 16 bits, else every special value and more up to {LONG:,}"
    lengths = ", ".join(map(str, plan.FEW_LENGTHS))
    parts = [f"{every}, in one call under each chosen pair of bounds (they reach every class)"]
    parts += [f"{plan.FEW_OF_A_SHAPE} calls of every shape", f"one call of each of the lengths {lengths}"]
    unseen = ["any other pair of bounds, or value beside these bounds", "any other length", _RANKS]
    unseen += ["one unusual X"] if bits & {"32", "64"} else []
    if asked_for:
        return parts, [*unseen, "what only many calls in one process bring about"]
    unseen += ["what a process does in its second call: each call had a process of its own"]
    return parts, [*unseen, "what it writes or reads past its memory, unless it dies of it"]


def _calls(types: Sequence[TypeReport]) -> str:
    return f"{max((one.calls for one in types), default=0):,}"


def _lengths(longest: int) -> str:
    """The lengths of the calls, of a runtime that takes so many entries at most."""
    if longest >= LONG:
        return f"calls of every length below {_SHORT}, of some up to 2,049, and of {LONG:,}"
    if longest < _SHORT:
        return f"calls of every length up to {longest}"
    return f"calls of every length below {_SHORT}, and of some up to {longest:,}"
