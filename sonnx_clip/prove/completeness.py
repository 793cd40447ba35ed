"""Checks that nothing is left unproved in silence: each claim on the YAML has its obligation, and the
hand-written theories state exactly what why3/statements.txt lists.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from sonnx_clip.claims.all_claims import every_claim
from sonnx_clip.root.files import digest_of
from sonnx_clip.root.folders import repo_file
from sonnx_clip.whyml.declarations import declarations
from sonnx_clip.whyml.hand_written import theory_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec
    from sonnx_clip.whyml.declarations import WhymlDeclaration


GOLDEN = "why3/statements.txt"
IMPORTS = "(imports)"
_DIGITS = 16  # of a digest: 64 bits, since nobody is kept out by them who may edit the list
_IMPORTS = ("use", "clone", "meta")
_DEFINED = ("predicate", "function", "constant", "type")


def statements() -> dict[str, str]:
    """Each definition, axiom, goal and program of why3/*.mlw, and what each module imports.

    What has neither definition nor contract is left to why3/trusted.txt, and so are the [val]s.

    Returns:
        Their tokens by ``file.Module.name``, and by ``file.Module.(imports)``: layout, comments and
        attributes do not count.
    """
    return {name: text for path in theory_files() for name, text in _of_file(path)}


def _of_file(path: Path) -> Iterator[tuple[str, str]]:
    declared = declarations(path.read_text(encoding="utf-8"))
    for module, group in groupby(declared, key=lambda d: d.module):
        stem, own = path.stem, list(group)
        imports = " ".join(d.text for d in own if d.form.startswith(_IMPORTS))
        if imports:
            yield f"{stem}.{module}.{IMPORTS}", imports
        yield from ((f"{stem}.{module}.{d.name}", d.text) for d in own if _states(d))


def _states(d: WhymlDeclaration) -> bool:
    if d.form.startswith((*_IMPORTS, "val")) or (d.form == "goal" and d.name.startswith("smoke_")):
        return False
    return d.form not in _DEFINED or "=" in d.text.split()


def pinned() -> dict[str, tuple[str, str]]:
    """The list: digest and sentence of each statement, by its name."""
    golden = repo_file(GOLDEN)
    lines = golden.read_text(encoding="utf-8").splitlines() if golden.is_file() else []
    kept: dict[str, tuple[str, str]] = {}
    for line in lines:
        if line.strip() and not line.startswith("#"):
            name, digest, *words = line.split(maxsplit=2)
            kept[name] = (digest, words[0] if words else "")
    return kept


def unpinned() -> list[str]:
    """A line for each statement that differs from the list, is new, is missing, or has no sentence."""
    now, kept = statements(), pinned()
    lines = []
    for name, text in now.items():
        found, (digest, sentence) = digest_of(text)[:_DIGITS], kept.get(name, ("", ""))
        if not digest:
            lines.append(f"+ {name} {found}: {text}")
        elif digest != found:
            lines.append(f"! {name} {found}, not {digest}: {text}")
        elif not sentence:
            lines.append(f"? {name}: it has no sentence that explains it")
    return lines + [
        f"- {name}: it is no longer stated: {kept[name][1]}" for name in kept if name not in now
    ]


def uncovered(spec: Spec, obligations: Iterable[Obligation]) -> list[str]:
    """A line for each claim that lacks its obligation, and each theory without a smoke test.

    Args:
        spec: what is stated.
        obligations: all of them, whether this run proves them or not.
    """
    known = tuple(obligations)
    there = {(o.id, o.kind): o.shows for o in known}
    lacking = [
        f"{claim.id}: {left[0]} is stated, and no {claim.kind} of this id shows it"
        for claim in every_claim(spec)
        if (
            left := [
                shown for shown in claim.shows if shown not in there.get((claim.id, claim.kind), ())
            ]
        )
    ]
    tested = {(o.file, o.theory) for o in known if o.kind == "smoke"}
    asked = dict.fromkeys((o.file, o.theory) for o in known if o.kind not in ("smoke", "instance"))
    return lacking + [
        f"{file} {theory}: no smoke test" for file, theory in asked if (file, theory) not in tested
    ]
