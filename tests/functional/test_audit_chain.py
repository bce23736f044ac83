"""The chain of the activity log: valid after any change, protected by triggers, and precise about tampering."""

import json
import logging
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import DBAPIError
from transaction import TransactionManager

import groundtransport
from groundtransport import db
from groundtransport.audit import checkpoints
from groundtransport.audit.chain import text_of
from groundtransport.audit.models import AdminActivity, AuditHead
from groundtransport.events import Actor
from groundtransport.records.writer import Writer
from groundtransport.signing import canonical, make_key
from tests.functional.auditing import Log, changing, creating, doing
from tests.functional.editors import messages
from tests.integrity import assert_whole
from tests.site import JFK, Site, app_settings

pytestmark = pytest.mark.slow


@pytest.fixture
def log(small_database_url: str, tmp_path: Path) -> Iterator[Log]:
    log = Log(tmp_path, small_database_url)
    yield log
    log.close()


@pytest.fixture
def six(log: Log) -> Log:
    """A log of six entries: three records made one by one, one changed, one deleted and restored."""
    first, second, _ = (log.create(name)[0] for name in ("Line 1", "Line 2", "Line 3"))
    log.write(changing(first, company_name="Line 4"))
    log.write(doing("delete", second))
    log.write(doing("restore", second))
    return log


# Whole


def test_a_log_of_all_that_can_happen_verifies(log: Log) -> None:
    assert "0 entries" in log.verify()
    ids = log.create(*(f"Line {number}" for number in range(20)))
    for record_id in ids[:9]:
        log.write(changing(record_id, company_name=f"Ünïcode “{record_id}” \U0001f68c", description="a\n\tb\x85\u2028"))
    log.write(*(doing("delete", record_id) for record_id in ids[5:15]), batch="cleaning")
    log.write(*(doing("restore", record_id) for record_id in ids[5:8]))
    log.write(doing("purge", ids[8]))
    rows = "".join(f'"{JFK}",Imported {number}\n' for number in range(25))
    output = log.shell("import", "scheduledbus", log.shell.write(f"airport_name,company_name\n{rows}"))

    assert "68 entries verified, up to number 68" in log.verify()
    (batch,) = {entry["batch"] for entry in log.rows(AdminActivity)[-25:]}
    assert batch
    assert batch in output


def test_services_that_share_a_log_continue_each_other(log: Log) -> None:
    other = log.another()
    for turn in range(8):
        log.create(f"Line {turn}")
        if turn % 4:
            other.create(f"Line {turn} of the other")
    other.stop()
    assert "14 entries verified, up to number 14" in log.verify()


def test_services_that_write_at_once_wait_for_each_other_and_never_for_ever(log: Log) -> None:
    others = [log.another() for _ in range(3)]
    errors: list[BaseException] = []

    def write(service: Log, name: str) -> None:
        try:
            for turn in range(20):
                service.create(f"{name} {turn}")
        except BaseException as error:
            errors.append(error)

    named = [(service, f"Line {number} {thread}") for number, service in enumerate(others) for thread in range(3)]
    threads = [threading.Thread(target=write, args=each) for each in named]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for service in others:
        service.stop()
    assert not errors
    assert "180 entries verified, up to number 180" in log.verify()


def test_a_log_that_was_put_back_goes_on_from_there(log: Log) -> None:
    """As by a backup that is restored under a service that runs."""
    log.create("Line 1")
    with log.tampered():
        log.create("Line 2")
        log.create("Line 3")
    log.create("Line 4")
    assert "2 entries verified, up to number 2" in log.verify()


def test_a_change_after_one_that_was_given_up_has_its_entry(log: Log) -> None:
    """One session, two transactions, as when a form is sent twice at once."""
    tm = TransactionManager(explicit=True)
    tm.begin()
    dbsession = db.make_session(log.registry["engine"], tm)
    writer = Writer(dbsession, log.registry.notify, log.kinds["transit"], Actor("Zoë"))
    creating("Line 1")(writer)
    tm.abort()
    tm.begin()
    creating("Line 2")(writer)
    tm.commit()
    dbsession.close()
    (entry,) = log.rows(AdminActivity)
    assert entry["changes"]["company_name"] == {"old": None, "new": "Line 2"}
    assert "1 entries verified, up to number 1" in log.verify()


def test_a_message_is_told_once_wherever_the_log_ends(site: Site) -> None:
    client = site.client()
    client.create("transit", company_name="Line 1")
    messages(client, "transit")
    other = groundtransport.main({}, **app_settings(site.url)).registry
    with db.transaction(other["engine"]) as dbsession:
        creating("Line of the other")(Writer(dbsession, other.notify, site.kinds["transit"], Actor("Zoë")))
    other["engine"].dispose()
    assert client.post("/admin/transit", {"airport_name": JFK, "company_name": "Once"}).status_int == 303
    output = client.get("/admin/transit").html.find(id="messages")
    assert len(output.select(".message")) == 1
    assert "Once" in output.get_text()
    assert not client.get("/admin/transit").html.find(id="messages").select(".message")
    assert_whole(site)


def test_what_was_rolled_back_leaves_no_gap(log: Log) -> None:
    def fail(writer: object) -> None:
        raise RuntimeError

    for number in range(4):
        log.create(f"Line {number}")
        with pytest.raises(RuntimeError):
            log.write(creating("never"), creating("never"), fail)

    assert log.numbers() == [1, 2, 3, 4]
    assert {entry["label"] for entry in log.rows(AdminActivity)} == {f"Line {number}" for number in range(4)}
    assert "4 entries" in log.verify()


def test_writers_at_the_same_time_count_on_without_gaps(log: Log) -> None:
    barrier, failures = threading.Barrier(4), []

    def work(number: int) -> None:
        barrier.wait()
        for turn in range(5):
            try:
                steps = [creating(f"{number}-{turn}")] * 2
                log.write(*steps, *([lambda writer: 1 / 0] if turn == 2 else []), batch=f"{number}-{turn}")
            except ZeroDivisionError:
                failures.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(failures) == [0, 1, 2, 3]
    assert log.numbers() == list(range(1, 33))
    batches = [entry["batch"] for entry in log.rows(AdminActivity)]
    assert batches[::2] == batches[1::2]  # a transaction's entries stand together
    assert "32 entries" in log.verify()
    assert "agree" in log.reconcile()


# Tampered with, past the triggers

CHANGED = {
    "at": "'2020-01-01 00:00:00.000000'",
    "actor_id": "8",
    "actor": "'Somebody'",
    "request_id": "'request-2'",
    "address": "'192.0.2.9'",
    "batch": "'import-1'",
    "action": "'delete'",
    "kind": "'scheduledbus'",
    "record_id": "record_id + 1",
    "version": "version + 1",
    "airport_code": "'LHR'",
    "label": "'Line X'",
    "changes": "replace(changes, 'Line 3', 'Line X')",
    "key_id": "'0123456789abcdef'",
    "mac": "'" + "0" * 64 + "'",
    "id": "99",
}
ALL = ", ".join(column.name for column in AdminActivity.__table__.columns)
COPY = f"INSERT INTO admin_activity SELECT {ALL.replace('id', '{}', 1)} FROM admin_activity WHERE id = {{}}"
GONE = "DELETE FROM admin_activity WHERE id "
POSITIVE = "UPDATE admin_activity SET id = -id WHERE id < 0"
MARK = (
    "INSERT INTO audit_mark (id, at, reason, number, mac, digest, key_id, signature) SELECT 1, at, 'archive', id, mac,"
    f" '{'0' * 64}', key_id, '{'0' * 64}' FROM admin_activity WHERE id = 3"
)
SPREAD = "UPDATE admin_activity SET id = -id - 1 WHERE id > 3"
CLOSED = "UPDATE admin_activity SET id = 1 - id WHERE id > 3"
SWAPPED = [f"UPDATE admin_activity SET id = {new} WHERE id = {old}" for old, new in ((3, 9), (4, 3), (9, 4))]
WAYS = {  # what is done, and the entry that is named
    **{
        f"{name} changed": ([f"UPDATE admin_activity SET {name} = {CHANGED[name]} WHERE id = 3"], 3) for name in CHANGED
    },
    "actor_id emptied": (["UPDATE admin_activity SET actor_id = NULL WHERE id = 3"], 3),
    "the first deleted": ([GONE + "= 1"], 1),
    "one in the middle deleted": ([GONE + "= 3"], 3),
    "one deleted and the others moved up": ([GONE + "= 3", CLOSED, POSITIVE], 3),
    "the last deleted": ([GONE + "= 6"], 6),
    "all deleted": ([GONE + "> 0"], 1),
    "two swapped": (SWAPPED, 3),
    "one forged at the end": ([COPY.format(7, 6)], 7),
    "one forged at the end, and the head": ([COPY.format(7, 6), "UPDATE audit_head SET number = 7"], 7),
    "one forged in the middle": ([SPREAD, POSITIVE, COPY.format(4, 3)], 4),
    "the head put forward": (["UPDATE audit_head SET number = 7"], 7),
    "the head deleted": (["DELETE FROM audit_head"], 7),
    "a mark forged over a cut": ([MARK, GONE + "<= 3"], 3),
}


def test_every_way_of_tampering_is_noticed_and_the_first_bad_entry_named(six: Log) -> None:
    unnoticed = {}
    for name, (statements, number) in WAYS.items():
        with six.tampered(*statements):
            output = six.verify(fails=True)
        if "tampered" not in output or not re.search(rf"\bentry {number}\b", output):
            unnoticed[name] = output
    assert unnoticed == {}
    assert "6 entries" in six.verify()


def test_a_head_that_fits_no_entry_is_noticed(six: Log) -> None:
    for value in ("number = 5", "number = 0, mac = ''", f"mac = '{'0' * 64}'"):
        with six.tampered(f"UPDATE audit_head SET {value}"):
            assert "tampered" in six.verify(fails=True)


def test_a_moment_that_is_none_is_named_in_words(six: Log) -> None:
    moment = "infinity" if six.engine.dialect.name == "postgresql" else "nonsense"
    with six.tampered(f"UPDATE admin_activity SET at = '{moment}' WHERE id = 3"):
        assert re.search(r"\bentry 3\b", six.verify(fails=True))


def test_a_chain_forged_anew_with_another_key_is_noticed_under_either_name(six: Log) -> None:
    forger, entries = make_key(b"f" * 48), six.rows(AdminActivity)
    for key_id in (forger.key_id, entries[0]["key_id"]):
        mac, forged = entries[1]["mac"], []
        for entry in entries[2:]:
            changed = {**entry, "label": "Line X", "key_id": key_id}
            mac = forger.sign(text_of({**changed, "changes": canonical(entry["changes"])}, mac))
            forged.append({**changed, "mac": mac})
        with six.tampered(GONE + "> 2", f"UPDATE audit_head SET mac = '{mac}'"):
            with six.unprotected() as connection:
                connection.execute(insert(AdminActivity), forged)
            assert re.search(r"\bentry 3\b", six.verify(fails=True))


# Protected

REFUSED = [
    "UPDATE admin_activity SET label = 'x' WHERE id = 5",
    "UPDATE admin_activity SET id = id + 100",
    "DELETE FROM admin_activity WHERE id = 6",
    "DELETE FROM admin_activity",
    "UPDATE audit_mark SET number = 6",
    "DELETE FROM audit_mark",
]
OWN = {
    "sqlite": ["INSERT OR REPLACE INTO admin_activity SELECT * FROM admin_activity WHERE id = 5"],
    "postgresql": ["TRUNCATE admin_activity", "TRUNCATE audit_mark"],
}


def test_the_database_itself_refuses_to_change_or_delete_entries_and_marks(six: Log) -> None:
    six.sql(MARK)  # as if the first three had been archived
    before = six.rows(AdminActivity)
    for statement in REFUSED + OWN[six.engine.dialect.name]:
        with pytest.raises(DBAPIError, match="append-only"):
            six.sql(statement)
    assert six.rows(AdminActivity) == before


# Checkpoints


@pytest.mark.parametrize("form", ["plain", "json"])
def test_a_cut_shows_against_the_checkpoints_of_the_process_log(
    six: Log, form: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(checkpoints, "EVERY", 4)
    with caplog.at_level(logging.INFO, "groundtransport"):
        for name in "abcdef":
            six.create(name)
    output = [message for message in caplog.messages if "audit-checkpoint" in message]
    assert {json.loads(text.partition("audit-checkpoint ")[2])["number"] for text in output} >= {8, 12}
    lines = [f"2026-01-01 INFO [x] {text}" if form == "plain" else json.dumps({"message": text}) for text in output]
    file = six.shell.write("\n".join(["started", '{"message": "other"}', "{", *lines, ""]), "process.log")

    assert f"12 entries verified, up to number 12, {len(output)} checkpoints" in six.verify("--checkpoints", file)

    head = "UPDATE audit_head SET number = 9, mac = (SELECT mac FROM admin_activity WHERE id = 9)"
    with six.tampered(GONE + "> 9", head):
        six.verify()  # by itself it looks whole
        assert re.search(r"\bentry 10\b", six.verify("--checkpoints", file, fails=True))
        six.start()
        six.create("x", "y", "z")  # and it grows past the checkpoint again
        assert re.search(r"\bentry 12\b", six.verify("--checkpoints", file, fails=True))


def test_a_checkpoint_can_be_asked_for_and_one_that_is_not_ours_is_refused(six: Log) -> None:
    line = six.shell("audit", "checkpoint")
    file = six.shell.write(line, "kept.log")
    assert "1 checkpoints" in six.verify("--checkpoints", file)
    for bad in (line.replace('"number":6', '"number":5'), "audit-checkpoint {}", "audit-checkpoint {"):
        assert "checkpoint" in six.verify("--checkpoints", six.shell.write(bad, "bad.log"), fails=True)


def test_nothing_is_announced_that_was_not_committed(
    six: Log, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(checkpoints, "EVERY", 1)
    with caplog.at_level(logging.INFO, "groundtransport"), pytest.raises(ZeroDivisionError):
        six.write(creating("never"), lambda writer: 1 / 0)
    assert "audit-checkpoint" not in caplog.text
    assert six.rows(AuditHead)[0]["number"] == 6
