"""The airport string of forms and files: ``<airport name> (<airport code>)``."""

import re

# Anchored at the right: 111 names of the list hold brackets themselves, even with another airport's code in them.
_CODE = re.compile(r"\(\s*([A-Za-z0-9]{3,4})\s*\)\s*\Z")

# A code alone, as a file may hold it. Only in one case: "Goa" and "Lima" are cities, GOA and LIMA airports elsewhere.
_BARE_CODE = re.compile(r"[A-Z0-9]{3,4}|[a-z0-9]{3,4}")


def code_of(airport_name: str) -> str | None:
    """Return the code in the last brackets, upper-case: three characters for IATA, four for ICAO; None without one."""
    match = _CODE.search(airport_name)
    return match[1].upper() if match else None


def named(name: str, code: str) -> str:
    """Return the airport string of a name and a code."""
    return f"{name} ({code})"


def bracketed(text: str) -> str:
    """Return a bare IATA or ICAO code (``JFK``, ``kjfk``) as ``(JFK)``; any other text unchanged."""
    code = text.strip()
    return f"({code.upper()})" if _BARE_CODE.fullmatch(code) else text
