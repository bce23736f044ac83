"""Time-based one-time passwords (RFC 6238): the secret, its QR code, and which step a code is of."""

import hmac
import re

import pyotp
import segno
from markupsafe import Markup

from groundtransport.db import now

ISSUER = "Ground transport"
STEP = 30  # seconds
WINDOW = 1  # steps to either side: clocks differ, and typing takes time (RFC 6238, 5.2)
_CODE = re.compile(r"[0-9]{6}", re.ASCII)


def new_secret() -> str:
    """Return a secret of 160 bits in base32, as RFC 4226 recommends."""
    return pyotp.random_base32()


def in_groups(secret: str) -> str:
    """Return the secret for typing, in groups of four."""
    return " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))


def provisioning_uri(secret: str, name: str) -> str:
    """Return the otpauth: address of a person's secret."""
    return pyotp.TOTP(secret, interval=STEP).provisioning_uri(name=name, issuer_name=ISSUER)


def picture(secret: str, name: str) -> Markup:
    """Return the QR code as SVG for a page: attributes only, no style, black on white in every theme."""
    code = segno.make(provisioning_uri(secret, name), error="m", micro=False)
    return Markup(code.svg_inline(scale=5, border=4, dark="#000", light="#fff", svgclass="qr"))  # noqa: S704  # nosec B704 # made here


def step_of(secret: str, code: str) -> int | None:
    """Return the step that a code is of; None for a wrong one."""
    typed = "".join(code.split())
    if not _CODE.fullmatch(typed):
        return None
    generator = pyotp.TOTP(secret, interval=STEP)
    current = int(now().timestamp()) // STEP
    fitting = [
        step
        for step in range(current - WINDOW, current + WINDOW + 1)
        if hmac.compare_digest(generator.generate_otp(step), typed)
    ]
    return fitting[0] if fitting else None
