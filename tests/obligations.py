"""The theories of spec/clip.yaml and their obligations, rendered once in each process of the tests."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.backends.generate import render_theories
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from sonnx_clip.backends.theory import Generated
    from sonnx_clip.claims.claim import Obligation


@cache
def theories() -> Generated:
    return render_theories(load_spec())


def obligations() -> tuple[Obligation, ...]:
    return theories().obligations
