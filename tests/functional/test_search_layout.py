"""One more filter on a kind: its stored search texts are of another layout, which is noticed and mended."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from groundtransport import db
from groundtransport.audit import protection
from groundtransport.db import statement_cache
from groundtransport.indexes import layouts
from groundtransport.records import maintenance
from groundtransport.server import runner
from tests.shell import Shell
from tests.site import Client, Site

PHONE = "+1 212 555 0142"


def forget(site: Site) -> None:
    """As a restart would."""
    statement_cache._statements.clear()


@pytest.fixture
def one_more_filter(site: Site, client: Client) -> Iterator[int]:
    """Store a record, then let the kind have a filter that it had not; return the record's id."""
    record_id = client.create("transit", company_name="Alpha", company_phone1=PHONE, place="Door 7")
    kind = site.kinds["transit"]
    before = kind.filters
    object.__setattr__(kind, "filters", {**before, "place": ("place",)})
    forget(site)
    yield record_id
    object.__setattr__(kind, "filters", before)
    forget(site)
    with db.write_engine(site.engine).begin() as connection:
        maintenance.reindex(connection, kind, lambda line: None)


def findings(site: Site) -> list[str]:
    with db.write_engine(site.engine).connect() as connection:
        return list(maintenance.check(connection, site.kinds["transit"]))


def test_one_more_filter_is_noticed_and_mended_by_init(
    site: Site, client: Client, one_more_filter: int, tmp_path: Path
) -> None:
    assert client.rows("transit", q="212-555-0142") == []  # why all of this is needed
    answer = client.get("/readyz")
    assert answer.status_int == 503
    assert "The search texts of transit were made for other filters or fields: run groundtransport init" in answer.text
    with pytest.raises(runner.StartError, match="The search texts of transit"):
        runner.check_search_layout(site.wsgi)
    assert "transit: the search texts were made for other filters or fields" in findings(site)

    shell = Shell(tmp_path, site.url)
    try:
        assert "transit: 1 search texts renewed." in shell("init")
        assert "renewed" not in shell("init")
    finally:
        shell.engine.dispose()
    forget(site)
    assert findings(site) == []
    assert client.get("/readyz").status_int == 200
    for query in ({"q": "212-555-0142"}, {"company_phone": "2125550142"}, {"place": "door"}):
        assert [row["id"] for row in client.rows("transit", **query)] == [one_more_filter], query


LAYOUT_BEFORE = '{"choices": [["status", ["active", "inactive"]]], "filters": [["company_name"], ["company_address"], '
LAYOUT_BEFORE += (
    '["company_phone1", "company_phone2", "company_phone3"]], "phones": ["company_phone1", "company_phone2", '
)
LAYOUT_BEFORE += '"company_phone3"], "version": 1}'


def test_texts_of_an_earlier_release_are_folded_anew_by_init(site: Site, client: Client, tmp_path: Path) -> None:
    record_id = client.create("transit", company_name="Łódź O’Hare")
    with db.write_engine(site.engine).begin() as connection:  # as the release before stored them
        layouts.store(connection, "transit", LAYOUT_BEFORE)
        layouts.store(connection, "admin_activity", "")
        for table in ("transit", "admin_activity"):
            with protection.lifted(connection):
                connection.exec_driver_sql(f"UPDATE {table} SET search_text = replace(search_text, 'lodz', 'łodz')")
    forget(site)
    assert client.get("/readyz").status_int == 503
    shell = Shell(tmp_path, site.url)
    try:
        output = shell("init")
    finally:
        shell.engine.dispose()
    assert "transit: 1 search texts renewed." in output
    assert "The activity log: 1 search texts renewed." in output
    forget(site)
    assert [row["id"] for row in client.rows("transit", q="lodz ohare")] == [record_id]
    assert client.get("/admin/activity?ajax=1&q=lodz").json["recordsFiltered"] == 1


def test_a_trigger_that_is_missing_is_made_again_by_init(site: Site, client: Client, kind: str, tmp_path: Path) -> None:
    client.create(kind, company_name="Alpha")
    on = f" ON {kind}" if site.engine.dialect.name == "postgresql" else ""
    with db.write_engine(site.engine).begin() as connection:
        connection.exec_driver_sql(f"DROP TRIGGER {kind}_count_insert{on}")
    client.create(kind, company_name="Beta")
    shell = Shell(tmp_path, site.url)
    try:
        assert f"counters of {kind} ..." in shell("init")
    finally:
        shell.engine.dispose()
    assert client.get(f"/admin/{kind}?ajax=1").json["recordsTotal"] == 2
