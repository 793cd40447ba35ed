"""Reads obligations back from generated/why3, for commands that do not render them.

The theories have the goals, and titles.json what each says as a sentence.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, cast

from sonnx_clip.claims.claim import ClaimKind, Obligation
from sonnx_clip.root.collection import without_collection
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.manifest import rendered_from
from sonnx_clip.whyml.declarations import declarations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sonnx_clip.spec import Spec
    from sonnx_clip.whyml.declarations import WhymlDeclaration

FOLDER = "generated/why3"
TITLES = f"{FOLDER}/titles.json"
_CANARIES = "canaries_"  # how the names of their files begin
_ATTRIBUTE = re.compile(r"\[@(name|kind|shows):([^\]]*)\]")


def is_rendered(spec: Spec) -> bool:
    """Whether the theories of a specification are those in generated/; UserError if there are none."""
    return rendered_from().file == spec.file


def rendered_obligations(subject: str | None = None) -> tuple[Obligation, ...]:
    """The goals and programs of the rendered theories that say what they show.

    Goals without a declaration of their own are left out: the axioms of a cloned theory and the contracts of
    what is put in the place of a `val`. So are canaries, which are false and no obligations.

    Args:
        subject: the element type, or ``restrictions``; all of them if it is None.

    Raises:
        UserError: the theories have not been generated, or their titles are not theirs.
    """
    paths = sorted(repo_file(FOLDER).glob("*.mlw"))
    if not paths:
        raise UserError(
            "the obligations have not been generated",
            str(repo_file(FOLDER)),
            "run: sonnx-clip generate",
        )
    # Files are left out by their names, unread: one element type has few of the many.
    of_subject = [
        path
        for path in paths
        if subject in (None, _subject(path)) and not path.name.startswith(_CANARIES)
    ]
    obligations: list[Obligation] = []
    titles = _read_titles()
    with without_collection():
        for path in of_subject:
            for declaration in declarations(path.read_text(encoding="utf-8")):
                obligations += _obligation(path, declaration, titles)
    return tuple(obligations)


def _read_titles() -> Mapping[str, str]:
    """The titles of goals, by the name of the goal or the id of its obligation."""
    try:
        titles = json.loads(repo_file(TITLES).read_bytes())
    except (OSError, ValueError) as error:
        raise _unusable_titles() from error
    if not isinstance(titles, dict):
        raise _unusable_titles()
    return titles


def _unusable_titles() -> UserError:
    message = "the titles of the obligations are missing, damaged or of other theories"
    return UserError(message, str(repo_file(TITLES)), "run: sonnx-clip generate")


def _subject(path: Path) -> str:
    """What the goals of a theory file are about: the end of its name, as in ``readings_float32.mlw``."""
    return path.stem.rpartition("_")[2]


def _obligation(
    path: Path, declaration: WhymlDeclaration, titles: Mapping[str, str]
) -> Iterator[Obligation]:
    """The obligation of a declaration; none where it does not name the entries that it shows."""
    attributes = dict(_ATTRIBUTE.findall("".join(declaration.attributes)))
    if "shows" not in attributes:  # a definition, an import, or a program that others use
        return
    is_program = declaration.form.startswith("let")
    # Programs of C are called in C as they are here, and their obligations by `[@name:…]`.
    name = attributes.get("name", declaration.name)
    subject = _subject(path)
    id_ = f"{subject}.{name}"
    # Under its id where it differs between element types, else once under its name.
    title = titles.get(id_) or titles.get(name)
    if title is None:
        raise _unusable_titles()
    yield Obligation(
        id=id_,
        kind="refinement" if is_program else cast("ClaimKind", attributes["kind"]),
        subject=subject,
        shows=tuple(attributes["shows"].split(",")),
        title=title,
        file=f"{FOLDER}/{path.name}",
        theory=declaration.module,
        goal=f"{declaration.name}'vc" if is_program else declaration.name,
        statement=declaration.statement,
    )
