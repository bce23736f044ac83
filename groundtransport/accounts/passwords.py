"""Passwords: requirements, hashing and generation."""

import secrets
import unicodedata
from collections.abc import Collection
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from groundtransport.accounts import password_strength
from groundtransport.accounts.errors import Refused
from groundtransport.i18n import _

MIN_LENGTH = 15  # characters; NIST SP 800-63B-4, for a password as the only factor
MAX_LENGTH = 256  # characters; bounds the cost of hashing

TOO_SHORT = _("The password must have at least ${n} characters.", mapping={"n": MIN_LENGTH})
TOO_LONG = _("The password must have at most ${n} characters.", mapping={"n": MAX_LENGTH})
NOT_TEXT = _("The password contains an invalid character.")
COMMON = _(
    "This password is easy to guess: it consists of common passwords or repetitions. Use several unrelated words."
)
OWN = _(
    "This password is easy to guess: it consists of your own name or words of this service. "
    "Use several unrelated words."
)

_hasher = PasswordHasher()  # argon2id with the library's parameters (RFC 9106, low memory)


class PasswordRefused(Refused):
    """The password does not meet the requirements."""


def hash_new(password: str, own_words: Collection[str]) -> str:
    """Return the hash of a new password; raise PasswordRefused if it does not meet the requirements.

    ``own_words`` are names of the user, which an attacker would try first.
    """
    if len(password) > MAX_LENGTH:
        raise PasswordRefused(TOO_LONG)
    password = _normal(password)
    if len(password) < MIN_LENGTH:
        raise PasswordRefused(TOO_SHORT)
    if not _is_text(password):
        raise PasswordRefused(NOT_TEXT)
    if password_strength.is_common(password):
        raise PasswordRefused(COMMON)
    if password_strength.is_personal(password, own_words):
        raise PasswordRefused(OWN)
    return _hasher.hash(password)


def _normal(password: str) -> str:
    """Return the password in Unicode normalization form C (RFC 8265)."""
    return unicodedata.normalize("NFC", password)


def _is_text(password: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in password)


def verify(password: str, password_hash: str | None) -> bool:
    """Return True if the password matches the hash.

    Without a hash, a dummy is verified: the response time must not reveal whether a user exists.
    """
    is_valid = len(password) <= MAX_LENGTH and _is_text(password)
    expected = password_hash if password_hash and is_valid else _dummy_hash()
    try:
        _hasher.verify(expected, _normal(password) if is_valid else "")
    except (VerificationError, InvalidHashError):
        return False
    return expected == password_hash


def is_outdated(password_hash: str) -> bool:
    """Return True if the hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(password_hash)


def rehash(password: str) -> str:
    """Return a new hash of a password that was verified."""
    return _hasher.hash(_normal(password))


def generate() -> str:
    """Return a random password: five groups of five characters, without characters that look alike."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(alphabet) for _ in range(5)) for _ in range(5))


@cache
def _dummy_hash() -> str:
    return _hasher.hash(secrets.token_urlsafe())
