"""The specification of Clip: spec/clip.yaml as a typed model with expression trees."""

from sonnx_clip.spec.load import load_spec
from sonnx_clip.spec.model import Spec

__all__ = ["Spec", "load_spec"]
