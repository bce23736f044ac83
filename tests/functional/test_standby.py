"""A leader and its standby in one URL, as libpq writes several hosts: switchover, failover, and no leader at all."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, create_engine, text

from groundtransport.web.errors import MESSAGES
from tests import postgres
from tests.integrity import assert_whole
from tests.site import JFK, Site, fill_with_all_places

pytestmark = pytest.mark.slow

NAME = "groundtransport_standby"


class Cluster:
    """A leader, its standby, and the application that knows both."""

    def __init__(self, leader: URL, standby: URL) -> None:
        self.leader, self.standby = leader.set(database=NAME), standby.set(database=NAME)
        execute(leader, f"CREATE DATABASE {NAME} TEMPLATE template0 ENCODING 'UTF8'")
        fill_with_all_places(self.leader.render_as_string())
        self.site = Site(self.leader.render_as_string())
        self.site.engine.dispose()
        hosts = (str(self.standby.query["host"]), str(self.leader.query["host"]))
        query = {"host": hosts, "target_session_attrs": "read-write"}
        self.site.app_settings["sqlalchemy.url"] = self.leader.set(query=query).render_as_string()
        self.site.start()

    def save(self, name: str) -> Any:
        return self.site.client().post("/admin/transit", {"airport_name": JFK, "company_name": name})


def execute(url: URL, *statements: str) -> Any:
    """Execute statements on one server, each by itself; return the value of the last one, None if it has no row."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            results = [connection.execute(text(statement)) for statement in statements]
            return results[-1].scalar() if results[-1].returns_rows else None
    finally:
        engine.dispose()


def companies(url: URL) -> list[str]:
    return execute(url, "SELECT array_agg(company_name ORDER BY id) FROM transit WHERE deleted_at IS NULL")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    programs = postgres.find_programs()
    if programs is None:
        if os.environ.get("CI"):
            pytest.fail("CI must run the tests with a standby, and PostgreSQL is not installed")
        pytest.skip(postgres.HOW_TO)
    with ExitStack() as stack:
        leader = postgres.start(programs)
        stack.callback(postgres.stop, programs, leader)
        standby = postgres.start(programs, leader)
        stack.callback(postgres.stop, programs, standby)
        cluster = Cluster(url_of(leader), url_of(standby))
        stack.callback(cluster.site.engine.dispose)
        yield cluster


def url_of(folder: Path) -> URL:
    return URL.create("postgresql+psycopg", "postgres", database="postgres", query={"host": str(folder)})


def test_writes_follow_the_leader(cluster: Cluster) -> None:
    site = cluster.site
    assert cluster.save("before").status_int == 303
    assert execute(cluster.standby, "SELECT pg_is_in_recovery()")

    # Switchover: the connections of the pool lead to the old leader, which only reads from now on.
    client = site.client()
    token = client.csrf
    catch_up(cluster)
    execute(cluster.standby, "SELECT pg_promote()")
    refuse_writes(cluster.leader)
    form = {"airport_name": JFK, "company_name": "switched", "csrf_token": token}
    assert client.post("/admin/transit", form, X_CSRF_Token=token).status_int == 303
    assert companies(cluster.standby) == ["before", "switched"]
    assert companies(cluster.leader) == ["before"]

    # Failover: the connections are lost.
    execute(cluster.standby, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    assert cluster.save("lost").status_int == 303
    assert_whole(site)

    # No server accepts writes.
    token = client.csrf
    assert client.get("/readyz").status_int == 200
    refuse_writes(cluster.standby)
    answer = client.get("/readyz")
    assert (answer.status_int, "The database accepts no changes at present." in answer.text) == (503, True)
    answer = client.post("/admin/transit", form | {"company_name": "refused"}, X_CSRF_Token=token)
    assert (answer.status_int, MESSAGES[503] in answer.text) == (503, True)
    assert int(answer.headers["Retry-After"]) > 0
    assert companies(cluster.standby) == ["before", "switched", "lost"]


def refuse_writes(url: URL) -> None:
    """Make a server refuse writes; return when it does: ``pg_reload_conf`` returns before the file has been read."""
    execute(url, "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
    while execute(url, "SHOW default_transaction_read_only") != "on":
        pass


def catch_up(cluster: Cluster) -> None:
    """Wait until the standby has replayed what the leader has written."""
    position = execute(cluster.leader, "SELECT pg_current_wal_lsn()::text")
    while not execute(cluster.standby, f"SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn"):
        pass


def test_postgresql_shows_the_name_of_the_process(cluster: Cluster) -> None:
    names = "SELECT array_agg(DISTINCT application_name) FROM pg_stat_activity WHERE application_name LIKE 'ground%'"
    assert cluster.site.client().get("/admin").status_int == 200
    assert [name.endswith(f":{os.getpid()}") for name in execute(cluster.leader, names)] == [True]

    cluster.site.engine.dispose()
    cluster.site.app_settings["groundtransport.worker"] = "6543"
    cluster.site.start()
    assert cluster.site.client().get("/admin").status_int == 200
    assert execute(cluster.leader, names) == ["groundtransport 6543"]
