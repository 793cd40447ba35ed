"""The contract of each extracted C function, as a comment above it.

Why3 prints the programs and drops what is proved of them. What stands here is what why3/kernel.mlw and
generated/why3/c_<type>.mlw ensure, in words; the constants of a 16-bit format are named there too.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from sonnx_clip.language.values import float_bits, infinity, sign_bit

if TYPE_CHECKING:
    from sonnx_clip.language.types import ElementType

_DEFINED = re.compile(r"^(?:static inline )?\w+ (?P<name>\w+)\([^)]*\) \{$", re.MULTILINE)
_WIDTH = 108
_ARRAYS = """
Requires: x can be read and y written for n elements each, and they are one array or do not overlap.
Ensures: each y[i] is Clip of what x[i] was, and nothing else is written.
"""
_CONTRACTS = {
    "rank": """
Ensures: the place of a in the order of IEEE 754: 0 for minus infinity, {infinity} (the bits of infinity) for
both zeros, {top} (twice that) for infinity, and more for every NaN. {mask} is the mask of the magnitude.
""",
    "limit": """
Ensures: of a rank the first one beyond it; of the rank of a NaN, which is above {top} (the rank of infinity),
0, since no rank is below that.
""",
    "less_than": """
Ensures: a < b as IEEE 754 compares; 0 where one is NaN. {top} is the rank of infinity.
""",
    "less_equal": "Ensures: a <= b as IEEE 754 compares; 0 where one is NaN.",
    "at_least": """
Ensures: a >= b as IEEE 754 compares; 0 where one is NaN. {top} is the rank of infinity: ranks are counted
from there downwards.
""",
    "clip_element": """
Ensures: Clip of x, bit for bit: max if max < min, else min if x <= min, else max if x >= max, else x.
""",
    "clip_elements": _ARRAYS,
}
_PROVED = {"clip_element": "kernel.clip_element", "clip_elements": "kernel.clip_elements"}


def with_contracts(text: str, etype: ElementType) -> str:
    """A kernel as Why3 prints it, with a comment above each function.

    Raises:
        ValueError: a function has no contract here, or the text defines none.
    """

    def told(found: re.Match[str]) -> str:
        return f"{_comment(found['name'], etype)}\n{found[0]}"

    changed, count = _DEFINED.subn(told, text)
    if not count:
        raise ValueError(f"the kernel of {etype.id} defines no function")
    return changed


def _comment(name: str, etype: ElementType) -> str:
    own = f"sonnx_clip_{etype.id}"
    if name != own and name not in _CONTRACTS:
        raise ValueError(f"{name} of the kernel of {etype.id} has no contract")
    words = _ARRAYS if name == own else _CONTRACTS[name].format(**_constants(etype))
    proved = f"{etype.id}.c_{'clip' if name == own else name}"
    told = f"{words} Proved: {_PROVED.get(name, proved)}."
    lines = textwrap.wrap(" ".join(told.split()), _WIDTH - 6)
    return "/* " + "\n   ".join(lines) + " */"


def _constants(etype: ElementType) -> dict[str, str]:
    """The numbers in the kernel of a float without a C type; empty for all other types."""
    if etype.family != "float" or etype.c != f"uint{etype.width}_t":
        return {}
    form = float_bits(etype)
    inf = infinity(form)
    numbers = {"mask": sign_bit(form) - 1, "infinity": inf, "top": 2 * inf}
    return {key: f"0x{number:04X}" for key, number in numbers.items()}
