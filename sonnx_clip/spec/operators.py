"""The operators of spec/, and the specification that a name or a file on the command line means.

A file of spec/ is an operator if it has the key `operator`; parts of it stand beside it, as
clip.coverage.yaml does. Which commands an operator has follows from the parts that are there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.language.parse import suggestion
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec.load import load_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sonnx_clip.spec.model import Spec

DEFAULT_OPERATOR = "clip"
"""What a command is about without `--operator`."""

_OPERATOR = re.compile(r"^operator:", re.MULTILINE)


def known_operators() -> Mapping[str, Path]:
    """The file of each operator of spec/, by its name in small letters."""
    files = sorted(repo_file("spec").glob("*.yaml"))
    return {file.stem: file for file in files if _is_operator(file)}


def _is_operator(file: Path) -> bool:
    """Whether a file is an operator, by a line of its text, which need not be valid YAML."""
    # A mistake in one file of spec/ must not keep the other operators from being found.
    if not file.is_file():
        return False
    text = file.read_text(encoding="utf-8")
    return _OPERATOR.search(text) is not None


def specification(name_or_file: str) -> Spec:
    """The specification of an operator of spec/ by its name, or that of another file.

    UserError if there is no such operator, and for a wrong file as by `load_spec`.
    """
    # A file has a folder or an ending, a name has neither.
    if "/" in name_or_file or name_or_file.endswith((".yaml", ".yml")):
        return load_spec(Path(name_or_file))
    # Parts beside it, such as `clip.coverage`, have files of such names too, and are no operators.
    file = repo_file(f"spec/{name_or_file}.yaml")
    if _is_operator(file):
        return load_spec(file)
    todo = suggestion(name_or_file, known_operators(), "there are", "name a YAML file")
    raise UserError(f"there is no operator `{name_or_file}`", "--operator", todo)


def written_theory(spec: Spec) -> Path:
    """The file of the theory that is written by hand for an operator, next to which its kernels are proved.

    Where it exists, tensors, dialects and kernels have statements; where it does not, they have none.
    """
    return repo_file(f"why3/{spec.signature.function}.mlw")


def has_written_theory(spec: Spec) -> bool:
    """Whether a theory is written by hand for an operator."""
    return written_theory(spec).is_file()


def part_missing(spec: Spec, section: str) -> UserError:
    """The error of a command that needs a section which the file of an operator does not have."""
    message = f"{spec.operator} has no {section}"
    return UserError(message, spec.file, f"add the section `{section}`")
