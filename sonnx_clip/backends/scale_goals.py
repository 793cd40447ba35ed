"""The goals on ScaleBias: x * scale + bias is rounded, so the result need not be an operand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.backends.goal import Goal
from sonnx_clip.backends.whyml_printer import Printer, float_literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.language import ElementType


PROVED_OF_SCALE = ("product_is_exact_in_wide", "rounding_error")
REFUTED_OF_SCALE = ("bias_is_not_an_operand", "bias_depends_on_rounding")
"""What must be shown of ScaleBias, by name."""
REFUTED_OF_CAST = "cast_costs_more"
"""What must be shown too where Scale and Bias are cast to the element type."""


def scale_goals(etype: ElementType, shows: tuple[str, ...]) -> Iterator[Goal]:
    """What ScaleBias adds to Clip in a float type: why3/scale_bias.mlw has the meaning of the symbols."""
    literal = Printer(etype, {}).literal
    one, two, tenth, third = (literal(text) for text in ("1", "2", "0.1", "0.3"))
    small = literal("-0.03")
    far, near = literal("-100"), literal("100")
    yield Goal(
        "scale_product_is_exact_in_wide", "theorem", shows,
        "a product needs no rounding in twice the precision",
        "forall a b: t. exact_product a b",
    )  # fmt: skip
    yield Goal(
        "scale_rounding_error", "theorem", shows,
        "rounding that product to the element type errs by half a unit in the last place at most",
        "forall p: Wide.t, r: t. rounded p r -> finite r -> within_half_unit p r",
    )  # fmt: skip
    yield Goal(
        "scale_bias_is_not_an_operand", "refutation", shows,
        "with ScaleBias the result need not be X, Min or Max: X = 0.1, Scale = 2, Bias = 1",
        f"forall p s: t. product {tenth} {two} p -> sum p {one} s ->"
        f" clip s {far} {near} = s /\\ s <> {tenth} /\\ s <> {far} /\\ s <> {near}",
    )  # fmt: skip
    yield Goal(
        "scale_bias_depends_on_rounding", "refutation", shows,
        "rounded once or twice, X = 0.1, Scale = 0.3, Bias = -0.03 give different results",
        f"forall p s f: t. product {tenth} {third} p -> sum p {small} s ->"
        f" fused {tenth} {third} {small} f -> not eq s f",
    )  # fmt: skip
    if etype.id != "float16":
        return
    many, scale = literal("60000"), float_literal(0x3F800D1B, "1.0004")
    product, nearest = "(0x476a77ff: Wide.t (* 60023.996 *))", literal("60032")
    yield Goal(
        "scale_cast_costs_more", "refutation", shows,
        "cast to float16, Scale = 1.0004 makes 60000 of X = 60000; nearest to the product is 60032",
        f"forall s p r: t. converts {scale} s -> product {many} s p -> rounded {product} r ->"
        f" p = {many} /\\ r = {nearest} /\\ lt p r",
    )  # fmt: skip
