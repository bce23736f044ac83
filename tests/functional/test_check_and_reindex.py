"""``groundtransport check`` reports faults of the derived data, and ``reindex`` repairs them."""

from sqlalchemy import Connection, text

from groundtransport import db
from groundtransport.indexes import build, spec_of
from groundtransport.records import maintenance
from tests.functional.test_list import fill
from tests.site import HEATHROW, JFK, Client, Site


def findings(site: Site, kind: str) -> list[str]:
    with db.write_engine(site.engine).connect() as connection:
        return list(maintenance.check(connection, site.kinds[kind]))


def spoil(site: Site, statement: str) -> None:
    with db.write_engine(site.engine).begin() as connection:
        connection.execute(text(statement))


def repair(site: Site, kind: str) -> int:
    with db.write_engine(site.engine).begin() as connection:
        return maintenance.reindex(connection, site.kinds[kind], lambda line: None)


def without_triggers(connection: Connection, site: Site, kind: str) -> None:
    facts = spec_of(site.kinds[kind].model.__table__)
    assert facts is not None
    for part in build.dialect_of(connection).parts(facts):
        if part.kind == "trigger":
            connection.execute(text(part.drop))


def test_everything_that_a_life_does_is_counted_and_indexed(site: Site, client: Client, kind: str) -> None:
    first, second, third = fill(site, kind, 3)
    client.put(f"/admin/{kind}/{first}", {"airport_name": HEATHROW, "company_name": "Moved"})
    client.delete(f"/admin/{kind}/{second}")
    client.delete(f"/admin/{kind}/{third}")
    client.post(f"/admin/{kind}/{third}/restore")
    if kind == "transit":
        client.put(f"/admin/{kind}/{third}", {"airport_name": JFK, "status": "inactive"})

    assert findings(site, kind) == []
    answer = client.get(f"/admin/{kind}?ajax=1&airport_code=LHR").json
    assert (answer["recordsTotal"], answer["recordsFiltered"]) == (2, 1)
    assert [row["id"] for row in client.rows(kind, q="moved")] == [first]
    assert client.rows(kind, q="002") == []


def test_records_that_sql_wrote_are_counted_and_found(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 4)
    spoil(site, f"UPDATE {kind} SET deleted_at = created_at WHERE company_name = '002'")
    spoil(site, f"DELETE FROM {kind} WHERE company_name = '003'")

    assert findings(site, kind) == []
    assert client.get(f"/admin/{kind}?ajax=1").json["recordsTotal"] == 2
    assert client.rows(kind, q="002") == client.rows(kind, q="003") == []


def test_a_wrong_counter_is_found_and_repaired(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 3)
    findings(site, kind)
    spoil(site, f"INSERT INTO record_count (kind, airport_code, choice, n) VALUES ('{kind}', 'ZZZ', '*', 7)")

    assert findings(site, kind) == [f"{kind}: the counter ZZZ/* says 7, and there are 0"]
    repair(site, kind)
    assert findings(site, kind) == []
    assert client.get(f"/admin/{kind}?ajax=1").json["recordsTotal"] == 3


def test_a_wrong_search_text_is_found_and_repaired(site: Site, client: Client, kind: str) -> None:
    first, *_ = fill(site, kind, 3)
    spoil(site, f"UPDATE {kind} SET search_text = 'nonsense' WHERE id = {first}")

    assert findings(site, kind) == [f"{kind}: 1 search texts are not what the records say: {first}"]
    assert repair(site, kind) == 1
    assert findings(site, kind) == []
    assert [row["id"] for row in client.rows(kind, q="001")] == [first]


def test_missing_triggers_are_found_and_made_again(site: Site, client: Client, kind: str) -> None:
    with db.write_engine(site.engine).begin() as connection:
        without_triggers(connection, site, kind)
    fill(site, kind, 2)

    (finding,) = findings(site, kind)
    assert "missing" in finding
    repair(site, kind)
    assert findings(site, kind) == []
    assert len(client.rows(kind, q="00")) == 2
    assert client.get(f"/admin/{kind}?ajax=1").json["recordsTotal"] == 2


def test_a_search_index_that_lost_a_record_is_found_and_repaired(site: Site, client: Client, kind: str) -> None:
    first, *_ = fill(site, kind, 2)
    table = f"{kind}_search"
    if site.engine.dialect.name == "sqlite":
        old = f"SELECT 'delete', id, search_text FROM {kind} WHERE id = {first}"
        spoil(site, f"INSERT INTO {table} ({table}, rowid, search_text) {old}")
        assert client.rows(kind, q="001") == []
        expected = f"{kind}: the index of searches does not hold what the records say"
    else:  # the server keeps it; it can only be missing
        spoil(site, f"DROP INDEX ix_{table}")
        expected = f"{kind}: missing: ix_{table}"

    assert findings(site, kind) == [expected]
    assert client.get("/readyz").status_int == 200  # a wrong index is no damaged file
    repair(site, kind)
    assert findings(site, kind) == []
    assert [row["id"] for row in client.rows(kind, q="001")] == [first]
