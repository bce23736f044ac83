"""The service's cookies: their names and attributes."""

from datetime import timedelta
from typing import Literal

from pyramid.response import Response

from groundtransport.request import Request


def cookie_name(request: Request, name: str) -> str:
    """Return the cookie's name, with the prefix ``__Host-`` over https (RFC 6265bis, 4.1.3.2)."""
    return f"__Host-{name}" if request.scheme == "https" else name


def set_cookie(
    request: Request,
    response: Response,
    name: str,
    value: str | None,
    *,
    max_age: int | timedelta | None = None,
    samesite: Literal["Lax", "Strict"] = "Lax",
) -> None:
    """Set a cookie, or remove it if ``value`` is None.

    Removal sends the same attributes: browsers ignore a ``__Host-`` cookie without ``Secure`` and ``Path=/``.
    """
    response.set_cookie(
        cookie_name(request, name),
        value,
        max_age=max_age,
        path="/",
        httponly=True,
        samesite=samesite,
        secure=request.scheme == "https",
    )
