"""Authenticated encryption of secrets in the database.

XChaCha20-Poly1305 (libsodium) with a key derived from the service's secret for each purpose. The id of the row's owner
is authenticated with it, so a ciphertext copied to another row cannot be decrypted. The newest secret of the service
encrypts, all decrypt.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from nacl.exceptions import CryptoError
from nacl.secret import Aead

from groundtransport.security import derive


def seal(secrets: tuple[bytes, ...], purpose: str, owner_id: int, text: str) -> str:
    """Return the text, encrypted with the newest of the service's secrets."""
    return urlsafe_b64encode(_box(secrets[0], purpose).encrypt(text.encode(), _data(owner_id))).decode()


def unseal(secrets: tuple[bytes, ...], purpose: str, owner_id: int, sealed: str) -> str | None:
    """Return the plain text; None if none of the service's secrets decrypts it."""
    for secret in secrets:
        try:
            return _box(secret, purpose).decrypt(urlsafe_b64decode(sealed), _data(owner_id)).decode()
        except (CryptoError, ValueError):
            continue
    return None


def is_newest(secrets: tuple[bytes, ...], purpose: str, owner_id: int, sealed: str) -> bool:
    """Return True if the newest secret decrypts it; otherwise it must be re-encrypted before the old ones expire."""
    return unseal(secrets[:1], purpose, owner_id, sealed) is not None


def _box(secret: bytes, purpose: str) -> Aead:
    return Aead(derive(secret, purpose))


def _data(owner_id: int) -> bytes:
    """Return the associated data of the encryption."""
    return str(owner_id).encode()
