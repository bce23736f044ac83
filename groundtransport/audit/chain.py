"""The chain: every entry is signed together with the one before, by a key that the database does not hold.

Who can only write to the database can neither change an entry nor take one out without being seen; a cut at the end
shows against the checkpoints in the process log.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from groundtransport.signing import Key, canonical, make_key

__all__ = ["COLUMNS", "GENESIS", "Key", "canonical", "digest_more", "keyring", "make_key", "text_of"]

GENESIS = ""  # stands for the signature before the first entry
COLUMNS = (
    "id",
    "at",
    "actor_id",
    "actor",
    "request_id",
    "address",
    "batch",
    "action",
    "kind",
    "record_id",
    "version",
    "airport_code",
    "label",
    "changes",
    "key_id",
)


def keyring(secrets: tuple[bytes, ...]) -> dict[str, Key]:
    """Return the keys by their id; the first is the one to sign with."""
    keys = [make_key(secret) for secret in secrets]
    return {key.key_id: key for key in keys}


def text_of(entry: Mapping[str, Any], previous: str) -> str:
    """Return what is signed: the entry as canonical JSON, with the signature of the one before.

    ``changes`` is the canonical text that the table holds, ``at`` an aware moment.
    """
    values = {name: entry[name] for name in COLUMNS}
    return canonical({**values, "at": entry["at"].isoformat(), "previous": previous})


def digest_more(digest: str, text: str) -> str:
    """Return the running digest after one more entry; it needs no key, and a mark signs it."""
    return hashlib.sha256(f"{digest}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
