"""A fault between the write and the commit leaves the change and its entry both or neither, and no lasting harm."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from groundtransport import db
from groundtransport.db import database_timeout, write_engine
from tests.functional.test_transaction import refuse, subscribed
from tests.integrity import BUDGET, Person, assert_whole, at_once, cut, full_sqlite, person, state, trigger
from tests.site import JFK, Site

pytestmark = pytest.mark.slow

ACTIONS = ("create", "update", "delete", "restore")
LONG = "What is said of it. " * 200  # does not fit into what a page of the database has left
DONE = {"create": "was created", "update": "was saved", "delete": "was deleted", "restore": "was restored"}
Fault = Callable[[Site], AbstractContextManager[Any]]


class WriteActions:
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
def actions(site: Site) -> Iterator[WriteActions]:
    site.engine.dispose()
    for connection in [site.engine.connect() for _ in range(6)]:
        connection.close()  # in turn: one that a fault has spoilt waits for its next user
    yield WriteActions(site)
    site.engine.dispose()


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
def test_a_fault_leaves_neither_the_change_nor_its_entry_and_no_lasting_harm(
    site: Site, actions: WriteActions, fault: Fault
) -> None:
    for action in ACTIONS:
        before = state(site)
        with fault(site):
            answer = actions.write(action)
        assert answer.status_int in (500, 503)
        pages = [actions.person.get("/admin/transit").status_int for _ in range(6)]  # in turn on every connection
        assert (pages, state(site) == before) == ([200] * 6, True), action
        assert actions.write(action).status_int == 303, action  # without a restart
    assert_whole(site)


@late_faults
def test_a_write_that_failed_at_its_commit_is_not_called_done(site: Site, actions: WriteActions, fault: Fault) -> None:
    for action in ACTIONS:
        with fault(site):
            answer = actions.write(action)
        assert answer.status_int in (500, 503)
        assert DONE[action] not in answer.text
        assert DONE[action] not in actions.person.get("/admin/transit").text


@late_faults
def test_a_write_that_failed_at_its_commit_lets_go_of_its_locks_at_once(
    site: Site, actions: WriteActions, fault: Fault
) -> None:
    with fault(site):
        began = time.monotonic()
        assert actions.write("update").status_int in (500, 503)
        took = time.monotonic() - began
    assert took < database_timeout(site.engine), "nobody waits for a lock that is still held"


# Somebody else holds a lock


@pytest.mark.parametrize("what", ["the log", "the head"])
def test_a_lock_of_somebody_else_is_a_503_in_time_for_every_kind_of_write(
    site: Site, actions: WriteActions, what: str
) -> None:
    people, before = [person(site) for _ in ACTIONS], state(site)
    lock = {"the log": "LOCK TABLE admin_activity", "the head": "SELECT * FROM audit_head FOR UPDATE"}[what]

    def write(number: int) -> tuple[int, float]:
        began = time.monotonic()
        return actions.write(ACTIONS[number], people[number]).status_int, time.monotonic() - began

    with db.transaction(site.engine) as other:
        if site.engine.dialect.name == "postgresql":
            other.execute(text(lock))
        else:
            other.connection()  # a writing transaction: SQLite has one lock for all
        results = at_once(len(ACTIONS), write)
    assert [status for status, _ in results] == [503] * len(ACTIONS)
    assert max(took for _, took in results) < BUDGET
    assert state(site) == before
    assert [actions.write(action, writer).status_int for action, writer in zip(ACTIONS, people, strict=True)] == [
        303
    ] * 4
    assert_whole(site)


@contextmanager
def lock_for_a_while(site: Site, statement: str) -> Iterator[None]:
    """Somebody else's transaction holds a lock for most of the time that anybody waits for one."""
    with write_engine(site.engine).connect() as other, ThreadPoolExecutor(1) as threads:
        if site.engine.dialect.name == "postgresql":
            other.execute(text(statement))
        else:
            other.begin()  # SQLite has one lock for all
        waiting = threads.submit(lambda: (time.sleep(2.6), other.rollback()))
        yield
        waiting.result()


@pytest.mark.parametrize("table", ["admin_session", "admin_activity"])
def test_waits_for_one_lock_after_the_other_share_one_budget(site: Site, actions: WriteActions, table: str) -> None:
    """The record is free after a while, and then its message or the log is not.

    On SQLite all is one lock, taken at the beginning.
    """
    before = state(site)
    record = f"SELECT id FROM transit WHERE id = {actions.ids['update']} FOR UPDATE"
    with write_engine(site.engine).connect() as other:

        def lock(*words: object) -> None:
            if site.engine.dialect.name == "postgresql":
                other.execute(text(f"LOCK TABLE {table} IN EXCLUSIVE MODE"))
            else:
                raise OperationalError("", {}, Exception("database is locked"))

        with subscribed(site, lock), lock_for_a_while(site, record):
            began = time.monotonic()
            status = actions.write("update").status_int
            took = time.monotonic() - began
    assert (status, took < BUDGET) == (503, True), took
    assert state(site) == before


# The disk is full


@every_action
def test_a_full_disk_refuses_a_write_wherever_it_strikes(site: Site, actions: WriteActions, action: str) -> None:
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
            answer = actions.write(action)
            statuses.append(answer.status_int)
            if answer.status_int == 303:
                break
            assert actions.person.get("/admin/transit", {"ajax": "1"}).status_int == 200  # reading goes on
        assert answer.headers["Retry-After"]
        assert state(site) == before
    refused = [status for status in statuses if status != 303]
    frees_room = (
        site.engine.dialect.name == "sqlite" and action == "delete"
    )  # pages of the indexes, enough for its entry
    assert refused or frees_room
    assert set(refused) <= {503}
    if 303 not in statuses:
        assert actions.write(action).status_int == 303  # there is room again, and nobody restarted
    assert_whole(site)


@every_action
def test_a_save_and_its_message_are_one(site: Site, actions: WriteActions, action: str) -> None:
    before = state(site)
    with trigger(site, "admin_session", "UPDATE", "53100"):
        assert actions.write(action).status_int in (500, 503)
        assert state(site) == before
    assert actions.write(action).status_int == 303
    assert_whole(site)


def test_a_page_is_shown_though_its_session_can_no_longer_be_written(site: Site, actions: WriteActions) -> None:
    """That its messages were shown is lost, and so they are shown again."""
    assert actions.write("create").status_int == 303
    for fault in (trigger(site, "admin_session", "UPDATE", "53100"), nullcontext()):
        with fault:
            page = actions.person.get("/admin/about")
        assert (page.status_int, "was created." in page.text) == (200, True)
    assert "was created." not in actions.person.get("/admin/about").text
    assert_whole(site)
