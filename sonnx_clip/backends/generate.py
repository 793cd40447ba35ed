"""Everything that spec/clip.yaml is rendered into: written as a whole, or compared with what is there."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sonnx_clip.backends.drivers import PATH as REPLAY
from sonnx_clip.backends.targets import FILES, THEORIES, FileTarget, TheoryTarget
from sonnx_clip.claims.meaning_claims import WRITTEN
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import write_whole
from sonnx_clip.spec.header import header_lines
from sonnx_clip.spec.quotes import require_sources
from sonnx_clip.whyml.written import written_obligations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sonnx_clip.backends.targets import Theories
    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.spec import Spec

_Target = TypeVar("_Target", TheoryTarget, FileTarget)

MANIFEST = "generated/why3/obligations.json"
FOLDERS = ("generated",)
LEFT_BY_COQC = frozenset({".vo", ".vok", ".vos", ".glob", ".aux", ".cache"})
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
    files: dict[str, str] = {}
    rendered: list[Obligation] = []
    for target in _of(spec, THEORIES):
        made, found = _once(spec, target) if target.kept else target.render(spec)
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
    files[MANIFEST] = _manifest(spec, tuple(rendered))
    return Generated(files, obligations)


def _of(spec: Spec, targets: Sequence[_Target]) -> list[_Target]:
    """The targets that a specification has: those of Clip are Clip's alone."""
    return [target for target in targets if target.of_every or spec.operator == "Clip"]


def _once(spec: Spec, target: TheoryTarget) -> Theories:
    """What depends on the specification alone, and on what the target names, is rendered once for it."""
    key = (target.paths, " ".join(target.beside()))
    if key not in spec.memo:
        spec.memo[key] = target.render(spec)
    found: Theories = spec.memo[key]
    return found


def render_all(spec: Spec) -> Generated:
    """Render every target; UserError if a hand-written theory does not fit the YAML."""
    if spec.operator in WRITTEN:
        require_sources(spec)
    theories = render_theories(spec)
    files = dict(theories.files)
    for target in _of(spec, FILES):
        files |= target.render(spec, theories.files, theories.obligations)
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
        elif file.read_bytes() != text.encode():
            found.append(f"{path} differs from what spec/clip.yaml gives")
    return found + [f"{path} is not generated by anything" for path in _strays(generated, root, folders)]


def write(generated: Generated, root: Path, *, alone: bool = True) -> list[str]:
    """Bring the disk in line, each file written beside and renamed; returns the paths that changed.

    Args:
        generated: what is written.
        root: the folder above ``generated``.
        alone: whether nothing else may be in the generated folders, so that it is removed.
    """
    changed = []
    for path, text in generated.files.items():
        file = root / path
        if file.is_file() and file.read_bytes() == text.encode():
            continue
        write_whole(file, text, 0o755 if path in _EXECUTABLE else 0o644)
        changed.append(path)
    for path in _strays(generated, root, FOLDERS) if alone else ():
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
