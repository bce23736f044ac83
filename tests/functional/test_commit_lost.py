"""The answer to a COMMIT is lost: the message states the true outcome, and nothing is written twice."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg.errors
import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from groundtransport import after_commit
from groundtransport.accounts.sessions import session
from groundtransport.db import postgresql
from groundtransport.db.transaction_options import options_of
from groundtransport.events import RecordChanged
from tests.database_proxy import DatabaseProxy, Link, between
from tests.functional.test_faults import ACTIONS, DONE, WriteActions
from tests.functional.test_transaction import subscribed
from tests.integrity import Person, assert_whole, person, state
from tests.site import JFK, Site

pytestmark = pytest.mark.slow

Fault = Callable[[], AbstractContextManager[None]]
UNKNOWN = "It is not known whether your change was saved"
UNCHANGED = "Nothing was changed"
WRITES = (*ACTIONS, "several", "undo")
postgresql_only = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
every_write = pytest.mark.parametrize("action", WRITES)


class AllWriteActions(WriteActions):
    """A person with a record ready for each kind of write, of one record or of several."""

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.ids["several"] = self.person.create("transit", company_name="several")
        batch = {"record": f"{self.person.create('transit', company_name='undo')}.1", "action": "delete"}
        batch |= {"confirmed": "1", "batch": "several-00000000000000aa"}
        assert self.person.post("/admin/transit/several", batch).status_int == 303
        assert self.person.get("/admin/transit").status_int == 200  # reads what waits for it

    def write(self, action: str, client: Person | None = None) -> Any:
        client = client or self.person
        if action == "several":
            fields = {"record": f"{self.ids['several']}.1", "action": "delete", "confirmed": "1"}
            return client.post("/admin/transit/several", fields)
        if action == "undo":
            return client.post("/admin/transit/undo", {"batch": "several-00000000000000aa"})
        return super().write(action, client)


def success_message(action: str) -> str:
    return {"several": "was deleted", "undo": "is again as it was before"}.get(action) or DONE[action]


# By a proxy, on PostgreSQL


@pytest.fixture
def proxied(site: Site) -> Iterator[tuple[Site, DatabaseProxy]]:
    with between(site) as pair:
        yield pair


def cut_before(link: Link) -> None:
    link.close()


def cut_after(link: Link) -> None:
    link.send_and_wait(link.commit)
    link.close()


def silent_after(link: Link) -> None:
    link.send_and_wait(link.commit)
    link.is_silent = True


def silent_before(link: Link) -> None:
    """The server keeps the transaction open: whether the COMMIT will still arrive, nobody can know."""
    link.is_silent = True


def silent_after_and_nobody_to_ask(link: Link) -> None:
    link.send_and_wait(link.commit)
    link.is_silent = True
    link.proxy.takes_connections = False
    link.proxy.is_silent = True


@postgresql_only
@pytest.mark.parametrize(
    ("fault", "action"),
    [*((cut_after, action) for action in WRITES), (silent_after, "update")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_write_that_was_stored_is_answered_so(
    site: Site, proxied: tuple[Site, DatabaseProxy], fault: Callable[[Link], None], action: str
) -> None:
    other, proxy = proxied
    actions, before = AllWriteActions(other), len(site.entries())
    published: list[RecordChanged] = []
    with subscribed(other, after_commit.AfterCommit(published.append)):
        proxy.at_commit = fault
        answer = actions.write(action)
    assert proxy.at_commit is None
    assert (answer.status_int, len(site.entries())) == (303, before + 1)
    assert len(published) == 1  # subscribers hear of it
    assert success_message(action) in actions.person.get("/admin/transit").text
    assert_whole(site)


@postgresql_only
@every_write
def test_a_write_that_was_not_stored_is_answered_so(
    site: Site, proxied: tuple[Site, DatabaseProxy], action: str
) -> None:
    other, proxy = proxied
    actions, before = AllWriteActions(other), state(site)
    proxy.at_commit = cut_before
    answer = actions.write(action)
    assert proxy.at_commit is None
    assert (answer.status_int, UNCHANGED in answer.text, UNKNOWN in answer.text) == (503, True, False)
    assert state(site) == before
    assert success_message(action) not in actions.person.get("/admin/transit").text
    assert actions.write(action).status_int == 303
    assert_whole(site)


@postgresql_only
@pytest.mark.parametrize(
    ("fault", "action"),
    [(silent_before, "create"), (silent_before, "several"), (silent_after_and_nobody_to_ask, "delete")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_write_of_which_nothing_can_be_known_is_answered_so(
    site: Site, proxied: tuple[Site, DatabaseProxy], fault: Callable[[Link], None], action: str
) -> None:
    other, proxy = proxied
    actions = AllWriteActions(other)
    proxy.at_commit = fault
    answer = actions.write(action)
    assert (answer.status_int, UNKNOWN in answer.text, UNCHANGED in answer.text) == (503, True, False)
    assert answer.headers["Retry-After"]
    proxy.close()  # the server gives up what is still open
    assert_whole(site)


@postgresql_only
def test_a_program_is_told_that_the_outcome_is_unknown(site: Site, proxied: tuple[Site, DatabaseProxy]) -> None:
    other, proxy = proxied
    client = person(other)
    proxy.at_commit = silent_after_and_nobody_to_ask
    answer = client.post("/admin/transit", {"airport_name": JFK}, Accept="application/json")
    assert (answer.status_int, answer.json["outcome"]) == (503, "unknown")
    assert UNKNOWN in answer.json["detail"]
    assert [entry["action"] for entry in site.entries()] == ["create"]
    assert_whole(site)


@postgresql_only
def test_a_form_that_is_sent_again_after_an_unknown_outcome_makes_no_second_record(
    site: Site, proxied: tuple[Site, DatabaseProxy]
) -> None:
    other, proxy = proxied
    client, fields = person(other), {"airport_name": JFK, "form_token": "t" * 20}
    proxy.at_commit = silent_after_and_nobody_to_ask
    assert client.post("/admin/transit", fields).status_int == 503
    proxy.takes_connections, proxy.is_silent = True, False
    assert client.post("/admin/transit", fields).status_int == 303
    assert [entry["action"] for entry in site.entries()] == ["create"]


# By a fault that is injected, on both


@contextmanager
def commit_that_fails(site: Site, *, is_done: bool, error: Exception | None = None) -> Iterator[None]:
    """The next COMMIT of a change is done, or not, and ends with an error as of a lost connection or a broken disk."""
    usual: Any = site.engine.dialect.do_commit
    is_sqlite = site.engine.dialect.name == "sqlite"

    def do_commit(driver: Any) -> None:
        restore()
        if is_done:
            usual(driver)
        if not is_sqlite:
            driver.driver_connection.close()
        raise error or (sqlite3.OperationalError("disk I/O error") if is_sqlite else psycopg.OperationalError("lost"))

    def restore() -> None:
        site.engine.dialect.__dict__.pop("do_commit", None)

    def arm(change: RecordChanged) -> None:
        dialect: Any = site.engine.dialect
        dialect.do_commit = do_commit

    try:
        with subscribed(site, arm):
            yield
    finally:
        restore()


@pytest.mark.parametrize("is_done", [True, False])
@every_write
def test_the_outcome_of_a_commit_that_failed_is_looked_up(site: Site, action: str, is_done: bool) -> None:
    actions = AllWriteActions(site)
    before = state(site)
    with commit_that_fails(site, is_done=is_done):
        answer = actions.write(action)
    if is_done:
        assert answer.status_int == 303
        assert len(site.entries()) == len(before[1]) + 1
        assert success_message(action) in actions.person.get("/admin/transit").text
    else:
        assert (answer.status_int, UNCHANGED in answer.text) == (503, True)
        assert state(site) == before
        assert actions.write(action).status_int == 303
    assert_whole(site)


def test_an_unknown_outcome_is_never_tried_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where the error is one that is tried again otherwise, and nobody can be asked."""
    client, tries = person(site), []

    def fail(*words: Any) -> bool:
        raise OperationalError("SELECT", {}, sqlite3.OperationalError("nobody is there"))

    monkeypatch.setattr("groundtransport.audit.subscriber.is_logged", fail)
    deadlock = None if site.engine.dialect.name == "sqlite" else psycopg.errors.DeadlockDetected("no")
    with commit_that_fails(site, is_done=True, error=deadlock), subscribed(site, tries.append):
        answer = client.post("/admin/transit", {"airport_name": JFK})
    assert (answer.status_int, UNKNOWN in answer.text, len(tries)) == (503, True, 1)
    assert [entry["action"] for entry in site.entries()] == ["create"]


# A server that only reads


@contextmanager
def read_only(site: Site, *, times: int) -> Iterator[list[int]]:
    """So many writing transactions meet a server that only reads, as after a failover."""
    attempts: list[int] = []

    def begin(connection: Any) -> None:
        if len(attempts) < times and options_of(connection).begin == "IMMEDIATE":
            attempts.append(connection.connection.driver_connection.info.backend_pid)
            connection.exec_driver_sql("SET TRANSACTION READ ONLY")

    event.listen(site.engine, "begin", begin)
    try:
        yield attempts
    finally:
        event.remove(site.engine, "begin", begin)


@postgresql_only
def test_a_write_that_meets_a_read_only_server_is_made_on_a_fresh_connection(site: Site) -> None:
    for action in WRITES:
        site.clean()
        actions = AllWriteActions(site)
        with read_only(site, times=1) as attempts:
            assert actions.write(action).status_int == 303, action
        with site.engine.connect() as connection:
            alive = connection.scalars(text("SELECT pid FROM pg_stat_activity")).all()
        assert attempts
        assert attempts[0] not in alive  # it was thrown away
        assert success_message(action) in actions.person.get("/admin/transit").text
        assert_whole(site)


@postgresql_only
@every_write
def test_a_write_that_meets_only_read_only_servers_is_a_503(site: Site, action: str) -> None:
    actions, before = AllWriteActions(site), state(site)
    with read_only(site, times=99) as attempts:
        answer = actions.write(action)
    assert (answer.status_int, UNCHANGED in answer.text, len(set(attempts))) == (503, True, 3)
    assert answer.headers["Retry-After"]
    assert state(site) == before
    assert actions.write(action).status_int == 303


def test_read_only_is_known_by_its_code() -> None:
    assert postgresql.is_read_only(psycopg.errors.ReadOnlySqlTransaction())
    assert not postgresql.is_read_only(psycopg.errors.InternalError())


# A change is stored, and then something fails


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (OperationalError("DELETE", {}, sqlite3.OperationalError("gone")), 503, UNKNOWN),
        (RuntimeError("a fault"), 500, "Your change may have been saved"),
    ],
)
def test_what_fails_after_the_commit_is_not_called_unchanged(
    site: Site, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, words: str
) -> None:
    """As when one's password is changed, and then the session cannot be renewed."""
    client = person(site)

    def fail(*_: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(session.ServerSession, "is_essential", True)
        patch.setattr(session.ServerSession, "save", fail)
        answer = client.post("/admin/transit", {"airport_name": JFK})
    assert (answer.status_int, words in answer.text, UNCHANGED in answer.text) == (status, True, False)
    assert [entry["action"] for entry in site.entries()] == ["create"]
