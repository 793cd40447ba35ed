"""A private copy of everything that Why3 reads, so that an answer belongs to the bytes it was computed from.

Theories, drivers and configuration are read once. Digests are taken of what was read, and Why3 sees the copy
alone: a source that changes during a run changes nothing of it, and a file of another format that Why3 could
load is not there.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sonnx_clip.backends.drivers import ELEMENTS, driver, driver_file, why3_configuration
from sonnx_clip.prove.assumptions import read_theories
from sonnx_clip.prove.provers import INSTALL, NAMES, find_provers
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of, digest_of_file, write_whole
from sonnx_clip.root.folders import repo_file
from sonnx_clip.root.run_program import version_of
from sonnx_clip.whyml.hand_written import directives, theory_texts
from sonnx_clip.whyml.why3_lexer import without_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# Why3 replaces names by their definitions: goals on elements become free of quantifiers, which both provers
# decide. Where variables are constants from the beginning, Z3 needs up to a hundred times less time.
INLINE = ("-a", "inline_all", "-a", "introduce_premises")

_C_DRIVERS = (Path("drivers/c.drv"), Path("extraction_drivers/c.drv"))  # Why3 1.7 moved it
_ENVIRONMENT = ("WHY3DATA", "WHY3LIB", "WHY3CONFIG")


@dataclass(frozen=True)
class Why3:
    """Why3 with the project's configuration and a snapshot of the theories.

    Args:
        version: as the program prints it.
        program: SHA-256 of the program.
        config: the configuration in the build folder, for commands that a person enters.
        files: the digests of Why3's own drivers that take part, by their name: of the provers, and of C.
        base: a digest of all that shapes every task: Why3, its library, drivers, hand-written theories.
        texts: the theories, by their path in the repository.
        lemmas: the lemmas of all theories: each is an obligation itself.
        folder: holds the snapshot, and removes it when it is no longer used.
    """

    version: str
    program: str
    config: Path
    files: Mapping[str, str]
    base: str
    texts: Mapping[str, str]
    lemmas: frozenset[str]
    folder: TemporaryDirectory[str]

    @property
    def root(self) -> Path:
        """The folder of the snapshot, in which Why3 runs."""
        return Path(self.folder.name)

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of each theory."""
        return {path: digest_of(text) for path, text in self.texts.items()}

    def digest(self, file: str) -> str:
        """A digest of all that decides the tasks of a theory file; its header, a comment, does not."""
        text = without_header(self.texts[file])
        return digest_of(f"{self.base}\x00{file}\x00{text}")


def configure(build: Path, root: Path | None = None) -> Why3:
    """Read theories and drivers, and copy them for Why3; put a configuration into ``build/why3``.

    Args:
        build: the build folder.
        root: the folder that holds generated/; the repository by default.

    Raises:
        UserError: a tool is missing, or the folder cannot be made.
    """
    for name in _ENVIRONMENT:
        os.environ.pop(name, None)  # they would lead Why3 to other drivers, theories and provers
    version = version_of(("why3", "--version"), INSTALL).removeprefix("Why3 platform, version ")
    data = version_of(("why3", "--print-datadir"), INSTALL)
    if not Path(data, "drivers").is_dir():
        raise UserError("why3 --print-datadir names a folder without drivers", data, INSTALL)
    drivers = {driver_file(name): driver(name, data) for name in NAMES}
    drivers[ELEMENTS] = repo_file(f"why3/drivers/{ELEMENTS}").read_text(encoding="utf-8")
    # Into the build folder too, for the commands by which a person repeats a proof.
    _configure(build.absolute() / "why3", drivers)

    texts = dict(theory_texts(root))
    folder = TemporaryDirectory(prefix="sonnx-clip-why3-")
    _configure(Path(folder.name), drivers)
    for path, text in texts.items():
        file = Path(folder.name, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    # Hand-written theories are used by all files, so that a change of one makes every task new.
    by_hand = [text for path, text in texts.items() if path.startswith("why3/")]
    shaping = [version, *INLINE]
    shaping += _library(Path(data))
    shaping += drivers.values()
    shaping += by_hand
    program = Path(shutil.which("why3") or "")
    return Why3(
        version=version,
        program=digest_of_file(program),
        config=build / "why3" / "why3.conf",
        files=_own_drivers(Path(data), drivers.values()),
        base=digest_of("\0".join(shaping)),
        texts=texts,
        lemmas=_lemmas(texts.values()),
        folder=folder,
    )


def _lemmas(texts: Iterable[str]) -> frozenset[str]:
    # By the name alone, as tasks have it: neither file nor module is in them.
    names: set[str] = set()
    for text in texts:
        if "lemma" not in text:
            continue  # most have none, and reading is slow
        for declaration in read_theories(text):
            if declaration.kind in ("lemma", "lemma program"):
                names.add(declaration.name)
    return frozenset(names)


def _configure(folder: Path, drivers: Mapping[str, str]) -> None:
    """Write drivers and configuration into a folder."""
    versions = {prover.name: prover.version for prover in find_provers()}
    try:
        (folder / "drivers").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"this folder cannot be created: {error.strerror}"
        raise UserError(message, str(folder), "choose another one with --build") from error
    for name, text in drivers.items():
        write_whole(folder / "drivers" / name, text)
    configuration = why3_configuration(str(folder / "drivers"), versions)
    write_whole(folder / "why3.conf", configuration)


def _library(data: Path) -> list[str]:
    """The texts of Why3's own drivers and library: a task depends on them as on ours."""
    files = list((data / "drivers").glob("*.*"))
    files += (data / "stdlib").rglob("*.mlw")
    texts = []
    for path in sorted(files):
        # For a digest any reading will do, should one of them not be UTF-8.
        texts.append(path.read_text(encoding="utf-8", errors="replace"))
    return texts


def _own_drivers(data: Path, ours: Iterable[str]) -> dict[str, str]:
    """The digests of Why3's own drivers that ours import, directly or not, and of the one that prints C."""
    c_drivers = [data / path for path in _C_DRIVERS]
    unread = [path for path in c_drivers if path.is_file()]
    for text in ours:
        # Our drivers name Why3's by their full path, and ours beside them.
        unread += [path for path in _imported(text) if path.is_relative_to(data)]

    digests: dict[str, str] = {}
    while unread:
        path = unread.pop()
        name = path.relative_to(data).as_posix()
        if name in digests:
            continue  # several import the same one
        digests[name] = digest_of_file(path)
        text = path.read_text(encoding="utf-8", errors="replace")
        # Why3's own drivers name others by the path from their folder.
        unread += [path.parent / imported for imported in _imported(text)]
    return dict(sorted(digests.items()))


def _imported(text: str) -> Iterator[Path]:
    """The drivers that a driver imports."""
    for directive in directives(text):
        if directive.word == "import" and directive.text:
            yield Path(directive.text)
