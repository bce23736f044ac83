"""The service behind PgBouncer in transaction mode, where a server connection is a client's for one transaction."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psycopg
import pytest
from sqlalchemy import event, make_url, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

import groundtransport
from groundtransport.db import postgresql, read_engine
from groundtransport.records.search.time_limit import Budget, OutOfTime
from groundtransport.security import Role
from groundtransport.server.listening import StartError
from groundtransport.server.runner import check_time_limits
from tests.databases import filled_database
from tests.shell import Shell
from tests.site import Site, app_settings, fill_with_all_places
from tests.standby import execute

pytestmark = pytest.mark.slow

LIMITS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "jit", "plan_cache_mode")
END_READERS = """SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
                 WHERE datname = current_database() AND state = 'idle in transaction'"""
INI = """
[databases]
* = host={host} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
pool_mode = transaction
default_pool_size = 10
ignore_startup_parameters = options
unix_socket_dir =
logfile = {folder}/pgbouncer.log
pidfile = {folder}/pgbouncer.pid
"""


@contextmanager
def pgbouncer(folder: Path, host: str) -> Iterator[int]:
    """Run PgBouncer in front of the server on the socket folder ``host``; yield its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    (folder / "pgbouncer.ini").write_text(INI.format(host=host, port=port, folder=folder))
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []  # it refuses to run as root
    if user:
        shutil.chown(folder, "postgres")
    process = subprocess.Popen([*user, "pgbouncer", "--quiet", str(folder / "pgbouncer.ini")])
    try:
        wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 15
    while time.monotonic() < end:
        assert process.poll() is None, "pgbouncer ended"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("pgbouncer did not start")


@pytest.fixture(scope="module")
def direct_url(request: pytest.FixtureRequest) -> Iterator[str]:
    if shutil.which("pgbouncer") is None:
        if os.environ.get("CI"):
            pytest.fail("CI must run the tests behind PgBouncer, which is not installed")
        pytest.skip("PgBouncer is not installed (Debian: apt install pgbouncer)")
    with filled_database("postgresql", request, "groundtransport_pgbouncer", fill_with_all_places) as url:
        yield url


@pytest.fixture(scope="module")
def pooled_url(direct_url: str, request: pytest.FixtureRequest) -> Iterator[str]:
    folder = Path(subprocess.check_output(["mktemp", "-d", "-p", "/tmp", "gt-pgbouncer-XXXXXX"], text=True).strip())
    url = make_url(direct_url)
    try:
        with pgbouncer(folder, str(url.query["host"])) as port:
            pooled = url.set(host="127.0.0.1", port=port, query={})
            yield pooled.render_as_string(hide_password=False)
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def site(direct_url: str, pooled_url: str) -> Iterator[Site]:
    """The application behind PgBouncer; its database was set up directly."""
    site = Site(direct_url)
    site.engine.dispose()
    site.app_settings |= {"sqlalchemy.url": pooled_url, "groundtransport.pgbouncer": "true"}
    site.start()
    yield site
    site.engine.dispose()


def test_the_life_of_a_record(site: Site) -> None:
    client = site.client()
    record_id = client.create("transit", company_name="Alpha Coaches", company_phone1="+1 718 555 0100")
    form = {"airport_name": "x (LHR)", "company_name": "Beta"}

    assert client.put(f"/admin/transit/{record_id}", form).status_int == 303
    assert [row["id"] for row in client.rows("transit", q="beta")] == [record_id]
    assert client.delete(f"/admin/transit/{record_id}").status_int == 303
    assert client.post(f"/admin/transit/{record_id}/restore").status_int == 303
    assert [entry["action"] for entry in site.entries()][-4:] == ["create", "update", "delete", "restore"]
    assert client.get("/readyz").status_int == 200


def test_many_clients_share_few_server_connections(site: Site) -> None:
    """With prepared statements, or settings of a session, one client would meet those of another."""
    clients = [site.client(role) for role in (Role.ADMINISTRATOR, Role.EDITOR) * 4]

    def work(number: int) -> list[int]:
        client = clients[number]
        client.create("transit", company_name=f"Company {number}")
        pages = ["/admin/transit?q=company", "/admin/transit?q=wk", "/admin", "/admin/activity", "/admin/transit?q=%25"]
        return [client.get(page).status_int for page in pages * 3]

    with ThreadPoolExecutor(len(clients)) as pool:
        statuses = {status for result in pool.map(work, range(len(clients))) for status in result}
    assert statuses == {200}


def test_no_setting_of_the_service_stays_with_a_server_connection(site: Site, pooled_url: str) -> None:
    test_many_clients_share_few_server_connections(site)
    url = make_url(pooled_url).set(drivername="postgresql").render_as_string(hide_password=False)
    defaults = server_settings(url, "RESET ALL")

    for _ in range(10):
        assert server_settings(url, "SELECT 1") == defaults


def server_settings(url: str, first: str) -> dict[str, str]:
    """Return the limits of the server connection that a client meets, after a statement."""
    with psycopg.connect(url, autocommit=False, prepare_threshold=None) as connection:
        connection.execute(first)
        return {name: connection.execute(f"SHOW {name}").fetchone()[0] for name in LIMITS}


def test_each_transaction_has_its_time_limits(site: Site) -> None:
    with site.engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW statement_timeout").scalar_one() != "0"
        assert connection.exec_driver_sql("SHOW lock_timeout").scalar_one() != "0"


def test_a_search_that_was_stopped_leaves_a_session_that_works(site: Site) -> None:
    with Session(read_engine(site.engine)) as dbsession, Budget(dbsession, 0.05) as budget:
        with pytest.raises(OutOfTime), budget.limit():
            dbsession.execute(text("SELECT pg_sleep(5)"))
        assert dbsession.scalar(text("SELECT 1")) == 1


def test_a_read_whose_connection_is_lost_is_tried_again(site: Site, direct_url: str) -> None:
    client, lost = site.client(), []
    client.create("transit", company_name="Alpha Coaches")

    def lose(*arguments: Any) -> None:
        if not lost and not arguments[2].startswith("SET LOCAL"):  # psycopg sends BEGIN with the first statement
            lost.append(execute(make_url(direct_url), END_READERS))

    event.listen(site.engine, "before_cursor_execute", lose)
    try:
        answer = client.get("/admin/transit")
    finally:
        event.remove(site.engine, "before_cursor_execute", lose)
    assert (answer.status_int, "Alpha Coaches" in answer.text) == (200, True)
    assert lost[0] > 0


def test_a_connection_that_is_lost_after_the_last_read_changes_nothing(site: Site, direct_url: str) -> None:
    client, lost = site.client(), []

    def lose(_: object) -> None:
        lost.append(execute(make_url(direct_url), END_READERS))

    event.listen(site.engine, "rollback", lose)
    try:
        assert client.get("/admin/transit").status_int == 200
    finally:
        event.remove(site.engine, "rollback", lose)
    assert sum(lost) > 0
    assert client.get("/admin/transit").status_int == 200


def test_the_service_does_not_start_without_its_time_limits(site: Site, pooled_url: str) -> None:
    """``ignore_startup_parameters = options`` of PgBouncer drops them, unless the setting is made."""
    check_time_limits(site.wsgi)
    unset = groundtransport.main({}, **app_settings(pooled_url))
    with pytest.raises(StartError, match=r"set groundtransport\.pgbouncer"):
        check_time_limits(unset)
    unset.registry["engine"].dispose()


def test_the_service_does_not_start_if_its_time_limits_are_refused(
    site: Site, pooled_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PgBouncer does so without ``ignore_startup_parameters``."""
    refusal = OperationalError("", {}, Exception("FATAL: unsupported startup parameter: options"))
    monkeypatch.setattr(postgresql, "has_limits", Mock(side_effect=refusal))
    with pytest.raises(StartError, match=r"set groundtransport\.pgbouncer"):
        check_time_limits(site.wsgi)
    monkeypatch.setattr(postgresql, "has_limits", Mock(side_effect=OperationalError("", {}, Exception("refused"))))
    check_time_limits(site.wsgi)


def test_commands_ask_for_a_direct_connection(pooled_url: str, tmp_path: Path) -> None:
    shell = Shell(tmp_path, pooled_url)
    assert "DATABASE_URL" in shell("check", fails=True, GROUNDTRANSPORT_PGBOUNCER="true")
