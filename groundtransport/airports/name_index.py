"""An in-memory index of all airports' codes, names and places, for suggestions while the user types."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from io import StringIO

from rapidfuzz import fuzz, process

from groundtransport.text import fold

LONGEST = 200  # characters of the search text; the rest is ignored
MOST_WORDS = 10  # search terms; further ones are ignored
LEAST_TRAFFIC = 0.005  # importance of the airports with the fewest scheduled flights
MOST_SCORED = 400  # airports that match, the most important first; further ones are not looked at
LEAST_NEAR = 4  # letters of a word that may be mistyped
LEAST_RATIO = 80.0  # per cent of the letters that a near word has in common
_SYMBOLS = re.compile(r"[\W_]+")
# Words that say nothing where other words are there.
GENERIC = frozenset(
    [
        "aeropuerto",
        "aeroport",
        "aeroporto",
        "airport",
        "airfield",
        "flughafen",
        "international",
        "internacional",
        "intl",
        "the",
        "of",
    ]
)
ABBREVIATED = {"ft": "fort", "mt": "mount", "st": "saint"}  # looked for if nothing has the short form
# What the text matches, and how much more one match counts than another: a whole name or its first words, a whole
# other name, the whole name of a state or country, the beginning of a name or other name; words of names, of names and
# others, of other names, of places.
WHOLE, BEGINNING, WHOLE_OTHER, START, WHOLE_PLACE, OTHER_START = 8.0, 4.0, 4.0, 3.0, 0.5, 0.5
NAMES, MIXED, OTHER_WORDS, PLACES = 2.0, 1.0, 0.3, 0.1


def normalized(text: str) -> str:
    """Return a text as it is compared: folded, with single blanks in place of all symbols."""
    return " ".join(_SYMBOLS.sub(" ", fold(text)).split())


def search_text(names: Iterable[str], places: Iterable[str]) -> str:
    """Return the search text of an airport: its codes and names, a tab, and words for its state and country.

    Each text stands between ``| `` and ``|``. The first of ``names`` is the IATA code, the second the ICAO code or "".
    """
    code, icao, *more = [normalized(name) for name in names]
    known = [name for name in dict.fromkeys(more) if name not in (code, icao, "")]
    context = dict.fromkeys(name for name in map(normalized, places) if name)
    return f"{_fields([code, icao, *known])}\t{_fields(context)}"


def other_names(names: Iterable[str]) -> str:
    """Return further names of an airport's city in the form of a search text."""
    return _fields(dict.fromkeys(name for name in map(normalized, names) if name))


def _fields(texts: Iterable[str]) -> str:
    return "".join(f"| {text}" for text in texts) + "|"


class Directory:
    """The index. ``airports`` yields (id, importance, search text, other names), the most important about first.

    The importance is above 0. All texts are joined into one string: searching it takes less than 1 ms. Names in
    other scripts are in a string of their own, because one such character makes a string two or four times as big.
    """

    def __init__(self, airports: Iterable[tuple[int, float, str, str]]) -> None:
        self._ids, self._importance = array("q"), array("d")
        self._latin, self._foreign = _Lines(), _Lines()
        self._by_iata: dict[str, int] = {}
        self._by_icao: dict[str, int] = {}
        for number, (airport_id, importance, text, others) in enumerate(airports):
            self._ids.append(airport_id)
            self._importance.append(importance)
            names, _, places = text.partition("\t")
            iata, icao = [*names.split("|", 3), "", ""][1:3]
            self._by_iata.setdefault(iata.strip(), number)
            self._by_icao.setdefault(icao.strip(), number)
            self._latin.add(f"{names}\t{_part(others, latin=True)}\t{_part(places, latin=True)}")
            self._foreign.add(
                f"{_part(names, latin=False)}\t{_part(others, latin=False)}\t{_part(places, latin=False)}"
            )
        self._latin.close()
        self._foreign.close()

    def find(self, text: str, most: int) -> list[int]:
        """Return the ids of up to ``most`` airports that match all terms of ``text``, best first.

        An airport whose IATA code is the text comes first, then one whose ICAO code it is, unless it is also the name
        of a busier place. Of the others, the importance is weighed by what matches: whole names, beginnings, words.
        """
        whole = normalized(text[:LONGEST])
        words = _terms(whole)
        if not words:
            return []
        scored = self._scored(words, " ") or self._scored(words, "")
        if not scored and not ABBREVIATED.keys().isdisjoint(words):
            scored = self._scored([ABBREVIATED.get(word, word) for word in words], " ")
        if whole in self._by_iata:
            scored[self._by_iata[whole]] = float("inf")
        ranked = sorted(scored, key=lambda number: (-scored[number], number))
        return [self._ids[number] for number in ranked[:most]]

    def near(self, text: str) -> str:
        """Return the nearest name, or the text with near words in place of those that no airport has; "" for none."""
        words = _terms(normalized(text[:LONGEST]))
        whole = " ".join(words)
        nearest_text = _nearest(whole, self._vocabulary)
        if nearest_text is None:
            unknown = [word for word in words if not self._latin.has(f" {word}")]
            near = {word: _nearest(word, self._vocabulary) for word in unknown}
            nearest_text = "" if None in near.values() else " ".join(near.get(word) or word for word in words)
        return "" if nearest_text == whole else nearest_text

    def shorter(self, text: str) -> str:
        """Return the longest part of the text that airports match: "jfk" of "jfk terminal 4"; "" if there is none.

        Words are left out at the end, or else at the beginning. A single word that is not Latin loses its last letters,
        because Chinese and Japanese have no blanks between words.
        """
        whole = normalized(text[:LONGEST])
        words = whole.split()[:MOST_WORDS]
        numbers = range(1, len(words))
        parts = [" ".join(words[:-number]) for number in numbers] + [" ".join(words[number:]) for number in numbers]
        if len(words) == 1 and not whole.isascii():
            parts = [whole[:length] for length in range(len(whole) - 1, 1, -1)]
        return next((part for part in parts if self.find(part, 1)), "")

    @cached_property
    def _vocabulary(self) -> list[str]:
        """Return the names, and the words of names, of airports with scheduled flights, the most important first."""
        names: dict[str, None] = {}
        for number in (number for number, importance in enumerate(self._importance) if importance >= LEAST_TRAFFIC):
            fields = [field.strip() for field in self._latin[number].partition("\t")[0].split("|")[3:]]
            names |= dict.fromkeys(
                word for field in fields for word in (field, *field.split()) if len(word) >= LEAST_NEAR
            )
        return list(names)

    def _scored(self, words: Sequence[str], before: str) -> dict[int, float]:
        """Return the scores of the airports that match all words, each preceded by ``before``, by number."""
        whole = " ".join(words)
        lines = self._latin if whole.isascii() else self._foreign
        matching = lines.matching([before + word for word in words], MOST_SCORED)
        scored = {number: _quality(line, whole, words) * self._importance[number] for number, line in matching}
        icao = self._by_icao.get(whole)
        # Lima is a city before it is the code of Turin Aeritalia.
        if icao is not None and max(scored.values(), default=0) < WHOLE * LEAST_TRAFFIC:
            scored[icao] = WHOLE
        return scored


class _Lines:
    """Lines of text in one string."""

    def __init__(self) -> None:
        self._ends, self._buffer, self._text = array("q"), StringIO(), ""

    def add(self, line: str) -> None:
        self._buffer.write("\n" + line)
        self._ends.append(self._buffer.tell())

    def close(self) -> None:
        self._text = self._buffer.getvalue()
        self._buffer = StringIO()

    def has(self, part: str) -> bool:
        return part in self._text

    def __getitem__(self, number: int) -> str:
        return self._text[self._ends[number - 1] if number else 0 : self._ends[number]]

    def matching(self, parts: Sequence[str], most: int) -> Iterator[tuple[int, str]]:
        """Yield the numbers and texts of the first ``most`` lines that contain all parts."""
        leading = min(parts, key=self._text.count) if len(parts) > 1 else parts[0]
        count, at = 0, self._text.find(leading)
        while at >= 0 and count < most:
            number = bisect_right(self._ends, at)
            line = self[number]
            if all(part in line for part in parts):
                count += 1
                yield number, line
            at = self._text.find(leading, self._ends[number])


def _terms(whole: str) -> list[str]:
    """Return the distinct words without the generic ones, nor the beginning of one at the end."""
    words = list(dict.fromkeys(whole.split()))[:MOST_WORDS]
    specific = [word for word in words if word not in GENERIC]
    last = words[-1] if words else ""
    is_partial = len(last) >= LEAST_NEAR and any(word.startswith(last) for word in GENERIC - {last})
    if len(specific) > 1 and is_partial:
        specific = [word for word in specific if word != last]
    return specific or words


def _nearest(text: str, vocabulary: Sequence[str]) -> str | None:
    """Return the text of the vocabulary that is nearest by letters; None if none is near."""
    if len(text) < LEAST_NEAR:
        return None
    match = process.extractOne(text, vocabulary, scorer=fuzz.ratio, score_cutoff=LEAST_RATIO)
    return match[0] if match else None


def _part(section: str, *, latin: bool) -> str:
    """Return the fields of a section whose letters are all Latin, or the other ones."""
    return "".join(f"|{field}" for field in section.split("|") if field and field.isascii() is latin) + "|"


def _quality(line: str, whole: str, words: Sequence[str]) -> float:
    """Return how well a line matches the text."""
    names, others, places = line.split("\t")
    if f"| {whole}|" in names:
        return WHOLE
    if f"| {whole}|" in others:
        return WHOLE_OTHER
    if f"| {whole} " in names:
        return BEGINNING
    if f"| {whole}" in names:
        return START
    if f"| {whole}|" in places:
        return WHOLE_PLACE
    if f"| {whole}" in others:
        return OTHER_START
    in_names = [word for word in words if word in names]
    if in_names:
        return NAMES if len(in_names) == len(words) else MIXED
    return OTHER_WORDS if any(word in others for word in words) else PLACES
