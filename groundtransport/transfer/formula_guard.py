"""The formula guard of CSV files: a reversible prefix for cells that a spreadsheet would execute as a formula.

``unguard(guard(text)) == text`` for every text. XLSX and JSON have typed cells and need no guard.
"""

import re

GUARD = "'"
# First characters of a formula (https://owasp.org/www-community/attacks/CSV_Injection); the wide ones come from
# East Asian keyboards.
STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")

# A "+", 7 to 15 digits (E.164) and perhaps an extension. A spreadsheet can at most compute with these characters: they
# name no function and refer to no cell.
_PHONE = re.compile(r"\+[0-9](?:[ ()./-]*[0-9]){6,14}(?: ?(?:x|ext\.?) ?[0-9]+)?", re.ASCII)


def guard(text: str, *, is_on: bool = True) -> str:
    """Return the text of a CSV cell: with GUARD before it if it begins like a formula and is no telephone number.

    A text that begins like a guarded one gets a guard too, even if ``is_on`` is false: ``unguard`` would take its own
    first character off.
    """
    begin = text.lstrip(GUARD)
    if not begin.startswith(STARTS):
        return text
    looks_guarded = len(begin) < len(text)
    return f"{GUARD}{text}" if looks_guarded or (is_on and not is_phone(text)) else text


def unguard(text: str) -> str:
    """Return the text of a CSV cell without the one guard that ``guard`` put before it."""
    is_guarded = text.startswith(GUARD) and text.lstrip(GUARD).startswith(STARTS)
    return text.removeprefix(GUARD) if is_guarded else text


def is_phone(text: str) -> bool:
    """Return True for an international telephone number in digits: ``+49 30 901820``, with or without an extension."""
    return bool(_PHONE.fullmatch(text))
