"""What people rely on whatever happens: asked of the records and of the log, and done from many threads at once."""

import secrets
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from sqlalchemy import event, select, text
from sqlalchemy.orm import Session

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.accounts.models import AdminSession
from groundtransport.accounts.sessions.rows import hash_of as token_hash
from groundtransport.audit.integrity.reconcile import reconcile
from groundtransport.audit.integrity.verify import verify
from groundtransport.audit.models import AuditHead
from groundtransport.records import maintenance
from groundtransport.signing import keyring
from tests.site import Client, Site

Values = dict[str, str | None]
# Seconds that a request may take, whatever the database does: 5, and what a busy machine adds. Waits that do not share
# one budget would take 8 or more.
BUDGET = 7.0


class Person(Client):
    """A client that keeps its CSRF token, so that a write is one request."""

    @cached_property
    def csrf(self) -> str:
        return self.ask_for_csrf()


def session_of(site: Site, name: str) -> str:
    """Begin a session of that person, and return the value of its cookie."""
    token = secrets.token_urlsafe(32)
    with db.transaction(site.engine) as dbsession:
        user = users.find(dbsession, name)
        dbsession.add(AdminSession(token_hash=token_hash(token), user_id=user.id, epoch=user.session_epoch, data={}))
    return token


def person(site: Site, name: str = "the-administrator") -> Person:
    """Return a browser of its own, in which that person is signed in."""
    matched = Person(site)
    matched.app.set_cookie("groundtransport", session_of(site, name))
    assert matched.csrf
    return matched


def rows(site: Site) -> dict[tuple[str, int], dict[str, Any]]:
    """Return every record of every kind, deleted or not."""
    matched = {}
    with site.engine.connect() as connection:
        for name, kind in site.kinds.items():
            for row in connection.execute(select(kind.model.__table__)).mappings():
                matched[name, row["id"]] = dict(row)
    return matched


def state(site: Site) -> tuple[Any, ...]:
    """Return all that a write changes: the records, the entries and the head of the chain."""
    with site.engine.connect() as connection:
        head = tuple(connection.execute(select(AuditHead.number, AuditHead.mac)).one())
    return rows(site), site.entries(), head


def assert_whole(site: Site) -> None:
    """The chain verifies, its numbers have no gaps, and the log agrees with the records one by one.

    So do the counters, the search texts and the search index.
    """
    for kind in site.kinds.values():
        with db.write_engine(site.engine).connect() as connection:
            assert list(maintenance.check(connection, kind)) == []
    with Session(site.engine) as dbsession:
        verified = verify(dbsession, keyring(site.registry["settings"].audit_secrets))
        assert reconcile(dbsession, site.kinds) == []
    entries, records = site.entries(), rows(site)
    assert [entry["id"] for entry in entries] == list(range(1, len(entries) + 1))
    assert verified.entries == len(entries)
    log = defaultdict(list)
    for entry in entries:
        log[entry["kind"], entry["record_id"]].append(entry)
    assert set(log) == set(records)
    for (kind, record_id), row in records.items():
        mine, names = log[kind, record_id], (*site.kinds[kind].fields, "airport_id", "airport_code")
        assert replayed(mine) == {name: row[name] for name in names if row[name] is not None}
        actions = [entry["action"] for entry in mine]
        assert (actions[0], actions.count("create")) == ("create", 1)
        assert actions.count("update") == row["version"] - 1
        assert actions.count("delete") - actions.count("restore") == (row["deleted_at"] is not None)


def replayed(entries: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return what a record's creation and updates add up to; each must begin where the one before ended."""
    values: dict[str, Any] = {}
    for entry in entries:
        if entry["action"] in ("create", "update"):
            for name, pair in entry["changes"].items():
                assert pair["old"] == values.get(name), entry
                values[name] = pair["new"]
    return {name: value for name, value in values.items() if value is not None}


def at_once(count: int, work: Callable[[int], Any]) -> list[Any]:
    """Do the work in that many threads, begun at the same moment; return the results in order."""
    barrier = threading.Barrier(count)

    def begin(number: int) -> Any:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(begin, range(count)))


class Known:
    """What was acknowledged of one record: its values at each version, and whether it is live."""

    def __init__(self, kind: str, record_id: int, values: Values, creator: str) -> None:
        self.kind, self.id, self.versions = kind, record_id, [values]
        self.deleted_by, self.log = "", [("create", creator)]

    @property
    def address(self) -> str:
        return f"/admin/{self.kind}/{self.id}"

    @property
    def version(self) -> int:
        return len(self.versions)

    @property
    def values(self) -> Values:
        return self.versions[-1]

    def merged(self, mine: Values, version: int | None) -> Values | None:
        """Return what a save of these fields from that version makes of the record; None for a conflict."""
        if version in (None, self.version):
            return {**self.values, **mine}
        before = self.versions[version - 1] if 0 < version < self.version else None
        result = dict(self.values)
        for name, value in mine.items():
            if value == self.values[name] or (before is not None and value == before[name]):
                continue
            if before is None or self.values[name] != before[name]:
                return None
            result[name] = value
        return result

    def save(self, values: Values, name: str) -> bool:
        if values == self.values:
            return False
        self.versions.append(values)
        self.log.append(("update", name))
        return True


def expected_values(sent: dict[str, str]) -> Values:
    return {name: value or None for name, value in sent.items()}


# Faults, injected for real


@contextmanager
def trigger(site: Site, table: str, when: str, state: str = "P0001", *, at_commit: bool = False) -> Iterator[None]:
    """The database itself refuses to write to a table: with this SQLSTATE on PostgreSQL."""
    dialect = site.engine.dialect.name
    make = [f"CREATE TRIGGER trouble BEFORE {when} ON {table} BEGIN SELECT RAISE(ABORT, 'trouble'); END"]
    drop = ["DROP TRIGGER trouble"]
    if dialect == "postgresql":
        kind, late = "TRIGGER trouble BEFORE", ""
        if at_commit:
            kind, late = "CONSTRAINT TRIGGER trouble AFTER", "DEFERRABLE INITIALLY DEFERRED"
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
        # A read makes SQLite notice that its idea of the schema is old; CREATE TRIGGER alone would not.
        dbsession.execute(text("SELECT count(*) FROM admin_user"))
        for statement in statements:
            dbsession.execute(text(statement))


def cut(connection: Any) -> None:
    """Cut a connection off under whoever uses it."""
    raw = connection.connection.dbapi_connection
    if connection.dialect.name == "sqlite":
        raw.close()
        return
    with connection.engine.connect() as other:
        other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": raw.info.backend_pid})


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
