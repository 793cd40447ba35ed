"""What is claimed of ScaleBias: x * scale + bias is rounded, so the result need not be an operand.

A person wrote these formulas: why3/scale_bias.mlw has the meaning of their symbols.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.claim import Claim, Written
from sonnx_clip.claims.nodes import number
from sonnx_clip.language.tree import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sonnx_clip.claims.obligation import Kind as What
    from sonnx_clip.language import ElementType
    from sonnx_clip.language.tree import Expr

_NUMBERS: Mapping[str, Expr] = {
    "one": number("1"), "two": number("2"), "tenth": number("0.1"), "third": number("0.3"),
    "small": number("-0.03"), "far": number("-100"), "near": number("100"),
}  # fmt: skip
_ROWS: tuple[tuple[str, What, str, str], ...] = (
    (
        "product_is_exact_in_wide",
        "theorem",
        "a product needs no rounding in twice the precision",
        "forall a b: t. exact_product a b",
    ),
    (
        "rounding_error",
        "theorem",
        "rounding that product to the element type errs by half a unit in the last place at most",
        "forall p: Wide.t, r: t. rounded p r -> finite r -> within_half_unit p r",
    ),
    (
        "bias_is_not_an_operand",
        "refutation",
        "with ScaleBias the result need not be X, Min or Max: X = 0.1, Scale = 2, Bias = 1",
        (
            "forall p s: t. product {tenth} {two} p -> sum p {one} s ->"
            " clip s {far} {near} = s /\\ s <> {tenth} /\\ s <> {far} /\\ s <> {near}"
        ),
    ),
    (
        "bias_depends_on_rounding",
        "refutation",
        "rounded once or twice, X = 0.1, Scale = 0.3, Bias = -0.03 give different results",
        (
            "forall p s f: t. product {tenth} {third} p -> sum p {small} s ->"
            " fused {tenth} {third} {small} f -> not eq s f"
        ),
    ),
)
_CAST: Mapping[str, Expr] = {
    "many": number("60000"), "nearest": number("60032"), "scale": number("1.0004", Kind.FLOAT),
}  # fmt: skip
_CAST_TO_FLOAT16 = (
    "cast_costs_more",
    "cast to float16, Scale = 1.0004 makes 60000 of X = 60000; nearest to the product is 60032",
    (
        "forall s p r: t. converts {scale} s -> product {many} s p ->"
        " rounded (0x476a77ff: Wide.t (* 60023.996 *)) r -> p = {many} /\\ r = {nearest} /\\ lt p r"
    ),
)


def scale_claims(etype: ElementType, shows: tuple[str, ...]) -> Iterator[Claim]:
    """What ScaleBias adds to Clip in a float type; where Scale and Bias are cast to it, what that costs."""
    for name, kind, title, text in _ROWS:
        yield Claim(etype.id, f"scale_{name}", "scales", kind, shows, title, Written(text, _NUMBERS))
    if etype.id == "float16":
        name, title, text = _CAST_TO_FLOAT16
        yield Claim(etype.id, f"scale_{name}", "scales", "refutation", shows, title, Written(text, _CAST))
