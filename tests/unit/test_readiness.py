"""The checks behind ``/readyz`` while a server runs."""

import threading
from collections.abc import Iterator
from queue import Queue

import pytest
from sqlalchemy.exc import OperationalError

from groundtransport.web import readiness
from groundtransport.web.readiness import NO_ANSWER, Readiness, ReadinessMonitor
from tests.waiting import wait_for

READY = Readiness("ready", is_ready=True)
NOT_READY = Readiness("not ready")


class Database:
    """A stand-in for the check: each call waits for the next result, and raises it if it is an exception."""

    def __init__(self) -> None:
        self.results: Queue[Readiness | Exception] = Queue()
        self.is_asked = threading.Event()

    def check(self) -> Readiness:
        self.is_asked.set()
        result = self.results.get(timeout=30)
        if isinstance(result, Exception):
            raise result
        return result


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Database:
    monkeypatch.setattr(readiness, "INTERVAL", 0.01)
    return Database()


@pytest.fixture
def monitor(database: Database) -> Iterator[ReadinessMonitor]:
    monitor = ReadinessMonitor(database.check)
    database.results.put(READY)
    monitor.start()
    yield monitor
    monitor.end()
    database.results.put(READY)  # for the check that waits


def test_a_probe_does_not_wait_for_a_check(database: Database, monitor: ReadinessMonitor) -> None:
    database.is_asked.clear()
    assert database.is_asked.wait(10)
    assert monitor.current() == READY

    database.results.put(NOT_READY)

    wait_for(lambda: monitor.current() == NOT_READY)


def test_a_check_that_is_stuck_is_no_readiness(
    database: Database, monitor: ReadinessMonitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "MAX_AGE", 0)
    assert monitor.current() == NO_ANSWER


def test_a_database_that_does_not_answer_is_reported_until_it_does(
    database: Database, monitor: ReadinessMonitor, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        database.results.put(OperationalError("SELECT 1", {}, Exception("connection refused")))
    wait_for(lambda: monitor.current() == NO_ANSWER)
    database.results.put(READY)
    wait_for(lambda: monitor.current() == READY)
    assert [record.levelname for record in caplog.records] == ["WARNING"]  # one line for an outage


def test_without_a_server_each_probe_asks_the_database(database: Database) -> None:
    monitor = ReadinessMonitor(database.check)
    database.results.put(NOT_READY)
    assert monitor.current() == NOT_READY
    database.results.put(OperationalError("SELECT 1", {}, Exception("connection refused")))
    with pytest.raises(OperationalError):
        monitor.current()
