"""What spec/clip.yaml becomes: a line for each target, with its files and its printer.

Those of every operator are made of any specification; the others speak of what Clip alone states.

`generate.py` goes through these lists, and renders nothing else. why3/ and coq/ are written by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.backends.acsl import render_acsl
from sonnx_clip.backends.c_reference import kernel_theories, render_c
from sonnx_clip.backends.canaries import render_canaries
from sonnx_clip.backends.coq_files import render_coq
from sonnx_clip.backends.drivers import render_replay
from sonnx_clip.backends.numpy_kernels import numpy_theories
from sonnx_clip.backends.numpy_oracle import render_numpy
from sonnx_clip.backends.pages import render_coverage, render_dialects, render_findings, render_readings
from sonnx_clip.backends.profile_file import render_profile
from sonnx_clip.backends.reading_theories import (
    dialect_modules,
    example_modules,
    finding_modules,
    reading_modules,
)
from sonnx_clip.backends.theory import theories_of_types
from sonnx_clip.backends.type_theories import ordered_axioms, type_theories
from sonnx_clip.backends.vectors import render_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec

Files: TypeAlias = "Mapping[str, str]"
Theories: TypeAlias = "tuple[Files, Sequence[Obligation]]"


def _nothing_else() -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class TheoryTarget:
    """Theories, with the obligations that they hold.

    Args:
        paths: the paths of the files, as a regular expression.
        says: what is in them.
        render: makes the files of a specification, and their obligations.
        kept: whether they depend on the specification alone, and on what `beside` gives: they are then
            rendered once for it.
        beside: what else they depend on.
        of_every: whether every operator has them; if not, Clip alone.
    """

    paths: str
    says: str
    render: Callable[[Spec], Theories]
    kept: bool = True
    beside: Callable[[], tuple[str, ...]] = _nothing_else
    of_every: bool = False


@dataclass(frozen=True)
class FileTarget:
    """Other files: of the specification, of the theories by path, and of all obligations.

    Args:
        paths: the paths of the files, as a regular expression.
        says: what is in them.
        render: makes them.
        of_every: as for `TheoryTarget`.
    """

    paths: str
    says: str
    render: Callable[[Spec, Files, Sequence[Obligation]], Files]
    of_every: bool = False


_TYPE = r"[a-z]+\d*"  # an element type
_MLW = rf"{_TYPE}\.mlw"

THEORIES: tuple[TheoryTarget, ...] = (
    TheoryTarget(
        rf"generated/why3/{_MLW}",
        "an element type: the cases and what they entail",
        type_theories,
        beside=ordered_axioms,
        of_every=True,
    ),
    TheoryTarget(
        rf"generated/why3/readings_{_MLW}",
        "readings of the formula, against the cases",
        lambda spec: theories_of_types(spec, "readings_", reading_modules),
        of_every=True,
    ),
    TheoryTarget(
        rf"generated/why3/dialects_{_MLW}",
        "ONNX's versions and DirectML, against SONNX",
        lambda spec: theories_of_types(spec, "dialects_", dialect_modules),
    ),
    TheoryTarget(
        rf"generated/why3/examples_{_MLW}",
        "the examples on ONNX's page",
        lambda spec: theories_of_types(spec, "examples_", example_modules),
    ),
    TheoryTarget(
        rf"generated/why3/findings_{_MLW}",
        "what findings claim",
        lambda spec: theories_of_types(spec, "findings_", finding_modules),
        of_every=True,
    ),
    TheoryTarget(
        rf"generated/why3/canaries_{_MLW}",
        "properties of wrong operators, which provers must refute; they are no obligations",
        lambda spec: (render_canaries(spec)[0], ()),
        of_every=True,
    ),
    TheoryTarget(
        rf"generated/why3/c_{_MLW}|generated/c/drivers/.*",
        "the C kernels in WhyML, and how Why3 prints them as C",
        kernel_theories,
        kept=False,
    ),
    TheoryTarget(
        rf"generated/why3/numpy_{_MLW}",
        "the NumPy kernels, as a run on symbols saw them",
        numpy_theories,
        kept=False,
    ),
)

FILES: tuple[FileTarget, ...] = (
    FileTarget(
        r"generated/numpy/[a-z]+_oracle\.py",
        "the oracle in NumPy",
        lambda spec, *_: render_numpy(spec),
        of_every=True,
    ),
    FileTarget(
        r"generated/vectors/.*\.json",
        "test vectors",
        lambda spec, *_: render_vectors(spec),
        of_every=True,
    ),
    FileTarget(r"generated/c/acsl/.*", "contracts for Frama-C", lambda spec, *_: render_acsl(spec)),
    FileTarget(r"docs/readings\.md", "readings, class by class", lambda spec, *_: render_readings(spec)),
    FileTarget(r"docs/dialects\.md", "dialects in one table", lambda spec, *_: render_dialects(spec)),
    FileTarget(
        r"generated/c/[^/]*\.[ch]",
        "the C, as Why3 extracts it",
        lambda spec, theories, _: render_c(spec, theories),
    ),
    FileTarget(
        r"generated/coq/.*\.v", "the families and their readings in Coq", lambda spec, *_: render_coq(spec)
    ),
    FileTarget(
        r"generated/replay\.sh",
        "all proofs again, without our Python",
        lambda spec, _, obligations: render_replay(spec, obligations),
    ),
    FileTarget(
        r"docs/findings\.md",
        "what is wrong or open in the sources",
        lambda spec, *_: render_findings(spec),
    ),
    FileTarget(
        r"docs/coverage\.md|generated/coverage\.csv",
        "each sentence of the sources, with its answer",
        lambda spec, _, obligations: render_coverage(spec, (o.id for o in obligations)),
    ),
    FileTarget(
        r"generated/profile\.json",
        "restrictions and constraints, for lint",
        lambda spec, *_: render_profile(spec),
    ),
)
