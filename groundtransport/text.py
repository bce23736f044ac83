"""Normalisation of text for searches and forms."""

import re
import unicodedata

# Separators of the parts of a search text and of the fields of a part; no search term contains them.
PART, FIELD = "\x1f", "\x1e"
MARK = "\x1d"  # encloses values that are found only by their exact value
_OTHER = re.compile(r"[^0-9]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def fold(text: str) -> str:
    """Return ``text`` without case, accents and control characters: NFKD, marks stripped, casefolded."""
    if text.isascii():
        return (text if text.isprintable() else _CONTROL.sub(" ", text)).lower()
    plain = _without_marks(_CONTROL.sub(" ", text)).casefold()
    return _without_marks(plain)  # casefold can add marks (U+0130) and compatibility forms


def plain(text: str) -> str:
    """Return ``text`` with control characters, including NUL, and lone surrogates replaced by blanks."""
    return _NO_TEXT.sub(" ", text)


def digits(text: str) -> str:
    """Return the ASCII digits of a folded text; folding turns full-width digits into ASCII ones."""
    return _OTHER.sub("", text) if text else ""


def _without_marks(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
