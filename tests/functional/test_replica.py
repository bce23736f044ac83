"""A replica answers what only reads: what users see then, and what they can do without the leader."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import event

from groundtransport.db import Replica
from groundtransport.security import Role
from tests import postgres
from tests.api import Program, make_token
from tests.integrity import assert_whole
from tests.site import JFK, Client, Site
from tests.standby import Servers, execute, leader_and_standby
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

LIST = "/admin/transit"
LAG = 5  # seconds; the default of the setting
NOT_SAVED = "Nothing can be saved just now"


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with leader_and_standby("groundtransport_replica") as servers:
        yield servers


@pytest.fixture
def site(servers: Servers) -> Iterator[Site]:
    """The application with a replica that has replayed everything."""
    site = Site(
        servers.leader.render_as_string(), **{"groundtransport.replica_url": servers.standby.render_as_string()}
    )
    site.clean()
    servers.catch_up()
    yield site
    execute(servers.standby, "SELECT pg_wal_replay_resume()")
    site.engine.dispose()
    site.registry["replica"].engine.dispose()


def names(client: Client) -> list[str]:
    return [row["company_name"] for row in client.rows("transit", filtered="1")]


def reads_from_replica(site: Site, client: Client) -> bool:
    """Return True if a list is read from the replica."""
    statements: list[str] = []
    engine = site.registry["replica"].engine

    def note(*arguments: Any) -> None:
        statements.append(arguments[2])

    event.listen(engine, "before_cursor_execute", note)
    try:
        assert client.get(LIST).status_int == 200
    finally:
        event.remove(engine, "before_cursor_execute", note)
    return len(statements) > 1  # the first one reads its position


def test_users_see_their_own_changes_at_once(site: Site, servers: Servers) -> None:
    writer, reader = site.client(), site.client(Role.VIEWER)
    wait_for(lambda: reads_from_replica(site, reader))
    execute(servers.standby, "SELECT pg_wal_replay_pause()")
    writer.create("transit", company_name="New line")
    assert names(writer) == ["New line"]
    seen = names(reader)
    # Behind by more than the limit, the replica does not answer any more.
    wait_for(lambda: names(reader) == ["New line"])
    assert seen in ([], ["New line"])
    execute(servers.standby, "SELECT pg_wal_replay_resume()")
    wait_for(lambda: reads_from_replica(site, writer))
    assert names(writer) == ["New line"]


def test_a_colleague_reads_from_the_replica(site: Site, servers: Servers) -> None:
    reader = site.client(Role.VIEWER)
    wait_for(lambda: reads_from_replica(site, reader))
    execute(servers.standby, "SELECT pg_wal_replay_pause()")
    site.client().create("transit", company_name="New line")
    assert names(reader) == []  # within the limit of the lag


PAGES = (
    "/admin",
    LIST,
    f"{LIST}/1",
    f"{LIST}/1/history",
    "/admin/activity",
    "/admin/search?q=line",
    f"{LIST}/export?format=csv",
)


def test_pages_are_the_same_on_both(site: Site, servers: Servers) -> None:
    writer, reader = site.client(), site.client()
    record_id = writer.create("transit", company_name="New line")
    servers.catch_up()
    wait_for(lambda: reads_from_replica(site, reader))
    for path in PAGES:
        answer = reader.get(path.replace("/1", f"/{record_id}"))
        assert (answer.status_int, "New line" in answer.text) == (200, True), path


def test_without_the_leader_pages_are_shown(site: Site, servers: Servers) -> None:
    client, number = site.client(), site.client().create("transit", company_name="New line")
    program = Program(site, make_token(site, is_read_only=True))
    form = {"airport_name": JFK, "company_name": "Not saved", "csrf_token": client.csrf}
    servers.catch_up()
    postgres.halt(servers.programs, servers.leader_folder)
    try:
        for path in ("/admin", LIST, "/admin/activity", "/admin/users", "/admin/profile", "/admin/review"):
            answer = client.get(path)
            assert (answer.status_int, NOT_SAVED in answer.text) == (200, True), path
        assert names(client) == ["New line"]
        assert "New line" in client.get(f"{LIST}/{number}").text
        answer = program.get(f"/api/v1/transit/{number}")
        assert (answer.status_int, answer.json["company_name"]) == (200, "New line")
        answer = client.post(LIST, form, X_CSRF_Token=form["csrf_token"])
        assert answer.status_int == 503
        assert int(answer.headers["Retry-After"]) > 0
        assert (client.get("/readyz").status_int, client.get("/readyz").text) == (200, "ready to read")
    finally:
        postgres.launch(servers.programs, servers.leader_folder)
    wait_for(lambda: client.get("/readyz").text == "ready")
    assert NOT_SAVED not in client.get(LIST).text
    assert client.post(LIST, form, X_CSRF_Token=form["csrf_token"]).status_int == 303
    assert_whole(site)


def test_a_health_probe_does_not_ask_the_leader(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would wait for a paused one."""
    asked: list[str] = []
    monkeypatch.setattr(Replica, "is_leader_away", lambda _replica: bool(asked.append("leader")))
    assert site.client().get("/healthz").text == "ok"
    assert asked == []


def test_without_the_replica_the_leader_answers(site: Site, servers: Servers) -> None:
    client = site.client()
    wait_for(lambda: reads_from_replica(site, client))
    postgres.halt(servers.programs, servers.standby_folder)
    try:
        assert client.get(LIST).status_int == 200
        client.create("transit", company_name="New line")
        assert names(client) == ["New line"]
    finally:
        postgres.launch(servers.programs, servers.standby_folder)
    wait_for(lambda: reads_from_replica(site, client))


def test_a_request_reads_in_the_transaction_that_told_the_position(site: Site) -> None:
    """Behind PgBouncer the next transaction may be one of another standby, which is behind."""
    client, engine = site.client(), site.registry["replica"].engine
    wait_for(lambda: reads_from_replica(site, client))
    order: list[str] = []
    for name in ("begin", "before_cursor_execute", "checkin"):
        event.listen(engine.pool if name == "checkin" else engine, name, lambda *_, name=name: order.append(name))
    assert client.get(LIST).status_int == 200
    statements = order.count("before_cursor_execute")
    assert statements > 1
    assert order == ["begin", *["before_cursor_execute"] * statements, "checkin"]


def test_only_tokens_that_cannot_write_read_from_the_replica(site: Site, servers: Servers) -> None:
    writing, reading = (Program(site, make_token(site, is_read_only=read_only)) for read_only in (False, True))
    servers.catch_up()
    wait_for(lambda: reads_from_replica(site, site.client()))
    execute(servers.standby, "SELECT pg_wal_replay_pause()")
    answer = writing.post("/api/v1/transit", {"airport_name": JFK, "company_name": "New line"})
    assert answer.status_int == 201
    path = answer.headers["Location"]
    assert writing.get(path).status_int == 200
    assert reading.get(path).status_int == 404  # within the limit of the lag


def test_a_position_that_is_not_a_number_is_ignored(site: Site) -> None:
    client: Any = site.client()
    client.app.set_cookie("groundtransport-position", "next")
    assert client.get(LIST).status_int == 200
