"""Every FLOAT has one conversion: a relation with a gap, or with two results, is caught by that alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sonnx_clip.backends.generate import all_obligations
from sonnx_clip.mutants.theories import Theories, TheoryMutant
from sonnx_clip.spec import load_spec
from sonnx_clip.whyml.natives import native

SPEC = load_spec()


def found_by(type_id: str, module: str, run: Any) -> set[str]:
    """The obligations on conversions of an element type that are false with another `converts`."""
    casts = [o for o in all_obligations(SPEC) if o.subject == type_id and o.goal.startswith("cast_")]
    mutant = TheoryMutant("drivers", f"{module}.converts", "planted", {(module, "converts"): run})
    return {id_ for id_, _ in Theories(SPEC, casts).found_by(mutant, first=False)}


@pytest.mark.parametrize(("type_id", "module"), [("float16", "ToFloat16"), ("float64", "ToFloat64")])
def test_a_float_without_a_conversion_is_found(type_id: str, module: str) -> None:
    """A relation that no subnormal FLOAT is in: what says "if b becomes r" holds of it all the same."""
    name = f"convert.{module}"
    converts = native(name, "converts")
    assert converts is not None

    def with_a_gap(b: Any, r: Any) -> Any:
        exponent = np.asarray(b, np.uint32) & np.uint32(0x7F800000)
        zero = (np.asarray(b, np.uint32) & np.uint32(0x7FFFFFFF)) == 0
        return converts(b, r) & ((exponent != 0) | zero)

    assert found_by(type_id, name, with_a_gap) == {f"{type_id}.cast_exists"}


@pytest.mark.parametrize(("type_id", "module"), [("float16", "ToFloat16"), ("float64", "ToFloat64")])
def test_a_float_with_two_conversions_is_found(type_id: str, module: str) -> None:
    """A relation that lets +0 become -0 too: the order of bounds does not tell these apart."""
    name = f"convert.{module}"
    converts = native(name, "converts")
    assert converts is not None

    def with_two_zeros(b: Any, r: Any) -> Any:
        zero = np.asarray(b, np.uint32) == 0
        return converts(b, r) | (zero & (np.asarray(r) << np.asarray(r).dtype.type(1) == 0))

    assert f"{type_id}.cast_unique" in found_by(type_id, name, with_two_zeros)
    if type_id == "float16":
        assert found_by(type_id, name, with_two_zeros) == {"float16.cast_unique"}
