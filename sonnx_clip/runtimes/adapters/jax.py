"""JAX on the CPU: jax.numpy.clip, with 64-bit types, of which JAX makes 32 bits by itself."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy
import numpy as np

from sonnx_clip.runtimes.runtime import runtime_of_function

_CPU = jax.devices("cpu")[0]


def jax_clip(*operands: Any) -> Any:
    """jax.numpy.clip of arrays."""
    # Without it, JAX makes 32 bits of 64, which would be judged as a wrong element type.
    with jax.enable_x64(new_val=True), jax.default_device(_CPU):
        return np.asarray(jax.numpy.clip(*operands))


RUNTIME = runtime_of_function(jax_clip, f"jax {jax.__version__}")
