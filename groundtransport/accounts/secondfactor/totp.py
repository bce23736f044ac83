"""Time-based one-time passwords (RFC 6238): the secret, its QR code, and the time step of a code."""

import hmac
import re

import pyotp
import segno
from markupsafe import Markup

from groundtransport.db import now

ISSUER = "Ground transport"
STEP = 30  # seconds
WINDOW = 1  # steps accepted before and after the current one, for clock drift and typing (RFC 6238, 5.2)
_CODE = re.compile(r"[0-9]{6}", re.ASCII)


def new_secret() -> str:
    """Return a random secret of 160 bits in base32 (the length that RFC 4226 recommends)."""
    return pyotp.random_base32()


def grouped(secret: str) -> str:
    """Return the secret in groups of four characters, for typing."""
    return " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))


def provisioning_uri(secret: str, name: str) -> str:
    """Return the ``otpauth:`` URI of a user's secret."""
    return pyotp.TOTP(secret, interval=STEP).provisioning_uri(name=name, issuer_name=ISSUER)


def qr_code(secret: str, name: str) -> Markup:
    """Return the QR code of the provisioning URI as inline SVG without styles, black on white in every theme."""
    code = segno.make(provisioning_uri(secret, name), error="m", micro=False)
    return Markup(code.svg_inline(scale=5, border=4, dark="#000", light="#fff", svgclass="qr"))  # noqa: S704  # nosec B704 # made here


def time_step(secret: str, code: str) -> int | None:
    """Return the time step of a code; None if it is wrong."""
    digits = "".join(code.split())
    if not _CODE.fullmatch(digits):
        return None
    generator = pyotp.TOTP(secret, interval=STEP)
    current = int(now().timestamp()) // STEP
    steps = [
        step
        for step in range(current - WINDOW, current + WINDOW + 1)
        if hmac.compare_digest(generator.generate_otp(step), digits)
    ]
    return steps[0] if steps else None
