"""The specification of Clip: spec/clip.yaml as a typed model with expression trees."""

from sonnx_clip.spec.answers import case_of, class_of, clip_value, evaluator, latitudes_of
from sonnx_clip.spec.evaluate import Evaluator
from sonnx_clip.spec.load import load_spec
from sonnx_clip.spec.model import Requirement, Spec
from sonnx_clip.spec.show import hex_float, show, show_bits
from sonnx_clip.spec.tensors import DeclaredTensor, TensorValue, broken_example, declared_example
from sonnx_clip.spec.types import ElementType, FloatBits, IntegerBits, Source
from sonnx_clip.spec.unparse import unparse
from sonnx_clip.spec.values import Value, decode, encode

__all__ = [
    "DeclaredTensor",
    "ElementType",
    "Evaluator",
    "FloatBits",
    "IntegerBits",
    "Requirement",
    "Source",
    "Spec",
    "TensorValue",
    "Value",
    "broken_example",
    "case_of",
    "class_of",
    "clip_value",
    "declared_example",
    "decode",
    "encode",
    "evaluator",
    "hex_float",
    "latitudes_of",
    "load_spec",
    "show",
    "show_bits",
    "unparse",
]
