"""Signing what the database must not be able to forge: canonical JSON, and keys derived from the audit secret."""

import hmac
import json
from dataclasses import dataclass
from typing import Any

from groundtransport.security import derive

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(value: Any) -> str:
    """Return JSON that is the same for the same value: sorted, without blanks, as text and not escaped."""
    return _ENCODER.encode(value)


@dataclass(frozen=True)
class Key:
    """A signing key and the short name that entries bear."""

    key_id: str
    secret: bytes

    def sign(self, text: str) -> str:
        return hmac.digest(self.secret, text.encode("utf-8", "surrogatepass"), "sha256").hex()

    def signed(self, text: str, signature: str) -> bool:
        return hmac.compare_digest(self.sign(text).encode(), signature.encode())


def make_key(secret: bytes) -> Key:
    """Return the key of an audit secret."""
    key = derive(secret, "audit/v1")
    return Key(hmac.new(key, b"key id", "sha256").hexdigest()[:16], key)
