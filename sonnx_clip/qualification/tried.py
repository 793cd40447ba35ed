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
    found = _TRIED.search(_text(SETUP))
    pairs = re.findall(r'\[([\w-]+)\]="([^"]*)"', found[1] if found else "")
    return {command: versions.split() for command, versions in pairs}


def locked_packages() -> dict[str, set[str]]:
    """The versions of each package, more than one where they depend on Python; empty without a checkout."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", _text(LOCK), re.MULTILINE):
        found.setdefault(name.lower(), set()).add(version)
    return found


def _text(path: str) -> str:
    file = repo_file(path)
    return file.read_text(encoding="utf-8") if file.is_file() else ""
