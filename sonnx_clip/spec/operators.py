"""The operators of spec/, and the specification that a name or a file on the command line means.

A file of spec/ is an operator if it has the key `operator`; parts of it stand beside it, as
clip.coverage.yaml does. Which commands an operator has follows from the parts that are there.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.language.parse import suggestion
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.load import load_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.spec.model import Spec

_OPERATOR = re.compile(r"^operator:", re.MULTILINE)


@cache
def known_operators() -> Mapping[str, Path]:
    """The file of each operator of spec/, by its name in small letters; Clip is the first."""
    files = [
        file
        for file in sorted(repo_file("spec").glob("*.yaml"))
        if _OPERATOR.search(file.read_text(encoding="utf-8"))
    ]
    by_name = {file.stem: file for file in files}
    return {"clip": by_name.pop("clip"), **by_name}


def specification(name_or_file: str) -> Spec:
    """The specification of an operator of spec/ by its name, or that of another file.

    UserError if there is no such operator, and for a wrong file as by `load_spec`.
    """
    known = known_operators()
    if name_or_file in known:
        return load_spec(known[name_or_file])
    if "/" in name_or_file or name_or_file.endswith((".yaml", ".yml")):
        return load_spec(Path(name_or_file))
    todo = f"{suggestion(name_or_file, known, 'there are')}; or name a YAML file"
    raise UserError(f"there is no operator `{name_or_file}`", "--operator", todo)


def part_missing(spec: Spec, section: str) -> UserError:
    """The error of a command that needs a section which the file of an operator does not have."""
    return UserError(f"{spec.operator} has no {section}", spec.file, f"add the section `{section}`")


def part_of(spec: Spec, part: str) -> Path:
    """Where a part of an operator is, if there is one: ``spec/max.coverage.yaml``."""
    return spec.path.with_name(f"{spec.path.stem}.{part}")
