"""spec/sources/SHA256SUMS: the texts are those that were read when the entries were written.

A word that no quotation takes can change what a text means. `sha256sum --check` reads the same file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.root.digest import digest_of_file
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.paths import repo_file

if TYPE_CHECKING:
    from sonnx_clip.spec.model import Spec

FOLDER = "spec/sources"
SUMS = f"{FOLDER}/SHA256SUMS"


def require_sources(spec: Spec) -> None:
    """UserError for the first text that is not the one whose digest is kept, or whose digest is not kept."""
    sums = repo_file(SUMS)
    if not sums.is_file():
        raise UserError("it is missing", SUMS, f"restore it: git checkout {SUMS}")
    lines = [line.split() for line in sums.read_text(encoding="utf-8").splitlines() if line.strip()]
    kept = {f"{FOLDER}/{line[-1]}": line[0] for line in lines}
    for file in dict.fromkeys(page.file for page in spec.sources):
        if file not in kept:
            raise UserError(f"it has no digest in {SUMS}", file, _accept(file))
        if digest_of_file(repo_file(file)) != kept[file]:
            what = f"the text is not the one whose digest stands in {SUMS}"
            raise UserError(what, file, f"restore it, or read it again and {_accept(file)}")


def _accept(file: str) -> str:
    return f"write its digest there: sha256sum {file}"
