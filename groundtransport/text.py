"""Text as searches compare it, and text as forms take it. Imports nothing of ours."""

import re
import unicodedata

# Between the parts of a search text, and between the fields of a part: no word that is searched holds either.
PART, FIELD = "\x1f", "\x1e"
MARK = "\x1d"  # around what is found by its exact value alone
_OTHER = re.compile(r"[^0-9]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def fold(text: str) -> str:
    """Return ``text`` without case, accents and control characters: NFKD, marks stripped, casefolded."""
    if text.isascii():
        return (text if text.isprintable() else _CONTROL.sub(" ", text)).lower()
    plain = _without_marks(_CONTROL.sub(" ", text)).casefold()
    return _without_marks(plain)  # casefold can bring marks back (U+0130), and compatibility forms


def plain(text: str) -> str:
    """Return ``text`` with a blank for control characters (NUL among them) and lone surrogates."""
    return _NO_TEXT.sub(" ", text)


def digits(text: str) -> str:
    """Return the ASCII digits of a folded text (full-width and the like have become ASCII there)."""
    return _OTHER.sub("", text) if text else ""


def _without_marks(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
