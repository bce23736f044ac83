"""Secrets of webhooks, and the signatures of messages after the Standard Webhooks specification.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import hmac
import secrets
from base64 import b64decode, b64encode
from datetime import datetime

from groundtransport import sealing

PREFIX = "whsec_"
SECRET_BYTES = 32
PURPOSE = "webhook/v1"


def new_secret() -> str:
    """Return a new secret as the receiver needs it."""
    return PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def seal(keys: tuple[bytes, ...], webhook_id: int, secret: str) -> str:
    """Return the secret of a webhook, encrypted with the newest of the service's secrets ``keys``."""
    return sealing.seal(keys, PURPOSE, webhook_id, secret)


def unseal(keys: tuple[bytes, ...], webhook_id: int, sealed: str) -> str | None:
    """Return the secret of a webhook; None if none of the service's secrets decrypts it."""
    return sealing.unseal(keys, PURPOSE, webhook_id, sealed)


def is_newest(keys: tuple[bytes, ...], webhook_id: int, sealed: str) -> bool:
    """Return True if the newest of the service's secrets decrypts the secret of a webhook."""
    return sealing.is_newest(keys, PURPOSE, webhook_id, sealed)


def sign(signing_secrets: list[str], message_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a message; each secret makes one signature."""
    timestamp = str(int(at.timestamp()))
    text = f"{message_id}.{timestamp}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{_signature(secret, text)}" for secret in signing_secrets),
    }


def _signature(secret: str, text: bytes) -> str:
    return b64encode(hmac.digest(b64decode(secret.removeprefix(PREFIX)), text, "sha256")).decode()
