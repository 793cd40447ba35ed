"""The specification of Clip: spec/clip.yaml as a typed model with expression trees."""

from sonnx_clip.language.types import Source
from sonnx_clip.spec.evaluate import (
    DeclaredTensor,
    Evaluator,
    TensorValue,
    broken_example,
    case_of,
    class_of,
    declared_example,
    evaluator,
    latitudes_of,
    result_value,
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
    "case_of",
    "check_findings",
    "check_spec",
    "class_of",
    "declared_example",
    "evaluator",
    "latitudes_of",
    "load_spec",
    "result_value",
]
