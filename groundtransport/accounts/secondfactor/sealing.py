"""Authenticated encryption of the TOTP secrets in the database.

XChaCha20-Poly1305 (libsodium) with a key derived from the service's secret. The user id is authenticated with it, so a
ciphertext copied to another user's row cannot be decrypted. The newest secret of the service encrypts, all decrypt.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from nacl.exceptions import CryptoError
from nacl.secret import Aead

from groundtransport.security import derive


def seal(secrets: tuple[bytes, ...], user_id: int, text: str) -> str:
    """Return the text, encrypted with the newest of the service's secrets."""
    return urlsafe_b64encode(_box(secrets[0]).encrypt(text.encode(), _user_data(user_id))).decode()


def unseal(secrets: tuple[bytes, ...], user_id: int, sealed: str) -> str | None:
    """Return the plain text; None if none of the service's secrets decrypts it."""
    for secret in secrets:
        try:
            return _box(secret).decrypt(urlsafe_b64decode(sealed), _user_data(user_id)).decode()
        except (CryptoError, ValueError):
            continue
    return None


def is_newest(secrets: tuple[bytes, ...], user_id: int, sealed: str) -> bool:
    """Return True if the newest secret decrypts it; otherwise it must be re-encrypted before the old ones expire."""
    return unseal(secrets[:1], user_id, sealed) is not None


def _box(secret: bytes) -> Aead:
    return Aead(derive(secret, "second-factor/v1"))


def _user_data(user_id: int) -> bytes:
    """Return the associated data of the encryption."""
    return str(user_id).encode()
