"""The airport's name in forms and files: ``<airport name> (<airport code>)``."""

import re

# Anchored at the end: 111 names of the list contain brackets themselves, some with another airport's code.
_CODE = re.compile(r"\(\s*([A-Za-z0-9]{3,4})\s*\)\s*\Z")

# A code without a name, as in some files. Mixed case is no code: "Goa" is a city, GOA an airport elsewhere.
_BARE_CODE = re.compile(r"[A-Z0-9]{3,4}|[a-z0-9]{3,4}")


def code_of(airport_name: str) -> str | None:
    """Return the code in the last brackets in upper case, of three (IATA) or four (ICAO) characters; else None."""
    match = _CODE.search(airport_name)
    return match[1].upper() if match else None


def named(name: str, code: str) -> str:
    """Return ``<name> (<code>)``."""
    return f"{name} ({code})"


def bracketed(text: str) -> str:
    """Return an IATA or ICAO code without a name (``JFK``, ``kjfk``) as ``(JFK)``, any other text unchanged."""
    code = text.strip()
    return f"({code.upper()})" if _BARE_CODE.fullmatch(code) else text
