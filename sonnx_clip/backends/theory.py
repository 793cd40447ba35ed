"""What all rendered theories share: header, declarations, goals, and the list of their obligations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonnx_clip.backends.templating import escape
from sonnx_clip.claims.claim import Obligation
from sonnx_clip.spec.header import header_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sonnx_clip.claims.claim import Kind
    from sonnx_clip.spec import Spec


@dataclass(frozen=True)
class Goal:
    """A goal as the template prints it: a step is one that later goals of its module may use, a lemma."""

    name: str
    kind: Kind
    shows: tuple[str, ...]
    title: str
    statement: str
    is_step: bool = False


# --- What all rendered theories share: header, declarations, and the list of their obligations --------------


def header(spec: Spec) -> str:
    """The comment on top of a rendered theory."""
    first, *rest = (escape(line, "v") for line in header_lines(spec))  # in theories and in Coq alike
    return "\n".join([f"(* {first}", *(f"   {line}" for line in rest)]) + " *)\n"


def smoke(name: str) -> Goal:
    """The goal that must not be proved; generated/replay.sh knows it by the beginning of its name."""
    assert name.startswith("smoke_"), name
    return Goal(name, "smoke", ("smoke",), "no prover finds false", "false")


def obligations_of(subject: str, path: str, theory: str, goals: Iterable[Goal]) -> list[Obligation]:
    """The obligations that a module of a rendered file holds."""
    return [
        Obligation(
            f"{subject}.{g.name}", g.kind, subject, g.shows, g.title, path, theory, g.name, g.statement
        )
        for g in goals
    ]


def declare(
    name: str, parameters: str, of: str, body: str, title: str = "", *, is_function: bool = False
) -> dict[str, str]:
    """A predicate or function; a parameter that the body does not use is marked: Why3 would warn."""
    used = set(re.findall(r"[a-z_]\w*", body))
    shown = " ".join(p if p in used else f"_{p}" for p in parameters.split())
    head = f"function {name} ({shown}: {of}) : {of}" if is_function else f"predicate {name} ({shown}: {of})"
    return {"title": title, "head": head, "body": body}
