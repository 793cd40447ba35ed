"""A formally verified specification toolkit for the SONNX profile of the operator Clip.

The library is `clip` and `RestrictionError`; the tools are the command `sonnx-clip`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.root.errors import RestrictionError

if TYPE_CHECKING:
    from sonnx_clip.oracle.strict import clip

__version__ = "1.0.0"
__all__ = ["RestrictionError", "__version__", "clip"]


def __getattr__(name: str) -> object:
    """Import `clip` on first use and keep it: the command line needs no NumPy to print its help."""
    if name == "clip":
        from sonnx_clip.oracle.strict import clip

        globals()["clip"] = clip
        return clip
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
