"""What people rely on whatever happens: asked of the records and of the log, and done from many threads at once."""

import secrets
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.accounts.models import AdminSession
from groundtransport.accounts.sessions import _hash as token_hash
from groundtransport.audit.chain import keyring
from groundtransport.audit.models import AuditHead
from groundtransport.audit.verify import reconcile, verify
from tests.site import Client, Site

BUDGET = 5.0  # seconds that a request may take, whatever the database does


class Person(Client):
    """A client that keeps its CSRF token, so that a write is one request."""

    @cached_property
    def csrf(self) -> str:  # type: ignore[override]
        return self.get("/login").html.find("input", {"name": "csrf_token"})["value"]


def session_of(site: Site, name: str) -> str:
    """Begin a session of that person, and return the value of its cookie."""
    token = secrets.token_urlsafe(32)
    with db.transaction(site.engine) as dbsession:
        user = users.find(dbsession, name)
        dbsession.add(AdminSession(token_hash=token_hash(token), user_id=user.id, epoch=user.session_epoch, data={}))
    return token


def person(site: Site, name: str = "the-administrator") -> Person:
    """Return a browser of its own, in which that person is signed in."""
    found = Person(site)
    found.app.set_cookie("groundtransport", session_of(site, name))
    assert found.csrf
    return found


def rows(site: Site) -> dict[tuple[str, int], dict[str, Any]]:
    """Return every record of every kind, deleted or not."""
    found = {}
    with site.engine.connect() as connection:
        for name, kind in site.kinds.items():
            for row in connection.execute(select(kind.model.__table__)).mappings():
                found[name, row["id"]] = dict(row)
    return found


def state(site: Site) -> tuple[Any, ...]:
    """Return all that a write changes: the records, the entries and the head of the chain."""
    with site.engine.connect() as connection:
        head = tuple(connection.execute(select(AuditHead.number, AuditHead.mac)).one())
    return rows(site), site.entries(), head


def assert_whole(site: Site) -> None:
    """The chain verifies, its numbers have no gaps, and the log agrees with the records one by one."""
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
