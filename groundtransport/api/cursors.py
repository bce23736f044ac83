"""Cursors of pages: where the next page begins, signed, so that a client can neither forge nor misuse them."""

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import datetime

from groundtransport.api.problems import InvalidFields
from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.security import derive

MAC_BYTES = 16
MAX = 4_000  # characters; the longest sort key has a few hundred
OTHER_QUERY = _("This cursor belongs to another query, or is none of this service's.")


@dataclass(frozen=True)
class Cursor:
    """The last record of a page by id and sort key, and the number of matches that the first page gave."""

    last_id: int
    key: object = None
    total: int | None = None
    is_estimate: bool = False


def encode(request: Request, query: str, cursor: Cursor) -> str:
    """Return the text of a cursor of ``query``, which names the list, its search, filters and order."""
    key = {"time": cursor.key.isoformat()} if isinstance(cursor.key, datetime) else cursor.key
    body = json.dumps([cursor.last_id, key, cursor.total, cursor.is_estimate]).encode()
    secret: bytes = request.registry["settings"].secrets[0]
    return base64.urlsafe_b64encode(_mac(secret, query, body) + body).rstrip(b"=").decode()


def decode(request: Request, query: str, text: str) -> Cursor:
    """Return the cursor of a text. Raise InvalidFields if it is not one of ``query``."""
    try:
        whole = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)) if len(text) <= MAX else b""
    except (ValueError, binascii.Error):
        whole = b""
    mac, body = whole[:MAC_BYTES], whole[MAC_BYTES:]
    secrets = request.registry["settings"].secrets
    if not any(hmac.compare_digest(_mac(secret, query, body), mac) for secret in secrets):
        raise InvalidFields({"cursor": [OTHER_QUERY]})
    last_id, key, total, is_estimate = json.loads(body)
    return Cursor(last_id, datetime.fromisoformat(key["time"]) if isinstance(key, dict) else key, total, is_estimate)


def _mac(secret: bytes, query: str, body: bytes) -> bytes:
    text = hashlib.sha256(query.encode()).digest() + body
    return hmac.digest(derive(secret, "api-cursor/v1"), text, "sha256")[:MAC_BYTES]
