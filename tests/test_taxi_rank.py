"""The package in examples/taxi_rank, installed by pip into a folder of its own, over HTTP on both databases.

It runs in a process of its own, so that its table is none of the other tests'.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.own_kinds import ROOT, OwnCode

pytestmark = pytest.mark.slow

GOOD = {
    "rank_name": "North rank",
    "fare_from": "9,5",
    "fare_to": "60.00",
    "taxis": "12",
    "wheelchair": "yes",
    "checked_on": "2026-11-03",
    "opening_hours": "Mo-Fr 06:00-22:00;Sa , Su 08:00-20:00",
    "email": "rank@taxi.example",
    "payments": "Credit card; cash",
}
STORED = GOOD | {
    "fare_from": "9.50",
    "taxis": 12,
    "wheelchair": True,
    "opening_hours": "Mo-Fr 06:00-22:00; Sa,Su 08:00-20:00",
    "payments": "cash,card",
}
BAD = {
    "fare_from": ["cheap", "-1", "1.234", "1e3", "1,000.00", "9" * 19],
    "taxis": ["12.5", "many", "-1", "1001", "1_0", "٣"],
    "wheelchair": ["maybe"],
    "checked_on": ["3/11/2026", "31.2.2026", "2026-02-30", "20261103", "0000-01-01"],
    "opening_hours": ["Mo-Fr", "25:00-26:00", "monday", "Mo 24:30-25:00"],
    "email": ["rank", "rank@taxi", "a b@taxi.example", "a@b@taxi.example", "<a>@taxi.example"],
    "payments": ["gold", "cash, gold", "cash card"],
}
CSV = """airport_name,rank_name,fare_from,taxis,wheelchair,checked_on,email,payments
JFK (JFK),Imported,12,3,no,2026-01-02,a@b.example,app; CASH
JFK (JFK),Refused,12.999,3,no,2026-01-02,a@b.example,
JFK (JFK),Refused too,12,3,no,2026-01-02,a@b.example,gold
"""


def test_the_example_is_installed_and_works_as_a_kind(migrated_database_url: str, tmp_path: Path) -> None:
    own = OwnCode(tmp_path, migrated_database_url)
    source = tmp_path / "source"  # pip builds inside of the folder
    shutil.copytree(ROOT / "examples" / "taxi_rank", source)
    own.install(source)
    assert "finished" in own.python("from tests.test_taxi_rank import live; live()").splitlines()
    assert "groundtransport.records" not in own.revisions()[0].read_text()
    own.run("alembic -c development.ini check")
    own.file("ranks.csv", CSV)
    assert "1 created, 2 refused" in own.run("groundtransport import taxirank ranks.csv")
    assert "at most 2 decimals" in (own.folder / "ranks.errors.csv").read_text()
    own.run("groundtransport sample taxirank --records 30")
    own.run("groundtransport export taxirank --format jsonl --output ranks.jsonl")  # what is printed has log lines, too
    lines = (own.folder / "ranks.jsonl").read_text().splitlines()
    samples = [record for record in map(json.loads, lines) if str(record["rank_name"]).startswith("Name ")]
    assert {name for record in samples for name, value in record.items() if value not in (None, "")} >= {*STORED}
    own.run("groundtransport init")  # gives no default to a field that may be empty
    for command in ("check", "audit verify", "audit reconcile", "reindex taxirank"):
        own.run(f"groundtransport {command}")


# The functions below run in that process. Their imports are inside: there, the package is the copy.


def live() -> None:
    from tests.test_small_kind import start

    site = start(os.environ["DATABASE_URL"], "taxi ranks")
    client = site.client()
    assert client.get("/readyz").status_int == 200
    refuses_bad_values(client)
    stores_plain_values(site, client)
    lists_filters_and_sorts(client)
    renders(client)
    edits_and_merges(site, client)
    changes_several(site, client)
    deletes(client)
    print("finished")


def refuses_bad_values(client: Any) -> None:
    from tests.site import JFK

    for name, texts in BAD.items():
        for text in texts:
            answer = client.post("/admin/taxirank", {"airport_name": JFK, **GOOD, name: text})
            assert answer.status_int == 422, (name, text)
            assert answer.html.find(id=f"{name}-error").text.strip(), (name, text)
            assert typed_text(answer.html.find(id=name)) == text, (name, text)
            assert [error.get("id") for error in answer.html.select(".invalid-feedback")] == [f"{name}-error"]


def typed_text(control: Any) -> str:
    if control.name == "select":
        return control.find("option", selected=True)["value"]
    if control.name == "div":
        return ", ".join(box["value"] for box in control.find_all("input", checked=True))
    return control["value"]


def stores_plain_values(site: Any, client: Any) -> None:
    from tests.site import HEATHROW

    client.create("taxirank", **GOOD)
    client.create(
        "taxirank",
        rank_name="South rank",
        fare_from="100",
        taxis="0",
        wheelchair="no",
        checked_on="2025-01-01",
        payments="app, cash",
    )
    client.create("taxirank", airport_name=HEATHROW, rank_name="Empty rank")
    rows = {row["rank_name"]: row for row in client.rows("taxirank")}
    assert {name: rows["North rank"][name] for name in STORED} == STORED
    assert (rows["South rank"]["taxis"], rows["South rank"]["wheelchair"]) == (0, False)
    assert {rows["Empty rank"][name] for name in STORED if name != "rank_name"} == {None}
    assert rows["North rank"]["display"] == {  # of the columns that are shown
        "fare_from": "9.50 EUR",
        "taxis": "12",
        "wheelchair": "Yes",
        "checked_on": "Nov 3, 2026",
        "payments": "Cash, Credit card",
    }
    with site.engine.connect() as connection:  # the column types store numbers, a boolean and a date
        stored = connection.exec_driver_sql("SELECT fare_from + 1, taxis + 1 FROM taxirank WHERE id = 1").one()
    assert tuple(stored) == (951, 13)


def lists_filters_and_sorts(client: Any) -> None:
    def names(**query: str) -> list[str]:
        rows = client.rows("taxirank", **query)
        shown = client.get("/admin/taxirank", query).html
        assert len(shown.select("#records tbody tr")) == len(rows), query
        return [row["rank_name"].split()[0] for row in rows]

    assert names() == ["Empty", "South", "North"]
    for name in ("fare_from", "taxis", "checked_on", "wheelchair"):
        ascending = ["Empty", "North", "South"] if name == "fare_from" else ["Empty", "South", "North"]
        assert names(sort=name) == ascending, name
        assert names(sort=f"-{name}") == ascending[::-1], name
    for name, ranges in {
        "fare_from": {"9.5": ["North"], "9.51..": ["South"], "..99,99": ["North"], "9..100": ["South", "North"]},
        "taxis": {"0": ["South"], "1..": ["North"], "0..12": ["South", "North"], "many": [], "..": []},
        "checked_on": {"2026-11-03": ["North"], "..2026-01-01": ["South"], "2026-99-01..": []},
    }.items():
        for text, result in ranges.items():
            assert names(**{name: text}) == result, (name, text)
    assert names(wheelchair="yes") == ["North"]
    assert names(wheelchair="no") == ["South"]
    assert names(wheelchair="perhaps") == []
    assert names(payments="cash") == ["South", "North"]
    assert names(payments="CARD") == ["North"]
    assert names(payments="invoice") == names(payments="gold") == names(payments="cash,card") == []
    assert names(payments="cash", q="north") == names(payments="cash", wheelchair="yes") == ["North"]
    assert names(payments="cash", airport_code="JFK", sort="taxis", taxis="0..") == ["South", "North"]
    assert names(sort="payments") == ["Empty", "South", "North"]
    assert names(sort="-payments") == ["North", "South", "Empty"]
    assert names(email="RANK@taxi") == ["North"]
    assert names(missing="email") == ["Empty", "South"]
    assert names(q="rank", taxis="0..12", sort="taxis") == ["South", "North"]
    assert names(q="rank jfk", wheelchair="yes", fare_from="..10") == ["North"]
    assert names(airport_code="JFK", taxis="1..") == ["North"]
    assert names(q="nowhere", taxis="1..") == []
    page = client.get("/admin/taxirank", {"wheelchair": "yes", "taxis": "1..", "payments": "card", "find": "1"}).html
    assert [" ".join(chip.text.split()) for chip in page.select("[data-chip]")] == [
        "Remove: Wheelchair access: Yes ×",
        "Remove: Accepted payments: Credit card ×",
        "Remove: Taxis: 1.. ×",
    ]


def renders(client: Any) -> None:
    page = client.get("/admin/taxirank?sort=id").html
    cells = [cell.text.strip() for cell in page.select("#record-1 td")]
    for text in ("9.50 EUR", "12", "Yes", "Nov 3, 2026", "Cash, Credit card", "rank@taxi.example"):
        assert any(text in cell for cell in cells), text
    detail = client.get("/admin/taxirank/1").html
    assert detail.find("a", href="mailto:rank@taxi.example").text == "rank@taxi.example"
    assert "Mo-Fr 06:00-22:00; Sa,Su 08:00-20:00" in detail.text
    other = client.get("/admin/taxirank/2").html  # 0 and False are values
    assert {"0", "No"} <= {value.text for value in other.find_all("dd")}
    assert "Cash, Credit card" in detail.text
    assert "Taxi rank" in client.get("/admin/search?q=rank").text
    overview = client.get("/admin").html  # both of yes/no are counted; several choices are not shown there
    assert [link.text.strip() for link in overview.select("a[href*='wheelchair=']")]
    assert not overview.select("a[href*='payments=']")


def edits_and_merges(site: Any, client: Any) -> None:
    from tests.site import JFK

    form = client.get(client.edit_link("taxirank", 1)).forms["record"]
    shown = {name: form[name].value for name in GOOD if name != "payments"}
    assert shown | {"payments": checked(form)} == GOOD | {
        "fare_from": "9.50",
        "opening_hours": STORED["opening_hours"],
        "payments": ["cash", "card"],
    }
    assert form.submit().status_int == 303
    assert site.row("taxirank", 1)["version"] == 1  # the same values are no change
    form["wheelchair"], form["taxis"], form["checked_on"] = "no", "0", ""
    for box in boxes(form):
        box.checked = False
    assert form.submit().status_int == 303
    row = site.row("taxirank", 1)
    assert (row["wheelchair"], row["taxis"], row["checked_on"], row["payments"]) == (False, 0, None, None)

    theirs = {"airport_name": JFK, **GOOD, "wheelchair": "yes", "taxis": "0", "version": "1"}
    answer = client.put("/admin/taxirank/1", theirs)
    assert answer.status_int == 303, "both sides are merged: only the first changed these fields"
    row = site.row("taxirank", 1)
    assert row["payments"] is None
    theirs |= {"taxis": "5"}
    answer = client.put("/admin/taxirank/1", theirs)
    assert answer.status_int == 409
    assert {choice["value"] for choice in answer.html.find_all("input", {"name": "taxis"})} == {"5", "0", "12"}
    assert client.post("/admin/taxirank/1/restore", {"to_version": "1", "version": "2"}).status_int == 303
    row = site.row("taxirank", 1)
    assert {name: row[name] for name in STORED} == STORED
    assert client.get("/admin/taxirank/1/history").status_int == 200
    changes = client.get("/admin/activity?ajax=1").json["data"][0]["changes"]
    assert changes["taxis"] == {"old": 0, "new": 12}
    assert changes["wheelchair"] == {"old": False, "new": True}


def boxes(form: Any) -> list[Any]:
    return [field for field in form.fields["payments"] if field.attrs.get("type") == "checkbox"]


def checked(form: Any) -> list[str]:
    return [box._value for box in boxes(form) if box.checked]


def changes_several(site: Any, client: Any) -> None:
    chosen = [("record", f"{row['id']}.{row['version']}") for row in client.rows("taxirank")]
    page = client.post("/admin/taxirank/several", [("action", "wheelchair=no"), *chosen])
    assert page.status_int == 200, page.text
    form = next(form for form in page.forms.values() if "several" in form.action)
    assert form.submit("confirmed").status_int == 303
    assert [row["wheelchair"] for row in client.rows("taxirank")] == [False] * 3
    assert len(client.rows("taxirank", wheelchair="no")) == 3


def deletes(client: Any) -> None:
    assert client.delete("/admin/taxirank/1").status_int == 303
    assert "9.50" not in client.get("/admin/taxirank").text
    assert client.get("/admin/taxirank?deleted=1&taxis=12").status_int == 200
    assert client.post("/admin/taxirank/1/restore").status_int == 303
    assert len(client.rows("taxirank")) == 3
