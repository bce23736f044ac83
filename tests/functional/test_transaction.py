"""The real transaction on both databases: a change and its entry together, or neither."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import DatabaseError
from typing import Any

import pytest
from pyramid.response import Response
from sqlalchemy import Engine, select, text
from sqlalchemy.exc import IntegrityError

from groundtransport import db, settings
from groundtransport.airports.models import Airport
from groundtransport.db import migrations
from groundtransport.events import Actor, RecordChanged
from groundtransport.records.writer import Writer
from tests.site import ENVIRON, HEATHROW, JFK, Client, Site, app_settings


@contextmanager
def subscribed(site: Site, subscriber: Callable[[Any], None], event: type = RecordChanged) -> Iterator[None]:
    site.registry.registerHandler(subscriber, (event,))
    try:
        yield
    finally:
        site.registry.unregisterHandler(subscriber, (event,))


def refuse(event: Any) -> None:
    raise RuntimeError("the log is full")


def facts(site: Site, kind: str) -> list[dict[str, Any]]:
    """Every row of a kind, deleted or not."""
    table = site.kinds[kind].model.__table__
    with site.engine.connect() as connection:
        return [dict(row) for row in connection.execute(select(table).order_by(table.c.id)).mappings()]


def send(
    client: Client, method: str, address: str, fields: dict[str, str], token: str, accept: str = "text/html"
) -> Any:
    """Send a form with a token at hand: the client's own way loads a page for it first."""
    call = {"POST": client.app.post, "PUT": client.app.put}[method]
    return call(address, fields, headers={"X-CSRF-Token": token, "Accept": accept}, expect_errors=True)


# A failing audit


def test_a_failing_audit_takes_every_change_with_it(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    before, entries = facts(site, kind), site.entries()
    with subscribed(site, refuse):
        answers = [
            client.post(f"/admin/{kind}", {"airport_name": JFK, "company_name": "Beta"}),
            client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "Gamma"}),
            client.delete(f"/admin/{kind}/{record_id}"),
        ]
    assert [answer.status_int for answer in answers] == [500, 500, 500]
    assert (facts(site, kind), site.entries()) == (before, entries)
    assert "the log is full" not in "".join(answer.text for answer in answers)
    assert client.delete(f"/admin/{kind}/{record_id}").status_int == 303  # and afterwards all is well


def test_an_entry_that_the_database_refuses_takes_the_change_with_it(
    site: Site, client: Client, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groundtransport.audit.subscriber.changes", lambda before, after: {"x": object()})
    assert client.post(f"/admin/{kind}", {"airport_name": JFK}).status_int == 500
    assert facts(site, kind) == site.entries() == []


def test_every_change_has_exactly_one_entry(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "Beta"})
    client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "Beta"})  # changes nothing
    client.delete(f"/admin/{kind}/{record_id}")
    client.delete(f"/admin/{kind}/{record_id}")  # 404
    assert [entry["action"] for entry in site.entries()] == ["create", "update", "delete"]


# Refused writes


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_what_is_no_record_leaves_nothing(site: Site, client: Client, kind: str, accept: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    before, entries = facts(site, kind), site.entries()
    bad = {"airport_name": "Nowhere (QQQ)", "company_name": "Beta"}
    assert client.post(f"/admin/{kind}", bad, Accept=accept).status_int == 422
    assert client.put(f"/admin/{kind}/{record_id}", bad, Accept=accept).status_int == 422
    assert client.put(f"/admin/{kind}/{record_id}", {"company_name": "Beta"}, Accept=accept).status_int == 422
    assert (facts(site, kind), site.entries()) == (before, entries)


@pytest.fixture
def careless(whole_site: Site) -> Iterator[Site]:
    """The application with a careless view more: it writes a record, and then answers with what it is told."""
    from groundtransport.kinds import kinds
    from groundtransport.records.edit import create_views
    from groundtransport.web.actor import actor_of

    whole_site.clean()

    def create(self: Any) -> Response:
        values = {"airport_name": JFK, "airport_code": "JFK", "airport_id": self.request.find_airport("JFK").id}
        Writer(self.request.dbsession, self.request.registry.notify, kinds()["transit"], actor_of(self.request)).create(
            values
        )
        return Response(status=int(self.request.POST["status"]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(create_views.CreateViews, "create", create)
        yield whole_site


@pytest.mark.parametrize("status", [400, 404, 409, 422, 500, 503])
def test_a_returned_error_undoes_what_was_flushed_before_it(careless: Site, status: int) -> None:
    client = careless.client()
    assert client.post("/admin/transit", {"status": str(status)}).status_int == status
    assert facts(careless, "transit") == careless.entries() == []


def test_a_returned_redirect_keeps_it(careless: Site) -> None:
    assert careless.client().post("/admin/transit", {"status": "303"}).status_int == 303
    assert (len(facts(careless, "transit")), len(careless.entries())) == (1, 1)


def test_a_session_and_its_messages_outlive_a_refused_write(site: Site, client: Client) -> None:
    token, fields = client.csrf, {"airport_name": JFK, "company_name": "Alpha"}
    assert (
        send(client, "POST", "/admin/transit", fields, token).status_int == 303
    )  # its message waits for the next page
    with subscribed(site, refuse):
        answer = send(client, "POST", "/admin/transit", fields, token, "application/json")
        assert answer.status_int == 500
    assert send(client, "PUT", "/admin/transit/999999999", fields, token, "application/json").status_int == 404
    assert send(client, "POST", "/admin/transit", {"airport_name": "x"}, token, "application/json").status_int == 422
    page = client.get("/admin/transit")
    assert page.status_int == 200
    assert "Alpha" in page.html.find(id="messages").text


# Two at once


def test_a_stale_version_is_refused_with_the_current_values(site: Site, kind: str) -> None:
    first, second = site.client(), site.client()
    record_id = first.create(kind, company_name="Alpha")
    address, fields = f"/admin/{kind}/{record_id}", {"airport_name": JFK, "version": "1"}
    assert first.put(address, {**fields, "company_name": "Beta"}).status_int == 303
    answer = second.put(address, {**fields, "company_name": "Gamma"}, Accept="application/json")
    assert answer.status_int == 409
    assert (answer.json["current"]["company_name"], answer.json["current"]["version"]) == ("Beta", 2)
    assert second.delete(address, {"version": "1"}).status_int == 409
    assert site.row(kind, record_id)["company_name"] == "Beta"
    assert [entry["action"] for entry in site.entries()] == ["create", "update"]


def test_of_two_writers_at_the_same_moment_one_wins_and_one_is_told(site: Site, kind: str) -> None:
    clients = [site.client() for _ in range(4)]
    record_id = clients[0].create(kind, company_name="Alpha")
    tokens = [client.csrf for client in clients]
    barrier, answers = threading.Barrier(len(clients)), {}

    def save(number: int) -> None:
        fields = {"airport_name": JFK, "company_name": f"Writer {number}", "version": "1"}
        barrier.wait()
        answers[number] = (
            clients[number].put(f"/admin/{kind}/{record_id}", fields, X_CSRF_Token=tokens[number]).status_int
        )

    threads = [threading.Thread(target=save, args=(number,)) for number in range(len(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers.values()) == [303, 409, 409, 409]
    (winner,) = [number for number, status in answers.items() if status == 303]
    row = site.row(kind, record_id)
    assert (row["company_name"], row["version"]) == (f"Writer {winner}", 2)
    assert [entry["action"] for entry in site.entries()] == ["create", "update"]


def test_writers_of_different_records_all_succeed(site: Site, kind: str) -> None:
    clients = [site.client() for _ in range(4)]
    tokens = [client.csrf for client in clients]
    statuses: list[int] = []

    def create(number: int) -> None:
        for turn in range(3):
            fields = {"airport_name": HEATHROW, "company_name": f"{number}-{turn}"}
            answer = send(clients[number], "POST", f"/admin/{kind}", fields, tokens[number])
            statuses.append(answer.status_int)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(len(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [303] * 12
    assert len(facts(site, kind)) == len(site.entries()) == 12
    assert {entry["label"] for entry in site.entries()} == {row["company_name"] for row in facts(site, kind)}


# What a connection is set to


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Engine]:
    """An engine of SQLite, with one airport; what it is set to is nothing that PostgreSQL has."""
    engine = db.make_engine(settings.read(app_settings(f"sqlite:///{tmp_path}/one.sqlite"), ENVIRON))
    migrations.upgrade(engine)
    place = {"city": "", "state": "", "country": "US", "latitude": 1.0, "longitude": 2.0, "search_text": "|aaa|"}
    with db.transaction(engine) as dbsession:
        dbsession.add(Airport(code="AAA", name="A", **place))
    yield engine
    engine.dispose()


def test_sqlite_is_set_to_keep_what_it_was_given(sqlite: Engine) -> None:
    names = ("journal_mode", "synchronous", "foreign_keys")
    with sqlite.connect() as connection:
        values = {name: connection.scalar(text(f"PRAGMA {name}")) for name in names}
    assert values == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_a_record_of_no_airport_is_refused_by_the_database_itself(site: Site, kind: str) -> None:
    values = {"airport_name": "x (XXX)", "airport_code": "XXX", "airport_id": 999_999_999}

    def create() -> None:
        with db.transaction(site.engine) as dbsession:
            Writer(dbsession, lambda event: None, site.kinds[kind], Actor("me")).create(values)

    with pytest.raises(IntegrityError):
        create()
    assert facts(site, kind) == []


def test_on_sqlite_a_write_takes_its_lock_at_the_beginning_and_readers_do_not_wait(sqlite: Engine) -> None:
    with db.transaction(sqlite) as dbsession:
        dbsession.connection()  # BEGIN, and no statement yet
        with sqlite.connect() as reader:
            assert reader.scalar(text("SELECT count(*) FROM airport")) == 1
        with sqlite.connect() as other:
            raw: Any = other.connection.dbapi_connection
            raw.execute("PRAGMA busy_timeout = 0")
            with pytest.raises(DatabaseError, match="locked"):
                raw.execute("BEGIN IMMEDIATE")


def test_on_sqlite_a_reader_hinders_no_writer(sqlite: Engine) -> None:
    with sqlite.connect() as reader:
        assert reader.scalar(text("SELECT count(*) FROM airport")) == 1
        with db.transaction(sqlite) as dbsession:
            dbsession.execute(text("DELETE FROM airport"))
        assert reader.scalar(text("SELECT count(*) FROM airport")) == 1  # what it began with
