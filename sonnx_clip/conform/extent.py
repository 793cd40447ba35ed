"""What a run compared, and its blind spots, in two sentences; the first counts calls that gave a result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform import call_plan
from sonnx_clip.conform.call_plan import DRAWS_TOGETHER, EVERY_LENGTH, FEW_OF_A_SHAPE, LONG
from sonnx_clip.conform.check_report import Extent
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.runtimes.model_forms import every_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from sonnx_clip.conform.call_plan import Level
    from sonnx_clip.conform.check_report import FormReport, TypeReport
    from sonnx_clip.conform.operator import Operator

    # Parts of a sentence, each with the condition under which it is shown.
    Parts = list[tuple[object, str]]

PURPOSES = {
    "bounds in use": "the values around all bounds in use under these bounds, in {layouts}",
    "special values": "every combination of special values of {operands}",
    "layouts": "every class and each special bound in {layouts}",
    "random X": "random X under every pair of special bounds",
    "random draws": "random values",
    "every 8-bit value": "every combination of 8-bit values of {operands}",
    "long calls": "{long_values}, in calls of {long:,}",
    "lengths": "calls of {lengths}",
    "few long calls": (
        "every X of types of 8 and 16 bits, else every special value and more up to {long:,}, in one call"
        " under each chosen pair of bounds (they reach every class)"
    ),
    "few shapes": "{few_of_a_shape} calls of every shape",
    "few lengths": "one call of each of the lengths {few_lengths}",
    "more draws": "the bounds of {draws} more random draws, each beside the X of {draws_together}",
    "every length": (
        "calls of every length up to {every_length:,}, each under {pairs_of_a_length} pairs of bounds"
    ),
    "more X": "every X of 16 bits, or {drawn:,} special and random X, under all pairs of special bounds",
    "every 16-bit X": "every X of 16 bits under every min and under every max, beside four others",
    "every 32-bit X": "every X of 32 bits under bounds that reach every class",
    "every pair of 16-bit values": "every pair of 16-bit values of {operands}",
}
"""What the calls of each `Request.purpose` are, in the order in which a report names them."""
_WITHOUT_BOUNDS = {
    "layouts": "every class in {layouts}",
    "random X": "random values",
    "random draws": "random, special and neighbouring values",
    "long calls": "{long_values}, in calls of {long:,}",
    "few long calls": (
        "every value of {operands} of 16 bits together, else every special value and more up to {long:,},"
        " in one call"
    ),
    "more draws": "the values of {draws} more random draws, {draws_together} in a call",
    "every length": "{pairs_of_a_length} calls of every length up to {every_length:,}",
    "more X": "{more_values}",
    "every 32-bit X": "every X of 32 bits",
}
"""The same for an operator without scalars."""
_IN_FORMS = {
    "bounds in use": "the bounds in use",
    "special values": "pairs of special bounds that reach every class",
    "bounds with zero": "where bounds are constants, zero beside each special value",
}
_WITHOUT_BOUNDS_IN_FORMS = {"special values": "every combination of special values"}
_PAIRWISE = 40  # forms: more are those of --forms all
_FREE = sorted({layout.length for layout in LAYOUTS if layout.plain and layout.length is not None})
_HIGHEST_RANK = max(
    layout.arrange(np.zeros(layout.length)).ndim for layout in LAYOUTS if layout.length
)
# The first length that is left out: below it, every length is called.
_SHORT = next(n for n in range(2, LONG) if n not in call_plan.LENGTHS)


def scope(
    types: Sequence[TypeReport], operator: Operator, level: Level = "quick", *,
    few_calls: bool = False,
) -> tuple[str, str]:  # fmt: skip
    """What was compared in some element types, and the blind spots, each as a sentence.

    Args:
        types: the reports on them.
        operator: the operator.
        level: of the check.
        few_calls: whether few calls were made because of an option.
    """
    forms = _most_forms(types)
    few = any(report.few for report in types)
    compared = [*_compared(types, operator), *_compared_in_forms(types, operator)]
    unusual = "one unusual X" if operator.tensors == 1 else "one unusual choice of operands"
    # Calls that were planned and gave no result may hide a fault: refused ones, and those not made.
    is_partial = False
    unasked: dict[str, None] = {}
    for report in types:
        unasked |= dict.fromkeys(report.unasked)
        tried = [report.tried, *(form.tried for form in report.served_forms)]
        is_partial = is_partial or any(map(_is_partial, tried))

    # Every value of 16 bits is tried, but every pair of two tensors at the highest level alone.
    sampled = {"32", "64"}
    if operator.tensors > 1 and level != "exhaustive":
        sampled.add("16")
    unseen: Parts = [(_bits_of(types) & sampled, unusual)]
    unseen += _not_seen_of_few(by_option=few_calls) if few else _not_seen(types, operator, level)
    unseen += [(True, words) for words in unasked]
    unseen += [
        (is_partial, "the calls that were refused or gave no result"),
        (bool(operator.spec.dialects), "bounds that are absent (--against onnx tries them)"),
        (
            forms and not few and operator.scalars,
            "two constant bounds of which neither is zero, but for the pairs named",
        ),
        (
            forms and (few or len(forms) <= _PAIRWISE),
            "interactions of three traits of a model form",
        ),
        (True, "models with more nodes" if forms or few else "other forms of a model"),
        (True, f"ranks above {_HIGHEST_RANK}; other threads, other processors"),
    ]
    blind_spots = "; ".join(words for is_true, words in unseen if is_true)
    return (
        f"compared: {'; '.join(compared) or 'nothing'}.",
        f"A fault can be missed in: {blind_spots}.",
    )


def _most_forms(types: Sequence[TypeReport]) -> Sequence[FormReport]:
    """The forms of a model that were served in the element type with the most of them."""
    served = [report.served_forms for report in types]
    return max(served, key=len, default=())


def _bits_of(types: Sequence[TypeReport]) -> set[str]:
    """The widths of some element types: ``8``, ``16``."""
    return {re.sub("[a-z]", "", report.type) for report in types}


def _longest_of(types: Sequence[TypeReport]) -> int:
    """The longest call that all of the runtimes of some reports take."""
    # Most runtimes take calls of any length: then it is the longest that is made.
    longest = [report.longest for report in types if report.longest is not None]
    return min(longest, default=LONG)


# --- What was compared --------------------------------------------------------------------------------------


def _compared(types: Sequence[TypeReport], operator: Operator) -> Iterator[str]:
    """A phrase for each purpose of which a call outside of forms gave a result."""
    longest = _longest_of(types)
    # A runtime that takes fewer entries gets long calls in pieces.
    lengths = f"every length up to {min(longest, _SHORT - 1)}"
    if longest >= _SHORT:
        lengths += f" and of some up to {min(longest, call_plan.LENGTHS[-1]):,}"
    has_strides = not any(report.unasked for report in types)
    words = {
        "operands": ", ".join(operator.signature.shown),
        "layouts": "every layout" if has_strides else "every shape",
        "long": min(longest, LONG),
        "long_values": ", ".join(_values_of_long_calls(_bits_of(types), operator)),
        "lengths": lengths,
        "few_of_a_shape": FEW_OF_A_SHAPE,
        "few_lengths": ", ".join(map(str, call_plan.FEW_LENGTHS)),
        "draws": call_plan.RANDOM_DRAWS,
        "draws_together": DRAWS_TOGETHER,
        "every_length": EVERY_LENGTH,
        "pairs_of_a_length": call_plan.PAIRS_OF_A_LENGTH,
        "drawn": call_plan.DRAWN,
        "more_values": _more_values(operator),
    }
    stated = PURPOSES if operator.scalars else {**PURPOSES, **_WITHOUT_BOUNDS}
    phrases = {purpose: phrase.format_map(words) for purpose, phrase in stated.items()}
    tried = [report.tried for report in types]
    yield from phrases_of_compared(phrases, tried)


def _more_values(operator: Operator) -> str:
    """The values of more X, without scalars."""
    values = f"{call_plan.DRAWN:,} special and random values"
    if operator.tensors == 1:
        return values
    return f"every value of 16 bits, or {values}, as each operand beside every special value of the other"


def _values_of_long_calls(bits: AbstractSet[str], operator: Operator) -> list[str]:
    """The values in long calls, of types of so many bits."""
    if operator.scalars:
        all_values = {"8": "8-bit X", "16": "every X of 16 bits under 24 pairs of bounds"}
        sampled = "special and random X"
    else:
        operands = ", ".join(operator.signature.shown[: operator.tensors])
        all_values = {}
        sampled = "special and random values"
        for width in (8, 16):
            if width * operator.tensors <= call_plan.WHOLE_BITS:
                all_values[str(width)] = f"every {width}-bit value of {operands}"
    # Types of 32 and of 64 bits have the same words, which stand once.
    values: dict[str, None] = {}
    for width_of_type in ("8", "16", "32", "64"):
        if width_of_type in bits:
            values[all_values.get(width_of_type, sampled)] = None
    return list(values)


def _compared_in_forms(types: Sequence[TypeReport], operator: Operator) -> Iterator[str]:
    """What was compared in forms of a model, as one phrase."""
    forms = _most_forms(types)
    phrases = _IN_FORMS if operator.scalars else _WITHOUT_BOUNDS_IN_FORMS
    tried = [form.tried for form in forms]
    named = phrases_of_compared(phrases, tried)
    if not named:
        return
    # Types may have different operator sets.
    served = [form.form for report in types for form in report.served_forms]
    values = every_value(served)
    yield f"{len(forms)} forms of a model ({values}) under {', '.join(named)}"


def phrases_of_compared(
    phrases: Mapping[str, str], every: Iterable[Mapping[str, Extent]]
) -> list[str]:
    """The phrase of each purpose of which a call gave a result, and how many did, if not all.

    Args:
        phrases: what the calls of each purpose are.
        every: the calls for each purpose, of some reports.
    """
    tried = _sum_of(every)
    judged = [purpose for purpose in phrases if purpose in tried and tried[purpose].judged]
    return [phrases[purpose] + _share_of(tried[purpose]) for purpose in judged]


def _sum_of(every: Iterable[Mapping[str, Extent]]) -> dict[str, Extent]:
    """The calls for each purpose, in all of some reports."""
    total: dict[str, Extent] = {}
    for tried in every:
        for purpose, extent in tried.items():
            total[purpose] = total.get(purpose, Extent()) + extent
    return total


def _share_of(extent: Extent) -> str:
    """How many of the calls gave a result, if not all did."""
    if extent.judged >= extent.planned:
        return ""
    return f" ({extent.judged:,} of {extent.planned:,} calls)"


def _is_partial(tried: Mapping[str, Extent]) -> bool:
    return any(extent.judged < extent.planned for extent in tried.values())


# --- Blind spots --------------------------------------------------------------------------------------------


def _not_seen(types: Sequence[TypeReport], operator: Operator, level: Level) -> Parts:
    longest = _longest_of(types)
    if level == "quick":
        tried = _SHORT - 1
        most = max((report.calls for report in types), default=0)
        calls = f"than the most made for one type ({most:,})"
    else:
        tried = EVERY_LENGTH
        calls = "than one unit makes of a process"
    free = ", ".join(map(str, _FREE))
    # Each with the condition under which it is listed: without bounds no pair of them can be
    # unusual.
    return [
        (operator.scalars and _bits_of(types) - {"8"}, "one unusual pair of bounds"),
        (operator.scalars, "one unusual pair of bounds in one layout"),
        (operator.tensors > 1, _unseen_shapes(types)),
        (True, f"one unusual length above {min(longest, tried):,} or any above {longest:,}"),
        (
            operator.scalars,
            f"a length beside {free} with other bounds than the few of its calls",
        ),
        (True, f"effects after more calls {calls}"),
        (True, "writes outside the operands (by a library: over 4,096 bytes from the result)"),
    ]


def _unseen_shapes(types: Sequence[TypeReport]) -> str:
    text = "tensors of different shapes"
    for of_type in types:
        if any(report.form.has_scalar for report in of_type.served_forms):
            return f"{text}, but for a scalar as the second"
    return text


def _not_seen_of_few(*, by_option: bool) -> Parts:
    """The blind spots of few calls, chosen by an option or because each call starts a program."""
    return [
        (True, "any other pair of bounds, or value beside these bounds; any other length"),
        (by_option, "effects of many calls in one process"),
        (not by_option, "the second call of a process: each call had its own process"),
        (not by_option, "accesses outside its memory that do not crash it"),
    ]
