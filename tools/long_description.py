"""The long description of the package: README.md without links that lead nowhere outside a checkout.

Hatchling runs it in every build. A relative link becomes one into the repository that `[project.urls]` names
as "Repository"; where none is published, only the words of the link stay. Comments are for our tests.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://)([^)\s]+)\)")
_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)


def long_description(text: str, repository: str | None) -> str:
    """The README for readers without a checkout; `repository` is the address of its root."""

    def replaced(link: re.Match[str]) -> str:
        is_picture, words, target = link.groups()
        if repository is None:
            return "" if is_picture else words
        folder = "raw" if is_picture else "blob"
        return f"{is_picture}[{words}]({repository.rstrip('/')}/{folder}/main/{target})"

    return _LINK.sub(replaced, _COMMENT.sub("", text))


class LongDescription(MetadataHookInterface):
    """Hatchling's hook."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the field `readme`."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = metadata.get("urls", {}).get("Repository")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": long_description(text, repository),
        }
