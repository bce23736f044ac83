"""Many records at once: as well recorded, numbered, counted and found as those that come one by one."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, func, select, text

from groundtransport import db
from groundtransport.airports.models import Airport
from groundtransport.audit.models import AdminActivity
from groundtransport.events import Actor, RecordCreated
from groundtransport.records.writer import Writer
from groundtransport.transfer.importer import CHUNK, Importer
from tests.shell import Shell
from tests.site import HEATHROW, JFK, Site

pytestmark = pytest.mark.slow

ACTOR = Actor("the-importer", batch="import-1")


@pytest.fixture
def shell(site: Site, tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, site.url)
    yield shell
    shell.engine.dispose()


def bring_in(site: Site, kind: str, rows: list[dict[str, str]]) -> list[str]:
    """Import rows; return what is wrong with each."""
    return [error for _, error in Importer(site.registry, site.kinds[kind], ACTOR).run(rows)]


def numbered(number: int) -> list[dict[str, str]]:
    return [{"airport_name": JFK, "company_name": f"Line {n}", "company_phone1": "718 555 0199"} for n in range(number)]


@pytest.mark.parametrize("kind", ["scheduledbus", "transit"])
def test_each_of_several_chunks_rows_has_its_entry_and_everything_adds_up(shell: Shell, site: Site, kind: str) -> None:
    number = 2 * CHUNK + 3
    rows = numbered(number)
    rows[7] = {"airport_name": HEATHROW, "company_name": 'Kenneallyʼs "Çoaches" {a,b} \\N \' %s :x', "city": ""}
    rows[8] = {"airport_name": JFK}
    lines = [{name: row.get(name, "") for name in ("airport_name", "company_name", "company_phone1")} for row in rows]
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in line.values()) for line in lines]
    output = shell("import", kind, shell.write("\n".join(["airport_name,company_name,company_phone1", *quoted])))
    assert f"{number:,} created, 0 refused" in output

    table = site.kinds[kind].model.__table__
    with site.engine.connect() as connection:
        stored = [dict(row) for row in connection.execute(select(table).order_by(table.c.id)).mappings()]
    assert [row["company_name"] for row in stored] == [row.get("company_name") for row in rows]
    entries = site.entries()
    assert [entry["record_id"] for entry in entries] == [row["id"] for row in stored]
    assert [entry["id"] for entry in entries] == list(range(1, number + 1))
    assert entries[8]["label"].endswith(f" {stored[8]['id']}")
    for row, entry in zip(stored, entries, strict=True):
        assert entry["changes"] == {
            name: {"old": None, "new": row[name]}
            for name in (*site.kinds[kind].fields, "airport_id", "airport_code")
            if row[name] is not None
        }
    shell("audit", "verify")
    shell("audit", "reconcile")
    shell("check")
    assert [row["id"] for row in site.client().rows(kind, q="kenneally çoaches")] == [stored[7]["id"]]


def test_what_a_chunk_asks_of_the_database_does_not_grow_with_its_rows(site: Site) -> None:
    def statements(number: int) -> int:
        seen: list[str] = []

        def note(connection: Any, cursor: Any, statement: str, *more: Any) -> None:
            if not statement.startswith("PRAGMA"):  # of a connection that writes in bulk for the first time
                seen.append(statement)

        event.listen(site.registry["engine"], "before_cursor_execute", note)
        try:
            assert not any(bring_in(site, "transit", numbered(number)))
        finally:
            event.remove(site.registry["engine"], "before_cursor_execute", note)
        return len(seen)

    statements(2)  # whatever is asked once
    assert statements(CHUNK) == statements(2) < 20


def test_an_import_stores_what_a_form_stores(site: Site) -> None:
    site.client().create("transit", company_name="Line 0", company_phone1="718 555 0199")
    bring_in(site, "transit", numbered(2))
    differs = {"id", "record_id", "form_token", "changes", "mac"}
    differs |= {"actor", "actor_id", "address", "batch", "request_id", "search_text"}
    with site.engine.connect() as connection:
        for table in ("transit", AdminActivity.__tablename__):
            created, imported, _ = connection.execute(text(f"SELECT * FROM {table} ORDER BY id")).mappings()
            for column in set(created) - differs:
                assert shape(imported[column]) == shape(created[column]), (table, column)


def shape(value: Any) -> Any:
    """Return a value with its digits alike: moments differ."""
    return re.sub("[0-9]", "0", value) if isinstance(value, str) else type(value)


def test_ids_are_never_given_twice(site: Site) -> None:
    client = site.client()
    first = client.create("transit", company_name="Before")
    bring_in(site, "transit", numbered(3))
    last = client.create("transit", company_name="Between")
    with db.transaction(site.engine) as dbsession:  # as a purge leaves it
        kind = site.kinds["transit"]
        dbsession.delete(dbsession.get_one(kind.model, last))
    bring_in(site, "transit", numbered(2))
    after = client.create("transit", company_name="After")
    ids = [int(row["id"]) for row in client.rows("transit", sort="id")]
    assert ids == sorted({*ids}) == [*range(first, first + 4), last + 1, last + 2, after]
    assert after > last + 2


@pytest.mark.parametrize("kind_name", ["scheduledbus", "transit"])
def test_each_record_of_a_batch_is_an_event_and_can_be_read_when_it_comes(site: Site, kind_name: str) -> None:
    kind, seen = site.kinds[kind_name], []

    def notice(happened: RecordCreated) -> None:
        row = happened.dbsession.get_one(kind.model, happened.record_id)
        assert Writer(happened.dbsession, notice, kind, ACTOR).values(row) == happened.after
        assert (row.version, happened.version, happened.before, happened.actor) == (1, 1, {}, ACTOR)
        seen.append(happened.label)

    with db.transaction(site.engine) as dbsession:
        airport_id = dbsession.scalar(select(Airport.id).where(Airport.code == "JFK"))
        place = {"airport_name": JFK, "airport_id": airport_id, "airport_code": "JFK"}
        writer = Writer(dbsession, notice, kind, ACTOR)
        writer.create_all([])
        writer.create_all([{**place, "company_name": name} for name in ("Alpha", "Beta", "Gamma")])
    assert seen == ["Alpha", "Beta", "Gamma"]


def test_a_listener_that_fails_undoes_its_chunk_and_no_other(site: Site) -> None:
    kind = site.kinds["transit"]

    def refuse(happened: RecordCreated) -> None:
        if happened.label == f"Line {CHUNK + 2}":
            raise RuntimeError("no")

    site.registry.registerHandler(refuse, (RecordCreated,))
    try:
        with pytest.raises(RuntimeError, match="no"):
            bring_in(site, "transit", numbered(CHUNK + 5))
    finally:
        site.registry.unregisterHandler(refuse, (RecordCreated,))
    assert site.scalar(select(func.count()).select_from(kind.model)) == len(site.entries()) == CHUNK


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_after_many_rows_lists_are_as_quick_as_before_without_waiting_for_autovacuum(shell: Shell, site: Site) -> None:
    """What is not moved into the counters, each list adds up; what the planner knows nothing of, it reads whole."""
    with site.engine.begin() as connection:  # an autovacuum at the same moment would hold the table's lock
        connection.execute(text("ALTER TABLE record_change SET (autovacuum_enabled = false)"))
    output = shell("sample", "transit", "--records", "3000")
    with site.engine.begin() as connection:
        connection.execute(text("ALTER TABLE record_change RESET (autovacuum_enabled)"))
        left = connection.scalar(text("SELECT count(*) FROM record_change"))
        pages = connection.scalar(text("SELECT pg_relation_size('record_change') / 8192"))
        known = connection.scalar(text("SELECT reltuples FROM pg_class WHERE oid = 'transit'::regclass"))
    assert left == 0
    assert pages <= 1
    assert known == 3000
    assert "updates its statistics of transit" in output
    # A few more are no reason to look again at all of them.
    assert "updates its statistics" not in shell("sample", "transit", "--records", "60", "--seed", "2")
    assert site.client().get("/admin/transit?ajax=1").json["recordsTotal"] == 3060
