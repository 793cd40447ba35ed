"""The two toy specifications, and what is generated of them, once for all tests."""

import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sonnx_clip.backends.generate import render_all, write
from sonnx_clip.backends.theory import Generated
from sonnx_clip.spec import Spec, load_spec

FOLDER = Path(__file__).parent
TOYS = ("relu", "max")


@dataclass(frozen=True)
class Toy:
    """A specification, with a folder that holds what is generated of it."""

    spec: Spec
    folder: Path
    generated: Generated

    def oracle(self):
        """The generated oracle."""
        path = self.folder / "generated" / "numpy" / f"{self.spec.signature.function}_oracle.py"
        of = importlib.util.spec_from_file_location(f"toy_{path.stem}", path)
        module = importlib.util.module_from_spec(of)
        of.loader.exec_module(module)
        module.SPEC_DIGEST = self.spec.digest  # which the manifest has, for the checked-in oracle
        return module


@cache
def spec_of(name):
    """The specification of a toy."""
    return load_spec(FOLDER / f"{name}.yaml")


def made(name, folder):
    """A toy, generated into a folder."""
    toy = Toy(spec_of(name), folder, render_all(spec_of(name)))
    write(toy.generated, folder, alone=False)
    return toy
