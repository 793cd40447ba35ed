"""The language of the conditions in spec/clip.yaml: grammar, trees, and exact values of the element types."""

from sonnx_clip.language.printing import unparse
from sonnx_clip.language.show import hex_float, show, show_bits
from sonnx_clip.language.types import ElementType
from sonnx_clip.language.values import Value, decode, encode

__all__ = [
    "ElementType",
    "Value",
    "decode",
    "encode",
    "hex_float",
    "show",
    "show_bits",
    "unparse",
]
