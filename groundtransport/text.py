"""Normalisation of text for searches and forms."""

import re
import unicodedata

# Separators of the parts of a search text and of the fields of a part; no search term contains them.
PART, FIELD = "\x1f", "\x1e"
MARK = "\x1d"  # encloses values that are found only by their exact value
FOLD_VERSION = 2  # to be raised whenever ``fold`` returns another text: search texts that were stored are then rebuilt
_OTHER = re.compile(r"[^0-9]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_ASCII_APOSTROPHE = re.compile("['`]")
_ACUTE = str.maketrans("", "", "\u00b4\u1ffd")  # used as apostrophes; NFKD would leave a blank in their place
_OTHER_DIGIT = re.compile(r"[^\D0-9]")

# Letters and symbols that NFKD leaves as they are, after what they are folded to: the rules of PostgreSQL's unaccent,
# and the schwa of Azerbaijani. static/rows.js has the same line by line; tests/unit/test_text.py compares them.
_TABLE = """
a ᴀᶏⱥ aa ꜳ ae æᴁ ao ꜵ au ꜷ av ꜹꜻ ay ꜽ b ƀƃɓʙᴃᵬᶀ c ƈȼɕᴄꞓ d ðđƌȡɖɗᴅᴆᵭᶁᶑꝱꝺ db ȸ dz ʣʥ e əǝɇɛᴇᶒᶓⱸ f ƒᵮᶂꜰꝼ g ǥɠɡɢʛᶃꞡ
h ħɦɧʜⱨ hv ƕ i ıɨɩɪᵻᶖ j ȷɉɟʝᴊ k ƙᴋᶄⱪꝁꝃꝅꞣ l łƚȴɫɬɭʟᴌᶅⱡꝇꝉꝲ ll ỻ ls ʪ lz ʫ m ɱᴍᵯᶆꝳ n ŋƞȵɲɳɴᵰᶇꝴꞑꞥ o øᴏⱺꝋꝍ oe œɶ oi ƣ oo ꝏ
p ƥᴘᵱᵽᶈꝑꝓꝕ q ĸʠꝗꝙ qp ȹ r ɍɼɽɾʀᵲᵳᶉꝵꝶꞧ s ȿʂᵴᶊẜẝꜱꞩ t ŧƫƭȶʈᴛᵵⱦꝷꞇ th þᵺꝥꝧ ts ʦ u ʉᴜᵾᶙ ue ᵫ v ʋᴠᶌỽⱱⱴꝟ vy ꝡ w ᴡⱳ x ᶍ
y ƴɏʏỿ z ƶȥɀʐʑᴢᵶᶎⱬ - ‐‒–—―−˗ " “”„‟″
"""
LETTERS = _TABLE.split()
# Apostrophes of all kinds, the dot of the Catalan l·l, and the soft hyphen.
IGNORED = "'`‘’‛′ʹʻʼʽʾʿˈꞌ·\u00ad"
_LETTERS = {ord(letter): to for to, letters in zip(LETTERS[::2], LETTERS[1::2], strict=True) for letter in letters}
_LETTERS |= dict.fromkeys(map(ord, IGNORED), "")


def fold(text: str) -> str:
    """Return ``text`` as searches compare it: "Łódź" as "lodz", "O'Hare" as "ohare".

    Case, accents and apostrophes are removed, control characters become blanks, Latin letters, hyphens and the digits
    of all scripts become ASCII: NFKD, marks stripped, casefolded, then ``LETTERS``.
    """
    if text.isascii():
        plain = (text if text.isprintable() else _CONTROL.sub(" ", text)).lower()
        return _ASCII_APOSTROPHE.sub("", plain)
    plain = _without_marks(_CONTROL.sub(" ", text).translate(_ACUTE)).casefold()
    plain = _without_marks(plain).translate(_LETTERS)  # casefold can add marks (U+0130) and compatibility forms
    return plain if plain.isascii() else _OTHER_DIGIT.sub(_ascii_digit, plain)


def _ascii_digit(match: re.Match[str]) -> str:
    return str(unicodedata.decimal(match[0]))


def plain(text: str) -> str:
    """Return ``text`` with control characters, including NUL, and lone surrogates replaced by blanks."""
    return _NO_TEXT.sub(" ", text)


def digits(text: str) -> str:
    """Return the ASCII digits of a folded text; folding turns full-width digits into ASCII ones."""
    return _OTHER.sub("", text) if text else ""


def parse_number(text: str, most_digits: int = 18) -> int | None:
    """Return the whole number of a text of 1 to ``most_digits`` ASCII digits; None for any other text.

    Every number of 18 digits fits into the integers of both databases.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= most_digits else None


def _without_marks(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
