"""An in-memory index of all airports' codes, cities and names, for suggestions while the user types."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from groundtransport.text import fold

LONGEST = 200  # characters of the search text; the rest is ignored
MOST_WORDS = 10  # search terms; further ones are ignored
FEW = 100  # matches; fewer are sorted, of more only the best are looked up, class by class


def search_text(code: str, icao: str | None, city: str, name: str) -> str:
    """Return the search text of an airport: ``|code|icao|city|name|``, folded."""
    return "|".join(["", *(fold(part or "").replace("|", " ") for part in (code, icao, city, name)), ""])


class Directory:
    """The index. ``airports`` yields (id, population of the city, search text), in descending order of population.

    All texts are joined into one string: searching it takes 0.1 ms, a query of the database 2 ms.
    """

    def __init__(self, airports: Iterable[tuple[int, int, str]]) -> None:
        self._ids, self._populations, self._ends = array("q"), array("q"), array("q")
        whole = StringIO()  # a list of the texts would take four times the memory
        for number, population, text in airports:
            # Each line begins with its line feed; each word, also the first of a field, is preceded by a space.
            whole.write("\n" + text.replace("|", "| ").rstrip())
            self._ids.append(number)
            self._populations.append(population)
            self._ends.append(whole.tell())
        self._text = whole.getvalue()

    def find(self, text: str, most: int) -> list[int]:
        """Return the ids of up to ``most`` airports whose code, city or name contains all terms of ``text``.

        The order is: the airport with that code; those whose city, name or ICAO code equals the text; begins with it;
        contains a word that begins with the first term; others. Within each class, airports of bigger cities come
        first, and of one city, those named after it.
        """
        whole = fold(text[:LONGEST]).replace("|", " ").strip()
        words = list(dict.fromkeys(whole.replace("(", " ").replace(")", " ").split()))[:MOST_WORDS]
        if not words:
            return []
        first, rarest = words[0], min(words, key=self._text.count) if len(words) > 1 else words[0]
        classes = (f"\n| {whole}|", f"| {whole}|", f"| {whole}", f" {first}", first)
        lines = dict(self._lines(rarest, words, FEW))
        if len(lines) >= FEW:  # there may be many more: find the best classes only
            lines = {}
            for pattern in classes:
                if len(lines) < most:
                    lines |= dict(self._lines(max(pattern, rarest, key=len), [pattern, *words], most))

        def rank(number: int) -> tuple[int, int, bool, int]:
            line = lines[number]
            best_class = next(place for place, pattern in enumerate(classes) if pattern in line)
            is_named = line.startswith(f"| {first}", line.rindex("| "))  # the name is the last field
            return best_class, -self._populations[number], not is_named, number

        return [self._ids[number] for number in sorted(lines, key=rank)[:most]]

    def _lines(self, leading: str, parts: Sequence[str], most: int) -> Iterator[tuple[int, str]]:
        """Yield the numbers and texts of the first ``most`` lines that contain all parts.

        Further lines follow as long as the population equals that of the last one. ``leading`` is the part that the
        whole text is searched for; a rare one is fastest.
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
