"""Executable meanings of Clip: the oracle rendered from spec/clip.yaml, and the library for users.

`load_oracle` gives the generated module: plain, slow, and the only judge of the checker.
`sonnx_clip.oracle.strict.clip` is written by hand and judged by it like every other runtime.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from typing import TYPE_CHECKING

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.manifest import rendered_from

if TYPE_CHECKING:
    from types import ModuleType

ORACLE_FILE = "generated/numpy/clip_oracle.py"


@cache
def load_oracle() -> ModuleType:
    """The module generated/numpy/clip_oracle.py; its docstring describes its functions.

    Its SPEC_DIGEST is the SHA-256 of the specification that it was generated from.

    Raises:
        UserError: the file is missing, or generated/manifest.json, which has the digest.
    """
    path = repo_file(ORACLE_FILE)
    if not path.is_file():
        raise UserError(
            "the NumPy oracle has not been generated",
            str(path),
            "run: sonnx-clip generate",
        )
    name = "sonnx_clip._generated_clip_oracle"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    module.SPEC_DIGEST = rendered_from().sha256  # type: ignore[attr-defined]
    return module
