"""Each edit that docs/audit.md lists, made by SQL as the database's owner, is found by the command that it names."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from groundtransport.accounts.models import AdminUser
from groundtransport.security_log.models import SecurityEvent, SecurityHead
from tests.databases import DATABASES, filled_database
from tests.functional.auditing import ZOE, Log, changing, doing
from tests.functional.test_audit_chain import CLOSED, COPY, GONE, MARK, POSITIVE, SPREAD, SWAPPED
from tests.shell import fill_with_some_places
from tests.site import PASSWORD

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "audit.md"
VERIFY, RECONCILE, CHECK = "audit verify", "audit reconcile", "check"
CHECKPOINTS = "audit verify --checkpoints LOG"


class Edit(NamedTuple):
    """``named`` is what the command must name; the statements are those of one database where they differ."""

    command: str
    named: str
    statements: tuple[str, ...] | dict[str, tuple[str, ...]]


def entry(what: str) -> Edit:
    return Edit(VERIFY, "entry 3", (f"UPDATE admin_activity SET {what} WHERE id = 3",))


def record(number: int, what: str, named: str = "the log does not account for it as it is") -> Edit:
    return Edit(RECONCILE, f"transit {number}: {named}", (f"UPDATE transit SET {what} WHERE id = {number}",))


def event(statement: str, number: int) -> Edit:
    return Edit(VERIFY, f"security event {number} ", (statement,))


EVENT = ", ".join(column.name for column in SecurityEvent.__table__.columns if column.name != "id")
EARLY = "'2020-01-01 00:00:00.000000'"
HEAD_BACK = "UPDATE audit_head SET number = 5, mac = (SELECT mac FROM admin_activity WHERE id = 5) WHERE id = 1"
RECORD = "airport_id, airport_code, airport_name, company_name, created_at, updated_at, version, search_text"
FUNCTION = "CREATE OR REPLACE FUNCTION admin_activity_is_append_only() RETURNS TRIGGER LANGUAGE plpgsql"
EDITS = {
    "an entry's values changed": entry("changes = replace(changes, 'Line 3', 'Line X')"),
    "an entry's time changed": entry(f"at = {EARLY}"),
    "an entry's person changed": entry("actor = 'somebody'"),
    "an entry's person's number changed": entry("actor_id = 8"),
    "an entry's address changed": entry("address = '192.0.2.9'"),
    "an entry's action changed": entry("action = 'delete'"),
    "an entry given to another record": entry("record_id = record_id + 1"),
    "an entry's record name changed": entry("label = 'Line X'"),
    "an entry's signature changed": entry(f"mac = '{'0' * 64}'"),
    "the oldest entry deleted": Edit(VERIFY, "entry 1", (GONE + "= 1",)),
    "an entry in the middle deleted": Edit(VERIFY, "entry 3", (GONE + "= 3",)),
    "an entry deleted, the later ones moved up": Edit(VERIFY, "entry 3", (GONE + "= 3", CLOSED, POSITIVE)),
    "the newest entry deleted": Edit(VERIFY, "entry 8", (GONE + "= 8",)),
    "all entries deleted": Edit(VERIFY, "entry 1", (GONE + "> 0",)),
    "two entries swapped": Edit(VERIFY, "entry 3", tuple(SWAPPED)),
    "an entry added at the end": Edit(VERIFY, "entry 9", (COPY.format(9, 8),)),
    "an entry added at the end, the head moved": Edit(
        VERIFY, "entry 9", (COPY.format(9, 8), "UPDATE audit_head SET number = 9 WHERE id = 1")
    ),
    "an entry added in the middle": Edit(VERIFY, "entry 4", (SPREAD, POSITIVE, COPY.format(4, 3))),
    "the head moved": Edit(VERIFY, "entry 9", ("UPDATE audit_head SET number = 9 WHERE id = 1",)),
    "the head deleted": Edit(VERIFY, "entry 9", ("DELETE FROM audit_head WHERE id = 1",)),
    "a mark forged over deleted entries": Edit(VERIFY, "the mark at entry 3", (MARK, GONE + "<= 3")),
    "the newest entries deleted, the head set back": Edit(CHECKPOINTS, "entry 6", (HEAD_BACK, GONE + "> 5")),
    "a record's value changed": record(3, "company_name = 'Line X'", "company_name is 'Line X'"),
    "a record's value emptied": record(3, "company_name = NULL", "company_name is None"),
    "a record's empty field filled": record(3, "description = 'x'", "description is 'x'"),
    "a record's airport changed": record(3, "airport_code = 'LHR'", "airport_code is 'LHR'"),
    "a record's `created_at` changed": record(3, f"created_at = {EARLY}", "created_at is 2020-01-01"),
    "a record's `updated_at` changed": record(1, f"updated_at = {EARLY}", "updated_at is 2020-01-01"),
    "a record's `verified_at` or `verified_by` changed": record(3, "verified_by = 'nobody'", "verified_by is 'nobody'"),
    "a record's version changed": record(3, "version = 2"),
    "a record marked as deleted": record(3, f"deleted_at = {EARLY}"),
    "a deleted record brought back": record(4, "deleted_at = NULL, deleted_by = NULL"),
    "a deleted record's `deleted_at` changed": record(4, f"deleted_at = {EARLY}", "deleted_at is 2020-01-01"),
    "a deleted record's `deleted_by` changed": record(4, "deleted_by = 'somebody'", "deleted_by is 'somebody'"),
    "a record removed": Edit(RECONCILE, "transit 3: is in the log, and is gone", ("DELETE FROM transit WHERE id = 3",)),
    "a record inserted": Edit(
        RECONCILE,
        "transit 99: the log does not account for it",
        (f"INSERT INTO transit (id, {RECORD}) SELECT 99, {RECORD} FROM transit WHERE id = 3",),
    ),
    "a person renamed": Edit(
        RECONCILE, f"user {ZOE}: is named x now", (f"UPDATE admin_user SET name = 'x' WHERE id = {ZOE}",)
    ),
    "a person removed": Edit(RECONCILE, f"user {ZOE}: has no account", (f"DELETE FROM admin_user WHERE id = {ZOE}",)),
    "a security event changed": event("UPDATE security_event SET name = 'somebody' WHERE id = 2", 2),
    "a security event's signature changed": event(f"UPDATE security_event SET mac = '{'0' * 64}' WHERE id = 2", 2),
    "the oldest security event deleted": event("DELETE FROM security_event WHERE id = 1", 2),
    "a security event in the middle deleted": event("DELETE FROM security_event WHERE id = 2", 2),
    "the newest security event deleted": event("DELETE FROM security_event WHERE id = 4", 4),
    "all security events deleted": event("DELETE FROM security_event", 1),
    "a security event added": event(
        f"INSERT INTO security_event ({EVENT}, id) SELECT {EVENT}, 5 FROM security_event WHERE id = 4", 5
    ),
    "the head of the security log moved": event("UPDATE security_head SET number = 5", 5),
    "the head of the security log deleted": event("DELETE FROM security_head", 5),
    "a trigger of a log dropped": Edit(
        CHECK,
        "admin_activity_no_",
        {
            "sqlite": ("DROP TRIGGER admin_activity_no_update",),
            "postgresql": ("DROP TRIGGER admin_activity_no_change ON admin_activity",),
        },
    ),
    "a trigger of a log disabled or replaced": Edit(
        CHECK,
        "audit_mark_no_",
        {
            "sqlite": (
                "DROP TRIGGER audit_mark_no_update",
                "CREATE TRIGGER audit_mark_no_update BEFORE UPDATE ON audit_mark BEGIN SELECT 1; END",
            ),
            "postgresql": ("ALTER TABLE audit_mark DISABLE TRIGGER audit_mark_no_change",),
        },
    ),
    "what the triggers of a log do replaced": Edit(
        CHECK,
        "admin_activity_",
        {
            "sqlite": (
                "DROP TRIGGER admin_activity_no_delete",
                "CREATE TRIGGER admin_activity_no_delete BEFORE DELETE ON admin_activity WHEN 0 BEGIN SELECT 1; END",
            ),
            "postgresql": (f"{FUNCTION} AS $$ BEGIN RETURN OLD; END $$ -- TRIGGER",),
        },
    ),
    "an entry's search text changed": Edit(
        CHECK, "do not match their entries: 3", ("UPDATE admin_activity SET search_text = 'x' WHERE id = 3",)
    ),
    "a record's search text changed": Edit(
        CHECK,
        "transit: 1 search texts are not what the records say: 3",
        ("UPDATE transit SET search_text = 'x' WHERE id = 3",),
    ),
}


@pytest.fixture(scope="module", params=DATABASES)
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Four records, of which one was changed, one deleted and restored, one deleted; and four security events."""
    with filled_database(request.param, request, "groundtransport_tampering", fill_with_some_places) as url:
        log = Log(tmp_path_factory.mktemp("tampering"), url)
        numbers = [log.create(f"Line {number}")[0] for number in (1, 2, 3)]
        log.write(changing(numbers[0], company_name="Line 5"))
        log.write(doing("delete", numbers[1]))
        log.write(doing("restore", numbers[1]))
        (fourth,) = log.create("Line 4")
        log.write(doing("delete", fourth))
        log.shell("user", "add", "pat", "--role", "editor", stdin=PASSWORD)
        for words in (("role", "pat", "viewer"), ("disable", "pat"), ("enable", "pat")):
            log.shell("user", *words)
        yield log
        log.close()


def command(log: Log, words: str, *, fails: bool) -> str:
    log_file = str(log.shell.folder / "kept.log")
    return log.shell(*(log_file if word == "LOG" else word for word in words.split()), fails=fails)


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_by_sql_is_found_by_its_command(log: Log, name: str) -> None:
    edit = EDITS[name]
    statements = edit.statements
    if isinstance(statements, dict):
        statements = statements[log.engine.dialect.name]
    log.shell.write(log.shell("audit", "checkpoint"), "kept.log")
    with log.tampered(*statements, more=(log.kinds["transit"].model, AdminUser, SecurityEvent, SecurityHead)):
        assert edit.named in command(log, edit.command, fails=True)
    command(log, edit.command, fails=False)


def test_the_page_lists_these_edits_and_their_commands() -> None:
    rows: Any = re.findall(r"^\| (.+?) \| `(.+?)` \|$", PAGE.read_text(), re.MULTILINE)
    assert rows == [(name, edit.command) for name, edit in EDITS.items()]
