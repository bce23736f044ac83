"""The triggers that keep the logs append-only: a missing one is reported and restored."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from groundtransport.audit import protection, search_texts
from groundtransport.db import migration_locks
from tests.functional.auditing import Log


@pytest.fixture
def log(small_database_url: str, tmp_path: Path) -> Iterator[Log]:
    log = Log(tmp_path, small_database_url)
    log.create("Line 1")
    yield log
    log.close()


def lacking(log: Log) -> list[str]:
    with log.engine.connect() as connection:
        return [guard.name for guard in protection.missing(connection)]


def test_the_migrations_make_what_is_looked_for(log: Log) -> None:
    assert lacking(log) == []


def removals(log: Log) -> dict[str, tuple[str, ...]]:
    """Return ways to take the protection away: the name that is missing then, and the statements."""
    if log.engine.dialect.name == "sqlite":
        weaker = "CREATE TRIGGER audit_mark_no_update BEFORE UPDATE ON audit_mark BEGIN SELECT 1; END"
        return {
            "admin_activity_no_update": ("DROP TRIGGER admin_activity_no_update",),
            "security_event_no_replace": ("DROP TRIGGER security_event_no_replace",),
            "audit_mark_no_update": ("DROP TRIGGER audit_mark_no_update", weaker),
        }
    weaker = "RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$"
    return {
        "admin_activity_no_change": ("DROP TRIGGER admin_activity_no_change ON admin_activity",),
        "admin_activity_no_truncate": ("DROP TRIGGER admin_activity_no_truncate ON admin_activity",),
        "security_event_no_update": ("ALTER TABLE security_event DISABLE TRIGGER USER",),
        "audit_mark_no_change": ("ALTER TABLE audit_mark ENABLE REPLICA TRIGGER audit_mark_no_change",),
        "security_event_is_append_only()": (f"CREATE OR REPLACE FUNCTION security_event_is_append_only() {weaker}",),
    }


def test_what_was_dropped_disabled_or_weakened_is_named_and_put_back(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDTRANSPORT_ADMIN_PASSWORD", "a long one for this test")
    for name, statements in removals(log).items():
        log.sql(*statements)
        output = log.shell("check", fails=True)
        assert name in output
        assert "groundtransport init" in output
        assert name in log.verify(fails=True)
        assert name in log.shell("init")
        assert lacking(log) == []
        assert "right" in log.shell("check")


def test_a_log_without_its_triggers_is_protected_again(log: Log) -> None:
    with log.engine.begin() as connection, protection.lifted(connection):
        pass
    with pytest.raises(DBAPIError, match="append-only"):
        log.sql("UPDATE admin_activity SET label = 'x'")


def test_search_texts_of_entries_are_compared_and_made_anew(log: Log) -> None:
    log.create("Línea 2", "Line 3")
    log.by_force("UPDATE admin_activity SET search_text = 'nothing' WHERE id = 2")
    assert "the activity log: 1 search texts do not match their entries: 2" in log.shell("check", fails=True)
    assert "the activity log: done; 1 search texts were wrong." in log.shell("reindex")
    assert "right" in log.shell("check")
    assert lacking(log) == []
    assert "3 entries" in log.verify()


def test_entries_are_renewed_in_small_transactions(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_texts, "AT_ONCE", 2)
    log.create("Line 2", "Line 3", "Line 4", "Line 5")
    log.by_force("UPDATE admin_activity SET search_text = 'nothing'")
    sizes: list[int] = []
    store = search_texts._store
    monkeypatch.setattr(search_texts, "_store", lambda engine, rows: (sizes.append(len(rows)), store(engine, rows)))

    assert search_texts.renew(log.engine) == 5

    assert sizes == [2, 2, 1]
    assert "right" in log.shell("check")
    assert lacking(log) == []


def test_a_renewal_that_waits_for_a_reader_holds_no_writer_up(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration_locks, "PAUSE", 0.01)
    log.by_force("UPDATE admin_activity SET search_text = 'nothing'")
    with ThreadPoolExecutor(1) as threads:
        with log.engine.connect() as reader:
            reader.execute(text("SELECT count(*) FROM admin_activity"))
            renewal = threads.submit(search_texts.renew, log.engine)
            log.create("Line 2", "Line 3")
            if log.engine.dialect.name == "postgresql":  # SQLite's readers hold nobody up
                assert not renewal.done()
        assert renewal.result(timeout=60) == 1
    assert "right" in log.shell("check")
