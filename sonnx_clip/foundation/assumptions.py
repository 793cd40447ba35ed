"""On what the theorems rest, compared with coq/assumptions.txt, a list that a person keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.foundation.run_coq import golden, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

GOLDEN = "coq/assumptions.txt"


def read_golden(root: Path) -> dict[str, tuple[str, ...]]:
    """On what the theorems rest by the list that a person keeps; empty where there is none."""
    file = root / GOLDEN
    return golden(file.read_text(encoding="utf-8")) if file.is_file() else {}


def surprises(root: Path, found: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Where what the theorems rest on differs from the list that a person keeps."""
    told = read_golden(root)
    for id_, axioms in found.items():
        rests = words(axioms)
        if id_ not in told:
            yield f"{GOLDEN}: it does not speak of {id_} ({rests}); if that is as it should be, add the line"
        elif set(told[id_]) != set(axioms):
            yield f"{GOLDEN}: {id_} rests on: {rests}; the list says: {words(told[id_])}"
    for id_ in told:
        if id_ not in found:
            yield f"{GOLDEN}: there is no theorem {id_}; if that is as it should be, remove the line"
