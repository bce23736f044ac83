"""Encryption of the TOTP secrets in the database, each for its user."""

from groundtransport import sealing

PURPOSE = "second-factor/v1"


def seal(secrets: tuple[bytes, ...], user_id: int, text: str) -> str:
    """Return the text, encrypted with the newest of the service's secrets."""
    return sealing.seal(secrets, PURPOSE, user_id, text)


def unseal(secrets: tuple[bytes, ...], user_id: int, sealed: str) -> str | None:
    """Return the plain text; None if none of the service's secrets decrypts it."""
    return sealing.unseal(secrets, PURPOSE, user_id, sealed)


def is_newest(secrets: tuple[bytes, ...], user_id: int, sealed: str) -> bool:
    """Return True if the newest secret decrypts it; otherwise it must be re-encrypted before the old ones expire."""
    return sealing.is_newest(secrets, PURPOSE, user_id, sealed)
