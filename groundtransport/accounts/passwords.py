"""Passwords: what is accepted, how they are kept, how one is made."""

import secrets
import unicodedata
from collections.abc import Collection
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from groundtransport.accounts import password_strength
from groundtransport.accounts.errors import Refused
from groundtransport.i18n import _

MIN_LENGTH = 15  # characters; NIST SP 800-63B-4 for a password that stands alone
MAX_LENGTH = 256  # so that a huge one costs nothing

TOO_SHORT = _("The password must have at least ${n} characters.", mapping={"n": MIN_LENGTH})
TOO_LONG = _("The password must have at most ${n} characters.", mapping={"n": MAX_LENGTH})
NOT_TEXT = _("The password holds something that is not a character.")
COMMON = _(
    "This password is easy to guess: it is little more than passwords that many people use, or one thing repeated. "
    "Several words that do not belong together are better."
)
OWN = _(
    "This password is easy to guess: it is little more than your own name or words of this service. "
    "Several words that do not belong together are better."
)

_hasher = PasswordHasher()  # argon2id with the library's parameters (RFC 9106, low memory)


class PasswordRefused(Refused):
    """The password is not acceptable."""


def hash_new(password: str, own_words: Collection[str]) -> str:
    """Return the hash of an acceptable password; raise PasswordRefused for another.

    ``own_words`` are the person's: what others who know them would try first.
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
    if password_strength.is_own(password, own_words):
        raise PasswordRefused(OWN)
    return _hasher.hash(password)


def _normal(password: str) -> str:
    """Return the one form of letters that can be written in several (RFC 8265: NFC)."""
    return unicodedata.normalize("NFC", password)


def _is_text(password: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in password)


def is_right(password: str, password_hash: str | None) -> bool:
    """Whether the password fits. The hasher runs once also for an unknown person, so that time tells nothing."""
    fits = len(password) <= MAX_LENGTH and _is_text(password)
    expected = password_hash if password_hash and fits else _nobody()
    try:
        _hasher.verify(expected, _normal(password) if fits else "")
    except (VerificationError, InvalidHashError):
        return False
    return expected == password_hash


def is_outdated(password_hash: str) -> bool:
    return _hasher.check_needs_rehash(password_hash)


def rehash(password: str) -> str:
    return _hasher.hash(_normal(password))


def make() -> str:
    """Return a password that can be read aloud: five groups of five from an alphabet without look-alikes."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(alphabet) for _ in range(5)) for _ in range(5))


@cache
def _nobody() -> str:
    return _hasher.hash(secrets.token_urlsafe())
