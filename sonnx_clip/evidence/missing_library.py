"""The error for a library that only the formats of other tools need."""

from __future__ import annotations

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import how_to_install

EXTRA = "assessor"
"""The extra of this package with the libraries that these formats need."""


class MissingLibraryError(UserError):
    """A format cannot be rendered or read here, since a library is not installed."""

    def __init__(self, library: str) -> None:
        todo = how_to_install(EXTRA)
        super().__init__(f"the package {library} is not installed", todo=todo)
