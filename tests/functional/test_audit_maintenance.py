"""Maintenance of the activity log: a new key, archived entries, and the comparison with the records."""

import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from groundtransport import db, kinds
from groundtransport.audit.integrity import replay, verify
from groundtransport.audit.models import AdminActivity, AuditMark
from tests.functional.auditing import Log, changing, doing

pytestmark = pytest.mark.slow

NAME, OLD = "GROUNDTRANSPORT_AUDIT_SECRET", "GROUNDTRANSPORT_AUDIT_SECRET_OLD"
FIRST, SECOND, THIRD = "a" * 48, "n" * 48, "t" * 48  # the first is what the tests' environment holds
NEW, BOTH = {NAME: SECOND}, {NAME: SECOND, OLD: FIRST}


@pytest.fixture
def log(small_database_url: str, tmp_path: Path) -> Iterator[Log]:
    """A log of three entries, signed with the first secret."""
    log = Log(tmp_path, small_database_url)
    log.create("Line 1", "Line 2", "Line 3")
    yield log
    log.close()


def rotated(log: Log) -> Log:
    """Rotate the key after three entries, and write two more."""
    log.shell("audit", "rotate-key", **BOTH)
    log.start(**BOTH)
    log.create("Line 4", "Line 5")
    return log


# A new key


def test_a_rotation_lets_the_old_secret_go(log: Log) -> None:
    assert "entry 1 " in log.verify(fails=True, **NEW)  # before it, the new secret alone says nothing
    log.verify(**BOTH)
    rotated(log)
    for environ in (BOTH, NEW):
        assert "5 entries verified, up to number 5" in log.verify(**environ)
    log.start(**NEW)
    log.create("Line 6")
    log.verify(**NEW)
    keys = [entry["key_id"] for entry in log.rows(AdminActivity)]
    assert keys == [keys[0]] * 3 + [keys[3]] * 3
    assert keys[0] != keys[3]


def test_an_old_entry_that_is_changed_after_the_rotation_is_noticed_without_the_old_secret(log: Log) -> None:
    rotated(log)
    ways = [f"UPDATE admin_activity SET {what} WHERE id = 2" for what in ("label = 'x'", f"mac = '{'0' * 64}'")]
    for statement in [*ways, "UPDATE admin_activity SET label = 'x' WHERE id = 5", "DELETE FROM audit_mark"]:
        with log.tampered(statement):
            for environ in (NEW, BOTH) if "audit_mark" not in statement else (NEW,):
                assert "tampered" in log.verify(fails=True, **environ), statement
    log.verify(**NEW)


def test_a_cut_before_the_joint_of_a_rotation_is_noticed(log: Log) -> None:
    rotated(log)
    head = "UPDATE audit_head SET number = 2, mac = (SELECT mac FROM admin_activity WHERE id = 2)"
    with log.tampered("DELETE FROM admin_activity WHERE id > 2", head):
        for environ in (NEW, BOTH):
            assert re.search(r"\bentry 3\b", log.verify(fails=True, **environ))


def test_a_rotation_needs_the_old_secret_and_an_untouched_log(log: Log) -> None:
    assert "Nothing was signed" in log.shell("audit", "rotate-key", fails=True, **NEW)
    with log.tampered("UPDATE admin_activity SET label = 'x' WHERE id = 2"):
        assert re.search(r"\bentry 2\b", log.shell("audit", "rotate-key", fails=True, **BOTH))
    assert log.rows(AuditMark) == []


def test_a_rotation_comes_in_time_when_entries_of_the_new_key_are_there_already(log: Log) -> None:
    log.start(**BOTH)  # the service was restarted first, and somebody wrote at once
    log.create("Line 4")
    log.shell("audit", "rotate-key", **BOTH)
    assert "4 entries" in log.verify(**NEW)


def test_a_second_rotation_needs_no_earlier_secret(log: Log) -> None:
    rotated(log)
    log.shell("audit", "rotate-key", **{NAME: THIRD, OLD: SECOND})
    assert "5 entries" in log.verify(**{NAME: THIRD, OLD: SECOND})
    assert "5 entries" in log.verify(**{NAME: THIRD})


def test_a_rotation_after_an_archive_lets_the_old_secret_go(log: Log) -> None:
    archive(log, "0d")
    log.create("Line 4")
    log.shell("audit", "rotate-key", **BOTH)
    assert "1 entries" in log.verify(**NEW)


def test_a_rotation_with_nothing_to_do_says_so_and_leaves_no_mark(log: Log) -> None:
    rotated(log)
    marks = log.rows(AuditMark)
    log.shell("audit", "rotate-key", **BOTH)
    assert log.rows(AuditMark) == marks


# Old entries leave


def archive(log: Log, age: str, name: str = "archive.jsonl", *, fails: bool = False) -> tuple[str, Path]:
    file = log.shell.folder / name
    return log.shell("audit", "archive", "--older-than", age, "--to", str(file), fails=fails), file


@contextmanager
def ago(days: int) -> Iterator[None]:
    """Let the service live so many days ago."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("audit.subscriber", "records.writer"):
            patch.setattr(f"groundtransport.{module}.now", lambda: db.now() - timedelta(days=days))
        yield


@pytest.fixture
def old_log(small_database_url: str, tmp_path: Path) -> Iterator[Log]:
    """A log of six entries: two 400 days old, two 200, two new."""
    log = Log(tmp_path, small_database_url)
    for days in (400, 200, 0):
        with ago(days):
            log.create(f"Größe {days} a")
            log.create(f"Größe {days} b")
    yield log
    log.close()


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_old_entries_leave_whole_and_the_log_goes_on(old_log: Log) -> None:
    entries_before = old_log.rows(AdminActivity)
    output, file = archive(old_log, "365d")
    assert "up to 2" in output
    out = lines(file)
    for line, entry in zip(out, entries_before[:2], strict=True):
        assert (line["id"], line["label"], line["actor"]) == (entry["id"], entry["label"], "Zoë")
        assert (line["mac"], line["at"]) == (entry["mac"], entry["at"].isoformat())
        assert "company_name" in line["changes"]
    assert old_log.rows(AdminActivity) == entries_before[2:]
    assert "4 entries verified, up to number 6" in old_log.verify()
    old_log.create("new")
    assert "5 entries verified, up to number 7" in old_log.verify()
    assert "agree" in old_log.reconcile()


def test_a_second_archive_continues_the_first(old_log: Log) -> None:
    archive(old_log, "52w")
    _, second = archive(old_log, "100d", "second.jsonl")
    assert [line["id"] for line in lines(second)] == [3, 4]
    assert "2 entries verified, up to number 6" in old_log.verify()
    archive(old_log, "0d", "third.jsonl")
    assert "0 entries verified, up to number 6" in old_log.verify()
    old_log.create("new")
    assert old_log.numbers() == [7]
    assert "1 entries verified, up to number 7" in old_log.verify()


def test_tampering_with_what_stayed_or_with_the_mark_is_noticed(old_log: Log) -> None:
    archive(old_log, "365d")
    ways = {
        "UPDATE admin_activity SET label = 'x' WHERE id = 3": 3,
        "DELETE FROM admin_activity WHERE id = 3": 3,
        "DELETE FROM audit_mark": 1,
        "UPDATE audit_mark SET number = 1": 1,
        "UPDATE audit_mark SET archived_until = '2030-01-01 00:00:00.000000'": 2,
    }
    for statement, number in ways.items():
        with old_log.tampered(statement):
            assert re.search(rf"\bentry {number}\b", old_log.verify(fails=True)), statement
    old_log.verify()


def test_an_archive_that_is_refused_leaves_no_file_and_all_entries(old_log: Log) -> None:
    with old_log.tampered("UPDATE admin_activity SET label = 'x' WHERE id = 5"):
        output, file = archive(old_log, "365d", fails=True)
        assert re.search(r"\bentry 5\b", output)
        assert not file.exists()
        assert len(old_log.numbers()) == 6
    _, file = archive(old_log, "3y", fails=True)
    assert not file.exists()
    file.write_text("mine")
    assert "exists" in archive(old_log, "365d", fails=True)[0]
    assert file.read_text() == "mine"
    assert len(old_log.numbers()) == 6
    assert old_log.rows(AuditMark) == []


def test_a_file_that_cannot_be_made_is_told_in_words(old_log: Log) -> None:
    assert "nowhere" in archive(old_log, "365d", "nowhere/archive.jsonl", fails=True)[0]
    assert len(old_log.numbers()) == 6


# Does it agree with the records


def test_after_a_random_life_the_log_agrees_and_names_what_was_changed_behind_it(log: Log) -> None:
    rng = random.Random(5)
    log.create(*(f"Bus {number}" for number in range(27)))
    live, gone = [entry["record_id"] for entry in log.rows(AdminActivity)], list[int]()
    for turn in range(90):
        action = rng.choice(["update"] * 3 + ["delete", "delete", "restore", "purge"])
        record_id = rng.choice((live if action in ("update", "delete") else gone) or [0])
        if not record_id:
            continue
        step = changing(record_id, company_name=f"Turn {turn}") if action == "update" else doing(action, record_id)
        log.write(step)
        (live if action in ("update", "delete") else gone).remove(record_id)
        if action != "purge":
            (gone if action == "delete" else live).append(record_id)
    assert {entry["action"] for entry in log.rows(AdminActivity)} == {"create", "update", "delete", "restore", "purge"}
    assert "agree" in log.reconcile()
    log.verify()

    forged = 1_000
    table = log.kinds["transit"].model.__table__
    names = ", ".join(column.name for column in table.c if column.name not in ("id", "form_token"))
    with log.engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(table)) == len(live) + len(gone)
    log.sql(
        f"UPDATE transit SET version = version + 1 WHERE id = {live[0]}",
        f"UPDATE transit SET deleted_at = '2026-01-01 00:00:00.000000' WHERE id = {live[1]}",
        f"DELETE FROM transit WHERE id = {live[2]}",
        f"UPDATE transit SET deleted_at = NULL WHERE id = {gone[0]}",
        f"DELETE FROM transit WHERE id = {gone[1]}",
        f"INSERT INTO transit (id, {names}) SELECT {forged}, {names} FROM transit WHERE id = {live[3]}",
    )
    named = re.findall(r"^transit (\d+)\b", log.reconcile(fails=True), re.MULTILINE)
    assert set(map(int, named)) == {*live[:3], *gone[:2], forged}


def test_who_saves_meanwhile_neither_waits_nor_is_taken_for_tampering(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    (record_id,) = log.create("Line 4")
    turns = iter(range(100))

    def meanwhile(of: Any) -> Any:
        def read(*words: Any) -> Any:
            log.write(changing(record_id, company_name=f"Turn {next(turns)}"))
            return of(*words)

        return read

    monkeypatch.setattr(replay, "_logged", meanwhile(replay._logged))
    monkeypatch.setattr(verify, "check_end", meanwhile(verify.check_end))
    assert "agree" in log.reconcile()
    assert "entries verified" in log.verify()
    assert len(log.numbers()) >= 6


def test_a_kind_that_is_not_installed_is_named_in_one_line(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    log.create("Line 4", kind="scheduledbus")
    monkeypatch.setattr(kinds, "kinds", lambda: {"scheduledbus": log.kinds["scheduledbus"]})
    output = log.reconcile()
    assert output.splitlines()[0] == "transit: this kind is not installed; records in the log: 3, not compared"
    assert "agree" in output
