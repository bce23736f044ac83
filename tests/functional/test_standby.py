"""A leader and its standby in one URL, as libpq writes several hosts: switchover, failover, and no leader at all."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import URL

from groundtransport.web.errors import MESSAGES
from tests.integrity import assert_whole
from tests.site import JFK, Site
from tests.standby import Servers, execute, leader_and_standby

pytestmark = pytest.mark.slow


class Cluster:
    """A leader, its standby, and the application that knows both."""

    def __init__(self, servers: Servers) -> None:
        self.servers, self.leader, self.standby = servers, servers.leader, servers.standby
        self.site = Site(self.leader.render_as_string())
        self.site.engine.dispose()
        hosts = (str(self.standby.query["host"]), str(self.leader.query["host"]))
        query = {"host": hosts, "target_session_attrs": "read-write"}
        self.site.app_settings["sqlalchemy.url"] = self.leader.set(query=query).render_as_string()
        self.site.start()

    def save(self, name: str) -> Any:
        return self.site.client().post("/admin/transit", {"airport_name": JFK, "company_name": name})


def companies(url: URL) -> list[str]:
    return execute(url, "SELECT array_agg(company_name ORDER BY id) FROM transit WHERE deleted_at IS NULL")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with leader_and_standby("groundtransport_standby") as servers:
        cluster = Cluster(servers)
        yield cluster
        cluster.site.engine.dispose()


def test_writes_follow_the_leader(cluster: Cluster) -> None:
    site = cluster.site
    assert cluster.save("before").status_int == 303
    assert execute(cluster.standby, "SELECT pg_is_in_recovery()")

    # Switchover: the connections of the pool lead to the old leader, which only reads from now on.
    client = site.client()
    token = client.csrf
    cluster.servers.catch_up()
    execute(cluster.standby, "SELECT pg_promote()")
    refuse_writes(cluster.leader)
    form = {"airport_name": JFK, "company_name": "switched", "csrf_token": token}
    assert client.post("/admin/transit", form, X_CSRF_Token=token).status_int == 303
    assert companies(cluster.standby) == ["before", "switched"]
    assert companies(cluster.leader) == ["before"]

    # Failover: the connections are lost.
    execute(
        cluster.standby, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    )
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
