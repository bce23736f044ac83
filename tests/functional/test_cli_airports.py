"""The command line: a newer list of airports, and airports that the list lacks."""

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text, update

from groundtransport import db, kinds
from groundtransport.airports import lookup
from groundtransport.airports.models import Airport
from groundtransport.audit.models import AdminActivity
from groundtransport.indexes import layouts
from groundtransport.records import renaming
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
    output = small("airports", "refresh", "--file", file)
    assert "1 added, 1 changed, 4 vanished." in output or "1 added, 0 changed, 4 vanished." in output
    assert re.search(r"LHR.*\b2 transit", output)
    assert "SJU" not in output  # nobody stands there
    output = small("import", "transit", small.write("airport_name\n(LHR)\n(AAA)\n", "late.csv"))
    assert "1 created, 1 refused" in output


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


def result(shell: Shell, text: str) -> list[str]:
    """Return the codes of the airports that the field of a form proposes."""
    with db.transaction(shell.engine) as dbsession:
        return [airport.code for airport in lookup.search(dbsession, text)]


def test_one_that_is_added_is_proposed_at_once_and_one_that_vanished_no_more(small: Shell) -> None:
    assert (result(small, "quiet"), result(small, "kennedy"), result(small, "heathrow")) == ([], ["JFK"], ["LHR"])
    small("airports", "add", "qfx", "--name", "Quiet Field", *PLACE)
    assert (result(small, "quiet"), result(small, "heathrow")) == (["QFX"], ["LHR"])
    small("airports", "refresh", "--file", small.write(HEADER + KENNEDY, "airports.csv"))
    assert (result(small, "quiet"), result(small, "kennedy"), result(small, "heathrow")) == (["QFX"], ["JFK"], [])


def test_another_name_is_shown_at_once_and_looked_for_ten_minutes_later(small: Shell) -> None:
    assert (result(small, "john f kennedy"), result(small, "brookfield")) == (["JFK"], [])
    renamed = KENNEDY.replace("John F Kennedy", "Brookfield")
    small("airports", "refresh", "--file", small.write(HEADER + renamed, "airports.csv"))
    with db.transaction(small.engine) as dbsession:
        assert [airport.name for airport in lookup.search(dbsession, "jfk")] == ["Brookfield International Airport"]
    lookup.DIRECTORIES.forget(small.engine)  # ten minutes pass
    assert (result(small, "john f kennedy"), result(small, "brookfield")) == ([], ["JFK"])


PLACE = ("--country", "us", "--latitude", "40.5", "--longitude", "-80")


def test_an_airport_of_ones_own_takes_records_and_survives_a_refresh(small: Shell) -> None:
    assert "Quiet Field (QFX)" in small("airports", "add", "qfx", "--name", " Quiet Field ", "--city", "Newark", *PLACE)
    small("airports", "refresh", "--file", small.write(HEADER + KENNEDY, "airports.csv"))
    output = small("import", "scheduledbus", small.write("airport_name,city\n(QFX),Newark\n"))
    assert "1 created, 0 refused" in output
    assert result(small, "quiet") == ["QFX"]


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


def test_a_refresh_never_undoes_a_correction(small: Shell) -> None:
    wrong = "ANR,EBAW,Antwerp Airfield,Antwerp,Flanders,BE,51.3,4.3\n"  # as the list has the position
    small("airports", "refresh", "--file", small.write(HEADER + KENNEDY + wrong, "airports.csv"))
    ((name, latitude),) = [
        row[1:] for row in small.all(Airport.code, Airport.name, Airport.latitude) if row[0] == "ANR"
    ]
    assert name == "Antwerp Airfield"
    assert latitude == pytest.approx(51.189, abs=0.01)


def test_records_follow_the_name_of_their_airport(small: Shell) -> None:
    small("import", "transit", small.write("airport_name\n(JFK)\n(LHR)\n"))
    renamed = KENNEDY.replace("John F Kennedy", "Idlewild")
    output = small("airports", "refresh", "--file", small.write(HEADER + renamed, "airports.csv"))
    assert "transit: the airport's new name stored in 1 records" in output
    kind = kinds.kinds()["transit"]
    assert "Idlewild International Airport (JFK)" in [
        row[1] for row in small.all(kind.model.id, kind.model.airport_name)
    ]
    assert small.all(AdminActivity.id, AdminActivity.action)[-1][1] == "update"
    assert "stored in" not in small("airports", "refresh", "--file", small.write(HEADER + renamed, "airports.csv"))


def test_records_are_renamed_in_small_transactions_of_one_batch(small: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renaming, "AT_ONCE", 1)
    small("import", "transit", small.write("airport_name\n(JFK)\n(JFK)\n(JFK)\n"))
    renamed = KENNEDY.replace("John F Kennedy", "Idlewild")
    output = small("airports", "refresh", "--file", small.write(HEADER + renamed, "airports.csv"))
    assert "transit: the airport's new name stored in 3 records" in output
    assert len({batch for _, batch in small.all(AdminActivity.id, AdminActivity.batch)[-3:]}) == 1


@pytest.mark.parametrize("small_database_url", ["postgresql"], indirect=True)
def test_a_record_that_is_changed_meanwhile_is_renamed_too(small: Shell) -> None:
    small("import", "transit", small.write("airport_name\n(JFK)\n(JFK)\n"))
    waits = text(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )

    def commit_when_waited_for(writer: Connection) -> None:
        with small.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as observer:
            while not observer.scalar(waits):
                time.sleep(0.01)
        writer.commit()

    with small.engine.connect() as writer:
        writer.execute(text("UPDATE transit SET version = version + 1, city = 'Queens' WHERE id = 1"))
        thread = threading.Thread(target=commit_when_waited_for, args=(writer,))
        thread.start()
        renamed = KENNEDY.replace("John F Kennedy", "Idlewild")
        output = small("airports", "refresh", "--file", small.write(HEADER + renamed, "airports.csv"))
        thread.join()
    assert "transit: the airport's new name stored in 2 records" in output
    model = kinds.kinds()["transit"].model
    assert small.all(model.id, model.version, model.city)[0] == (1, 3, "Queens")


def test_a_database_of_an_earlier_release_is_corrected_by_init(small: Shell) -> None:
    with db.transaction(small.engine) as dbsession:
        dbsession.execute(
            update(Airport).where(Airport.code == "ANR").values(latitude=51.3, page_rank=None, search_text="|")
        )
        layouts.store(dbsession.connection(), "airport", "")
    assert result(small, "deurne") == []
    assert "Correcting the airports" in small("init")
    lookup.DIRECTORIES.forget(small.engine)
    assert result(small, "deurne") == ["ANR"]
    assert "Correcting" not in small("init")


def test_the_check_lists_where_the_sources_disagree(small: Shell) -> None:
    assert "0 differences" in small("airports", "check")
    with db.transaction(small.engine) as dbsession:
        dbsession.execute(update(Airport).where(Airport.code == "JFK").values(latitude=41.6))
    assert re.search(r"JFK .*: 107 km from the position in OpenTravelData\n1 differences", small("airports", "check"))
