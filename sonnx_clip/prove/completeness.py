"""Checks that nothing is left unproved in silence: each statement of the YAML has its obligations, and the
hand-written theories state exactly what why3/statements.txt lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.backends.numpy_kernels import goal_name, kernels_of
from sonnx_clip.claims.all_claims import every_claim
from sonnx_clip.claims.meaning_claims import WRITTEN
from sonnx_clip.root.files import digest_of
from sonnx_clip.root.folders import repo_file
from sonnx_clip.trace.tracing import traced_kernels
from sonnx_clip.whyml.declarations import declarations
from sonnx_clip.whyml.hand_written import theory_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sonnx_clip.claims.claim import Kind, Obligation
    from sonnx_clip.spec import Spec
    from sonnx_clip.whyml.declarations import WhymlDeclaration


GOLDEN = "why3/statements.txt"
IMPORTS = "(imports)"
_DIGITS = 16  # of a digest: 64 bits, since nobody is kept out by them who may edit the list
_IMPORTS = ("use", "clone", "meta")
_DEFINED = ("predicate", "function", "constant", "type")


@dataclass(frozen=True)
class PinnedStatement:
    """What a hand-written theory states in one place.

    Args:
        name: ``file.Module.name``; of all that a module imports, ``file.Module.(imports)``.
        digest: of its tokens: layout, comments and attributes do not count.
        text: the tokens.
        comment: the comment beside it.
        line: where it stands in the file.
    """

    name: str
    digest: str
    text: str
    comment: str
    line: int


def statements() -> tuple[PinnedStatement, ...]:
    """Each definition, axiom, goal and program of why3/*.mlw, and what each module imports.

    What has neither definition nor contract is left to why3/trusted.txt, and so are the [val]s.
    """
    return tuple(
        statement
        for path in theory_files()
        for statement in _of_file(path.stem, declarations(path.read_text(encoding="utf-8")))
    )


def _of_file(stem: str, declared: Sequence[WhymlDeclaration]) -> Iterator[PinnedStatement]:
    for module, group in groupby(declared, key=lambda d: d.module):
        own = list(group)
        imports = " ".join(d.text for d in own if d.form.startswith(_IMPORTS))
        if imports:
            yield _statement(f"{stem}.{module}.{IMPORTS}", imports, "", 0)
        for d in own:
            if _states(d):
                yield _statement(f"{stem}.{module}.{d.name}", d.text, d.comment, d.line)


def _states(d: WhymlDeclaration) -> bool:
    if d.form.startswith((*_IMPORTS, "val")) or (d.form == "goal" and d.name.startswith("smoke_")):
        return False
    return d.form not in _DEFINED or "=" in d.text.split()


def _statement(name: str, text: str, comment: str, line: int) -> PinnedStatement:
    return PinnedStatement(name, digest_of(text)[:_DIGITS], text, comment, line)


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


def unpinned(found: Iterable[PinnedStatement] | None = None) -> list[str]:
    """A line for each statement that differs from the list, is new, is missing, or has no sentence."""
    now = {s.name: s for s in (statements() if found is None else found)}
    kept = pinned()
    lines = []
    for name, statement in now.items():
        digest, sentence = kept.get(name, ("", ""))
        if not digest:
            lines.append(f"+ {name} {statement.digest}: {statement.text}")
        elif digest != statement.digest:
            lines.append(f"! {name} {statement.digest}, not {digest}: {statement.text}")
        elif not sentence:
            lines.append(f"? {name}: it has no sentence that explains it")
    lines += [f"- {name}: it is no longer stated: {kept[name][1]}" for name in kept if name not in now]
    return lines


# --- Whether everything that the YAML states has its obligations: what nobody proves must not pass ----------


Wanted: TypeAlias = "tuple[str, tuple[str, ...], Kind]"  # an obligation, what it has to show, its kind


def uncovered(spec: Spec, obligations: Iterable[Obligation]) -> list[str]:
    """A line for each claim that lacks its obligation, and each theory without a smoke test.

    Args:
        spec: what is stated.
        obligations: all of them, whether this run proves them or not.
    """
    known = tuple(obligations)
    there = {(o.id, o.kind): frozenset(o.shows) for o in known}
    claims, lacking = every_claim(spec), []
    for id_, shows, kind in (*((c.id, c.shows, c.kind) for c in claims), *_beside_claims(spec)):
        left = [shown for shown in shows if shown not in there.get((id_, kind), ())]
        if left:
            lacking.append(f"{id_}: {left[0]} is stated, and no {kind} of this id shows it")
    tested = {(o.file, o.theory) for o in known if o.kind == "smoke"}
    asked = dict.fromkeys((o.file, o.theory) for o in known if o.kind not in ("smoke", "instance"))
    return lacking + [
        f"{file} {theory}: no smoke test" for file, theory in asked if (file, theory) not in tested
    ]


def _beside_claims(spec: Spec) -> Iterator[Wanted]:
    """What is shown of programs, and of the order of a type, which no claim states.

    Of Clip, each kernel that a planner of NumPy chooses, that no way is forgotten or dead; the C kernels.
    """
    cases = tuple(case.id for case in spec.cases)
    by_hand = spec.operator in WRITTEN
    for traced in traced_kernels(tuple(spec.element_types)) if by_hand else ():
        for what in (*kernels_of(traced), "ways_complete", "ways_inhabited"):
            yield f"{traced.etype.id}.{goal_name(traced, what)}", (traced.etype.id, *cases), "refinement"
    for etype in spec.element_types:
        yield f"{etype.id}.total", (etype.id,), "instance"
        if by_hand and etype.c is not None:
            yield f"{etype.id}.c_clip", (etype.id, *cases), "refinement"
