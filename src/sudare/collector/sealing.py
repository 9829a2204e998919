"""Reports that only the collector can read: sealed on the device with its public key, by HPKE (RFC 9180).

A relay sees sealed reports and a ticket for each, which tells it that a report came before and nothing else. The keys
are X25519, the cipher AES-128-GCM; every sealed report is bound to its survey. All of it is `cryptography`'s.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sudare.collector.storage import ID_BYTES, RequestError, Row
from sudare.errors import OutputError
from sudare.privacy.private_files import ensure_secret
from sudare.workflow.reports import key_in, pem_of

SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
OVERHEAD = 48
"""Bytes by which a sealed report is longer: 32 of the key, 16 of the tag."""


def seal(row: Row, public: str, survey: str) -> Row:
    """The ticket of a report, and the report sealed for who has the private half of ``public``."""
    key = X25519PublicKey.from_public_bytes(bytes.fromhex(public))
    return ticket(row[0]), SUITE.encrypt(row[0] + row[1], key, info=_info(survey))


def sealed_body(survey: str, rows: Sequence[Row], codes: Sequence[str] = ()) -> bytes:
    """The request that sends sealed reports to a relay."""
    items = [{"id": mark.hex(), "sealed": base64.urlsafe_b64encode(sealed).decode("ascii")} for mark, sealed in rows]
    with_codes = [item | {"code": code} for item, code in zip(items, codes, strict=True)] if codes else items
    return json.dumps({"survey": survey, "reports": with_codes}).encode()


def unseal(sealed: bytes, key: X25519PrivateKey, survey: str) -> Row:
    """The id and the report; `RequestError` unless it was sealed for this key and this survey."""
    try:
        content = SUITE.decrypt(sealed, key, info=_info(survey))
    except (InvalidTag, ValueError):
        raise RequestError(400, "a sealed report cannot be opened") from None
    return content[:ID_BYTES], content[ID_BYTES:]


def ticket(identity: bytes) -> bytes:
    """Names a report to the relay, which learns nothing of the id from it."""
    return hashlib.sha256(b"sudare ticket" + identity).digest()[:ID_BYTES]


def sealing_key(path: Path) -> X25519PrivateKey:
    """The key in ``path``; made there, readable by its owner alone, when there is none yet."""
    with OutputError.from_system("the sealing key cannot be written: {reason}", value=str(path)):
        ensure_secret(path, lambda: pem_of(X25519PrivateKey.generate()))
    with OutputError.from_system("the sealing key cannot be read: {reason}", value=str(path)):
        key = key_in(path.read_bytes())
    if not isinstance(key, X25519PrivateKey):
        raise OutputError("not an unencrypted X25519 private key in PEM form", value=str(path))
    return key


def sealing_text(key: X25519PrivateKey) -> str:
    """The public half as 64 hexadecimal digits."""
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def _info(survey: str) -> bytes:
    return b"sudare report " + survey.encode()
