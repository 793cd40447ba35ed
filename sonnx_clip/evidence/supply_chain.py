"""What the evidence was made of and with: an SBOM, and an in-toto statement that can be signed."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime
from importlib import metadata
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

import sonnx_clip
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import digest_of, digest_of_file, read_regular
from sonnx_clip.root.folders import repo_root
from sonnx_clip.root.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from securesystemslib.signer import Signer

    from sonnx_clip.evidence.model import Evidence
    from sonnx_clip.evidence.records import Records

_Key = TypeVar("_Key")

STATEMENT = "statement.intoto.json"
PAYLOAD = "application/vnd.in-toto+json"
EXTRA = "assessor"
"""The extra of this package with the libraries that these formats need."""

NO_DATE = "1970-01-01T00:00:00+00:00"
"""Some formats demand a time. The evidence has none: equal facts give equal files."""

COMMANDS = {
    "proofs.json": "sonnx-clip prove",
    "foundation.json": "sonnx-clip prove --road coq",
    "frama-c.json": "sonnx-clip prove --road frama-c",
    "verdicts/*.json": "sonnx-clip check --runtime NAME -o FILE",
    "dialects/*.json": "sonnx-clip check --against DIALECT",
    "replays/*.txt": "sh generated/replay.sh",
    "evidence/*": "sonnx-clip evidence",
}
"""The records in build/, and the commands that write them."""

_EXTRAS = ("", "onnx", "dask", EXTRA)


def not_installed(library: str) -> UserError:
    """The message for a library that is missing."""
    return UserError(
        f"the package {library} is not installed", todo=f"run: pip install 'sonnx-clip[{EXTRA}]'"
    )


def render_sbom(evidence: Evidence, found: Records) -> str:
    """CycloneDX 1.6: this tool, the packages that it is installed with, the provers and their drivers.

    The digest of a program is that of its file. That of a package is of its RECORD, which has the digests of
    its files.
    """
    del found
    try:
        from cyclonedx.model import HashType, Property
        from cyclonedx.model.bom import Bom
        from cyclonedx.model.component import Component, ComponentType
        from cyclonedx.output.json import JsonV1Dot6
        from packageurl import PackageURL
    except ImportError:
        raise not_installed("cyclonedx-python-lib") from None

    tool = Component(
        name="sonnx-clip", version=sonnx_clip.__version__, type=ComponentType.APPLICATION,
        bom_ref="sonnx-clip",
    )  # fmt: skip
    installed = installed_packages()
    packages = {
        name: Component(
            name=name, version=one.version, bom_ref=name,
            purl=PackageURL("pypi", name=name, version=one.version),
            properties=[Property(name="sonnx-clip:sha256-of-RECORD",
                                 value=digest_of(one.read_text("RECORD") or ""))],
        )
        for name, (one, _) in installed.items() if name != tool.name
    }  # fmt: skip
    programs = [
        Component(
            name=name, version=evidence.tools.get(name), bom_ref=f"program:{name}",
            type=ComponentType.APPLICATION if name in evidence.tools else ComponentType.FILE,
            hashes=[HashType.from_hashlib_alg("sha256", digest)],
        )
        for name, digest in evidence.programs.items()
    ]  # fmt: skip
    bom = Bom(
        components=[*packages.values(), *programs], serial_number=UUID(evidence.spec_sha256[:32])
    )
    bom.metadata.component = tool
    bom.metadata.timestamp = datetime.fromisoformat(NO_DATE)
    for name, (_, needs) in installed.items():
        needed = [packages[need] for need in sorted(needs & packages.keys())]
        if name == tool.name:
            bom.register_dependency(tool, [*needed, *programs])
        else:
            bom.register_dependency(packages[name], needed)
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"


def installed_packages() -> dict[str, tuple[metadata.Distribution, set[str]]]:
    """What is installed of this package and of what it needs to prove, check and collect, with the needs."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    found: dict[str, tuple[metadata.Distribution, set[str]]] = {}
    waiting = ["sonnx-clip"]
    while waiting:
        name = waiting.pop()
        with suppress(metadata.PackageNotFoundError):
            package = metadata.distribution(name)
            extras = _EXTRAS if name == "sonnx-clip" else ("",)
            needs = {
                str(canonicalize_name(one.name))
                for one in map(Requirement, package.requires or ())
                if one.marker is None
                or any(one.marker.evaluate({"extra": extra}) for extra in extras)
            }
            found[name] = package, needs - {name}
            waiting += needs - found.keys()
    return dict(sorted(found.items()))


def render_statement(evidence: Evidence, build: Path) -> str:
    """An in-toto statement: the records in `build` with their digests, from which files, by which commands.

    Subjects are named from `build`, materials from the repository.
    """
    subjects = {
        path.relative_to(build).as_posix(): digest_of_file(path)
        for pattern in COMMANDS for path in sorted(build.glob(pattern))
        if path.is_file() and path.name != STATEMENT and not path.name.startswith(".")
    }  # fmt: skip
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": name, "digest": {"sha256": digest}} for name, digest in subjects.items()
        ],
        "predicateType": "https://in-toto.io/attestation/link/v0.3",
        "predicate": {
            "name": "evidence",
            "command": ["make", "prove"],
            "materials": [{"name": n, "digest": {"sha256": d}} for n, d in evidence.files.items()],
            "byproducts": {"commands": COMMANDS},
            "environment": {
                name: getattr(evidence, name) for name in ("tools", "programs", "limits")
            },
        },
    }
    return json.dumps(statement, indent=1, ensure_ascii=False) + "\n"


def private_key(path: Path) -> Signer:
    """A private key in PEM without a passphrase (Ed25519, ECDSA, RSA); UserError if it cannot be used."""
    try:
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        from securesystemslib.signer import CryptoSigner
    except ImportError:
        raise not_installed("securesystemslib") from None
    todo = "name a private key in PEM without a passphrase, e.g. from: openssl genpkey -algorithm ed25519"
    return _load_key(
        path, "private", lambda text: CryptoSigner(load_pem_private_key(text, None)), todo
    )


def _load_key(path: Path, kind: str, load: Callable[[bytes], _Key], todo: str) -> _Key:
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        return load(path.read_bytes())
    except OSError as error:
        raise UserError(f"it cannot be read: {error.strerror}", str(path)) from None
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UserError(f"not a usable {kind} key: {error}", str(path), todo) from None


def sign(statement: str, key: Signer) -> str:
    """The statement, a JSON text, in a DSSE envelope."""
    from securesystemslib.dsse import Envelope

    envelope = Envelope(statement.encode(), PAYLOAD, {})
    envelope.sign(key)
    return json.dumps(envelope.to_dict(), indent=1) + "\n"


def verify_signed(build: Path, key: Path) -> str:
    """Check the signature of the statement in `build`, then the digest of each file that it names.

    Returns a line on what was verified; UserError if it is not signed by `key` (the public key in PEM), or a
    file is missing or differs.
    """
    try:
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
        from securesystemslib.dsse import Envelope
        from securesystemslib.exceptions import Error
        from securesystemslib.signer import SSlibKey
    except ImportError:
        raise not_installed("securesystemslib") from None
    path = build / "evidence" / STATEMENT
    again = f"run: sonnx-clip evidence --format in-toto --sign PRIVATE_KEY --build {build}"
    load = lambda text: SSlibKey.from_crypto(load_pem_public_key(text))  # noqa: E731
    public = _load_key(key, "public", load, "name a public key in PEM")
    try:
        envelope = Envelope.from_dict(json.loads(read_regular(path)))
        envelope.verify([public], 1)
        statement = json.loads(envelope.payload)
        files = ((build, statement["subject"]), (repo_root(), statement["predicate"]["materials"]))
        named = {
            (folder / one["name"], one["digest"]["sha256"])
            for folder, every in files
            for one in every
        }
    except FileNotFoundError:
        raise UserError("it is missing", str(path), again) from None
    except (OSError, ValueError, KeyError, TypeError, Error) as error:
        raise UserError(f"it is not signed by {key}: {error}", str(path), again) from None
    for file, digest in sorted(named):
        if not file.is_file():
            raise UserError("it was signed, but is missing", str(file), again)
        if digest_of_file(file) != digest:
            raise UserError("it differs from the signed file", str(file), again)
    return f"{path}: signed by {key}; {counted(len(named), 'file')} as signed"
