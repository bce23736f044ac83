"""Signatures that protect log entries against changes in the database: canonical JSON and HMAC keys."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass

from groundtransport.events import Values
from groundtransport.security import derive

GENESIS = ""  # stands for the signature before the first entry of a chain
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(value: object) -> str:
    """Return canonical JSON: sorted keys, no blanks, no escapes of non-ASCII characters."""
    return _ENCODER.encode(value)


class Tampered(Exception):
    """A signed log was changed after it was written; the message names the first bad entry."""


def extend_digest(digest: str, text: str) -> str:
    """Return the SHA-256 digest of a chain after one more signed text. It needs no key."""
    return hashlib.sha256(f"{digest}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Key:
    """A signing key and its id, which log entries store."""

    key_id: str
    secret: bytes

    def sign(self, text: str) -> str:
        """Return the HMAC-SHA-256 of a text as hexadecimal digits."""
        return hmac.digest(self.secret, text.encode("utf-8", "surrogatepass"), "sha256").hex()

    def signed(self, text: str, signature: str) -> bool:
        """Return True if ``signature`` is the signature of ``text``."""
        return hmac.compare_digest(self.sign(text).encode(), signature.encode())


def check_signature(label: str, row: Values, text: str, keys: Mapping[str, Key], vouched: int) -> None:
    """Raise Tampered if the signature of a log row is wrong. An unknown key is accepted up to the number ``vouched``.

    ``row`` has ``id``, ``key_id`` and ``mac``, ``text`` is what was signed, and ``label`` begins the message.
    """
    key = keys.get(row["key_id"])
    if key is None and row["id"] > vouched:
        raise Tampered(f"{label} {row['id']} is signed with the unknown key {row['key_id']!r}")
    if key is not None and not key.signed(text, row["mac"]):
        raise Tampered(f"{label} {row['id']} was changed, or the one before it")


def make_key(secret: bytes) -> Key:
    """Return the signing key derived from an audit secret."""
    key = derive(secret, "audit/v1")
    return Key(hmac.new(key, b"key id", "sha256").hexdigest()[:16], key)


def keyring(secrets: tuple[bytes, ...]) -> dict[str, Key]:
    """Return the keys of audit secrets by their id; the first is the one to sign with."""
    keys = [make_key(secret) for secret in secrets]
    return {key.key_id: key for key in keys}
