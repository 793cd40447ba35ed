"""Everything that spec/clip.yaml is rendered into: one list of renderers, written as a whole or compared.

Nothing else is rendered; why3/ and coq/ are written by hand.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from sonnx_clip import __version__
from sonnx_clip.backends.acsl import render_acsl
from sonnx_clip.backends.c_reference import kernel_theories, render_c
from sonnx_clip.backends.canaries import render_canaries
from sonnx_clip.backends.coq_files import render_coq
from sonnx_clip.backends.drivers import PATH as REPLAY
from sonnx_clip.backends.drivers import render_replay
from sonnx_clip.backends.numpy_kernels import numpy_theories
from sonnx_clip.backends.numpy_oracle import render_numpy
from sonnx_clip.backends.pages import (
    render_coverage,
    render_dialects,
    render_findings,
    render_readings,
    render_rewrites,
)
from sonnx_clip.backends.profile_file import render_profile
from sonnx_clip.backends.qualification_pages import render_qualification
from sonnx_clip.backends.rewrites_theory import rewrite_theories
from sonnx_clip.backends.templating import header_lines
from sonnx_clip.backends.theory import Generated
from sonnx_clip.backends.titles import render_titles
from sonnx_clip.backends.vectors import render_vectors
from sonnx_clip.backends.why3_theories import why3_theories
from sonnx_clip.rewrites.rewrite import known_theorems
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of, write_whole
from sonnx_clip.root.manifest import MANIFEST
from sonnx_clip.spec.model import entries_with, yaml_place
from sonnx_clip.spec.operators import has_written_theory
from sonnx_clip.spec.quotes import require_sources
from sonnx_clip.whyml.hand_written import written_obligations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec

Files: TypeAlias = "Mapping[str, str]"
RenderTheories: TypeAlias = "Callable[[Spec], Generated]"
RenderFiles: TypeAlias = "Callable[[Spec, Generated], Files]"

FOLDERS = ("generated",)
LEFT_BY_COQC = frozenset({".vo", ".vok", ".vos", ".glob", ".aux", ".cache"})


# Whether every operator has the files, or one with a theory that is written by hand, as kernels need it.
EVERY, WITH_THEORY = True, False
# What renders theories, in the order of their obligations, which is that of evidence and replay.
THEORIES: tuple[tuple[bool, RenderTheories], ...] = (
    (EVERY, why3_theories),
    (EVERY, lambda spec: Generated(render_canaries(spec).files, ())),  # they are no obligations
    (WITH_THEORY, kernel_theories),
    (WITH_THEORY, numpy_theories),
    (WITH_THEORY, rewrite_theories),
)
# What renders the other files, from the specification, and the theories by path with all obligations.
FILES: tuple[tuple[bool, RenderFiles], ...] = (
    (EVERY, lambda spec, _: render_numpy(spec)),
    (EVERY, lambda spec, _: render_vectors(spec)),
    (WITH_THEORY, lambda spec, _: render_acsl(spec)),
    (WITH_THEORY, lambda spec, theories: render_c(spec, theories.files)),
    (WITH_THEORY, lambda spec, _: render_coq(spec)),
    (WITH_THEORY, lambda spec, theories: render_replay(spec, theories.obligations)),
    (WITH_THEORY, lambda spec, _: render_profile(spec)),
    (WITH_THEORY, lambda spec, _: render_readings(spec)),
    (WITH_THEORY, lambda spec, _: render_dialects(spec)),
    (WITH_THEORY, lambda spec, _: render_findings(spec)),
    (WITH_THEORY, lambda spec, _: render_rewrites(spec)),
    (
        WITH_THEORY,
        lambda spec, theories: render_coverage(spec, (o.id for o in theories.obligations)),
    ),
    (WITH_THEORY, lambda spec, _: render_qualification(spec)),
)


def ids_of(spec: Spec) -> frozenset[str]:
    """The ids that an obligation may show."""
    sections = (
        spec.restrictions, spec.constraints, spec.cases, spec.classes,
        spec.properties, spec.latitude, spec.readings, spec.dialects, spec.examples, spec.dialect_examples,
        spec.element_types,
    )  # fmt: skip
    ids = {theorem.id for theorem in known_theorems()}
    for section in sections:
        ids.update(entry.id for entry in section)
    # A finding without theorems is shown by its quotations and runs alone.
    ids.update(finding.id for finding in spec.findings if finding.theorems)
    return frozenset(ids)


def render_theories(spec: Spec) -> Generated:
    """Render the Why3 theories and their titles; UserError if a hand-written one does not fit the YAML."""
    files: dict[str, str] = {}
    rendered: list[Obligation] = []
    for of_every, render in THEORIES:
        if of_every or has_written_theory(spec):
            theories = render(spec)
            files |= theories.files
            rendered += theories.obligations
    files |= render_titles(rendered)
    by_hand = written_obligations(ids_of(spec)) if has_written_theory(spec) else ()
    obligations = (*by_hand, *rendered)
    goals_in_files = [f"{o.file} {o.theory}.{o.goal}" for o in obligations]
    _require_unique(spec, "obligations", [o.id for o in obligations])
    _require_unique(spec, "goals", goals_in_files)
    return Generated(files, obligations)


def _require_unique(spec: Spec, kind: str, names: Sequence[str]) -> None:
    """UserError if two obligations have one name: the answer about one would count for both."""
    for name, count in Counter(names).items():
        if count > 1:
            todo = "choose another id for the property, example or goal"
            raise UserError(f"two {kind} are called {name}", _place(spec, name), todo)


def _place(spec: Spec, obligation: str) -> str:
    """The place of the last entry whose id is part of the name of an obligation; else the file."""
    goal = obligation.rpartition(".")[2]
    place = spec.file
    for section, index, entry in entries_with(spec, "id"):
        # As whole words: `C1` is no part of `C10_repaired`.
        name = re.escape(entry.id.replace("-", "_"))
        if re.search(rf"(^|_){name}(_|$)", goal):
            place = yaml_place(spec, (section, index, "id"))
    return place


def render_all(spec: Spec) -> Generated:
    """Render every target; UserError if a hand-written theory does not fit the YAML."""
    if has_written_theory(spec):
        require_sources(spec)
    theories = render_theories(spec)
    files = dict(theories.files)
    for of_every, render in FILES:
        if of_every or has_written_theory(spec):
            files |= render(spec, theories)
    files[MANIFEST] = _manifest(spec, files)  # last: it has the digests of all others
    return Generated(files, theories.obligations)


def _manifest(spec: Spec, files: Files) -> str:
    """By and of what the files are rendered, and the SHA-256 of each: no other file repeats these."""
    document = {
        "about": header_lines(spec),
        "tool": f"sonnx-clip {__version__}",
        "source": {"file": spec.file, "sha256": spec.digest},
        "files": {path: digest_of(files[path]) for path in sorted(files)},
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def differences(generated: Generated, root: Path, folders: tuple[str, ...] = FOLDERS) -> list[str]:
    """What on disk is not as generated, in files and as stray files in `folders`: one line a file."""
    lines = []
    for path in _stale(generated, root):
        if (root / path).is_file():
            lines.append(f"{path} differs from the rendering of spec/clip.yaml")
        else:
            lines.append(f"{path} is missing")
    lines += [f"{path} is not a generated file" for path in _strays(generated, root, folders)]
    return lines


def write(generated: Generated, root: Path, *, alone: bool = True) -> list[str]:
    """Bring the disk in line, each file written beside and renamed; returns the paths that changed.

    Args:
        generated: what is written.
        root: the folder above ``generated``.
        alone: whether stray files in the generated folders are removed.
    """
    stale = _stale(generated, root)
    strays = _strays(generated, root, FOLDERS) if alone else []
    for path in stale:
        mode = 0o755 if path == REPLAY else 0o644
        write_whole(root / path, generated.files[path], mode)
    for path in strays:
        (root / path).unlink()
    return stale + strays


def _stale(generated: Generated, root: Path) -> list[str]:
    """The files that are missing or differ."""
    # Compared as bytes: a line end that git or an editor has changed is a difference.
    stale = []
    for path, text in generated.files.items():
        file = root / path
        if not file.is_file() or file.read_bytes() != text.encode():
            stale.append(path)
    return stale


def _strays(generated: Generated, root: Path, folders: tuple[str, ...]) -> list[str]:
    """Files in the generated folders that no target makes; what coqc leaves when run by hand is ignored."""
    strays = []
    for folder in folders:
        for file in sorted((root / folder).rglob("*")):
            is_left_by_tools = "__pycache__" in file.parts or file.suffix in LEFT_BY_COQC
            path = file.relative_to(root).as_posix()
            if file.is_file() and not is_left_by_tools and path not in generated.files:
                strays.append(path)
    return strays
