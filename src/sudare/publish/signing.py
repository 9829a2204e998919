"""The publisher's Ed25519 key: made once, kept by the publisher, its public half printed in certificates."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from sudare.errors import OutputError, VerificationError, system_reason
from sudare.privacy.secret_file import write_secret


def canonical(body: dict[str, Any]) -> bytes:
    """The bytes that are signed: JSON with sorted keys and no spaces."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def load_or_create(path: Path) -> Ed25519PrivateKey:
    """The key in ``path``; made there, readable by its owner alone, when there is none yet."""
    try:
        pem = path.read_bytes()
    except FileNotFoundError:
        return _create(path)
    except OSError as problem:
        raise OutputError(
            "the signing key cannot be read: {reason}", value=str(path), reason=system_reason(problem)
        ) from None
    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise OutputError("not an unencrypted Ed25519 private key in PEM form", value=str(path))
    return key


def _create(path: Path) -> Ed25519PrivateKey:
    key = Ed25519PrivateKey.generate()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_secret(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    except FileExistsError:
        return load_or_create(path)
    except OSError as problem:
        raise OutputError(
            "the signing key cannot be written: {reason}", value=str(path), reason=system_reason(problem)
        ) from None
    return key


def public_text(key: Ed25519PrivateKey) -> str:
    """The public half as 64 hexadecimal digits."""
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def fingerprint(public: str) -> str:
    """A short form of a public key for people to compare.

    >>> fingerprint("00" * 32)
    '66687aadf862bd77'
    """
    return hashlib.sha256(bytes.fromhex(public)).hexdigest()[:16]


def read_public(path: Path) -> str:
    """The public key in a PEM file, private or public, as 64 hexadecimal digits."""
    try:
        pem = path.read_bytes()
    except OSError as problem:
        raise VerificationError(
            "the key cannot be read: {reason}", value=str(path), reason=system_reason(problem)
        ) from None
    try:
        if b"PRIVATE" in pem:
            loaded = load_pem_private_key(pem, password=None)
            key = loaded.public_key() if isinstance(loaded, Ed25519PrivateKey) else None
        else:
            key = load_pem_public_key(pem)  # type: ignore[assignment]  # narrowed below
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise VerificationError("not an Ed25519 key in PEM form", value=str(path))
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def is_signed(message: bytes, signature: str, public: str) -> bool:
    """Whether ``signature`` (hexadecimal) of ``message`` was made with the key of ``public``."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True
