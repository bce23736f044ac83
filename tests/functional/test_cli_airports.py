"""The command line: a newer list of airports, and airports that the list lacks."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from groundtransport import db
from groundtransport.airports import lookup
from groundtransport.airports.models import Airport
from tests.shell import SOME, Shell


@pytest.fixture
def small(small_database_url: str, tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, small_database_url)
    yield shell
    shell.engine.dispose()


HEADER = "iata,icao,name,city,subd,country,lat,lon\n"
KENNEDY = "JFK,KJFK,John F Kennedy International Airport,New York,New York,US,40.639,-73.779\n"


def test_a_refresh_reports_what_it_did_and_who_stands_at_what_vanished(small: Shell) -> None:
    small("import", "transit", small.write("airport_name\n(LHR)\n(LHR)\n(JFK)\n"))
    file = small.write(HEADER + KENNEDY + "AAA,,New Field,Town,Ohio,US,40,-80\n", "airports.csv")
    said = small("airports", "refresh", "--file", file)
    assert "1 added, 1 changed, 4 vanished." in said or "1 added, 0 changed, 4 vanished." in said
    assert re.search(r"LHR.*\b2 transit", said)
    assert "SJU" not in said  # nobody stands there
    said = small("import", "transit", small.write("airport_name\n(LHR)\n(AAA)\n", "late.csv"))
    assert "1 created, 1 refused" in said


BAD_LISTS = {
    "empty": "",
    "other columns": "code,name\nJFK,Kennedy\n",
    "no number": f"{HEADER}AAA,,Field,Town,Ohio,US,north,-80\n",
    "no place": f"{HEADER}AAA,,Field,Town,Ohio,US\n",
    "bad bytes": HEADER.encode() + b"AAA,,Fi\xffeld,Town,Ohio,US,1,2\n",
    "long code": f"{HEADER}ABCDE,,Field,Town,Ohio,US,1,2\n",
    "long name": f"{HEADER}AAA,,{'x' * 300},Town,Ohio,US,1,2\n",
    "no airport at all": HEADER,
}


@pytest.mark.parametrize("content", BAD_LISTS.values(), ids=BAD_LISTS)
def test_a_bad_list_is_refused_in_words_and_changes_nothing(small: Shell, content: str | bytes) -> None:
    before = small.all(Airport.code, Airport.name, Airport.withdrawn_at)
    assert small("airports", "refresh", "--file", small.write(content, "airports.csv"), fails=True)
    assert small.all(Airport.code, Airport.name, Airport.withdrawn_at) == before


def found(shell: Shell, text: str) -> list[str]:
    """Return the codes of the airports that the field of a form proposes."""
    with db.transaction(shell.engine) as dbsession:
        return [airport.code for airport in lookup.search(dbsession, text)]


def test_one_that_is_added_is_proposed_at_once_and_one_that_vanished_no_more(small: Shell) -> None:
    assert (found(small, "quiet"), found(small, "kennedy"), found(small, "heathrow")) == ([], ["JFK"], ["LHR"])
    small("airports", "add", "qfx", "--name", "Quiet Field", *PLACE)
    assert (found(small, "quiet"), found(small, "heathrow")) == (["QFX"], ["LHR"])
    small("airports", "refresh", "--file", small.write(HEADER + KENNEDY, "airports.csv"))
    assert (found(small, "quiet"), found(small, "kennedy"), found(small, "heathrow")) == (["QFX"], ["JFK"], [])


def test_another_name_is_shown_at_once_and_looked_for_ten_minutes_later(small: Shell) -> None:
    assert (found(small, "kennedy"), found(small, "idlewild")) == (["JFK"], [])
    renamed = KENNEDY.replace("John F Kennedy", "Idlewild")
    small("airports", "refresh", "--file", small.write(HEADER + renamed, "airports.csv"))
    with db.transaction(small.engine) as dbsession:
        assert [airport.name for airport in lookup.search(dbsession, "jfk")] == ["Idlewild International Airport"]
    lookup.DIRECTORIES.forget(small.engine)  # ten minutes pass
    assert (found(small, "kennedy"), found(small, "idlewild")) == ([], ["JFK"])


PLACE = ("--country", "us", "--latitude", "40.5", "--longitude", "-80")


def test_an_airport_of_ones_own_takes_records_and_survives_a_refresh(small: Shell) -> None:
    assert "Quiet Field (QFX)" in small("airports", "add", "qfx", "--name", " Quiet Field ", "--city", "Newark", *PLACE)
    small("airports", "refresh", "--file", small.write(HEADER + KENNEDY, "airports.csv"))
    said = small("import", "scheduledbus", small.write("airport_name,city\n(QFX),Newark\n"))
    assert "1 created, 0 refused" in said
    assert found(small, "quiet") == ["QFX"]


@pytest.mark.parametrize(
    "cases",
    [
        [("JFK", "--name", "Another Kennedy", *PLACE)],
        [(code, "--name", "Field", *PLACE) for code in ("", "AB", "ABCD", "A1B", "ÅÄÖ")],
        [("QFX", "--name", name, *PLACE) for name in ("", "  ", "a\nb", "x" * 195)],
        [("QFX", "--name", "Field", *PLACE[2:], "--country", country) for country in ("", "ZZ", "USA", "U")],
        [("QFX", "--name", "Field", *PLACE[:-1], longitude) for longitude in ("181", "west", "nan")],
        [("QFX", "--name", "Field", "--icao", icao, *PLACE) for icao in ("TOOLONG", "KJ", "ÅÄÖÜ")],
        [
            ("QFX", "--name", "Field", "--city", "c" * 121, *PLACE),
            ("QFX", "--name", "Field", "--state", "s" * 121, *PLACE),
        ],
        [("QFX", *PLACE), ("QFX", "--name", "Field")],
    ],
    ids=["taken", "code", "name", "country", "longitude", "icao", "long", "missing"],
)
def test_an_airport_that_cannot_be_is_refused(small: Shell, cases: list[tuple[str, ...]]) -> None:
    for words in cases:
        assert small("airports", "add", *words, fails=True)
        assert small.all(Airport.code) == sorted(SOME)
