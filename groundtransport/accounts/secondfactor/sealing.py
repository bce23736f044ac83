"""Secrets that the service itself must read again, sealed so that the database alone gives nothing away.

XChaCha20-Poly1305 (libsodium), with a key derived from the service's secret for this use alone, bound to the person: a
sealed secret that is copied to somebody else's row does not open. Old secrets of the service open, the newest seals.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from nacl.exceptions import CryptoError
from nacl.secret import Aead

from groundtransport.security import derive


def seal(secrets: tuple[bytes, ...], user_id: int, text: str) -> str:
    """Return the sealed text, under the newest of the service's secrets."""
    return urlsafe_b64encode(_box(secrets[0]).encrypt(text.encode(), _person(user_id))).decode()


def unseal(secrets: tuple[bytes, ...], user_id: int, sealed: str) -> str | None:
    """Return the text; None where none of the service's secrets opens it."""
    for secret in secrets:
        try:
            return _box(secret).decrypt(urlsafe_b64decode(sealed), _person(user_id)).decode()
        except (CryptoError, ValueError):
            continue
    return None


def is_newest(secrets: tuple[bytes, ...], user_id: int, sealed: str) -> bool:
    """Whether the newest secret opens it: else it must be sealed anew before the old ones are thrown away."""
    return unseal(secrets[:1], user_id, sealed) is not None


def _box(secret: bytes) -> Aead:
    return Aead(derive(secret, "second-factor/v1"))


def _person(user_id: int) -> bytes:
    return str(user_id).encode()
