"""The names of all airports, kept in memory: a search of them is answered while somebody types."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from groundtransport.text import fold

LONGEST = 200  # characters of a text that are looked for
MOST_WORDS = 10  # others are not looked for
FEW = 100  # airports: so many are put in order faster than found by the order


def search_text(code: str, icao: str | None, city: str, name: str) -> str:
    """Return what the search looks in: ``|code|icao|city|name|``, folded."""
    return "|".join(["", *(fold(part or "").replace("|", " ") for part in (code, icao, city, name)), ""])


class Directory:
    """Made of airports in order, those of the biggest cities first: the id, the city's population, the search text.

    All texts are one: Python looks through that in a tenth of a millisecond, a database through its rows in two.
    """

    def __init__(self, airports: Iterable[tuple[int, int, str]]) -> None:
        self._ids, self._populations, self._ends = array("q"), array("q"), array("q")
        whole = StringIO()  # one after the other: a list of them would take four times the memory
        for number, population, text in airports:
            # Each line begins with its end, and each word, the first of a field too, has a blank before it.
            whole.write("\n" + text.replace("|", "| ").rstrip())
            self._ids.append(number)
            self._populations.append(population)
            self._ends.append(whole.tell())
        self._text = whole.getvalue()

    def find(self, text: str, most: int) -> list[int]:
        """Return the ids of up to ``most`` airports whose code, city or name holds every word of ``text``, best first.

        First the airport of that code, then those whose city, name or ICAO code is the text, begins with it, has a word
        that begins with its first one, and others. Of each, those of the biggest city; of one city, one named after it.
        """
        whole = fold(text[:LONGEST]).replace("|", " ").strip()
        words = list(dict.fromkeys(whole.replace("(", " ").replace(")", " ").split()))[:MOST_WORDS]
        if not words:
            return []
        first, rarest = words[0], min(words, key=self._text.count) if len(words) > 1 else words[0]
        sorts = (f"\n| {whole}|", f"| {whole}|", f"| {whole}", f" {first}", first)
        lines = dict(self._lines(rarest, words, FEW))
        if len(lines) >= FEW:  # and perhaps many more: the best of them
            lines = {}
            for sort in sorts:
                if len(lines) < most:
                    lines |= dict(self._lines(max(sort, rarest, key=len), [sort, *words], most))

        def rank(number: int) -> tuple[int, int, bool, int]:
            line = lines[number]
            sort = next(place for place, part in enumerate(sorts) if part in line)
            is_named = line.startswith(f"| {first}", line.rindex("| "))  # the name is the last field
            return sort, -self._populations[number], not is_named, number

        return [self._ids[number] for number in sorted(lines, key=rank)[:most]]

    def _lines(self, leading: str, parts: Sequence[str], most: int) -> Iterator[tuple[int, str]]:
        """Yield ``most`` lines that hold all parts, each with its number, and others of as many people as the last.

        The leading part, best one that few hold, is what all of the text is looked through for.
        """
        others = [part for part in parts if part not in leading]
        count, least, at = 0, 0, self._text.find(leading)
        while at >= 0:
            number = bisect_right(self._ends, at)
            if count >= most and self._populations[number] < least:
                return
            line = self._text[self._ends[number - 1] if number else 0 : self._ends[number]]
            if not others or all(part in line for part in others):
                count, least = count + 1, self._populations[number]
                yield number, line
            at = self._text.find(leading, self._ends[number])
