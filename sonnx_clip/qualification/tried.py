"""The versions that were tried: of tools by tools/setup.sh, of packages by requirements.lock."""

from __future__ import annotations

import re

from sonnx_clip.root.folders import repo_file

SETUP, LOCK = "tools/setup.sh", "requirements.lock"
TOOLS = {"why3": "Why3", "z3": "Z3", "cvc5": "cvc5", "frama-c": "Frama-C"}
"""The tools whose versions tools/setup.sh compares, with their names."""

_TRIED = re.compile(r"^declare -A tried=\((.*)\)$", re.MULTILINE)


def tried_versions() -> dict[str, list[str]]:
    """The versions of each tool by its command; empty where there is no checkout."""
    # The table is that of the shell, so that the versions are written down once.
    table = _TRIED.search(_text(SETUP))
    if table is None:
        return {}
    pairs = re.findall(r'\[([\w-]+)\]="([^"]*)"', table[1])
    return {command: versions.split() for command, versions in pairs}


def locked_packages() -> dict[str, set[str]]:
    """The versions of each package, more than one where they depend on Python; empty without a checkout."""
    versions: dict[str, set[str]] = {}
    pinned = re.findall(r"^([\w.-]+)==([^\s;]+)", _text(LOCK), re.MULTILINE)
    for name, version in pinned:
        # Names of packages ignore case.
        versions.setdefault(name.lower(), set()).add(version)
    return versions


def _text(path: str) -> str:
    file = repo_file(path)
    return file.read_text(encoding="utf-8") if file.is_file() else ""
