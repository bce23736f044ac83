"""Many concurrent users of a running server: no update is lost or doubled, and the activity log is complete."""

import threading
import time
from collections import Counter
from typing import Any

import pytest
from sqlalchemy import event

from groundtransport import db
from groundtransport.records import maintenance
from groundtransport.resources import record_by_id
from groundtransport.security import Role
from tests.integrity import Person, assert_whole, at_once, person, rows
from tests.site import HEATHROW, JFK, PATIENT, Site

pytestmark = pytest.mark.slow

WRITERS, READERS, SECONDS = 16, 8, 4.0
TAGGED = ("company_name", "company_address", "place", "route_name")


def only(site: Site) -> dict[str, Any]:
    """Return the one record that there is."""
    (row,) = rows(site).values()
    return row


def actions(site: Site) -> Counter[str]:
    return Counter(entry["action"] for entry in site.entries())


class Writer:
    """Somebody who writes without a pause, and notes what was acknowledged."""

    def __init__(self, number: int, site: Site, shared: int) -> None:
        self.number, self.shared, self.person = number, shared, person(site)
        self.turns, self.acknowledged, self.statuses = 0, Counter[str](), Counter[int]()

    def until(self, end: float) -> None:
        while time.monotonic() < end:
            self.turns += 1
            self.turn(f"{self.number}-{self.turns}")

    def turn(self, name: str) -> None:
        fields = {"airport_name": HEATHROW, "company_name": name}
        created = self.note(
            "create", self.person.post("/admin/transit", {**fields, "form_token": f"a-crowd-of-writers-{name}"})
        )
        result = [row for row in self.person.rows("transit", company_name=name) if row["company_name"] == name]
        assert len(result) == created  # what was acknowledged is there for the next request
        for row in result:
            address = f"/admin/transit/{row['id']}"
            self.note("update", self.person.put(address, {**fields, "place": "Bay 1", "version": "1"}))
            if self.turns % 2:
                self.note("delete", self.person.delete(address, {"version": "2"}))
        shared = f"/admin/transit/{self.shared}"
        self.note("update", self.person.put(shared, {"airport_name": JFK, "place": name}))
        self.note("update", self.person.put(shared, {"airport_name": JFK, "place": f"{name} again", "version": "1"}))

    def note(self, action: str, answer: Any) -> bool:
        self.statuses[answer.status_int] += 1
        self.acknowledged[action] += answer.status_int == 303
        return answer.status_int == 303


def read(reader: Person, end: float) -> Counter[int]:
    """Turn the pages until the end, once at least; return how often which status was answered."""
    statuses = Counter[int]()
    while not statuses or time.monotonic() < end:
        for address in (
            "/admin",
            "/admin/transit",
            "/admin/transit?ajax=1&q=1",
            "/admin/activity",
            "/admin/transit?deleted=1",
        ):
            statuses[reader.get(address).status_int] += 1
    return statuses


def test_sixteen_writers_and_eight_readers_are_all_served(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    with site.again(**PATIENT) as patient:
        write_and_read_at_once(patient)
    assert "locked" not in caplog.text
    assert "not written" not in caplog.text  # nobody's messages were lost


def write_and_read_at_once(site: Site) -> None:
    """Write and read with many people for SECONDS; assert that all are served and that each change is logged once."""
    shared = person(site).create("transit", company_name="Everybody's")
    writers = [Writer(number, site, shared) for number in range(WRITERS)]
    readers = [person(site, f"the-{Role.VIEWER}") for _ in range(READERS)]
    # Templates and statements are made when first used: not by all at once, while one of them holds SQLite's lock.
    writers[0].turn("first")
    seen = read(readers[0], 0.0)
    end = time.monotonic() + SECONDS

    def work(number: int) -> Counter[int]:
        if number < READERS:
            return read(readers[number], end)
        writers[number - READERS].until(end)
        return Counter()

    seen += sum(at_once(READERS + WRITERS, work), Counter[int]())
    assert set(seen) == {200}
    statuses, done = Counter[int](), Counter[str](create=1)
    for writer in writers:
        statuses += writer.statuses
        done += writer.acknowledged
    assert set(statuses) <= {303, 409}
    assert min(writer.turns for writer in writers) > 0
    assert actions(site) == done
    assert len(rows(site)) == done["create"]
    assert_whole(site)


def until_waiting(site: Site, number: int) -> None:
    """Return when so many wait for a lock."""
    if site.engine.dialect.name == "sqlite":
        time.sleep(0.3)  # nobody can be asked
        return
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    end = time.monotonic() + 5
    with site.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while connection.exec_driver_sql(query).scalar_one() < number:
            assert time.monotonic() < end, "nobody waits"


def test_who_asks_first_for_a_record_saves_first(site: Site) -> None:
    """Whoever saved it just before and comes again is the last, not the first."""
    people = [person(site) for _ in range(3)]
    record_id = people[0].create("transit")
    saved: list[str] = []
    for turn in range(5):

        def save(number: int, turn: int = turn) -> None:
            fields = {"airport_name": JFK, "place": f"{turn} by {number}"}
            assert people[number].put(f"/admin/transit/{record_id}", fields).status_int == 303

        others = [threading.Thread(target=save, args=(number,)) for number in (1, 2)]
        with db.transaction(site.engine) as dbsession:
            record = dbsession.scalar(record_by_id(site.kinds["transit"].model, write=True), {"record_id": record_id})
            for number, other in enumerate(others, 1):
                other.start()
                until_waiting(site, number)
            record.place = f"{turn} by 0"
        save(0)
        for other in others:
            other.join()
        saved += [f"{turn} by {number}" for number in (1, 2, 0)]
    assert [entry["changes"]["place"]["new"] for entry in site.entries()[1:]] == saved


@pytest.mark.parametrize("named", [True, False], ids=["from one version", "without a version"])
def test_many_saves_of_one_record_never_mix(site: Site, named: bool) -> None:
    people = [person(site) for _ in range(8)]
    record_id = people[0].create("transit", company_name="Before")
    for turn in range(1, 6):
        version = {"version": str(only(site)["version"])} if named else {}

        def save(number: int, turn: int = turn, version: dict[str, str] = version) -> int:
            tags = dict.fromkeys(TAGGED, f"{turn} by {number}")
            return (
                people[number].put(f"/admin/transit/{record_id}", {"airport_name": JFK, **tags, **version}).status_int
            )

        statuses = at_once(len(people), save)
        row = only(site)
        assert len({row[name] for name in TAGGED}) == 1
        if named:
            assert sorted(statuses) == [303] + [409] * 7
            assert (row["company_name"], row["version"]) == (f"{turn} by {statuses.index(303)}", turn + 1)
        else:
            assert statuses == [303] * 8
            assert row["version"] == turn * 8 + 1
    assert_whole(site)


def test_many_saves_of_different_fields_from_one_version_are_all_kept(site: Site) -> None:
    people = [person(site) for _ in TAGGED]
    record_id = people[0].create("transit")
    for turn in range(5):
        version = str(only(site)["version"])

        def save(number: int, turn: int = turn, version: str = version) -> int:
            fields = {"airport_name": JFK, TAGGED[number]: f"{turn} by {number}", "version": version}
            return people[number].put(f"/admin/transit/{record_id}", fields).status_int

        assert at_once(len(people), save) == [303] * len(people)
        row = only(site)
        assert [row[name] for name in TAGGED] == [f"{turn} by {number}" for number in range(len(TAGGED))]
    assert row["version"] == 1 + 5 * len(TAGGED)
    assert_whole(site)


def test_one_create_form_sent_many_times_at_once_makes_one_record(site: Site, kind: str) -> None:
    people = [person(site) for _ in range(8)]
    for turn in range(1, 6):
        fields = {"airport_name": JFK, "company_name": f"Turn {turn}", "form_token": f"one-form-only-{turn:03}"}

        def send(number: int, fields: dict[str, str] = fields) -> int:
            return people[number].post(f"/admin/{kind}", fields).status_int

        assert at_once(len(people), send) == [303] * len(people)
        assert (len(rows(site)), len(site.entries())) == (turn, turn)
    assert people[0].get(f"/admin/{kind}").text.count("was created") == 5  # each answer led to the first result
    assert_whole(site)


def test_a_check_beside_writers_finds_nothing_wrong(site: Site) -> None:
    writers = [person(site) for _ in range(3)]
    end = threading.Event()

    def write(writer: Person) -> None:
        turn = 0
        while not end.is_set():
            turn += 1
            fields = {"airport_name": JFK, "company_name": f"Turn {turn}"}
            assert writer.post("/admin/transit", fields).status_int == 303

    def look() -> list[str]:
        result: list[str] = []
        try:
            for _ in range(20):
                with db.write_engine(site.engine).connect() as connection:
                    result += maintenance.check(connection, site.kinds["transit"])
            return result
        finally:
            end.set()

    answers = at_once(4, lambda number: look() if number == 3 else write(writers[number]))
    assert answers == [None, None, None, []]
    assert_whole(site)


def windows_of_one(site: Site, number: int) -> list[Person]:
    """Return so many windows of one browser: they have the same cookie."""
    first = person(site)
    windows = [Person(site) for _ in range(number)]
    for window in windows:
        window.app.cookiejar = first.app.cookiejar
        assert window.csrf == first.csrf
    return windows


def test_one_form_sent_by_a_browser_that_is_one_session_makes_one_record(site: Site) -> None:
    """A double click: the same cookie, too."""
    windows = windows_of_one(site, 6)
    fields = {"airport_name": JFK, "company_name": "Clicked", "form_token": "clicked-many-times"}
    answers = at_once(len(windows), lambda number: windows[number].post("/admin/transit", fields).status_int)
    assert answers == [303] * len(windows)
    assert only(site)["company_name"] == "Clicked"
    assert_whole(site)


def test_many_windows_of_one_session_save_without_a_deadlock(site: Site) -> None:
    """All lock the session's row first, and then the chain head."""
    windows = windows_of_one(site, 8)
    deadlocks = []

    def note(context: Any) -> None:
        if getattr(context.original_exception, "sqlstate", "") == "40P01":
            deadlocks.append(context.statement)

    event.listen(site.engine, "handle_error", note)
    try:
        for turn in range(40):

            def save_or_look(number: int, turn: int = turn) -> int:
                if number % 4 == 0:  # what the page tells is taken from the session
                    return windows[number].get("/admin/transit").status_int
                fields = {"airport_name": JFK, "company_name": f"Turn {turn} of {number}"}
                return windows[number].post("/admin/transit", fields).status_int

            assert at_once(len(windows), save_or_look) == [200, 303, 303, 303] * 2
    finally:
        event.remove(site.engine, "handle_error", note)
    assert not deadlocks
    assert_whole(site)


@pytest.mark.parametrize("named", [True, False], ids=["with a version", "without a version"])
def test_a_deletion_that_races_with_saves_is_never_undone_by_them(site: Site, named: bool) -> None:
    people = [person(site) for _ in range(6)]
    for turn in range(8):
        record_id = people[0].create("transit", company_name=f"Turn {turn}")
        version, address = {"version": "1"} if named else {}, f"/admin/transit/{record_id}"

        def race(number: int, address: str = address, version: dict[str, str] = version) -> int:
            if number < 2:
                return people[number].delete(address, version).status_int
            fields = {"airport_name": JFK, "company_name": f"By {number}", **version}
            return people[number].put(address, fields).status_int

        statuses = at_once(len(people), race)
        assert set(statuses) <= {303, 404, 409}
        row = rows(site)["transit", record_id]
        assert statuses[:2].count(303) == (row["deleted_at"] is not None)
        assert row["version"] == 1 + statuses[2:].count(303)
        if not named:
            assert row["deleted_at"] is not None
        listed = [result["id"] for result in people[0].rows("transit")]
        assert (record_id in listed) == (row["deleted_at"] is None)
    assert_whole(site)


def test_restoring_twice_at_once_restores_once(site: Site) -> None:
    people = [person(site) for _ in range(4)]
    record_id = people[0].create("transit")
    for _ in range(4):
        assert people[0].delete(f"/admin/transit/{record_id}").status_int == 303

        def restore(number: int) -> int:
            return people[number].post(f"/admin/transit/{record_id}/restore").status_int

        assert sorted(at_once(len(people), restore)) == [303, 404, 404, 404]
    assert_whole(site)
