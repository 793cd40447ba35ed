"""A claim, a class or a limit of the latitude that is weakened stops `generate`, and fails `prove`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sonnx_clip.root.folders import repo_file

if TYPE_CHECKING:
    from tests.prove.workbench import Workbench

YAML = "spec/clip.yaml"
_TEXT = repo_file(YAML).read_text(encoding="utf-8")
_SUBNORMAL = "  - {id: inside_subnormal,"
_CLASS = _TEXT[_TEXT.index(_SUBNORMAL) : _TEXT.index("  - {id: inside_infinite,")]
WEAKENED = {
    "properties.interval.float": [
        ("inverted or high or (not is_nan(X) and bounds_are_numbers)", "X == 3 and L == 2 and M == 10")
    ],
    "constraints.C2.float": [
        ("M < L or every(not is_nan(X[i]) and not is_nan(L) and not is_nan(M)) or every(M <= X[i])",
         "every(X[i] == 3 and L == 2 and M == 10)"),
    ],
    "properties.monotone.claim": [("claim: X <= X2 implies", "claim: L <= M and X <= X2 implies")],
    "properties.idempotent.proved for": [
        ("claim: same(clip(Y, L, M), Y)\n    holds_for: [real, int, float]\n",
         "claim: same(clip(Y, L, M), Y)\n    holds_for: [real, int]\n    not_for: {float: open}\n"),
    ],
    "classes.inside.float": [
        (_CLASS, ""),
        ("and not is_subnormal(X) and any_infinite", "and any_infinite"),
        ("and not is_subnormal(X) and not any_infinite", "and not any_infinite"),
    ],
    "latitude.nan-inverted.with --policy strict": [
        ("    when: is_nan(X) and inverted\n", "    when: is_nan(X) and inverted\n    always: true\n")
    ],
}  # fmt: skip


@pytest.mark.parametrize("line", WEAKENED)
def test_weakened_claim_stops_generate(line: str, bench: Workbench) -> None:
    for old, new in WEAKENED[line]:
        bench.plant(YAML, old, new)
    ended = bench.command("generate")
    assert ended.status == 2
    assert f"({line})" in ended.err
    assert "spec/clip.expected.yaml:" in ended.err
    assert "spec/clip.yaml:" in ended.err
    assert "if the change is intended" in ended.err
