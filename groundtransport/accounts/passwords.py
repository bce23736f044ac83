"""Passwords: what is accepted, how they are kept, how one is made."""

import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

MIN_LENGTH = 15  # characters; NIST SP 800-63B-4 for a password that stands alone
MAX_LENGTH = 256  # so that a huge one costs nothing

_hasher = PasswordHasher()  # argon2id with the library's parameters (RFC 9106, low memory)


class PasswordRefused(ValueError):
    """The password is not acceptable; the message says why."""


def hash_new(password: str, user_name: str) -> str:
    """Return the hash of an acceptable password; raise PasswordRefused for another."""
    if len(password) < MIN_LENGTH:
        raise PasswordRefused(f"The password must have at least {MIN_LENGTH} characters.")
    if len(password) > MAX_LENGTH:
        raise PasswordRefused(f"The password must have at most {MAX_LENGTH} characters.")
    if len(set(password)) < 5:
        raise PasswordRefused("The password repeats itself too much.")
    if user_name.casefold() in password.casefold() and len(password) - len(user_name) < MIN_LENGTH // 2:
        raise PasswordRefused("The password is little more than the user name.")
    return _hasher.hash(password)


def is_right(password: str, password_hash: str | None) -> bool:
    """Whether the password fits. The hasher runs once also for an unknown person, so that time tells nothing."""
    expected = password_hash if password_hash and len(password) <= MAX_LENGTH else _nobody()
    try:
        _hasher.verify(expected, password[:MAX_LENGTH])
    except (VerificationError, InvalidHashError):
        return False
    return expected == password_hash


def is_outdated(password_hash: str) -> bool:
    return _hasher.check_needs_rehash(password_hash)


def rehash(password: str) -> str:
    return _hasher.hash(password)


def make() -> str:
    """Return a password that can be read aloud: five groups of five from an alphabet without look-alikes."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(alphabet) for _ in range(5)) for _ in range(5))


@cache
def _nobody() -> str:
    return _hasher.hash(secrets.token_urlsafe())
