"""Everything that spec/clip.yaml is rendered into: one table of targets, written as a whole or compared.

Nothing else is rendered; why3/ and coq/ are written by hand.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip.backends.acsl import render_acsl
from sonnx_clip.backends.c_reference import kernel_theories, render_c
from sonnx_clip.backends.canaries import render_canaries
from sonnx_clip.backends.coq_files import render_coq
from sonnx_clip.backends.drivers import PATH as REPLAY
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
from sonnx_clip.backends.type_theories import type_theories
from sonnx_clip.backends.vectors import render_vectors
from sonnx_clip.claims.meaning_claims import WRITTEN
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_whole
from sonnx_clip.spec.header import header_lines
from sonnx_clip.spec.quotes import require_sources
from sonnx_clip.whyml.written import written_obligations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec

Files: TypeAlias = "Mapping[str, str]"

MANIFEST = "generated/why3/obligations.json"
FOLDERS = ("generated",)
LEFT_BY_COQC = frozenset({".vo", ".vok", ".vos", ".glob", ".aux", ".cache"})
_EXECUTABLE = frozenset({REPLAY})


@dataclass(frozen=True)
class TheoryTarget:
    """Theories: their paths as a regular expression, and what renders them and lists their obligations.

    Every operator has those `of_every`, Clip alone has the others; likewise for `FileTarget`.
    """

    paths: str
    render: Callable[[Spec], tuple[Files, Sequence[Obligation]]]
    of_every: bool = False


@dataclass(frozen=True)
class FileTarget:
    """Other files, rendered from the specification, the theories by path, and all obligations."""

    paths: str
    render: Callable[[Spec, Files, Sequence[Obligation]], Files]
    of_every: bool = False


_MLW = r"[a-z]+\d*\.mlw"  # of an element type

THEORIES: tuple[TheoryTarget, ...] = (
    # the cases and what follows from them
    TheoryTarget(rf"generated/why3/{_MLW}", type_theories, of_every=True),
    # readings of the formula, compared with the cases
    TheoryTarget(
        rf"generated/why3/readings_{_MLW}",
        lambda spec: theories_of_types(spec, "readings_", reading_modules),
        of_every=True,
    ),
    # ONNX's versions and DirectML, compared with SONNX
    TheoryTarget(
        rf"generated/why3/dialects_{_MLW}", lambda spec: theories_of_types(spec, "dialects_", dialect_modules)
    ),
    # the examples on ONNX's page
    TheoryTarget(
        rf"generated/why3/examples_{_MLW}", lambda spec: theories_of_types(spec, "examples_", example_modules)
    ),
    TheoryTarget(
        rf"generated/why3/findings_{_MLW}",
        lambda spec: theories_of_types(spec, "findings_", finding_modules),
        of_every=True,
    ),
    # properties of wrong operators, which provers must refute; they are no obligations
    TheoryTarget(
        rf"generated/why3/canaries_{_MLW}", lambda spec: (render_canaries(spec)[0], ()), of_every=True
    ),
    # the C kernels in WhyML, and how Why3 prints them as C
    TheoryTarget(rf"generated/why3/c_{_MLW}|generated/c/drivers/.*", kernel_theories),
    # the NumPy kernels, as a run on symbols recorded them
    TheoryTarget(rf"generated/why3/numpy_{_MLW}", numpy_theories),
)

FILES: tuple[FileTarget, ...] = (
    FileTarget(r"generated/numpy/[a-z]+_oracle\.py", lambda spec, *_: render_numpy(spec), of_every=True),
    FileTarget(r"generated/vectors/.*\.json", lambda spec, *_: render_vectors(spec), of_every=True),
    FileTarget(r"generated/c/acsl/.*", lambda spec, *_: render_acsl(spec)),
    FileTarget(r"generated/c/[^/]*\.[ch]", lambda spec, theories, _: render_c(spec, theories)),
    FileTarget(r"generated/coq/.*\.v", lambda spec, *_: render_coq(spec)),
    FileTarget(r"generated/replay\.sh", lambda spec, _, obligations: render_replay(spec, obligations)),
    FileTarget(r"generated/profile\.json", lambda spec, *_: render_profile(spec)),
    FileTarget(r"docs/readings\.md", lambda spec, *_: render_readings(spec)),
    FileTarget(r"docs/dialects\.md", lambda spec, *_: render_dialects(spec)),
    FileTarget(r"docs/findings\.md", lambda spec, *_: render_findings(spec)),
    FileTarget(
        r"docs/coverage\.md|generated/coverage\.csv",
        lambda spec, _, obligations: render_coverage(spec, (o.id for o in obligations)),
    ),
)


@dataclass(frozen=True)
class Generated:
    """All generated files by their path in the repository, and all obligations there are."""

    files: Mapping[str, str]
    obligations: tuple[Obligation, ...]


def ids_of(spec: Spec) -> frozenset[str]:
    """The ids that an obligation may show."""
    sections = (
        spec.restrictions, spec.constraints, spec.cases, spec.classes,
        spec.properties, spec.latitude, spec.readings, spec.dialects, spec.examples, spec.dialect_examples,
        spec.element_types,
    )  # fmt: skip
    claimed = (finding.id for finding in spec.findings if finding.theorems)
    return frozenset((*(entry.id for section in sections for entry in section), *claimed))


def all_obligations(spec: Spec) -> tuple[Obligation, ...]:
    """The obligations of the hand-written theories, then those of the rendered ones."""
    return render_theories(spec).obligations


def render_theories(spec: Spec) -> Generated:
    """Render the Why3 theories alone; UserError if a hand-written theory does not fit the YAML."""
    files: dict[str, str] = {}
    rendered: list[Obligation] = []
    for target in THEORIES:
        if target.of_every or spec.operator == "Clip":
            made, found = target.render(spec)
            files |= made
            rendered += found
    by_hand = written_obligations(ids_of(spec)) if spec.operator in WRITTEN else ()
    obligations = (*by_hand, *rendered)
    for kind, names in (
        ("obligations", [o.id for o in obligations]),
        ("goals", [f"{o.file} {o.theory}.{o.goal}" for o in obligations]),
    ):
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            what = f"two {kind} are called {twice[0]}"
            raise UserError(what, spec.file, "give the property or example another id")
    manifest = {"about": header_lines(spec), "obligations": [vars(o) for o in rendered]}
    files[MANIFEST] = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    return Generated(files, obligations)


def render_all(spec: Spec) -> Generated:
    """Render every target; UserError if a hand-written theory does not fit the YAML."""
    if spec.operator in WRITTEN:
        require_sources(spec)
    theories = render_theories(spec)
    files = dict(theories.files)
    for target in FILES:
        if target.of_every or spec.operator == "Clip":
            files |= target.render(spec, theories.files, theories.obligations)
    return Generated(files, theories.obligations)


def differences(generated: Generated, root: Path, folders: tuple[str, ...] = FOLDERS) -> list[str]:
    """What on disk is not as generated, in files and as stray files in `folders`: one line a file."""
    found = []
    for path, text in generated.files.items():
        file = root / path
        if not file.is_file():
            found.append(f"{path} is missing")
        elif file.read_bytes() != text.encode():
            found.append(f"{path} differs from what spec/clip.yaml gives")
    return found + [f"{path} is not generated by anything" for path in _strays(generated, root, folders)]


def write(generated: Generated, root: Path, *, alone: bool = True) -> list[str]:
    """Bring the disk in line, each file written beside and renamed; returns the paths that changed.

    Args:
        generated: what is written.
        root: the folder above ``generated``.
        alone: whether stray files in the generated folders are removed.
    """
    changed = []
    for path, text in generated.files.items():
        file = root / path
        if not file.is_file() or file.read_bytes() != text.encode():
            write_whole(file, text, 0o755 if path in _EXECUTABLE else 0o644)
            changed.append(path)
    for path in _strays(generated, root, FOLDERS) if alone else ():
        (root / path).unlink()
        changed.append(path)
    return changed


def _strays(generated: Generated, root: Path, folders: tuple[str, ...]) -> list[str]:
    """Files in the generated folders that no target makes; what coqc leaves when run by hand is ignored."""
    there = (p for folder in folders for p in sorted((root / folder).rglob("*")) if p.is_file())
    ours = (p for p in there if "__pycache__" not in p.parts and p.suffix not in LEFT_BY_COQC)
    paths = (p.relative_to(root).as_posix() for p in ours)
    return [path for path in paths if path not in generated.files]
