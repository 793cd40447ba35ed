"""What the evidence was made of and with: an SBOM, and an in-toto statement that can be signed."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime
from importlib import metadata
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from pydantic import Field

import sonnx_clip
from sonnx_clip.evidence.missing_library import EXTRA, MissingLibraryError
from sonnx_clip.evidence.signing_keys import public_key
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of, digest_of_file, read_regular
from sonnx_clip.root.folders import repo_root
from sonnx_clip.root.stored import Excerpt, parse_record
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from securesystemslib.signer import Signer

    from sonnx_clip.evidence.evidence_model import Evidence
    from sonnx_clip.evidence.records import Records

STATEMENT = "statement.intoto.json"
PAYLOAD = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/link/v0.3"
PAGE = "index.html"

SIGNED_ALWAYS = ("proofs.json", f"evidence/{PAGE}")
"""What a signed statement always names, even if someone removes the file."""
NO_DATE = "1970-01-01T00:00:00+00:00"
"""Some formats demand a time. The evidence has none: equal facts give equal files."""

COMMANDS = {
    "proofs.json": "sonnx-clip prove",
    "foundation.json": "sonnx-clip prove --road coq",
    "frama-c.json": "sonnx-clip prove --road frama-c",
    "*/proofs.json": "sonnx-clip prove --operator NAME",
    "verdicts/*.json": "sonnx-clip check --runtime NAME -o FILE",
    "dialects/*.json": "sonnx-clip check --against DIALECT --build build",
    "replays/*.txt": "sh generated/replay.sh",
    "evidence/*": "sonnx-clip evidence",
}
"""The records in build/, and the commands that write them."""

_TOOL = "sonnx-clip"
_LICENCE_NAME = 100  # characters, beyond which it is the text of a licence and not a name
# Of this package: what proves, checks on several machines, and writes the formats of other tools.
_EXTRAS = ("", "onnx", "dask", EXTRA)


def render_sbom(evidence: Evidence, records: Records) -> str:
    """CycloneDX 1.6: this tool, the packages that it is installed with, the provers and their drivers.

    The digest of a program is that of its file. That of a package is of its RECORD, which has the digests of
    its files.
    """
    del records
    return sbom_text(evidence.spec_sha256[:32], evidence.all_programs, evidence.tools)


def sbom_text(
    serial: str,
    programs: Mapping[str, str] = MappingProxyType({}),
    versions: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The SBOM; `serial` has 32 hexadecimal digits, `programs` digests, and `versions` those of tools."""
    try:
        from cyclonedx.contrib.license.factories import LicenseFactory
        from cyclonedx.model import HashType, Property
        from cyclonedx.model.bom import Bom
        from cyclonedx.model.component import Component, ComponentType
        from cyclonedx.output.json import JsonV1Dot6
        from packageurl import PackageURL
    except ImportError:
        raise MissingLibraryError("cyclonedx-python-lib") from None

    factory = LicenseFactory()

    def package_component(name: str, distribution: metadata.Distribution) -> Component:
        licence = licence_of(distribution)
        record = digest_of(distribution.read_text("RECORD") or "")
        return Component(
            name=name, version=distribution.version, bom_ref=name,
            purl=PackageURL("pypi", name=name, version=distribution.version),
            licenses=[factory.make_from_string(licence)] if licence else None,
            properties=[Property(name="sonnx-clip:sha256-of-RECORD", value=record)],
        )  # fmt: skip

    # Their digests were recorded by the run that used them; packages are those installed now.
    def program_component(name: str, digest: str) -> Component:
        # Drivers of Why3 are files without a version.
        is_program = name in versions
        return Component(
            name=name, version=versions.get(name), bom_ref=f"program:{name}",
            type=ComponentType.APPLICATION if is_program else ComponentType.FILE,
            hashes=[HashType.from_hashlib_alg("sha256", digest)],
        )  # fmt: skip

    installed = installed_packages()
    tool = Component(
        name=_TOOL, version=sonnx_clip.__version__, type=ComponentType.APPLICATION, bom_ref=_TOOL,
        purl=PackageURL("pypi", name=_TOOL, version=sonnx_clip.__version__),
        licenses=[factory.make_from_string("Apache-2.0")],
    )  # fmt: skip
    packages = {}
    for name, package in installed.items():
        if name != _TOOL:
            packages[name] = package_component(name, package.distribution)
    executables = [program_component(name, digest) for name, digest in programs.items()]

    # CycloneDX demands a serial number: derived from the specification, equal facts have an equal
    # one.
    bom = Bom(components=[*packages.values(), *executables], serial_number=UUID(serial))
    bom.metadata.component = tool
    bom.metadata.timestamp = datetime.fromisoformat(NO_DATE)
    for name, package in installed.items():
        # Extras of a package may be missing: only what is installed has a component.
        needed = [packages[need] for need in sorted(package.needs & packages.keys())]
        if name == _TOOL:
            # The provers are called by this tool, and by no package.
            bom.register_dependency(tool, [*needed, *executables])
        else:
            bom.register_dependency(packages[name], needed)
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"


def licence_of(package: metadata.Distribution) -> str:
    """The licence that a package declares, as an SPDX expression where it has one; empty without one.

    Older packages have the whole text of the licence in its place, or only a classifier.
    """
    # The expression first: the other field may hold anything.
    fields = package.metadata
    declared = [*(fields.get_all("License-Expression") or []), *(fields.get_all("License") or [])]
    for text in map(str, declared):
        if text and "\n" not in text and len(text) <= _LICENCE_NAME:
            return text
    prefix = "License :: OSI Approved :: "
    for classifier in map(str, fields.get_all("Classifier") or []):
        if prefix in classifier:
            return classifier.removeprefix(prefix)
    return ""


class InstalledPackage(NamedTuple):
    """A package that is installed, and the names of those that it needs, installed or not."""

    distribution: metadata.Distribution
    needs: set[str]


def installed_packages() -> dict[str, InstalledPackage]:
    """What is installed of this package and of what it needs to prove, check and collect, with the needs."""
    packages: dict[str, InstalledPackage] = {}
    # The packages that are needed may need each other: each is looked up once.
    waiting = [_TOOL]  # names whose needs are not yet looked up
    while waiting:
        name = waiting.pop()
        with suppress(metadata.PackageNotFoundError):
            distribution = metadata.distribution(name)
            needs = _needs(distribution, _EXTRAS if name == _TOOL else ("",))
            # An extra that consists of other extras names the package itself.
            packages[name] = InstalledPackage(distribution, needs - {name})
            waiting += needs - packages.keys()
    return dict(sorted(packages.items()))


def _needs(distribution: metadata.Distribution, extras: Iterable[str]) -> set[str]:
    """The packages that a package needs on this machine with any of the extras; an empty one is none."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    needs = set()
    for requirement in map(Requirement, distribution.requires or ()):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
            needs.add(str(canonicalize_name(requirement.name)))
    return needs


def record_files(build: Path) -> dict[str, Path]:
    """The records and the evidence in `build` that a statement covers, by their names from there."""
    files = {}
    for pattern in COMMANDS:
        for path in sorted(build.glob(pattern)):
            # The statement cannot have its own digest. Hidden files are those that are being written.
            if path.is_file() and path.name != STATEMENT and not path.name.startswith("."):
                files[path.relative_to(build).as_posix()] = path
    return files


def render_statement(evidence: Evidence, build: Path) -> str:
    """An in-toto statement: the records in `build` with their digests, from which files, by which commands.

    Subjects are named from `build`, materials from the repository.
    """
    # Digests of the files as they are now: `verify` compares the statement with a new one.
    subjects = {name: digest_of_file(path) for name, path in record_files(build).items()}
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": _named_digests(subjects),
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "name": "evidence",
            "command": ["make", "prove"],
            "materials": _named_digests(evidence.files),
            "byproducts": {"commands": COMMANDS},
            "environment": {
                "tools": evidence.tools,
                "programs": evidence.programs,
                "limits": evidence.limits,
            },
        },
    }
    return json.dumps(statement, indent=1, ensure_ascii=False) + "\n"


def _named_digests(digests: Mapping[str, str]) -> list[dict[str, object]]:
    """Files with their digests, as in-toto lists them."""
    return [{"name": name, "digest": {"sha256": digest}} for name, digest in digests.items()]


def sign(statement: str, key: Signer) -> str:
    """The statement, a JSON text, in a DSSE envelope."""
    from securesystemslib.dsse import Envelope

    envelope = Envelope(statement.encode(), PAYLOAD, {})
    envelope.sign(key)
    return json.dumps(envelope.to_dict(), indent=1) + "\n"


# --- Verification of a signed statement ---------------------------------------------------------------------


class Digests(Excerpt):
    """The digests of a file."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class NamedFile(Excerpt):
    """A file that a statement names."""

    name: str
    digest: Digests


class Predicate(Excerpt):
    """What the subjects were made of."""

    materials: tuple[NamedFile, ...]


class Statement(Excerpt):
    """The parts of an in-toto statement that are verified."""

    type: str = Field(alias="_type")
    predicate_type: str = Field(alias="predicateType")
    subject: tuple[NamedFile, ...]
    predicate: Predicate


class EnvelopeSignature(Excerpt):
    """A signature of an envelope, in base64."""

    keyid: str
    sig: str


class SignedEnvelope(Excerpt):
    """A DSSE envelope, whose `payload` is in base64."""

    payload: str
    payload_type: str = Field(alias="payloadType")
    signatures: tuple[EnvelopeSignature, ...]


def verify_signed(build: Path, key: Path) -> str:
    """Check the signature of the statement in `build`, then the digest of each file that it names.

    Returns a line on what was verified; UserError if it is not signed by `key` (the public key in PEM), is
    about anything else, leaves out the page or a record, or a file is missing or differs.
    """
    path = build / "evidence" / STATEMENT
    statement = _signed_statement(path, key)
    # First that nothing was added: a record that nobody signed would count like the others.
    subjects = {subject.name for subject in statement.subject}
    required = {name: build / name for name in SIGNED_ALWAYS}
    required |= record_files(build)
    for name, file in required.items():
        if name not in subjects:
            raise UserError("it is not among the signed files", str(file), _distrust(build))

    # Then that nothing was removed or changed.
    named = {(build / file.name, file.digest.sha256) for file in statement.subject}
    # Sources as well as records: records of other sources would say nothing about these.
    for material in statement.predicate.materials:
        named.add((repo_root() / material.name, material.digest.sha256))
    for file, digest in sorted(named):
        if not file.is_file():
            raise UserError("it was signed, but is missing", str(file), _distrust(build))
        if digest_of_file(file) != digest:
            raise UserError("it differs from the signed file", str(file), _distrust(build))
    return f"{path}: signed by {key}; {counted(len(named), 'file')} as signed"


def _signed_statement(path: Path, key: Path) -> Statement:
    """The statement in a file; UserError if it is not signed by `key`, or is no statement."""
    public = public_key(key)
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import Error

    todo = _distrust(path.parent.parent)
    try:
        signed = parse_record(read_regular(path), SignedEnvelope)
        envelope = Envelope.from_dict(signed.model_dump(by_alias=True))
        envelope.verify([public], 1)  # one signature is enough: there is one key
    except FileNotFoundError:
        raise UserError("the signed statement is missing", str(path), todo) from None
    except Error:
        raise UserError(f"it is not signed by {key}", str(path), todo) from None
    except (OSError, ValueError) as error:
        raise UserError(f"it is not signed by {key}: {error}", str(path), todo) from None
    # Nothing of the payload is parsed before its signature is verified.
    try:
        statement = parse_record(envelope.payload.decode(), Statement)
    except ValueError as error:
        message = f"what is signed is not a statement about the evidence: {error}"
        raise UserError(message, str(path), todo) from None
    # The key may sign other things too, which this statement must not be taken for.
    kinds = (
        ("payloadType", signed.payload_type, PAYLOAD),
        ("_type", statement.type, STATEMENT_TYPE),
        ("predicateType", statement.predicate_type, PREDICATE_TYPE),
    )
    for name, value, expected in kinds:
        if value != expected:
            message = f"what is signed is not a statement about the evidence: {name} is {value!r}"
            raise UserError(message, str(path), todo)
    return statement


def _distrust(build: Path) -> str:
    """The remedy for files that are not as signed: it must not be a new signature by whoever reads it."""
    return f"do not rely on the files in {build}; get them again from whoever signed them"
