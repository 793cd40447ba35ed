"""Missing names in spec/clip.qualification.yaml: commands, tests, obligations, gates, mutants, files.

An entry that names a test or an obligation that is gone claims a detection that nobody makes.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from sonnx_clip.qualification.kit import Kit, PotentialError, Requirement

TRUSTED = "docs/trusted-base.md"
_ROW = re.compile(r"^\| ([^|]+?) \| [^|]+ \| [^|]+ \|$", re.MULTILINE)
_HEADS = {"what is trusted", "---"}


def unresolved(
    kit: Kit,
    root: Path,
    commands: Collection[str],
    obligations: Collection[str],
    mutants: Collection[str],
) -> list[str]:
    """A line for each name of the file that leads nowhere, with what to correct.

    Args:
        kit: the file.
        root: the checkout.
        commands: the commands of the program.
        obligations: the ids of all obligations.
        mutants: the kinds of mutants in the record.
    """
    found = [
        *(f"`tools` lacks the command {name}" for name in sorted(set(commands) - set(kit.tools))),
        *(
            f"`tools` has {name}, which is not a command"
            for name in sorted(set(kit.tools) - set(commands))
        ),
    ]
    targets = re.findall(r"^([a-z-]+):", _text(root / "Makefile"), re.MULTILINE)
    verified: tuple[Requirement | PotentialError, ...] = (*kit.requirements, *kit.errors)
    for entry in verified:
        found += [
            f"{entry.id}: unknown test {name}" for name in entry.tests if not _is_test(root, name)
        ]
        found += [
            f"{entry.id}: no obligation matches {pattern}"
            for pattern in entry.obligations
            if not any(fnmatchcase(id_, pattern) for id_ in obligations)
        ]
    for error in kit.errors:
        found += [f"{error.id}: unknown gate {g}" for g in error.gates if not _is_defined(root, g)]
        found += [f"{error.id}: unknown mutants {m}" for m in error.mutants if m not in mutants]
        found += [
            f"{error.id}: the Makefile has no target {t}" for t in error.make if t not in targets
        ]
    for report in kit.upstream:
        for name in report.runtimes:
            if not (root / "records/runtimes" / f"{name}.json").is_file():
                found.append(
                    f"`upstream` ({report.topic}): no runtime {name} has a record in records/runtimes"
                )
    for node in kit.assurance_case:
        if node.link and not _is_place(root, node.link):
            found.append(f"{node.id}: unknown link {node.link}")
    return [*found, *_against_trusted_base(kit, _text(root / TRUSTED))]


def _against_trusted_base(kit: Kit, page: str) -> Iterator[str]:
    """Quotations missing from the trusted base, and rows of it that no entry covers."""
    words = " ".join(page.split())
    quoted = [(e.id, q) for e in kit.errors for q in e.trusted]
    quoted += [(c.id, q) for c in kit.constraints for q in c.derived_from]
    for of, quotation in quoted:
        if quotation not in words:
            yield f"{of}: {TRUSTED} does not contain: {quotation}"
    for row in (" ".join(row.split()) for row in _ROW.findall(page)):
        if row not in _HEADS and not any(row in quotation for _, quotation in quoted):
            what = "no ERR (`trusted`) or UC (`derived_from`) covers this row"
            yield f"{what} of {TRUSTED}: {row}"


def _is_test(root: Path, name: str) -> bool:
    """Whether a file of tests exists, with the test after `::` if one is named."""
    path, _, test = name.partition("::")
    file = root / path
    if test:
        return re.search(rf"^ *def {re.escape(test)}\(", _text(file), re.MULTILINE) is not None
    return path.startswith("tests/") and ("def test_" in _text(file) or file.name == "__main__.py")


def _is_defined(root: Path, name: str) -> bool:
    """Whether a module defines the last part of a dotted name."""
    module, _, last = name.rpartition(".")
    text = _text(root / f"{module.replace('.', '/')}.py")
    return re.search(rf"^(?:def |class )?{re.escape(last)}\b", text, re.MULTILINE) is not None


def _is_place(root: Path, link: str) -> bool:
    """Whether a file exists, with the heading behind `#`; build/ is made by commands, and taken as there."""
    path, _, anchor = link.partition("#")
    if path.startswith("build/"):
        return True
    file = root / path
    if not anchor:
        return file.exists()
    heads = re.findall(r"^#+ (.+)$", _text(file), re.MULTILINE)
    return anchor in {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""
