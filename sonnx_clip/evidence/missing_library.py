"""The error for a library that only the formats of other tools need."""

from __future__ import annotations

from sonnx_clip.root.errors import UserError

EXTRA = "assessor"
"""The extra of this package with the libraries that these formats need."""


class MissingLibraryError(UserError):
    """A format cannot be rendered or read here, since a library is not installed."""

    def __init__(self, library: str) -> None:
        todo = f"run: pip install 'sonnx-clip[{EXTRA}]'"
        super().__init__(f"the package {library} is not installed", todo=todo)
