"""The search of airports in memory finds what a plain look at each of them finds."""

from hypothesis import example, given
from hypothesis import strategies as st

from groundtransport.airports.name_index import FEW, Directory, search_text
from groundtransport.text import fold

words = st.text("abÅ|( ", max_size=4)
Airports = list[tuple[int, str, str, str]]  # the city's population, code, city and name
airports = st.lists(st.tuples(st.integers(0, 3), st.text("ab", min_size=3, max_size=3), words, words), max_size=30).map(
    lambda found: sorted(found, key=lambda airport: -airport[0])
)


def directory(found: Airports) -> Directory:
    return Directory(
        (number, people, search_text(code, "", city, name)) for number, (people, code, city, name) in enumerate(found)
    )


def plain(found: Airports, text: str) -> list[int]:
    """Look at each airport by itself, and put all of them in order."""
    whole = fold(text).replace("|", " ").strip()
    sought = whole.replace("(", " ").split()
    ranked = []
    for number, (people, *texts) in enumerate(found):
        code, city, name = (fold(part).replace("|", " ") for part in texts)
        fields = (code, "", city, name)
        if sought and all(any(word in field for field in fields) for word in sought):
            begins = any(word.startswith(sought[0]) for field in fields for word in field.split(" "))
            sorts = (code == whole, whole in fields, any(field.startswith(whole) for field in fields), begins, True)
            ranked.append((sorts.index(True), -people, not name.startswith(sought[0]), number))
    return [number for *_, number in sorted(ranked)]


@given(airports, st.text("abÅ|( ", max_size=5), st.integers(1, 40), st.sampled_from([1, 12]))
@example([(0, "aaa", "a", "b")], "a b", 1, 1)
def test_the_best_are_found_in_order(found: Airports, text: str, most: int, times: int) -> None:
    found = [airport for airport in found for _ in range(times)]
    assert directory(found).find(text, most) == plain(found, text)[:most]


def test_of_very_many_the_best_come_first() -> None:
    strips = [(0, "bbb", "Bay", f"a strip {number}") for number in range(3 * FEW)]
    found = directory([(9, "xyz", "Aa", "Aa Airport"), *strips, (0, "aaa", "Bay", "The last airport")])
    assert found.find("a", 5)[:1] == [0]
    assert found.find("aaa", 5) == [3 * FEW + 1]
    assert len(found.find("b", 5)) == 5


def test_a_text_of_bars_and_blanks_finds_none() -> None:
    found = directory([(0, "aaa", "A", "A")])
    assert [found.find(text, 20) for text in ("", " ", "|", "()", " | ")] == [[]] * 5
