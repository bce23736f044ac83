"""One more filter on a kind: its stored search texts are of another layout, which is noticed and mended."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from groundtransport import db
from groundtransport.db import statement_cache
from groundtransport.records import maintenance
from groundtransport.records.search import result_cache
from groundtransport.server import runner
from tests.shell import Shell
from tests.site import Client, Site

PHONE = "+1 212 555 0142"


def forget(site: Site) -> None:
    """As a restart would."""
    result_cache.forget(site.engine)
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
        assert "search texts, indexes and counters of transit anew" in shell("init")
        assert "anew" not in shell("init")
    finally:
        shell.engine.dispose()
    forget(site)
    assert findings(site) == []
    assert client.get("/readyz").status_int == 200
    for query in ({"q": "212-555-0142"}, {"company_phone": "2125550142"}, {"place": "door"}):
        assert [row["id"] for row in client.rows("transit", **query)] == [one_more_filter], query


def test_a_trigger_that_is_missing_is_made_again_by_init(site: Site, client: Client, kind: str, tmp_path: Path) -> None:
    client.create(kind, company_name="Alpha")
    on = f" ON {kind}" if site.engine.dialect.name == "postgresql" else ""
    with db.write_engine(site.engine).begin() as connection:
        connection.exec_driver_sql(f"DROP TRIGGER {kind}_count_insert{on}")
    client.create(kind, company_name="Beta")
    shell = Shell(tmp_path, site.url)
    try:
        assert f"counters of {kind} anew" in shell("init")
    finally:
        shell.engine.dispose()
    assert client.get(f"/admin/{kind}?ajax=1").json["recordsTotal"] == 2
