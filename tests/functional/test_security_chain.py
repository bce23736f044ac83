"""The chain of the security log: whole whoever writes, after an upgrade, after a pruning and under a new key."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, text

from groundtransport import db, settings
from groundtransport.db import migrations
from groundtransport.security_log import event_chain, log
from groundtransport.security_log.events import Entry, Event
from groundtransport.security_log.log import SecurityLog
from groundtransport.security_log.models import SecurityEvent
from groundtransport.signing import make_key
from tests.functional.test_audit_maintenance import BOTH, FIRST, NEW, SECOND
from tests.integrity import at_once
from tests.shell import Shell
from tests.site import ENVIRON, app_settings


@pytest.fixture
def empty(empty_database_url: str) -> Iterator[Engine]:
    engine = db.make_engine(settings.read(app_settings(empty_database_url), ENVIRON))
    yield engine
    engine.dispose()


@pytest.fixture
def shell(migrated_database_url: str, tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, migrated_database_url)
    yield shell
    shell.engine.dispose()


def write(engine: Engine, *names: str, secret: str = FIRST, days: int = 0) -> None:
    entries = [Entry(Event.SIGN_OUT, name, at=db.now() - timedelta(days=days)) for name in names]
    log.write(SecurityLog(engine, make_key(secret.encode())), entries)


def numbers(shell: Shell) -> list[int]:
    with shell.engine.connect() as connection:
        return list(connection.scalars(select(SecurityEvent.id).order_by(SecurityEvent.id)))


def sql(engine: Engine, statement: str) -> None:
    with db.write_engine(engine).begin() as connection:
        connection.execute(text(statement))


def test_those_who_write_at_once_make_one_chain(shell: Shell) -> None:
    at_once(4, lambda number: [write(shell.engine, f"{number}-{turn}", "x") for turn in range(5)])
    assert numbers(shell) == list(range(1, 41))
    assert "40 security events" in shell("audit", "verify")


def test_events_from_before_the_chain_stay_and_it_begins_behind_them(
    empty: Engine, empty_database_url: str, tmp_path: Path
) -> None:
    migrations.upgrade(empty, "0013")
    row = "'sign-in', NULL, 'pat', '', '192.0.2.1', '192.0.2.1', 'r', '{}'"
    for number in (3, 7):  # a sequence leaves gaps
        sql(empty, f"INSERT INTO security_event VALUES ({number}, '2026-01-01 00:00:00.000000', {row})")
    migrations.upgrade(empty)
    shell = Shell(tmp_path, empty_database_url)
    assert "0 security events" in shell("audit", "verify")
    write(empty, "a", "b")
    assert numbers(shell) == [3, 7, 8, 9]
    assert "2 security events" in shell("audit", "verify")
    sql(empty, "DELETE FROM security_event WHERE id = 8")
    assert "security event 9" in shell("audit", "verify", fails=True)
    shell.engine.dispose()


def test_a_log_that_was_pruned_begins_behind_it_and_only_there(shell: Shell) -> None:
    write(shell.engine, "old", "older", days=400)
    write(shell.engine, "new", "newer")
    assert "2 events" in shell("security", "prune")
    write(shell.engine, "newest")
    assert numbers(shell) == [3, 4, 5, 6]
    assert "4 security events" in shell("audit", "verify")
    sql(shell.engine, "DELETE FROM security_event WHERE id = 3")
    assert "security event 3 is missing" in shell("audit", "verify", fails=True)


def test_a_log_that_was_changed_is_not_pruned(shell: Shell) -> None:
    write(shell.engine, "old", "older", "oldest", days=400)
    sql(shell.engine, "DELETE FROM security_event WHERE id = 2")
    assert "security event 2 is missing" in shell("security", "prune", fails=True)
    assert numbers(shell) == [1, 3]


def test_a_new_key_vouches_for_the_events_of_the_old_one(shell: Shell) -> None:
    write(shell.engine, "a", "b", "c")
    assert "unknown key" in shell("audit", "verify", fails=True, **NEW)
    assert "security log" in shell("audit", "rotate-key", **BOTH)
    assert "security log" not in shell("audit", "rotate-key", **BOTH)
    write(shell.engine, "d", secret=SECOND)
    for environ in (BOTH, NEW):
        assert "5 security events" in shell("audit", "verify", **environ)
    with shell.engine.begin() as connection:
        table = SecurityEvent.__table__
        row = dict(connection.execute(select(table).where(table.c.id == 2)).mappings().one())
        connection.execute(table.delete().where(table.c.id == 2))
        connection.execute(table.insert(), {**row, "name": "somebody"})
    for environ in (BOTH, NEW):
        assert "security event" in shell("audit", "verify", fails=True, **environ)


def test_what_is_signed_holds_every_column() -> None:
    assert set(event_chain.COLUMNS) == {column.name for column in SecurityEvent.__table__.columns} - {"mac"}
