"""The text of a token: ``gt_``, 32 random characters, and a checksum of 6, all of the 62 ASCII letters and digits.

Prefix and checksum let secret scanners find a leaked token without false alarms, and let the service refuse most
malformed texts without a query. The checksum is the CRC-32 of prefix and random characters in base 62, as in GitHub's
tokens.
"""

import hashlib
import re
import secrets
import string
import zlib

PREFIX = "gt_"
RANDOM = 32  # characters: 190 bits
CHECKSUM = 6
HINT = 4
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SHAPE = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{RANDOM + CHECKSUM}}}", re.ASCII)


def generate() -> str:
    """Return a new random token."""
    body = PREFIX + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM))
    return body + checksum(body)


def checksum(text: str) -> str:
    """Return the checksum of a token's prefix and random characters."""
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(CHECKSUM):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


def is_well_formed(text: str) -> bool:
    """Return True if a text has the form of a token and the right checksum."""
    return bool(_SHAPE.fullmatch(text)) and checksum(text[:-CHECKSUM]) == text[-CHECKSUM:]


def hash_of(token: str) -> str:
    """Return the SHA-256 hash of a token in hexadecimal, as the table stores it."""
    return hashlib.sha256(token.encode()).hexdigest()
