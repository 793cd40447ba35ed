"""Joins the contracts with the generated C, and makes sure that the C stays what it is."""

from __future__ import annotations

import re

from sonnx_clip.root.errors import UserError

_ANNOTATION = re.compile(r"[ \t]*/\*@.*?\*/\n", re.DOTALL)
_LOOP = re.compile(r"^[ \t]*while \(", re.MULTILINE)
_CONTRACT_END = re.compile(r" \*/\n(?=(?:static inline \w+|void) \w+\([\w\s*,]*\);)")
_AXIOM = re.compile(r"\b(?:axiom|admit\s+\w+)\s+(\w+)")


def join(contract: str, loop: str, c: str, name: str) -> str:
    """One C file for Frama-C: the contracts, then the C with the annotation before its loop.

    Args:
        contract: the text of generated/c/acsl/TYPE.h.
        loop: the text of generated/c/acsl/loop.acsl.
        c: the generated C, as it is.
        name: what the C is called in messages.

    Raises:
        UserError: the C has annotations of its own, or not exactly one loop; or it would not stay as it is.
    """
    if "/*@" in c or "//@" in c:
        raise UserError("the C carries an annotation, which Frama-C would believe", name, _AGAIN)
    loops = list(_LOOP.finditer(c))
    if len(loops) != 1:
        raise UserError(f"it has {len(loops)} loops, and the contracts are for one", name, _AGAIN)
    start = loops[0].start()
    unit = contract + c[:start] + loop + c[start:]
    require_verbatim(unit, contract, c, name)
    return unit


_AGAIN = "run: sonnx-clip generate"


def require_verbatim(unit: str, contract: str, c: str, name: str) -> None:
    """UserError unless `unit` is `contract`, then exactly the C once its annotations are taken away.

    The contracts may hold nothing else that a compiler sees than one `#include` and declarations.
    """
    if not unit.startswith(contract) or _ANNOTATION.sub("", unit[len(contract) :]) != c:
        raise UserError("the annotated C is not the generated C", name, _AGAIN)
    if stray := [line for line in code_of(contract) if not _harmless(line)]:
        raise UserError(f"the contracts hold code: {stray[0]}", name, _AGAIN)


def code_of(contract: str) -> list[str]:
    """The lines of the contracts that a compiler sees."""
    bare = re.sub(r"/\*.*?\*/", "", contract, flags=re.DOTALL)
    return [line.strip() for line in bare.splitlines() if line.strip()]


def _harmless(line: str) -> bool:
    declaration = re.fullmatch(r"(?:static inline )?\w+ \w+\([\w\s*,]*\);", line)
    return line == '#include "sonnx_clip.h"' or declaration is not None


def with_smoke(unit: str, count: int) -> str:
    """The same file, in which each contract also claims, for a check alone, that its end is never reached.

    A prover that shows the claim has found the contracts or the axioms to contradict themselves.

    Args:
        unit: what `join` gives.
        count: how many contracts there are.
    """
    text, found = _CONTRACT_END.subn("\n    check ensures smoke: \\\\false; */\n", unit)
    if found != count:
        raise UserError(f"{found} contracts were found instead of {count}", "generated/c/acsl", _AGAIN)
    return text


def axioms(contract: str) -> tuple[str, ...]:
    """The names of what the contracts take for granted."""
    return tuple(_AXIOM.findall(contract))
