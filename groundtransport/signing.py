"""Signatures that protect log entries against changes in the database: canonical JSON and HMAC keys."""

import hmac
import json
from dataclasses import dataclass
from typing import Any

from groundtransport.security import derive

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(value: Any) -> str:
    """Return canonical JSON: sorted keys, no blanks, no escapes of non-ASCII characters."""
    return _ENCODER.encode(value)


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


def make_key(secret: bytes) -> Key:
    """Return the signing key derived from an audit secret."""
    key = derive(secret, "audit/v1")
    return Key(hmac.new(key, b"key id", "sha256").hexdigest()[:16], key)
