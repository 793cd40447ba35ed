"""Reads the keys that sign the evidence or check its signature: Ed25519, ECDSA, or RSA from 2048 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from sonnx_clip.evidence.missing_library import MissingLibraryError
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.files import read_regular_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from securesystemslib.signer import Key, Signer

_Loaded = TypeVar("_Loaded")

_LEAST_RSA_BITS = 2048  # NIST SP 800-131A disallows shorter ones


def private_key(path: Path) -> Signer:
    """A private key in PEM without a passphrase; UserError if it cannot be used."""
    # Here and below: an extra of this package has them, which most commands do without.
    try:
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        from securesystemslib.signer import CryptoSigner
    except ImportError:
        raise MissingLibraryError("securesystemslib") from None

    def load(text: bytes) -> Signer:
        key = load_pem_private_key(text, None)
        _require_long_rsa(key)
        return CryptoSigner(key)

    example = "e.g. from: openssl genpkey -algorithm ed25519"
    return _load(
        path, "private", load, f"name a private key in PEM without a passphrase, {example}"
    )


def public_key(path: Path) -> Key:
    """A public key in PEM; UserError if it cannot be used."""
    try:
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
        from securesystemslib.signer import SSlibKey
    except ImportError:
        raise MissingLibraryError("securesystemslib") from None

    def load(text: bytes) -> Key:
        key = load_pem_public_key(text)
        _require_long_rsa(key)
        return SSlibKey.from_crypto(key)

    return _load(path, "public", load, "name a public key in PEM")


def _require_long_rsa(key: object) -> None:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

    if isinstance(key, (RSAPrivateKey, RSAPublicKey)) and key.key_size < _LEAST_RSA_BITS:
        raise ValueError(f"RSA of {key.key_size} bits, which is less than {_LEAST_RSA_BITS}")


def _load(path: Path, kind: str, load: Callable[[bytes], _Loaded], todo: str) -> _Loaded:
    from cryptography.exceptions import UnsupportedAlgorithm

    # securesystemslib and cryptography raise these for what is no key, or one of a kind they lack.
    try:
        return load(read_regular_bytes(path))
    except OSError as error:
        raise UserError(f"it cannot be read: {error.strerror}", str(path)) from None
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UserError(f"not a usable {kind} key: {error}", str(path), todo) from None
