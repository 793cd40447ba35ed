"""Write dist/: sdist, wheel, SBOM, evidence, SHA256SUMS and a statement to sign; `make release` runs it.

The sdist and the wheel are built twice and compared byte for byte. Times in them are that of the commit. The
evidence is included where build/evidence was made of the files of this commit. Nothing is tagged, signed or
uploaded. Exit status: 0 written, 1 two builds differ, 2 the checkout has changes or a tool is missing.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from sonnx_clip import __version__
from sonnx_clip.evidence.supply_chain import PREDICATE_TYPE, STATEMENT, STATEMENT_TYPE, sbom_text
from sonnx_clip.root.files import digest_of_file

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
EVIDENCE = ROOT / "build/evidence"
SUMS = "SHA256SUMS"


class ReleaseError(Exception):
    """Why no release was written, and the exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def git(*arguments: str) -> str:
    """What git prints."""
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"this is no checkout of git: {done.stderr.strip()}", 2)
    return done.stdout.strip()


def build(folder: Path, epoch: str) -> dict[str, bytes]:
    """The sdist and the wheel, by name."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    environment = os.environ | {"SOURCE_DATE_EPOCH": epoch}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ReleaseError(f"hatchling could not build it: {done.stderr.strip()}", 2)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def packages(epoch: str) -> dict[str, bytes]:
    """The sdist and the wheel of two builds that are equal."""
    with tempfile.TemporaryDirectory() as folder:
        first = build(Path(folder, "first"), epoch)
        second = build(Path(folder, "second"), epoch)
    for name, content in first.items():
        if second.get(name) != content:
            raise ReleaseError(f"two builds of {name} differ", 1)
    return first


def evidence_is_current() -> bool:
    """Whether build/evidence was made of the files as they are in this checkout."""
    record = EVIDENCE / "evidence.json"
    if not record.is_file():
        return False
    digests = json.loads(record.read_text(encoding="utf-8"))["files"]
    files = {ROOT / name: digest for name, digest in digests.items()}
    return all(file.is_file() and digest_of_file(file) == files[file] for file in files)


def evidence_archive(epoch: str) -> bytes:
    """The folder of the evidence, packed with the time of the commit and no owner."""
    content = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=content, mode="wb", filename="", mtime=int(epoch)) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for path in sorted(EVIDENCE.rglob("*")):
            if not path.is_file():
                continue
            entry = tarfile.TarInfo(f"evidence/{path.relative_to(EVIDENCE).as_posix()}")
            data = path.read_bytes()
            entry.size, entry.mtime = len(data), int(epoch)
            archive.addfile(entry, io.BytesIO(data))
    return content.getvalue()


def statement(files: dict[str, bytes], commit: str, epoch: str) -> str:
    """An in-toto statement, not signed: the files with their digests, made of which commit."""
    text = {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": name, "digest": {"sha256": hashlib.sha256(content).hexdigest()}}
            for name, content in files.items()
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "name": "release",
            "command": ["make", "release"],
            "materials": [{"name": "commit", "digest": {"gitCommit": commit}}],
            "environment": {"SOURCE_DATE_EPOCH": epoch},
        },
    }
    return json.dumps(text, indent=1) + "\n"


def release() -> list[str]:
    """Write dist/ anew; the lines that say what is in it."""
    if changed := git("status", "--porcelain"):
        raise ReleaseError(f"the checkout has changes; commit them first: {changed.split()[1]}", 2)
    commit, epoch = git("rev-parse", "HEAD"), git("log", "-1", "--format=%ct")
    files = packages(epoch)
    name = f"sonnx_clip-{__version__}"
    files[f"{name}.cdx.json"] = sbom_text(serial=commit[:32]).encode()
    note = (
        f"no evidence: {EVIDENCE.relative_to(ROOT)} is not of this commit; run: make prove evidence"
    )
    if evidence_is_current():
        files[f"{name}-evidence.tar.gz"] = evidence_archive(epoch)
        note = "the evidence is of the files of this commit"
    files[STATEMENT] = statement(files, commit, epoch).encode()
    sums = [f"{hashlib.sha256(content).hexdigest()}  {file}" for file, content in files.items()]
    files[SUMS] = ("\n".join(sums) + "\n").encode()
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    for file, content in files.items():
        (DIST / file).write_bytes(content)
    rows = [f"  {len(content):>10,}  dist/{file}" for file, content in files.items()]
    return [f"release {__version__} of commit {commit}", *rows, note, f"{STATEMENT} is not signed"]


def main() -> int:
    """Write the release, or print why there is none."""
    try:
        print("\n".join(release()))
    except ReleaseError as error:
        print(f"release: error: {error}", file=sys.stderr)
        return error.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
