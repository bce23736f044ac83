"""A database that neither answers nor closes: each request ends within its time, and gives its thread back.

Times are held against the waits that would be without a limit: minutes, or seconds for each statement.
"""

import dataclasses
import threading
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from groundtransport import db
from groundtransport.db import deadline
from tests.database_proxy import DatabaseProxy, between
from tests.functional.test_transaction import facts, send
from tests.integrity import BUDGET, person
from tests.site import JFK, Site

pytestmark = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
Proxied = tuple[Site, DatabaseProxy]


@pytest.fixture
def proxied(site: Site) -> Iterator[Proxied]:
    with between(site) as pair:
        yield pair


def warm(site: Site, count: int = 4) -> None:
    """Fill the pool with connections that were used just now."""
    for connection in [site.engine.connect() for _ in range(count)]:
        connection.execute(text("SELECT 1"))
        connection.close()


@pytest.mark.parametrize(
    ("address", "is_fresh"),
    [("/admin", True), ("/admin/transit?ajax=1&q=alpha", True), ("/admin/transit", False), ("/readyz", False)],
)
def test_a_silent_database_ends_a_page_in_time(
    proxied: Proxied, address: str, is_fresh: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, proxy = proxied
    client = person(site)
    assert client.get(address).status_int == 200
    warm(site)
    if not is_fresh:
        monkeypatch.setattr("groundtransport.db.postgresql.FRESH", 0)  # they are asked whether they live
    proxy.is_silent = True
    began = time.monotonic()
    answer = client.get(address)
    took = time.monotonic() - began
    assert (answer.status_int, took < BUDGET) == (503, True), took
    assert answer.headers["Retry-After"]
    proxy.is_silent = False
    began = time.monotonic()
    assert client.get(address).status_int == 200  # the old connections are not waited for
    assert time.monotonic() - began < site.registry["settings"].request_budget


def test_a_silent_database_ends_every_request_of_a_crowd_in_time(proxied: Proxied) -> None:
    site, proxy = proxied
    people = [person(site) for _ in range(6)]
    warm(site, 8)
    proxy.is_silent = True
    results: list[tuple[int, float]] = []

    def load(number: int) -> None:
        began = time.monotonic()
        status = people[number].get("/admin/transit").status_int
        results.append((status, time.monotonic() - began))

    threads = [threading.Thread(target=load, args=(number,)) for number in range(len(people))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [status for status, _ in results] == [503] * len(people)
    assert max(took for _, took in results) < BUDGET


def test_a_slow_database_does_not_hold_a_list_for_each_of_its_statements(proxied: Proxied) -> None:
    site, proxy = proxied
    client = person(site)
    for delay, status in ((3, 503), (0.6, 503), (0.01, 200)):
        proxy.delay = delay
        began = time.monotonic()
        answer = client.get("/admin/transit")
        took = time.monotonic() - began
        assert (answer.status_int, took < BUDGET) == (status, True), (delay, took)


def test_a_host_that_takes_connections_and_says_nothing_is_a_503_in_time(proxied: Proxied) -> None:
    site, proxy = proxied
    client = person(site)
    site.engine.dispose()
    proxy.takes_connections = False
    began = time.monotonic()
    assert client.get("/admin/transit").status_int == 503
    assert time.monotonic() - began < BUDGET


def test_a_save_to_a_silent_database_ends_in_time_and_nothing_is_stored(site: Site, proxied: Proxied) -> None:
    other, proxy = proxied
    client = person(other)
    token = client.csrf
    warm(other)
    proxy.is_silent = True
    began = time.monotonic()
    answer = send(client, "POST", "/admin/transit", {"airport_name": JFK}, token)
    assert (answer.status_int, time.monotonic() - began < BUDGET) == (503, True)
    assert "Nothing was changed" in answer.text
    assert facts(site, "transit") == site.entries() == []


def test_a_connection_whose_time_is_over_is_closed_and_gone_from_the_pool(proxied: Proxied) -> None:
    site, proxy = proxied
    warm(site, 1)
    proxy.is_silent = True
    with deadline.until(time.monotonic() + 0.2), site.engine.connect() as connection:
        driver = connection.connection.driver_connection
        with pytest.raises(OperationalError, match="did not answer"):
            connection.execute(text("SELECT 1"))
    assert driver is not None
    assert driver.closed
    assert site.engine.pool.checkedout() == 0
    proxy.is_silent = False
    with site.engine.connect() as connection:
        assert connection.scalar(text("SELECT 1")) == 1


def test_many_quick_statements_go_on_after_the_deadline(proxied: Proxied) -> None:
    """A batch of 500 records on a busy machine is not cut off: the database answers, so it is not silent."""
    site, _ = proxied
    with deadline.until(time.monotonic() - 1), site.engine.connect() as connection:
        assert [connection.scalar(text("SELECT 1")) for _ in range(50)] == [1] * 50
        with pytest.raises(OperationalError, match="did not answer"):
            connection.execute(text("SELECT pg_sleep(5)"))


def test_a_command_waits_as_long_as_it_takes(site: Site) -> None:
    engine = db.make_engine(site.registry["settings"])
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_sleep(0.5)"))
        limits = connection.execute(
            text("SELECT current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')")
        ).one()
    engine.dispose()
    assert tuple(limits) == ("0", "0")


@pytest.mark.parametrize(("statement", "timeout"), [("", b"10000"), ("?tcp_user_timeout=777", b"777")])
def test_the_kernel_gives_up_a_dead_network_when_the_url_says_or_by_default(
    proxied: Proxied, statement: str, timeout: bytes
) -> None:
    settings = proxied[0].registry["settings"]
    engine = db.make_engine(dataclasses.replace(settings, database_url=settings.database_url + statement))
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        options = {option.keyword.decode(): option.val for option in driver.pgconn.info}
    engine.dispose()
    assert (options["tcp_user_timeout"], options["keepalives_idle"]) == (timeout, b"10")
