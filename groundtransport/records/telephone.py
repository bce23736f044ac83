"""Telephone numbers: parsing, the E.164 form that is stored beside a number as typed, and numbers in searches."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from random import Random

import phonenumbers

from groundtransport.text import digits, fold

WHOLE = 7  # digits from which a search text is a whole number, with a prefix perhaps
E164_MAX = 24  # characters: "+", a country code of 3 digits, and the 17 that phonenumbers accepts at most
_NUMBER_WORD = re.compile(r"[0-9+()./-]*[0-9][0-9+()./-]*", re.ASCII)
# The prefixes of international calls in North America and elsewhere, and the zero before an area code.
_PREFIX = re.compile(r"\(?(?:011(?![0-9])|0+)")
_TRUNK_ZERO = "(0)"


def e164_name(field: str) -> str:
    """Return the name of the column that holds the E.164 form of a telephone field."""
    return f"{field}_e164"


@dataclass(frozen=True, slots=True)
class ParsedNumber:
    """A parsed number. ``e164`` has no extension; it is None for short codes and numbers without an area code."""

    number: phonenumbers.PhoneNumber
    is_possible: bool
    e164: str | None


# An import parses a number in its validation, and needs it again when it writes the chunk: up to 2,000 rows, and as
# many that are read meanwhile. 8,192 entries take about 5 MB.
@lru_cache(maxsize=8_192)
def parse(text: str, country: str) -> ParsedNumber | None:
    """Return the number of a text; ``country`` is that of numbers without a country code. None if there is none."""
    try:
        number = phonenumbers.parse(text, country)
    except phonenumbers.NumberParseException:
        return None
    reason = phonenumbers.is_possible_number_with_reason(number)
    is_complete = reason == phonenumbers.ValidationResult.IS_POSSIBLE
    is_possible = is_complete or reason == phonenumbers.ValidationResult.IS_POSSIBLE_LOCAL_ONLY
    return ParsedNumber(number, is_possible, _digits_of(number) if is_complete else None)


def e164(text: str | None, country: str) -> str | None:
    """Return the E.164 form of a number without its extension; None if it has none."""
    parsed = parse(text, country) if text else None
    return parsed.e164 if parsed else None


def comparison_key(text: str, country: str) -> str:
    """Return what two texts of one number have in common: E.164, also of incomplete numbers; "" if it is no number."""
    parsed = parse(text, country)
    return _digits_of(parsed.number) if parsed else ""


def _digits_of(number: phonenumbers.PhoneNumber) -> str:
    """Return the E.164 form, faster than ``format_number`` does."""
    return f"+{number.country_code}{phonenumbers.national_significant_number(number)}"


def all_digits(typed: str, number: str | None) -> str:
    """Return the digits by which a search finds a number: those as typed, and those of its E.164 form."""
    plain, full = digits(typed), (number or "").removeprefix("+")
    if plain in full:
        return full
    return plain if full in plain else f"{plain} {full}"


def searched_digits(text: str) -> str:
    """Return the digits of a folded search text; those of a whole number without what is dialled before it.

    "0044 20 7946 0000", "(0)20 7946 0000" and "+44 (0)20 7946 0000" then match the digits of +442079460000.
    """
    return (len(digits(text)) >= WHOLE and _without_prefix(text)) or digits(text)


def searched_words(words: list[str]) -> dict[str, str]:
    """Return the digits to search for of each word of a folded text that is a part of a whole telephone number.

    They are "" for a word that is nothing but a prefix.
    """
    found: dict[str, str] = {}
    for is_number, group in groupby(words, key=lambda word: bool(_NUMBER_WORD.fullmatch(word))):
        number = list(group)
        if is_number and len(digits("".join(number))) >= WHOLE:
            found |= _digits_of_words(*number)
    return found


def _digits_of_words(first: str, *rest: str) -> dict[str, str]:
    others = {word: digits(word.replace(_TRUNK_ZERO, "")) for word in rest}
    return {**others, first: _without_prefix(first) or ("" if any(others.values()) else digits(first))}


def _without_prefix(text: str) -> str:
    """Return the digits of a number without an international prefix and the zero before an area code."""
    plain = text.replace(_TRUNK_ZERO, "")
    return digits(_PREFIX.sub("", plain, count=1) if _PREFIX.match(plain) else plain)


def words_of(text: str) -> dict[str, str]:
    """Return the distinct words to search for, without words that are part of another.

    Each has the digits that are its other spelling if it may be a telephone number, or "". Bare digits match as they
    are, but for what is dialled before a whole number.
    """
    words = fold(text).split()
    parts = searched_words(words)
    numbers = {word: parts.get(word, digits(word)) if _NUMBER_WORD.fullmatch(word) else "" for word in words}
    others = {word: "" if number == word else number for word, number in numbers.items() if parts.get(word) != ""}
    wholes = [word for word, number in others.items() if not number]
    return {word: other for word, other in others.items() if not any(word in longer != word for longer in wholes)}


def digits_of(folded: str) -> str:
    """Return the digits of a filter's text that may be a telephone number; "" if it is none."""
    return searched_digits(folded) if _NUMBER_WORD.fullmatch(folded.replace(" ", "")) else ""


def sample_number(generator: Random, country: str) -> str:
    """Return a random telephone number of a country, "" if no example of its numbers is known."""
    example = phonenumbers.example_number(country)
    if example is None:
        return ""
    text = phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    return text[:-4] + "".join(str(generator.randrange(10)) if char.isdigit() else char for char in text[-4:])
