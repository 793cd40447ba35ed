"""The two toy specifications, and what is generated of them, once for all tests."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sonnx_clip.backends.generate import render_all, write
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from types import ModuleType

    from sonnx_clip.backends.generate import Generated
    from sonnx_clip.spec import Spec

FOLDER = Path(__file__).parent
TOYS = ("relu", "max")


@dataclass(frozen=True)
class Toy:
    """A specification, with a folder that holds what is generated of it."""

    spec: Spec
    folder: Path
    generated: Generated

    def oracle(self) -> ModuleType:
        """The generated oracle."""
        path = self.folder / "generated" / "numpy" / f"{self.spec.head.function}_oracle.py"
        of = importlib.util.spec_from_file_location(f"toy_{path.stem}", path)
        assert of is not None
        assert of.loader is not None
        module = importlib.util.module_from_spec(of)
        of.loader.exec_module(module)
        return module


@cache
def spec_of(name: str) -> Spec:
    """The specification of a toy."""
    return load_spec(FOLDER / f"{name}.yaml")


def made(name: str, folder: Path) -> Toy:
    """A toy, generated into a folder."""
    spec = spec_of(name)
    generated = render_all(spec)
    write(generated, folder, alone=False)
    return Toy(spec, folder, generated)
