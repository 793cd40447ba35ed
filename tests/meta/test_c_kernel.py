"""Mistakes planted in the C reference: each is refuted by the name of its obligation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends import generate
from sonnx_clip.backends.c_reference import kernel_theories
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from tests.prove.workbench import Workbench

HERE = repo_root()
SECONDS = 1  # more than what holds takes: the third test here
KERNEL = "why3/kernel.mlw"
FLOAT16 = "generated/why3/c_float16.mlw"
BOUNDED = "    requires { n <= x.readable /\\ n <= y.writable }"
BODY = """      write y i (clip_element (read x i) min max);
      i <- next i
"""
LIMITED = """      let limited = if at_least x max then max else x in
      if less_equal x min then min else limited
"""
LIMIT = """    if ule a (0xf800: t) then bw_add a (0x0001: t) else (0x0000: t)

  let limit [@shows:float16] [@extraction:c_static_inline] (a: t) : t
    ensures { result = limit_of a }
  = if at_most a (0xf800: t)"""

# What is replaced in which file, and the obligation that must fail.
PLANTED = {
    "a swapped branch": (
        KERNEL, "if less_equal x min then min else limited", "if less_equal x min then max else limited",
        "kernel.clip_element"),
    "the upper bound first": (
        KERNEL, LIMITED, LIMITED.replace("at_least x max then max", "less_equal x min then min", 1).replace(
            "less_equal x min then min else limited", "at_least x max then max else limited"),
        "kernel.clip_element"),
    "the upper bound is forgotten": (
        KERNEL, "if at_least x max then max else x in", "x in", "kernel.clip_element"),
    "the bound is taken only beyond it: a zero keeps the wrong sign": (
        KERNEL, "if less_equal x min then", "if less_than x min then", "kernel.clip_element"),
    "inverted bounds are not looked at": (
        KERNEL, "  = if less_than max min then max\n    else\n", "  =\n", "kernel.clip_element"),
    "source and target may overlap in part": (
        KERNEL, "    requires { same_or_apart x y n }\n    writes   { memory }\n    ensures  { forall place",
        "    writes   { memory }\n    ensures  { forall place", "kernel.clip_elements"),
    "an element is clipped twice, which in place reads what was written": (
        KERNEL, BODY, "      write y i min;\n" + BODY, "kernel.clip_elements"),
    "one element too many is read and written": (
        KERNEL, "while below i n do", "while not (below n i) do", "kernel.clip_elements"),
    "nobody says how many elements can be read": (
        KERNEL, f"{BOUNDED}\n    requires {{ same_or_apart",
        "    requires { n <= y.writable }\n    requires { same_or_apart",
        "kernel.clip_elements"),
    "nobody says how many elements can be written": (
        KERNEL, f"{BOUNDED}\n    requires {{ same_or_apart",
        "    requires { n <= x.readable }\n    requires { same_or_apart",
        "kernel.clip_elements"),
    "the index may wrap around": (
        KERNEL, "i <- next i", "i <- next (next i)", "kernel.clip_elements"),
    "the loop does not end": (
        KERNEL, BODY, BODY.replace("      i <- next i", "      ()"), "kernel.clip_elements"),
    "the last element is left out": (
        KERNEL, "while below i n do", "while below (next i) n do", "kernel.clip_elements"),
    "a wrong NaN constant": (FLOAT16, LIMIT, LIMIT.replace("0xf800", "0xf801"), "float16.c_less_equal"),
    "the limit is the rank itself": (
        FLOAT16, "= if at_most a (0xf800: t) then plus a (0x0001: t)",
        "= if at_most a (0xf800: t) then plus a (0x0000: t)", "float16.c_limit"),
    "counted from above, the first NaN comes round to inf": (
        FLOAT16, "= under (minus (0xf800: t) (rank a))", "= under (minus (0xf801: t) (rank a))",
        "float16.c_at_least"),
    "NaNs are below everything": (
        FLOAT16, "under (rank a) (rank b) && at_most (rank b) (0xf800: t)", "under (rank a) (rank b)",
        "float16.c_less_than"),
    "the sign is forgotten": (
        FLOAT16, "then plus a (0x7c00: t)\n    else minus (0x7c00: t) (bits_and a (0x7fff: t))",
        "then plus a (0x7c00: t)\n    else plus (bits_and a (0x7fff: t)) (0x7c00: t)", "float16.c_rank"),
    "the kernel of one type is another program": (
        FLOAT16, "= clip_elements y x min max n", "= clip_elements y x max min n", "float16.c_clip"),
}  # fmt: skip


# Independent mistakes of different obligations, planted together.
TOGETHER = {
    KERNEL: ["a swapped branch", "the last element is left out"],
    FLOAT16: [
        "a wrong NaN constant",
        "counted from above, the first NaN comes round to inf",
        "NaNs are below everything",
        "the sign is forgotten",
        "the kernel of one type is another program",
    ],
}


def plant(names: list[str], bench: Workbench) -> set[str]:
    """Plant mistakes of one file, or of what it is rendered from; returns the obligations that must fail."""
    (file,) = {PLANTED[name][0] for name in names}
    changes = [PLANTED[name][1:3] for name in names]
    if file == KERNEL:
        for old, new in changes:
            bench.plant(file, old, new)
    else:
        files, obligations = kernel_theories(load_spec())
        text = files[file]
        for old, new in changes:
            assert text.count(old) == 1
            text = text.replace(old, new)
        planted = ({**files, file: text}, obligations)
        targets = [
            (every, (lambda _: planted) if render is kernel_theories else render)
            for every, render in generate.THEORIES
        ]
        bench.monkeypatch.setattr(generate, "THEORIES", targets)
        bench.generate()
    return {PLANTED[name][3] for name in names}


def require_refuted(names: list[str], bench: Workbench) -> None:
    caught_by = plant(names, bench)
    bench.limit(SECONDS)
    ended = bench.prove(*(part for id_ in caught_by for part in ("--only", id_)), "--json")
    assert ended.status == 1
    assert {ended.outcomes[id_]["status"] for id_ in caught_by} == {"not proved"}


@pytest.mark.parametrize("file", TOGETHER)
def test_mistakes_in_a_kernel_are_not_proved(file: str, bench: Workbench) -> None:
    require_refuted(TOGETHER[file], bench)


@pytest.mark.nightly
@pytest.mark.parametrize("name", PLANTED)
def test_a_mistake_is_not_proved(name: str, bench: Workbench) -> None:
    require_refuted([name], bench)


@pytest.mark.nightly
@pytest.mark.parametrize("obligation", sorted({planted[3] for planted in PLANTED.values()}))
def test_without_the_mistake_it_is_proved(obligation: str, bench: Workbench) -> None:
    ended = bench.prove("--only", obligation, "--json")
    assert ended.outcomes[obligation]["status"] == "proved"
    assert max(reply["cpu"] for reply in ended.outcomes[obligation]["replies"]) < SECONDS


def test_c_that_was_edited_by_hand_is_not_called_proved(bench: Workbench) -> None:
    """It would be compiled and embedded; the proofs are of what Why3 extracts."""
    path = "generated/c/sonnx_clip_float32.c"
    text = (HERE / path).read_text(encoding="utf-8")
    wrong = text.replace("    if (x <= min) {", "    if (x <= min || x == 1.5625f) {")
    assert wrong != text
    (bench.root / path).write_text(wrong, encoding="utf-8")
    ended = bench.prove()
    assert ended.status == 2
    assert f"generated/ is not fresh: {path} differs" in ended.err
    assert not (bench.build / "proofs.json").exists()
