"""What a run compared, and its blind spots, in two sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from sonnx_clip.conform import plan
from sonnx_clip.conform.checked_operator import clip_operator
from sonnx_clip.conform.plan import DRAWS_TOGETHER, EVERY_LENGTH, FEW_OF_A_SHAPE, LONG
from sonnx_clip.runtimes.layouts import LAYOUTS
from sonnx_clip.runtimes.model_forms import every_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sonnx_clip.conform.check_report import TypeReport
    from sonnx_clip.conform.checked_operator import CheckedOperator
    from sonnx_clip.conform.plan import Level

    Parts = list[tuple[object, str]]  # parts of a sentence, each with the condition under which it is shown

_PAIRWISE = 40  # forms: more are those of --forms all
_FREE = sorted({found.length for found in LAYOUTS if found.plain and found.length is not None})
_HIGHEST_RANK = max(found.arrange(np.zeros(found.length or 1)).ndim for found in LAYOUTS if found.length)
_SHORT = next(n for n in range(2, LONG) if n not in plan.LENGTHS)


def scope(
    types: Sequence[TypeReport], of: CheckedOperator | None = None, level: Level = "quick", *,
    few_calls: bool = False,
) -> tuple[str, str]:  # fmt: skip
    """What was compared in some element types, and the blind spots, each as a sentence.

    Args:
        types: the reports on them.
        of: the operator; Clip by default.
        level: of the check.
        few_calls: whether few calls were made because of an option.
    """
    of, forms = of or clip_operator(), max((one.served_forms for one in types), key=len, default=())
    few = any(one.few for one in types)
    compared, unseen = _of_few(by_option=few_calls) if few else _of_all(types, of, level)
    bits = {re.sub("[a-z]", "", one.type) for one in types}
    unseen = [(bits & {"32", "64"}, "one unusual X"), *unseen]
    unseen += [(True, words) for words in dict.fromkeys(words for one in types for words in one.unasked)]
    if forms:
        fewer = "fewer of these pairs" if few else "the same chosen bounds"
        values = every_value([found.form for found in forms])
        compared.append((True, f"{len(forms)} forms of a model under {fewer} ({values})"))
    three_traits = "interactions of three traits of a model form"
    unseen += [
        (forms and not few, "other constant bounds"),
        (forms and (few or len(forms) <= _PAIRWISE), three_traits),
        (True, "models with more nodes" if forms or few else "other forms of a model"),
        (True, f"ranks above {_HIGHEST_RANK}; other threads, other processors"),
    ]
    parts = ("; ".join(words for true, words in found if true) for found in (compared, unseen))
    return f"compared: {next(parts)}.", f"Not seen: {next(parts)}."


def _of_all(types: Sequence[TypeReport], of: CheckedOperator, level: Level) -> tuple[Parts, Parts]:
    bits = {re.sub("[a-z]", "", one.type) for one in types}
    operands, clip = ", ".join(of.node.called), of.is_clip
    layouts = "every shape" if any(one.unasked for one in types) else "every layout"
    longest = min((one.longest for one in types if one.longest is not None), default=LONG)
    every = EVERY_LENGTH if level != "quick" else _SHORT - 1
    calls = f"than the most made for one type ({max((one.calls for one in types), default=0):,})"
    more, whole = level != "quick", level == "exhaustive"
    compared: Parts = [
        (True, f"every combination of special values of {operands}"),
        (True, f"every class and each special bound in {layouts}"),
        (True, "random values"),
        ("8" in bits, f"every combination of 8-bit values of {operands}"),
        (clip and "16" in bits, "every X of 16 bits under 24 pairs of bounds"),
        (True, f"calls of every length up to {min(longest, _SHORT - 1)}"),
        (longest >= _SHORT, f"of some up to {min(longest, plan.LENGTHS[-1]):,}"),
        (longest >= LONG, f"and of {LONG:,}"),
        (more, f"the bounds of {plan.RANDOM_DRAWS} more random draws, each beside the X of {DRAWS_TOGETHER}"),
        (more, f"calls of every length up to {every:,}, each under {plan.PAIRS_OF_A_LENGTH} pairs of bounds"),
        (more and "16" in bits, "every X of 16 bits under all pairs of special bounds"),
        (more and bits & {"32", "64"}, f"{plan.DRAWN:,} special and random X under all of these pairs"),
        (
            whole and "16" in bits,
            "every X of 16 bits under every min and under every max, beside four others",
        ),
        (whole and "32" in bits, "every X of 32 bits under bounds that reach every class"),
    ]
    unseen: Parts = [
        (bits - {"8"}, "one unusual pair of bounds"),
        (True, "one unusual pair of bounds in one layout"),
        (of.tensors > 1, "tensors of different shapes"),
        (True, f"one unusual length above {min(longest, every):,} or any above {longest:,}"),
        (True, f"a length beside {', '.join(map(str, _FREE))} with other bounds than the few of its calls"),
        (True, f"effects after more calls {'than one unit makes of a process' if more else calls}"),
        (True, "writes outside the operands (by a library: over 4,096 bytes from the result)"),
    ]
    return compared, unseen


def _of_few(*, by_option: bool) -> tuple[Parts, Parts]:
    """The sentences for few calls, chosen by an option or because each call starts a program."""
    every = f"every X of types of 8 and 16 bits, else every special value and more up to {LONG:,}"
    compared: Parts = [
        (True, f"{every}, in one call under each chosen pair of bounds (they reach every class)"),
        (True, f"{FEW_OF_A_SHAPE} calls of every shape"),
        (True, f"one call of each of the lengths {', '.join(map(str, plan.FEW_LENGTHS))}"),
    ]
    unseen: Parts = [
        (True, "any other pair of bounds, or value beside these bounds; any other length"),
        (by_option, "effects of many calls in one process"),
        (not by_option, "the second call of a process: each call had its own process"),
        (not by_option, "accesses outside its memory that do not crash it"),
    ]
    return compared, unseen
