"""Ways in which something false once came out as proved, and what now stands in each of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sonnx_clip.backends.generate import render_theories
from sonnx_clip.prove.trusted import surprises, trusted
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from tests.prove.workbench import Workbench

YAML = "spec/clip.yaml"
CLIP = "why3/clip.mlw"
SMOKE = "  goal smoke_clip [@shows:smoke] : false\n"
ALWAYS = (
    "  (** The result always lies between the bounds. *)\n"
    "  goal interval_always [@shows:interval,C2] :\n"
    "    forall x l m: t. let y = clip x l m in (le l y /\\ le y m) \\/ y = m\n"
)
QUOTE = 'source: {page: sonnx-clip, section: "clip (real)", quote: "# **clip** (real)"}'
BFLOAT16 = (
    "  - {id: bfloat16, family: float, sonnx: BFLOAT16, onnx: BFLOAT16, directml: null, numpy: bfloat16, "
    "c: uint16_t, why3: BFloat16, width: 16, bits: {exponent: 8, significand: 8}}\n"
)
PROPERTY = "  - id: result_is_operand\n"


def a_property(id_: str, claim: str) -> str:
    return (
        f"  - {{id: {id_}, title: T, claim: '{claim}', holds_for: [real, int, float], "
        "false_for: no_bounds, source: {page: sonnx-clip, section: Inputs, "
        'quote: "Tensor `X` is the input tensor"}}\n' + PROPERTY
    )


# What is planted in the YAML, and the words of the one message.
REFUSED = {
    "a property named like an axiom": (
        PROPERTY, a_property("transitive", "identical(Y, L)"), "two obligations are called real.transitive"),
    "a property named like a goal of the cases": (
        PROPERTY, a_property("cases_complete", "Y == L"), "two obligations are called real.cases_complete"),
    "a definition that redefines a comparison": (
        "  - id: formula\n", "  - {id: le, title: T, parameters: [a, b], is: a < b}\n  - id: formula\n",
        "`le` is a name or keyword of the rendered theories"),
    "a definition named like a word of WhyML": (
        "  - id: formula\n", "  - {id: match, title: T, is: X < L}\n  - id: formula\n",
        "`match` is a name or keyword of the rendered theories"),
    "a condition that nothing meets": (
        "refuted_for: {float: {X: 1, L: nan, M: 2}}\n    repaired: {float: bounds_are_numbers}",
        "refuted_for: {float: {X: 1, L: nan, M: 2}}\n    repaired: {float: is_nan(L) and not is_nan(L)}",
        "no witness of a class meets the condition of prose_is_complete"),
    "a family that is forgotten": (
        "    claim: is_nan(Y) iff (is_nan(X) and not M < L)\n    holds_for: [real, int, float]\n",
        "    claim: is_nan(Y) iff (is_nan(X) and not M < L)\n    holds_for: [real, int]\n",
        "`nan_out` leaves out float"),
    "an excuse for a family of which it speaks": (
        "    not_for: {real: the reals have no limits}\n    refuted_for: {float: {X: inf, L: lowest,",
        "    not_for: {real: none, int: none}\n    refuted_for: {float: {X: inf, L: lowest,",
        "is stated for int and excused from it"),
    "an element type that is forgotten": (BFLOAT16, "", "there is no element type `bfloat16`"),
    "a quotation of nothing": (QUOTE, QUOTE.replace('"# **clip** (real)"', '" "'), "this one is empty"),
    "a quotation of a sign": (QUOTE, QUOTE.replace('"# **clip** (real)"', '"#"'), "too short to be found"),
    "a constraint without a counterpart": (
        "  - id: C1\n    title: Shape", "  - id: C4\n    title: Shape", "C4"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_the_yaml_is_refused(name: str, bench: Workbench) -> None:
    old, new, words = REFUSED[name]
    bench.plant(YAML, old, new)
    with pytest.raises(UserError, match=re.escape(words)):
        bench.generate()


def test_a_latitude_that_accepts_anything(bench: Workbench) -> None:
    bench.plant(YAML, "when: not inverted and is_signed_zero(Y)\n    accepts: A == 0 and (identical(A, X)",
                "when: not inside\n    accepts: A == A or is_nan(A) and (identical(A, X)")  # fmt: skip
    bench.believe_the_yaml()
    bench.generate()
    ended = bench.prove("--only", "float16.zero_sign_*")
    assert ended.status == 1
    assert "not proved float16.zero_sign_is_narrow" in ended.out


# What is planted in the hand-written theories, and a line that must be reported.
SLIPPED_IN = {
    "a second clone with axioms": (
        "  predicate never (_a: t) = false\n"
        "  clone ordered.Ordered as O with type t = t, predicate nan = never,\n"
        "    predicate le = le, predicate lt = lt, predicate eq = eq, axiom .\n" + ALWAYS,
        "+ assumption clip.ClipTheorems: clone ordered.Ordered as O with type t = t, predicate nan = never,"),
    "an axiom between marks that look like a comment": (
        "  predicate hide [@h:(*] (_a: t) = true\n  axiom no_nan: forall a: t. not nan a\n"
        "  predicate hide2 [@h:*)] (_a: t) = true\n" + ALWAYS,
        "+ axiom clip.ClipTheorems.no_nan: forall a: t. not nan a"),
}  # fmt: skip


@pytest.mark.parametrize("name", SLIPPED_IN)
def test_an_assumption_is_reported(name: str, bench: Workbench) -> None:
    new, line = SLIPPED_IN[name]
    bench.plant(CLIP, SMOKE, f"{new}{SMOKE}")
    news = surprises(trusted(render_theories(load_spec()).obligations))
    assert any(found.startswith(line) for found in news), news


def test_a_lemma_within_a_line_is_an_obligation(bench: Workbench) -> None:
    """It is used as a hypothesis elsewhere: it must say what it shows, and be proved."""
    extra = bench.root / "why3" / "extra.mlw"
    theory = "module Extra type t predicate nan t (** None. *) lemma no_nan: forall a: t. not nan a end\n"
    extra.write_text(theory)
    with pytest.raises(UserError, match=r"Extra\.no_nan.*\n*.*does not say what it shows|does not say"):
        render_theories(load_spec())
    extra.write_text(extra.read_text().replace("no_nan:", "no_nan [@shows:nan_out] :"))
    ended = bench.prove("--only", "extra.*")
    assert ended.status == 1
    assert "not proved extra.no_nan" in ended.out
