"""Compares each file in build/evidence with what the records give, and lists what cannot be compared."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sonnx_clip.evidence.checkout import Checkout
from sonnx_clip.evidence.missing_library import MissingLibraryError
from sonnx_clip.evidence.supply_chain import (
    STATEMENT,
    SignedEnvelope,
    render_sbom,
    render_statement,
)
from sonnx_clip.evidence.write_evidence import FORMATS
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular_bytes
from sonnx_clip.root.stored import Excerpt, parse_record
from sonnx_clip.root.terminal import listed
from sonnx_clip.runtimes.words import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sonnx_clip.evidence.evidence_model import Evidence
    from sonnx_clip.evidence.records import Records


class _Named(Excerpt):
    """What evidence.json names that the records do not have."""

    checkout: Checkout | None = None


@dataclass
class Comparison:
    """Files of a folder that agree with the records, and why others were not compared, by name."""

    agreeing: list[str] = field(default_factory=list)
    not_compared: dict[str, str] = field(default_factory=dict)

    @property
    def result(self) -> str:
        """What agrees, in words."""
        return f"{listed(self.agreeing)} agree with the records" if self.agreeing else "none"


def compare_published(
    build: Path, records: Records, evidence: Evidence, pages: Mapping[str, str]
) -> Comparison:
    """Compare the evidence in `build`; `pages` are the rendered files that are always written together.

    UserError if one of these is missing beside the others, or a file differs from the records.
    """
    folder = build / "evidence"
    comparison = Comparison()
    # Without the folder nothing was published, which is no difference from the records.
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if pages.keys() & set(names):
        # Written together, so that one which is missing was removed by someone.
        for name, text in pages.items():
            _require_equal(folder / name, text, "sonnx-clip evidence")
            comparison.agreeing.append(name)
    for format_, (name, render_one) in FORMATS.items():
        if name not in names:
            continue
        try:
            text = render_one(evidence, records)
        except MissingLibraryError as error:
            comparison.not_compared[name] = error.what
            continue
        # The SBOM alone depends on the machine that writes it.
        reason = _other_packages(folder / name, text) if render_one is render_sbom else None
        if reason:
            comparison.not_compared[name] = reason
            continue
        _require_equal(folder / name, text, f"sonnx-clip evidence --format {format_}")
        comparison.agreeing.append(name)
    # The statement comes last: it has the digests of the files above.
    if STATEMENT in names:
        _compare_statement(folder / STATEMENT, render_statement(evidence, build), comparison)
    known = {*pages, STATEMENT, *(name for name, _ in FORMATS.values())}
    for name in names:
        if name not in known:
            comparison.not_compared[name] = "it is not a file of the evidence"
    return comparison


def published_checkout(build: Path) -> Checkout | None:
    """The checkout that evidence.json in `build` names: no record has it. None where it names none."""
    # Nothing but the commit is taken from the file: it may have been written by anyone.
    content = _content(build / "evidence" / "evidence.json")
    try:
        return parse_record((content or b"").decode(), _Named).checkout
    except ValueError:  # the comparison with the records reports what is wrong
        return None


def _require_equal(file: Path, text: str, command: str) -> None:
    if _content(file) != text.encode():
        raise _difference(file, command)


def _content(file: Path) -> bytes | None:
    """The bytes of a regular file; None if it cannot be read."""
    try:
        return read_regular_bytes(file)
    except OSError:
        return None


def _difference(file: Path, command: str) -> UserError:
    todo = f"do not rely on it; `{command}` writes it again"
    return UserError("it differs from the records", str(file), todo)


# --- The SBOM: its packages are those of the machine that wrote it ------------------------------------------


class _Sbom(Excerpt):
    components: tuple[dict[str, Any], ...]

    @property
    def packages(self) -> list[dict[str, Any]]:
        """Python packages, which alone have a URL."""
        return [component for component in self.components if "purl" in component]

    @property
    def programs(self) -> list[dict[str, Any]]:
        """Provers and drivers, which follow from the records."""
        return [component for component in self.components if "purl" not in component]


def _other_packages(file: Path, text: str) -> str | None:
    """Why an SBOM cannot be compared: other packages are installed here than it lists; None if it can.

    UserError if it is damaged, or lists other programs than the records.
    """
    rendered = parse_record(text, _Sbom)
    try:
        written = parse_record((_content(file) or b"").decode(), _Sbom)
    except ValueError:
        written = None
    # Packages may differ from machine to machine, but programs follow from the records.
    if written is None or written.programs != rendered.programs:
        raise _difference(file, "sonnx-clip evidence --format cyclonedx")
    other = [package for package in written.packages if package not in rendered.packages]
    absent = [package for package in rendered.packages if package not in written.packages]
    if not (other or absent):
        return None
    first = (other or absent)[0]  # one says enough: there may be a hundred
    # The names of a file that someone else wrote: they may have control characters, and any length.
    package = printable(f"{first.get('name')} {first.get('version')}", 100)
    verb = "it lists" if other else "it does not list"
    return f"its packages are not those installed here; {verb} {package}"


# --- The statement ------------------------------------------------------------------------------------------


def _compare_statement(file: Path, text: str, comparison: Comparison) -> None:
    """Compare a statement, signed or not."""
    # `evidence --sign` puts the statement into an envelope, whose payload is the same text.
    content = _content(file) or b""
    try:
        envelope = parse_record(content.decode(), SignedEnvelope)
    except ValueError:  # it is a statement without an envelope
        envelope = None
    if envelope is not None:
        try:
            content = base64.b64decode(envelope.payload)
        except ValueError:
            # As any other content that is not the statement, it differs.
            content = b""
        comparison.not_compared[STATEMENT] = "its signature, which --key checks"
    if content != text.encode():
        raise _difference(file, "sonnx-clip evidence --format in-toto")
    comparison.agreeing.append(STATEMENT)
