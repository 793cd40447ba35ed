"""The specification of Clip: spec/clip.yaml as a typed model with expression trees."""

from sonnx_clip.language.types import Source
from sonnx_clip.spec.entries import DeclaredTensor
from sonnx_clip.spec.evaluate import (
    Evaluator,
    TensorValue,
    broken_example,
    declared_example,
    evaluator,
)
from sonnx_clip.spec.load import check_findings, check_spec, load_spec
from sonnx_clip.spec.model import Spec

__all__ = [
    "DeclaredTensor",
    "Evaluator",
    "Source",
    "Spec",
    "TensorValue",
    "broken_example",
    "check_findings",
    "check_spec",
    "declared_example",
    "evaluator",
    "load_spec",
]
