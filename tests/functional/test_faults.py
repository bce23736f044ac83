"""A fault between the write and the commit leaves the change and its entry both or neither, and no lasting harm."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError

from groundtransport import db
from tests.functional.test_transaction import refuse, subscribed
from tests.integrity import BUDGET, Person, assert_whole, at_once, person, state
from tests.site import JFK, Site

ACTIONS = ("create", "update", "delete", "restore")
LONG = "What is said of it. " * 200  # does not fit into what a page of the database has left
DONE = {"create": "was created", "update": "was saved", "delete": "was deleted", "restore": "was restored"}
Fault = Callable[[Site], AbstractContextManager[Any]]


class Desk:
    """A person with a record ready for each kind of write, and a session that has no messages left."""

    def __init__(self, site: Site) -> None:
        self.site, self.person = site, person(site)
        names = ("update", "delete", "restore")
        self.ids = {name: self.person.create("transit", company_name=name, description=LONG) for name in names}
        assert self.person.delete(f"/admin/transit/{self.ids['restore']}").status_int == 303
        assert self.person.get("/admin/transit").status_int == 200

    def write(self, action: str, client: Person | None = None) -> Any:
        client = client or self.person
        address = f"/admin/transit/{self.ids.get(action)}"
        fields = {"airport_name": JFK, "company_name": "New", "description": LONG.upper()}
        if action == "create":
            return client.post("/admin/transit", fields)
        if action == "update":
            return client.put(address, {**fields, "version": "1"})
        if action == "delete":
            return client.delete(address, {"version": "1"})
        return client.post(f"{address}/restore")


@pytest.fixture
def desk(site: Site) -> Desk:
    return Desk(site)


# The faults


def a_later_subscriber(site: Site) -> AbstractContextManager[None]:
    """Somebody who subscribed after the audit raises."""
    return subscribed(site, refuse)


def a_hook_after_the_entry(site: Site) -> AbstractContextManager[None]:
    """A before-commit hook that comes after the audit's raises: the entry is written, the commit is not begun."""
    return subscribed(site, lambda change: change.dbsession.info["tm"].get().addBeforeCommitHook(refuse, (change,)))


@contextmanager
def the_signature(site: Site) -> Iterator[None]:
    """The audit's own hook fails before it writes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("groundtransport.audit.chain.Key.sign", lambda key, text: refuse(text))
        yield


@contextmanager
def trigger(site: Site, table: str, when: str, state: str = "P0001", *, at_commit: bool = False) -> Iterator[None]:
    """The database itself refuses to write to a table: with this SQLSTATE on PostgreSQL."""
    dialect = site.engine.dialect.name
    make = [f"CREATE TRIGGER trouble BEFORE {when} ON {table} BEGIN SELECT RAISE(ABORT, 'trouble'); END"]
    drop = ["DROP TRIGGER trouble"]
    if dialect == "postgresql":
        kind, late = ("CONSTRAINT TRIGGER trouble AFTER", "DEFERRABLE INITIALLY DEFERRED") if at_commit else (
            "TRIGGER trouble BEFORE", "")  # fmt: skip
        raises = f"RAISE EXCEPTION 'trouble' USING ERRCODE = '{state}'"
        make = [
            f"CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {raises}; END $$",
            f"CREATE {kind} {when} ON {table} {late} FOR EACH ROW EXECUTE FUNCTION trouble()",
        ]
        drop = ["DROP FUNCTION trouble() CASCADE"]
    run(site, make)
    try:
        yield
    finally:
        run(site, drop)


def run(site: Site, statements: list[str]) -> None:
    with db.transaction(site.engine) as dbsession:
        for statement in statements:
            dbsession.execute(text(statement))


def the_entry_refused(site: Site) -> AbstractContextManager[None]:
    return trigger(site, "admin_activity", "INSERT")


def the_head_refused(site: Site) -> AbstractContextManager[None]:
    return trigger(site, "audit_head", "UPDATE")


def the_commit_refused(site: Site) -> AbstractContextManager[None]:
    """A constraint that is checked no sooner than by COMMIT is violated."""

    def violate(change: Any) -> None:
        if site.engine.dialect.name == "sqlite":
            change.dbsession.execute(text("PRAGMA defer_foreign_keys = ON"))
            change.dbsession.execute(text("UPDATE transit SET airport_id = 999999999"))

    if site.engine.dialect.name == "postgresql":
        return trigger(site, "admin_activity", "INSERT", "23503", at_commit=True)
    return subscribed(site, violate)


def cut(connection: Any) -> None:
    """Cut a connection off under whoever uses it."""
    raw = connection.connection.dbapi_connection
    if connection.dialect.name == "sqlite":
        raw.close()
        return
    with connection.engine.connect() as other:
        other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": raw.info.backend_pid})


def cut_after_the_write(site: Site) -> AbstractContextManager[None]:
    return subscribed(site, lambda change: cut(change.dbsession.connection()))


def cut_after_the_entry(site: Site) -> AbstractContextManager[None]:
    def hook(change: Any) -> None:
        change.dbsession.info["tm"].get().addBeforeCommitHook(lambda: cut(change.dbsession.connection()))

    return subscribed(site, hook)


@contextmanager
def cut_at_the_commit(site: Site) -> Iterator[None]:
    """The connection goes just before COMMIT is sent."""
    event.listen(site.engine, "commit", cut)
    try:
        yield
    finally:
        event.remove(site.engine, "commit", cut)


IN_THE_VIEW = (a_later_subscriber, cut_after_the_write)
BEFORE_COMMIT = (the_signature, the_entry_refused, the_head_refused, a_hook_after_the_entry, cut_after_the_entry)
AT_COMMIT = (the_commit_refused, cut_at_the_commit)
every_fault = pytest.mark.parametrize(
    "fault", [*IN_THE_VIEW, *BEFORE_COMMIT, *AT_COMMIT], ids=lambda fault: fault.__name__
)
late_faults = pytest.mark.parametrize("fault", [*BEFORE_COMMIT, *AT_COMMIT], ids=lambda fault: fault.__name__)
every_action = pytest.mark.parametrize("action", ACTIONS)


@every_fault
@every_action
def test_a_fault_leaves_neither_the_change_nor_its_entry_and_no_lasting_harm(
    site: Site, desk: Desk, action: str, fault: Fault
) -> None:
    before = state(site)
    with fault(site):
        answer = desk.write(action)
    assert answer.status_int in (500, 503)
    assert state(site) == before
    assert desk.write(action).status_int == 303  # without a restart
    assert_whole(site)


@late_faults
def test_a_write_that_failed_at_its_commit_is_not_called_done(site: Site, desk: Desk, fault: Fault) -> None:
    for action in ACTIONS:
        with fault(site):
            answer = desk.write(action)
        assert answer.status_int in (500, 503)
        assert DONE[action] not in answer.text
        assert DONE[action] not in desk.person.get("/admin/transit").text


@late_faults
def test_a_write_that_failed_at_its_commit_lets_go_of_its_locks_at_once(site: Site, desk: Desk, fault: Fault) -> None:
    with fault(site):
        began = time.monotonic()
        assert desk.write("update").status_int in (500, 503)
        took = time.monotonic() - began
    assert took < 1.5


# Somebody else holds a lock


@pytest.mark.parametrize("what", ["the log", "the head"])
def test_a_lock_of_somebody_else_is_a_503_in_time_for_every_kind_of_write(site: Site, desk: Desk, what: str) -> None:
    people, before = [person(site) for _ in ACTIONS], state(site)
    lock = {"the log": "LOCK TABLE admin_activity", "the head": "SELECT * FROM audit_head FOR UPDATE"}[what]

    def write(number: int) -> tuple[int, float]:
        began = time.monotonic()
        return desk.write(ACTIONS[number], people[number]).status_int, time.monotonic() - began

    with db.transaction(site.engine) as other:
        if site.engine.dialect.name == "postgresql":
            other.execute(text(lock))
        else:
            other.connection()  # a writing transaction: SQLite has one lock for all
        results = at_once(len(ACTIONS), write)
    assert [status for status, _ in results] == [503] * len(ACTIONS)
    assert max(took for _, took in results) < BUDGET
    assert state(site) == before
    assert [desk.write(action, writer).status_int for action, writer in zip(ACTIONS, people, strict=True)] == [303] * 4
    assert_whole(site)


def test_waits_for_one_lock_after_the_other_share_one_budget(site: Site, desk: Desk) -> None:
    """The record is free after a while, and then the log is not: together no longer than one wait may be."""
    before, took = state(site), []
    record = f"SELECT id FROM transit WHERE id = {desk.ids['update']}"
    with site.engine.connect() as log, db.transaction(site.engine) as other:
        if site.engine.dialect.name == "postgresql":
            log.execute(text("LOCK TABLE admin_activity"))
            record += " FOR UPDATE"
        other.execute(text(record))

        def work(number: int) -> None:
            if number:
                time.sleep(2.6)
                if site.engine.dialect.name == "postgresql":
                    other.commit()
                return
            began = time.monotonic()
            assert desk.write("update").status_int == 503
            took.append(time.monotonic() - began)

        at_once(2, work)
    assert took[0] < BUDGET
    assert state(site) == before


# The disk is full


@contextmanager
def full_sqlite(site: Site, room: int) -> Iterator[None]:
    """The file may grow by so many pages and no more."""
    with sqlite3.connect(str(site.engine.url.database)) as connection:
        connection.execute("VACUUM")  # no free pages inside
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.close()

    def limit(raw: sqlite3.Connection, *more: Any) -> None:
        raw.execute(f"PRAGMA max_page_count = {pages + room}")

    event.listen(site.engine, "checkout", limit)
    try:
        yield
    finally:
        event.remove(site.engine, "checkout", limit)
        site.engine.dispose()


@every_action
def test_a_full_disk_refuses_a_write_wherever_it_strikes(site: Site, desk: Desk, action: str) -> None:
    """SQLite: a page more each time, so that each page the write needs is once the one that is missing."""
    before, statuses = state(site), []
    if site.engine.dialect.name == "sqlite":
        faults: list[Any] = [full_sqlite(site, room) for room in range(20)]
    else:
        places = [("transit", "INSERT OR UPDATE"), ("admin_activity", "INSERT"), ("audit_head", "UPDATE")]
        faults = [trigger(site, *place, "53100") for place in places]
        faults += [trigger(site, *place, "53100", at_commit=True) for place in places]
    for fault in faults:
        with fault:
            answer = desk.write(action)
            statuses.append(answer.status_int)
            if answer.status_int == 303:
                break
            assert desk.person.get("/admin/transit", {"ajax": "1"}).status_int == 200  # reading goes on
        assert answer.headers["Retry-After"]
        assert state(site) == before
    refused = [status for status in statuses if status != 303]
    assert refused
    assert set(refused) == {503}
    if 303 not in statuses:
        assert desk.write(action).status_int == 303  # there is room again, and nobody restarted
    assert_whole(site)


def test_what_was_committed_is_answered_so_when_the_session_can_no_longer_be_written(site: Site, desk: Desk) -> None:
    """The fault comes after the commit: the answer must not say that nothing was changed."""
    for action in ACTIONS:
        with trigger(site, "admin_session", "UPDATE", "53100"):
            assert desk.write(action).status_int == 303
    assert len(site.entries()) == 4 + len(ACTIONS)
    assert_whole(site)


def test_the_log_refuses_to_forget_even_in_the_middle_of_a_fault(site: Site, desk: Desk) -> None:
    """A transaction that tries to take its own entry out again takes the change with it."""
    forget = text("DELETE FROM admin_activity WHERE id = (SELECT max(id) FROM admin_activity)")
    before = state(site)

    def hook(change: Any) -> None:
        change.dbsession.info["tm"].get().addBeforeCommitHook(change.dbsession.execute, (forget,))

    with subscribed(site, hook):
        assert desk.write("create").status_int == 500
    assert state(site) == before
    with pytest.raises(DBAPIError), db.transaction(site.engine) as dbsession:
        dbsession.execute(forget)
    assert state(site) == before
