"""generated/manifest.json: of what generated/ was rendered."""

from __future__ import annotations

import json
from typing import NamedTuple

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file

MANIFEST = "generated/manifest.json"


class RenderedFrom(NamedTuple):
    """The specification that generated/ was rendered from: its name in messages, and its digest."""

    file: str
    sha256: str


def rendered_from() -> RenderedFrom:
    """What the manifest says; UserError if it cannot be read."""
    path = repo_file(MANIFEST)
    try:
        source = json.loads(path.read_bytes())["source"]
        return RenderedFrom(str(source["file"]), str(source["sha256"]))
    # Missing, no JSON, or JSON of another form: the remedy is the same.
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = "what generated/ was rendered from cannot be read"
        raise UserError(message, str(path), "run: sonnx-clip generate") from error
