"""The export of lists: formats, columns, selections, permissions, events, and what is refused."""

import csv
import io
import json
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from groundtransport.security import Role
from groundtransport.transfer.export import records, rows
from tests.site import HEATHROW, JFK, Client, Site


def export(client: Client, kind: str, file_format: str = "csv", **params: Any) -> Any:
    answer = client.get(f"/admin/{kind}/export", {"format": file_format, **params})
    assert answer.status_int == 200, answer.text
    assert answer.headers["Content-Disposition"].startswith(f'attachment; filename="{kind}-20')
    assert answer.headers["Content-Disposition"].endswith(f'.{file_format}"')
    return answer


def table(client: Client, kind: str, **params: Any) -> list[dict[str, str]]:
    """Return the rows of a CSV export."""
    text = export(client, kind, **params).body.decode("utf-8")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def sheet(client: Client, kind: str, **params: Any) -> list[list[Any]]:
    """Return the cells of an XLSX export."""
    body = export(client, kind, "xlsx", **params).body
    return CalamineWorkbook.from_filelike(io.BytesIO(body)).get_sheet_by_index(0).to_python()


def names(lines: list[dict[str, str]]) -> list[str]:
    return [line["company_name"] for line in lines]


def three(client: Client, kind: str) -> list[int]:
    phone = "+49 30 901820"
    return [
        client.create(kind, company_name="Beta", company_address="=1+1"),
        client.create(kind, company_name="Alpha", company_phone1=phone, zip_code="01234"),
        client.create(kind, company_name="Gamma", airport_name=HEATHROW, company_address='two, "three"'),
    ]


def test_csv_holds_every_field_and_what_identifies_a_record(client: Client, kind: str) -> None:
    first, second, third = three(client, kind)

    lines = table(client, kind)

    assert names(lines) == ["Gamma", "Alpha", "Beta"]
    assert [int(line["id"]) for line in lines] == [third, second, first]
    fields = list(client.site.kinds[kind].fields)
    assert list(lines[0]) == [
        "id",
        "version",
        "airport_code",
        *fields,
        *client.site.kinds[kind].marks,
        "validity",
        "verified_at",
        "verified_by",
        "created_at",
        "updated_at",
    ]
    assert {"source", "source_id"} <= set(fields)
    assert (lines[0]["airport_code"], lines[0]["airport_name"], lines[0]["version"]) == ("LHR", HEATHROW, "1")
    assert lines[0]["company_address"] == 'two, "three"'
    assert lines[1]["company_phone1"] == "+49 30 901820", "a telephone number is not guarded"
    assert lines[2]["company_address"] == "'=1+1"
    assert lines[0]["updated_at"].endswith("+00:00")


def test_the_file_follows_the_search_the_filters_and_the_sort(client: Client, kind: str) -> None:
    three(client, kind)

    assert names(table(client, kind, sort="company_name")) == ["Alpha", "Beta", "Gamma"]
    assert names(table(client, kind, sort="-company_name", page_size="10", page_no="9")) == ["Gamma", "Beta", "Alpha"]
    assert names(table(client, kind, q="alph")) == ["Alpha"]
    assert names(table(client, kind, airport_code="JFK", sort="company_name")) == ["Alpha", "Beta"]
    assert names(table(client, kind, q="nothing has this")) == []


@pytest.mark.parametrize("sort", ["", "company_name", "-company_name", "company_address", "-company_address", "id"])
def test_chunks_are_joined_without_a_gap(client: Client, kind: str, sort: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Beta", "alpha", "Beta", "Beta", "Alpha", "gamma", "Beta"):
        client.create(kind, company_name=name, company_address="" if name == "Beta" else name)
    expected = [row["id"] for row in client.rows(kind, **({"sort": sort} if sort else {}))]
    for length in (1, 2, 3, 7):
        monkeypatch.setattr(rows, "CHUNK", length)

        lines = table(client, kind, **({"sort": sort} if sort else {}))

        assert [int(line["id"]) for line in lines] == expected


def test_a_selection_alone_is_exported(client: Client, kind: str) -> None:
    first, _, third = three(client, kind)
    sent = [("record", f"{first}.1"), ("record", f"{third}.1"), ("list_state", "sort=company_name&q=zzz")]

    page = client.post(f"/admin/{kind}/export", sent)

    assert page.status_int == 303
    answer = client.get(page.location)
    form = answer.forms[1] if "format" in answer.forms[1].fields else answer.forms[2]
    assert "2 records that you selected" in answer.html.main.get_text()
    lines = list(csv.DictReader(io.StringIO(form.submit().body.decode("utf-8-sig"), newline="")))
    assert [line["Company Name"] for line in lines] == ["Beta", "Gamma"]


def test_all_that_match_is_the_list(client: Client, kind: str) -> None:
    three(client, kind)

    page = client.post(f"/admin/{kind}/export", {"all": "1", "record": "1.1", "list_state": "q=alpha"})

    assert page.location.endswith(f"/admin/{kind}/export?q=alpha")
    text = client.get(page.location).html.main.get_text()
    assert "1 record." in text
    assert "Search: alpha" in text


def test_deleted_records_are_exported_with_their_deletion(client: Client, kind: str) -> None:
    first, _, _ = three(client, kind)
    client.delete(f"/admin/{kind}/{first}")

    (line,) = table(client, kind, deleted="1")

    assert (line["company_name"], line["deleted_by"]) == ("Beta", "the-administrator")
    assert line["deleted_at"]
    assert names(table(client, kind)) == ["Gamma", "Alpha"]


def test_columns_and_headings_are_chosen(client: Client, kind: str) -> None:
    three(client, kind)
    answer = export(client, kind, column=["company_name", "id"], headers="labels", bom="1")

    assert answer.content_type == "text/csv"
    assert answer.body.startswith(b"\xef\xbb\xbfID,Company Name\r\n")
    assert b"\xef\xbb\xbf" not in export(client, kind).body


def test_the_guard_can_be_left_out(client: Client, kind: str) -> None:
    three(client, kind)

    page = client.get(f"/admin/{kind}/export")
    form = next(form for form in page.forms.values() if "guard" in form.fields)
    assert form["guard"].checked
    form["guard"].checked = False
    form["headers"] = "names"
    lines = list(csv.DictReader(io.StringIO(form.submit().body.decode("utf-8-sig"), newline="")))

    assert [line["company_address"] for line in lines][2] == "=1+1"


def test_xlsx_keeps_texts_as_texts(client: Client, kind: str) -> None:
    first, second, third = three(client, kind)

    header, *cells = sheet(client, kind)

    lines = [dict(zip(header, row, strict=True)) for row in cells]
    assert names(lines) == ["Gamma", "Alpha", "Beta"]
    assert [line["id"] for line in lines] == [third, second, first]
    assert lines[1]["company_phone1"] == "+49 30 901820"
    assert lines[1]["zip_code"] == "01234"
    assert lines[2]["company_address"] == "=1+1"
    assert lines[2]["zip_code"] == ""


def test_json_lines_hold_the_values(client: Client, kind: str) -> None:
    three(client, kind)

    lines = [json.loads(line) for line in export(client, kind, "jsonl").text.splitlines()]

    assert [line["company_name"] for line in lines] == ["Gamma", "Alpha", "Beta"]
    assert lines[0]["zip_code"] is None
    assert lines[2]["company_address"] == "=1+1"
    assert export(client, kind, "jsonl", q="nothing has this").body == b""


def test_geojson_has_the_airports_with_their_number_of_records(client: Client, kind: str) -> None:
    three(client, kind)

    result = export(client, kind, "geojson").json

    assert result["type"] == "FeatureCollection"
    assert [(one["id"], one["properties"]["records"]) for one in result["features"]] == [("JFK", 2), ("LHR", 1)]
    longitude, latitude = result["features"][0]["geometry"]["coordinates"]
    assert (round(longitude), round(latitude)) == (-74, 41)
    assert [one["id"] for one in export(client, kind, "geojson", q="gamma").json["features"]] == ["LHR"]


def test_each_export_is_an_event_with_its_filter_and_number_of_rows(site: Site, client: Client, kind: str) -> None:
    three(client, kind)
    export(client, kind, q="alpha", sort="company_name")
    export(client, kind, "geojson")

    first, second = site.events("export")

    assert (first["name"], first["details"]) == (
        "the-administrator",
        {"what": kind, "format": "csv", "filter": "q=alpha&sort=company_name", "rows": "1"},
    )
    assert second["details"] == {"what": kind, "format": "geojson", "rows": "2"}
    assert "q=alpha&sort=company_name" in client.get("/admin/security").html.main.get_text()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"format": "pdf"}, "Choose one of the formats"),
        ({"format": "csv", "chosen": "1"}, "Choose at least one column"),
        ({"format": "csv", "column": "search_text"}, "There is no column search_text"),
        ({"format": "csv", "ids": "x"}, "could not be read"),
        ({"format": "csv", "ids": ".".join(["1"] * 501)}, "could not be read"),
        ({"format": "csv", "q": "x" * 1001}, "longer than"),
        ({"q": "x" * 1001}, "longer than"),
    ],
)
def test_what_cannot_be_exported_is_said(site: Site, client: Client, params: dict[str, str], message: str) -> None:
    answer = client.get("/admin/transit/export", params)

    assert answer.status_int == 422
    assert message in answer.html.main.get_text()
    assert site.events("export") == []


def test_a_list_too_long_for_xlsx_is_refused_and_the_choice_is_kept(
    site: Site, client: Client, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    three(client, kind)
    monkeypatch.setattr(records, "XLSX_RECORDS", 2)

    answer = client.get(f"/admin/{kind}/export", {"format": "xlsx", "column": "company_name", "q": ""})

    assert answer.status_int == 422
    assert "this list has more" in answer.html.main.get_text()
    checked = [box["value"] for box in answer.html.select("input[name=column][checked]")]
    assert checked == ["company_name"]
    assert answer.html.select_one("input[name=format][checked]")["value"] == "xlsx"
    assert site.events("export") == []
    assert len(sheet(client, kind, q="alpha")) == 2


def test_viewers_export_if_the_ini_says_so(site: Site, client: Client, kind: str) -> None:
    client.create(kind)
    viewer = site.client(Role.VIEWER)
    assert "/export" not in viewer.get(f"/admin/{kind}").text
    assert "/login?" in viewer.get(f"/admin/{kind}/export", {"format": "csv"}).location
    assert "/csv" not in viewer.get("/admin/activity").text

    allowed = Site.__new__(Site)
    allowed.app_settings = {**site.app_settings, "groundtransport.export_roles": "viewer"}
    allowed.url = site.url
    allowed.start()
    try:
        viewer = allowed.client(Role.VIEWER)
        assert viewer.get(f"/admin/{kind}/export", {"format": "csv"}).status_int == 200
        assert f"/admin/{kind}/export" in viewer.get(f"/admin/{kind}").text
        assert "/login?" in allowed.client(Role.EDITOR).get(f"/admin/{kind}/export").location
    finally:
        allowed.engine.dispose()


def test_the_list_leads_to_the_export_of_what_it_shows(client: Client, kind: str) -> None:
    three(client, kind)

    link = client.get(f"/admin/{kind}", {"q": "alpha", "sort": "id"}).html.select_one("a[data-export]")["href"]

    assert link == f"/admin/{kind}/export?q=alpha&sort=id"
    page = client.get(link)
    form = next(form for form in page.forms.values() if "guard" in form.fields)
    form["format"] = "jsonl"
    assert [json.loads(line)["company_name"] for line in form.submit().text.splitlines()] == ["Alpha"]


def test_texts_come_back_in_the_airports_own_spelling(client: Client) -> None:
    client.create("transit", airport_name=JFK, description="one\ntwo")

    assert table(client, "transit")[0]["description"] == "one\ntwo"
