"""The activity page: searched and filtered, as a page, as DataTables JSON and as CSV."""

import csv
import io
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest

from groundtransport.airports import lookup
from groundtransport.db import transaction
from groundtransport.events import Actor
from groundtransport.records.writer import Writer
from groundtransport.security import Role
from tests.site import HEATHROW, JFK, Client, Site, query_of


def numbers(client: Client, **query: str) -> list[int]:
    """Return the numbers of the entries that a query finds, and see that page, JSON and CSV agree."""
    result = [row["id"] for row in json_of(client, **query)["data"]]
    page = client.get("/admin/activity", query)
    assert page.status_int == 200
    assert len(page.html.select("ol.activity > li")) == len(result)
    assert list(dict.fromkeys(int(line["number"]) for line in table(client, **query))) == result
    return result


def import_two(site: Site, batch: str) -> None:
    """Make two records in one batch, as an import does."""
    with transaction(site.engine) as dbsession:
        airport = lookup.by_code(dbsession, "JFK")
        values = {"airport_name": airport.airport_name, "airport_code": "JFK", "airport_id": airport.id}
        writer = Writer(dbsession, site.registry.notify, site.kinds["transit"], Actor("op (command line)", batch=batch))
        for name in ("One", "Two"):
            writer.create({**values, "company_name": name})


def json_of(client: Client, **query: str) -> dict[str, Any]:
    answer = client.get("/admin/activity", {"ajax": "1", **query})
    assert (answer.status_int, answer.content_type) == (200, "application/json")
    return answer.json


def table(client: Client, **query: str) -> list[dict[str, str]]:
    answer = client.get("/admin/activity/csv", query)
    assert (answer.status_int, answer.content_type, answer.charset) == (200, "text/csv", "utf-8")
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


@pytest.fixture
def log(site: Site, client: Client, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Seven entries of two kinds, two people, two airports and three days. Returns the records' ids."""

    def day(number: int, hour: int = 12, minute: int = 0) -> None:
        moment = datetime(2026, 3, number, hour, minute, tzinfo=UTC)
        monkeypatch.setattr("groundtransport.audit.subscriber.now", lambda: moment)

    editor = site.client(Role.EDITOR)
    day(1, 23, 59)
    alpha = client.create("transit", company_name="Alpha Lines")  # 1
    day(2, 0, 0)
    beta = editor.create("scheduledbus", company_name="Beta 100% Coaches", airport_name=HEATHROW)  # 2
    editor.put(f"/admin/transit/{alpha}", {"airport_name": JFK, "company_name": "Alpha_Bus"})  # 3
    day(3)
    client.delete(f"/admin/scheduledbus/{beta}")  # 4
    client.post(f"/admin/scheduledbus/{beta}/restore")  # 5
    import_two(site, "import-77")  # 6 and 7
    return {"alpha": alpha, "beta": beta}


def test_each_filter_finds_its_entries(client: Client, log: dict[str, int]) -> None:
    assert numbers(client) == [7, 6, 5, 4, 3, 2, 1]
    assert numbers(client, q="alpha") == [3, 1]
    assert numbers(client, q="the-EDITOR beta") == [2]
    assert numbers(client, actor="editor") == [3, 2]
    assert numbers(client, kind="scheduledbus") == [5, 4, 2]
    assert numbers(client, action="create") == [7, 6, 2, 1]
    assert numbers(client, action="restore") == [5]
    assert numbers(client, airport_code="lhr") == [5, 4, 2]
    assert numbers(client, batch="import-77") == [7, 6]
    assert numbers(client, **{"from": "2026-03-02"}) == [7, 6, 5, 4, 3, 2]
    assert numbers(client, to="2026-03-01") == [1]
    assert numbers(client, **{"from": "2026-03-02", "to": "2026-03-02"}) == [3, 2]
    assert numbers(client, record_id=str(log["beta"]), kind="scheduledbus") == [5, 4, 2]
    assert numbers(client, field="company_name") == [7, 6, 5, 4, 3, 2, 1]
    assert numbers(client, field="company_name", action="update") == [3]
    assert numbers(client, field="status", action="update") == []
    assert numbers(client, field="company_nam_") == [], "an underscore is no wildcard"


def test_a_text_that_looks_like_a_changed_field_is_none(client: Client) -> None:
    record_id = client.create("transit", company_name="Alpha")
    client.put(f"/admin/transit/{record_id}", {"airport_name": JFK, "description": '"city":{"old":"x"}'})
    assert numbers(client, field="description") == [2]
    assert numbers(client, field="city") == []


def test_the_last_days_are_a_link_away_with_the_other_filters(
    client: Client, log: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groundtransport.audit.views.now", lambda: datetime(2026, 3, 3, 23, 59, tzinfo=UTC))
    for title, expected in (("Today", [7, 6]), ("Yesterday", [3]), ("Last 7 days", [7, 6, 3, 1])):
        page = client.get("/admin/activity", {"kind": "transit"}).html
        link = page.find("a", string=title)["href"]
        assert numbers(client, **{name: texts[0] for name, texts in query_of(link).items()}) == expected
        assert client.get(link).html.find("a", string=title)["aria-current"] == "true"


def test_filters_narrow_each_other(client: Client, log: dict[str, int]) -> None:
    assert numbers(client, kind="transit", action="create", airport_code="JFK", to="2026-03-02") == [1]
    assert numbers(client, q="alpha", actor="editor") == [3]
    assert numbers(client, actor="editor", batch="import-77") == []
    assert numbers(client, **{"from": "2026-03-03", "to": "2026-03-01"}) == []


def test_wildcards_are_letters_like_others(client: Client, log: dict[str, int]) -> None:
    assert numbers(client, q="100%") == [5, 4, 2]
    assert numbers(client, q="%") == [5, 4, 2]
    assert numbers(client, q="_") == [3]
    assert numbers(client, actor="%") == []
    assert numbers(client, q="'; DROP TABLE admin_activity; --") == []


def test_a_name_is_found_as_it_is_written_whatever_its_letters(client: Client) -> None:
    client.create("transit", company_name="Österreich Ünal ŁÓDŹ")
    for q in ("Österreich", "österreich", "ŁÓDŹ", "Łódź"):
        assert numbers(client, q=q) == [1], q


def test_what_makes_no_sense_is_ignored(client: Client, log: dict[str, int]) -> None:
    nonsense = {
        "from": "yesterday",
        "to": "2026-02-30",
        "record_id": "1 OR 1=1",
        "page_no": "-1",
        "page_size": "7",
        "evil": "x",
        "actor": "\0",
        "q": " ",
    }
    assert numbers(client, **nonsense) == [7, 6, 5, 4, 3, 2, 1]
    for name, text in (("record_id", "9" * 19), ("from", "0001-01-01"), ("to", "9999-12-31"), ("record_id", "١")):
        assert numbers(client, **{name: text}) == [7, 6, 5, 4, 3, 2, 1], (name, text)
    assert numbers(client, record_id="9" * 18) == []
    assert len(client.get("/admin/activity?q=alpha&q=beta").html.select("ol.activity > li")) == 7


def test_the_form_shows_what_was_asked_and_the_pager_keeps_it(client: Client) -> None:
    record_id = client.create("transit", company_name="Alpha & Söhne")
    for number in range(11):
        client.put(f"/admin/transit/{record_id}", {"airport_name": JFK, "zip_code": str(number)})
    query = {
        "q": "alpha &",
        "actor": "the-",
        "kind": "transit",
        "action": "update",
        "airport_code": "JFK",
        "from": "2020-01-01",
        "to": "2099-12-31",
        "record_id": str(record_id),
        "page_size": "10",
    }

    page = client.get("/admin/activity", query)

    for name in ("q", "actor", "airport_code", "from", "to"):
        assert page.html.main.find("input", {"name": name})["value"] == query[name]
    for name in ("kind", "action"):
        chosen = page.html.find("select", {"name": name}).find("option", selected=True)
        assert chosen.get("value", chosen.get_text()) == query[name]
    following = page.html.find("a", class_="page-link", string="Next")["href"]
    assert query_of(following) == {name: [value] for name, value in {**query, "page_no": "2"}.items()}
    assert len(client.get(following).html.select("ol.activity > li")) == 1
    download = page.html.find("a", href=lambda href: href and "/csv" in href)["href"]
    assert len(list(csv.reader(io.StringIO(client.get(download).text)))) == 12  # all pages, and a header


def test_the_json_is_what_datatables_expects(client: Client, log: dict[str, int]) -> None:
    answer = json_of(client, draw="7", start="1", length="2", kind="transit")
    assert (answer["draw"], answer["recordsTotal"], answer["recordsFiltered"]) == (7, 7, 4)
    assert [row["id"] for row in answer["data"]] == [6, 3]
    row = answer["data"][1]
    assert (row["actor"], row["action"], row["kind"], row["label"]) == ("the-editor", "update", "transit", "Alpha_Bus")
    assert row["record_id"] == log["alpha"]
    assert row["changes"] == {"company_name": {"old": "Alpha Lines", "new": "Alpha_Bus"}}
    assert datetime.fromisoformat(row["at"]) == datetime(2026, 3, 2, tzinfo=UTC)
    assert [row["id"] for row in json_of(client, **{"search[value]": "alpha"})["data"]] == [3, 1]
    assert json_of(client, draw="<script>")["draw"] == 0


def test_each_entry_leads_to_its_records_history_and_a_batch_to_its_own(client: Client, log: dict[str, int]) -> None:
    page = client.get("/admin/activity", {"batch": "import-77"}).html
    assert {link["href"] for link in page.select("ol.activity a[href*=batch]")} == {"/admin/activity?batch=import-77"}
    entry = client.get("/admin/activity", {"action": "delete"}).html.select_one("ol.activity > li")
    link = entry.find("a", string="Beta 100% Coaches")["href"]
    assert link == f"/admin/scheduledbus/{log['beta']}/history"
    assert client.get(link).status_int == 200


def test_the_file_tells_every_change_in_words(client: Client, log: dict[str, int]) -> None:
    (line,) = table(client, action="update")
    assert (line["field"], line["old"], line["new"]) == ("Company Name", "Alpha Lines", "Alpha_Bus")
    assert (line["person"], line["action"], line["kind"]) == ("the-editor", "update", "Transit service")
    assert (line["record"], line["number"]) == (str(log["alpha"]), "3")
    assert line["time (UTC)"].startswith("2026-03-02 00:00:00")
    assert "activity.csv" in client.get("/admin/activity/csv").headers["Content-Disposition"]


def test_no_cell_is_a_formula_and_lines_stay_in_their_cell(client: Client) -> None:
    bad = ["=1+1", "+1", "-1", "@SUM(A1)", "\uff1d1+1", "\uff0b1", "\uff20SUM(A1)"]
    for name in bad:
        client.create("transit", company_name=name, description='two\nlines, "quoted"; and more')
    lines = table(client)
    assert {line["name"] for line in lines} == {f"'{name}" for name in bad}
    names = [line["new"] for line in lines if line["field"] == "Company Name"]
    assert sorted(names) == sorted(f"'{name}" for name in bad)
    texts = {line["new"] for line in lines if line["field"] == "Description"}
    assert texts == {'two\nlines, "quoted"; and more'}
    assert None not in {key for line in lines for key in line}


def test_markup_is_shown_as_it_was_typed(site: Site, client: Client) -> None:
    markup = "<script>alert(1)</script><b>x</b>"
    record_id = client.create("transit", company_name=markup)
    client.put(f"/admin/transit/{record_id}", {"airport_name": JFK, "company_name": '"><img src=x>'})
    import_two(site, '"><b>batch')
    for address in (f"/admin/activity?{urlencode({'q': markup})}", "/admin/activity?batch=%22%3E%3Cb%3Ebatch"):
        assert client.get(address).html.find("main").find(["script", "b", "img"]) is None
    main = client.get("/admin/activity").html.find("main")
    assert main.find(["script", "b", "img"]) is None
    assert markup in main.get_text()
    batch = main.select_one("ol.activity a[href*=batch]")["href"]
    assert len(client.get(batch).html.select("ol.activity > li")) == 2


def test_viewers_read_it_and_strangers_do_not(site: Site, client: Client) -> None:
    client.create("transit")
    viewer = site.client(Role.VIEWER)
    assert [row["id"] for row in json_of(viewer)["data"]] == [1]
    assert "/login" in viewer.get("/admin/activity/csv").location, "a file needs the permission to export"
    for path in ("", "?ajax=1", "/csv"):
        assert "/login" in site.anonymous().get(f"/admin/activity{path}").location
    assert client.post("/admin/activity").status_int == 405


def test_json_gives_the_last_page_and_nothing_past_the_end(client: Client, log: dict[str, int]) -> None:
    def result(**query: str) -> list[int]:
        return [row["id"] for row in json_of(client, **query)["data"]]

    assert result(page_no="last", length="3") == [1]
    assert result(page_no="last", page_size="10") == result(page_no="1")
    assert result(page_no="last", length="3", start="0") == [7, 6, 5], "DataTables' own name goes before"
    assert result(page_no="last", actor="nobody") == []
    assert result(page_no="1000000000") == result(start="1000000000") == []
