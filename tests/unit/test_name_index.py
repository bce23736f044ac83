"""The search of airports in memory: what it finds, and in which order."""

from hypothesis import given
from hypothesis import strategies as st

from groundtransport.airports.name_index import MOST_SCORED, Directory, normalized, other_names, search_text

words = st.text("abÅ|( ", max_size=4)
Airports = list[tuple[float, str, str, str]]  # importance, code, city and name
airports = st.lists(
    st.tuples(st.integers(1, 9).map(float), st.text("ab", min_size=3, max_size=3), words, words), max_size=30
).map(lambda matched: sorted(matched, key=lambda airport: -airport[0]))


def directory(matched: Airports) -> Directory:
    return Directory(
        (number, weight, search_text([code, "", city, name], []), "|")
        for number, (weight, code, city, name) in enumerate(matched)
    )


@given(airports, st.text("abÅ|( ", max_size=5), st.integers(1, 40))
def test_what_begins_with_all_words_is_found(matched: Airports, text: str, most: int) -> None:
    sought = normalized(text).split()

    def words_of(airport: tuple[float, str, str, str]) -> list[str]:
        return [word for part in airport[1:] for word in normalized(part).split()]

    beginning = {
        number
        for number, airport in enumerate(matched)
        if sought and all(any(word.startswith(one) for word in words_of(airport)) for one in sought)
    }
    result = directory(matched).find(text, most)
    assert len(set(result)) == len(result) <= most
    if beginning:
        assert len(result) == min(most, len(beginning))
        assert set(result) <= beginning


def one(code: str, *names: str, icao: str = "", places: tuple[str, ...] = ()) -> str:
    return search_text([code, icao, *names], places)


KENNEDY = one(
    "JFK", "John F Kennedy International Airport", "New York", icao="KJFK", places=("New York", "United States")
)
NEWARK = one("EWR", "Newark Liberty International Airport", "Newark", places=("New Jersey", "United States"))
STRIP = one("NYK", "New York Field", "Nanyuki", places=("Kenya",))
LIMA = one("LIM", "Jorge Chavez", "Lima", icao="SPJC")
AERITALIA = one("TPY", "Aeritalia", "Turin", icao="LIMA")
ALL = Directory(
    [
        (1, 0.6, KENNEDY, other_names(["Nueva York", "Нью-Йорк"])),
        (2, 0.5, NEWARK, other_names(["New York", "Нью-Йорк"])),
        (3, 0.2, LIMA, "|"),
        (4, 1e-5, STRIP, "|"),
        (5, 1e-5, AERITALIA, "|"),
    ]
)


def test_a_whole_code_comes_first_and_the_busier_airport_before_the_strip() -> None:
    assert ALL.find("nyk", 5) == [4]
    assert ALL.find("kjfk", 5)[0] == 1
    assert ALL.find("new york", 5) == [1, 2, 4]


def test_a_city_comes_before_an_icao_code_of_the_same_letters() -> None:
    assert ALL.find("lima", 5) == [3, 5]
    assert ALL.find("spjc", 5) == [3]


def test_a_name_in_another_language_and_script_finds_the_city() -> None:
    assert ALL.find("nueva york", 5) == [1]
    assert ALL.find("нью йорк", 5) == [1, 2]


def test_state_and_country_tell_places_of_one_name_apart() -> None:
    assert ALL.find("new york kenya", 5) == [4]
    assert ALL.find("kennedy united states", 5) == [1]


def test_a_part_within_a_word_is_found_if_nothing_begins_with_it() -> None:
    assert ALL.find("nnedy", 5) == [1]


def test_generic_words_do_not_count() -> None:
    assert ALL.find("newark airport", 5) == [2]
    assert ALL.find("lima airp", 5) == [3, 5]
    assert ALL.find("airport", 5) != []


def test_a_near_word_is_offered_where_no_airport_has_the_word() -> None:
    assert (ALL.near("kenedy"), ALL.near("new yrok"), ALL.near("newerk")) == ("kennedy", "new york", "newark")
    assert (ALL.near("kennedy"), ALL.near("xyzzy"), ALL.near("nyq")) == ("", "", "")


def test_a_text_with_more_words_than_any_airport_is_shortened() -> None:
    assert (ALL.shorter("jfk terminal 4"), ALL.shorter("kennedy t5"), ALL.shorter("hotel newark")) == (
        "jfk",
        "kennedy",
        "newark",
    )
    assert (ALL.shorter("kennedy"), ALL.shorter("xyzzy plugh"), ALL.shorter("")) == ("", "", "")


def test_of_very_many_the_most_important_are_looked_at() -> None:
    strips = [(1e-5, "bbb", "Bay", f"a strip {number}") for number in range(3 * MOST_SCORED)]
    matched = directory([(0.9, "xyz", "Aa", "Aa Airport"), *strips, (1e-5, "aaa", "Bay", "The last airport")])
    assert matched.find("a", 5)[:1] == [0]
    assert matched.find("aaa", 5)[0] == len(strips) + 1
    assert len(matched.find("b", 5)) == 5


def test_a_text_of_bars_and_blanks_finds_none() -> None:
    matched = directory([(1.0, "aaa", "A", "A")])
    assert [matched.find(text, 20) for text in ("", " ", "|", "()", " | ")] == [[]] * 5
