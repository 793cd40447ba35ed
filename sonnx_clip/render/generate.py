"""Everything that spec/clip.yaml is rendered into: written as a whole, or compared with what is there."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sonnx_clip.dialects.text import render_dialects
from sonnx_clip.errors import UserError
from sonnx_clip.files import write_whole
from sonnx_clip.readings.text import render_markdown
from sonnx_clip.render.acsl import render_acsl
from sonnx_clip.render.c import kernel_theories, render_c
from sonnx_clip.render.claims import claim_theories
from sonnx_clip.render.coq import render_coq
from sonnx_clip.render.coverage_page import render_coverage
from sonnx_clip.render.dialects import dialect_theories
from sonnx_clip.render.example_goals import example_theories
from sonnx_clip.render.findings import render_findings
from sonnx_clip.render.header import header_lines
from sonnx_clip.render.numpy import render_numpy
from sonnx_clip.render.numpy_kernels import numpy_theories
from sonnx_clip.render.profile import render_profile
from sonnx_clip.render.readings import reading_theories
from sonnx_clip.render.replay import PATH as REPLAY
from sonnx_clip.render.replay import render_replay
from sonnx_clip.render.vectors import render_vectors
from sonnx_clip.render.why3 import ordered_axioms, render_why3
from sonnx_clip.render.written import written_obligations
from sonnx_clip.spec.schema import schema_text
from sonnx_clip.spec.source_digests import require_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from sonnx_clip.render.obligation import Obligation
    from sonnx_clip.spec import Spec

MANIFEST = "generated/why3/obligations.json"
SCHEMA = "spec/clip.schema.json"
FOLDERS = ("generated",)
LEFT_BY_COQC = frozenset({".vo", ".vok", ".vos", ".glob", ".aux", ".cache"})
_Rendered = TypeVar("_Rendered")
_EXECUTABLE = frozenset({REPLAY})


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
    why3 = _once(spec, render_why3, *ordered_axioms())
    kernels, of_kernels = kernel_theories(spec)
    numpy, of_numpy = numpy_theories(spec)
    readings, of_readings = _once(spec, reading_theories)
    dialects, of_dialects = _once(spec, dialect_theories)
    examples, of_examples = _once(spec, example_theories)
    claims, of_claims = _once(spec, claim_theories)
    rendered = (
        *why3.obligations,
        *of_readings,
        *of_dialects,
        *of_examples,
        *of_claims,
        *of_kernels,
        *of_numpy,
    )
    obligations = (*written_obligations(ids_of(spec)), *rendered)
    for kind, names in (
        ("obligations", [o.id for o in obligations]),
        ("goals", [f"{o.file} {o.theory}.{o.goal}" for o in obligations]),
    ):
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            what = f"two {kind} are called {twice[0]}"
            raise UserError(what, "spec/clip.yaml", "give the property or example another id")
    files = {**why3.files, **readings, **dialects, **examples, **claims, **kernels, **numpy}
    files[MANIFEST] = _manifest(spec, rendered)
    return Generated(files, obligations)


def _once(spec: Spec, render: Callable[[Spec], _Rendered], *given: str) -> _Rendered:
    """What depends on the specification alone, and on what is given, is rendered once for it."""
    key = (render.__name__, " ".join(given))
    if key not in spec.memo:
        spec.memo[key] = render(spec)
    found: _Rendered = spec.memo[key]
    return found


def render_all(spec: Spec) -> Generated:
    """Render every target; UserError if a hand-written theory does not fit the YAML."""
    require_sources(spec)
    theories = render_theories(spec)
    files = {
        **theories.files, **render_numpy(spec), **render_vectors(spec), **render_acsl(spec),
        **render_markdown(spec), **render_dialects(spec, theories.obligations),
        **render_c(spec, theories.files), **render_coq(spec),
        **render_replay(spec, theories.obligations), **render_findings(spec, theories.obligations),
        **render_coverage(spec, (o.id for o in theories.obligations)),
        **render_profile(spec), SCHEMA: schema_text(),
    }  # fmt: skip
    return Generated(files, theories.obligations)


def _manifest(spec: Spec, obligations: tuple[Obligation, ...]) -> str:
    """The list of the rendered obligations; made once, since it does not change unless they do."""
    of, text = spec.memo.get(("manifest", ""), ((), ""))
    if not text or of != obligations:
        about = header_lines(spec)
        rows = [vars(o) for o in obligations]
        text = json.dumps({"about": about, "obligations": rows}, indent=1, ensure_ascii=False) + "\n"
        spec.memo["manifest", ""] = obligations, text
    return str(text)


def differences(generated: Generated, root: Path, folders: tuple[str, ...] = FOLDERS) -> list[str]:
    """What on disk is not as generated, in files and as files too many in `folders`: one line a file."""
    found = []
    for path, text in generated.files.items():
        file = root / path
        if not file.is_file():
            found.append(f"{path} is missing")
        elif file.read_text(encoding="utf-8") != text:
            found.append(f"{path} differs from what spec/clip.yaml gives")
    return found + [f"{path} is not generated by anything" for path in _strays(generated, root, folders)]


def write(generated: Generated, root: Path) -> list[str]:
    """Bring the disk in line, each file written beside and renamed; returns the paths that changed."""
    changed = []
    for path, text in generated.files.items():
        file = root / path
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        write_whole(file, text, 0o755 if path in _EXECUTABLE else 0o644)
        changed.append(path)
    for path in _strays(generated, root, FOLDERS):
        (root / path).unlink()
        changed.append(path)
    return changed


def _strays(generated: Generated, root: Path, folders: tuple[str, ...]) -> list[str]:
    """Files in the generated folders that no target makes."""
    there = [p for folder in folders for p in sorted((root / folder).rglob("*")) if p.is_file()]
    ours = (p for p in there if "__pycache__" not in p.parts and not _left_by_coqc(p))
    paths = [p.relative_to(root).as_posix() for p in ours]
    return [path for path in paths if path not in generated.files]


def _left_by_coqc(path: Path) -> bool:
    """Whether coqc, run by hand or by an editor, made the file."""
    return path.suffix in LEFT_BY_COQC
