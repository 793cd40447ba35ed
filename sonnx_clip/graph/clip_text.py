"""What the texts of ONNX say of the bounds of Clip, and neither its schemas nor the specification's head.

Source: spec/sources/onnx-clip-versions.txt. No other module of this package knows which bounds Clip has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sonnx_clip.graph.profile import ProfileType

BASED_ON = 13
"""The version on whose text the profile is based."""
EXPORT_AGAIN = f"export the model again with operator set {BASED_ON} or later"
"""The remedy where an older version of Clip cannot be in the profile."""
OTHERWISE = f"does not say what min above max gives, which Clip-{BASED_ON} does (max)"
"""What the text of an older version says otherwise, where it has inputs."""


@dataclass(frozen=True)
class Limit:
    """What Clip takes for a bound that is not set.

    Attributes:
        number: which number of the element type it is: lowest or highest.
        words: how the text writes it.
        limits_nothing: the property that says so, where the other bound is set.
    """

    number: str
    words: str
    limits_nothing: str

    def of(self, etype: ProfileType) -> bytes:
        """That number of an element type, as it is stored."""
        return etype.lowest if self.number == "lowest" else etype.highest


LIMITS = {
    "min": Limit("lowest", "numeric_limits::lowest()", "lowest_is_no_lower_bound"),
    "max": Limit("highest", "numeric_limits::max()", "highest_is_no_upper_bound"),
}
"""By the names of the bounds in ONNX."""
NEITHER_LIMITS = "widest_bounds_are_no_bound"
"""The property that says so where neither bound is set."""
